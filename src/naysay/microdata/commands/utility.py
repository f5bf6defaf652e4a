"""``naysay utility``: what a release kept of its original, and several releases side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from naysay import files
from naysay.console import output
from naysay.console.commands import takes
from naysay.console.options import Codes, Encoding, Format, Html, Separator, column, design_of
from naysay.errors import DataError
from naysay.microdata.commands import inputs
from naysay.microdata.commands.inputs import RECORD, Reading
from naysay.microdata.commands.options import Text, Texts


@dataclass(frozen=True)
class UtilityOptions:
    """The options of ``naysay utility``."""

    before: Annotated[Path, Argument(metavar="ORIGINAL", help="The file as it was.")]
    after: Annotated[list[Path], Argument(metavar="RELEASE…", help="The release, or several of one original.")]
    variables: Annotated[
        Text, Option(metavar="RECORD", help="The variables to compare; by default all that both files have.")
    ] = None
    keys: Annotated[
        Text, Option(metavar="RECORD", help="What an intruder knows; for the risk of several releases.")
    ] = None
    id: Annotated[Text, column("Names records in both files; by default rows belong together in their order.")] = None
    synthetic: Annotated[bool, Option("--synthetic", help="Records of the release belong to nobody.")] = False
    weight: Annotated[Text, column("Sampling weights in both files.")] = None
    formula: Annotated[
        Texts,
        Option(metavar="FORMULA", help="A regression to compare, such as 'income ~ age + gender'. Repeat for more."),
    ] = None
    design: Annotated[
        Texts,
        Option(metavar="COLUMN=DESIGN", help="A variable that was released under a design, such as income=pram.json."),
    ] = None
    categories: Annotated[
        Texts, Option(metavar="COLUMN=RECORD", help="The categories of such a variable, unless its design names them.")
    ] = None
    model: Annotated[
        Literal["pairs", "tree"], Option(help="What tells the files apart: all pairs of variables, or a tree.")
    ] = "pairs"
    na: Annotated[Text, Option(metavar="RECORD", help="Cells that mean missing, such as 'Not_Say,NA,-9'.")] = None
    seed: Annotated[int, Option(help="For what is drawn at random.")] = 1
    html: Html = None
    format_: Format = "table"
    separator: Separator = ","
    encoding: Encoding = None
    codes: Codes = False


@takes(UtilityOptions)
def command(options: UtilityOptions) -> None:
    """Measure what a release kept of its original.

    Cells changed and suppressed; how far margins and tables of two variables moved, beside what a fresh sample of
    people would show; whether the files can be told apart; and means, shares and the regressions that you name, with
    the overlap of their intervals. Variables that were released under a design, such as PRAM or a negative survey,
    are read as they are and with the design undone; the codebook beside a release of naysay protect holds it. With
    several releases of one original, risk and utility of each stand side by side.

    \b
    Examples:
      naysay utility survey.csv safe.csv --id respondent --weight weight
      naysay utility survey.csv safe.csv --formula "income ~ age + gender" \\
          --html utility.html
      naysay utility survey.csv pram.csv --design "job=pram.json"
      naysay utility survey.csv synthetic.csv --synthetic --model tree
      naysay utility survey.csv k3.csv k5.csv coarse.csv \\
          --keys age,gender,region --html choice.html
    """
    from naysay.microdata import utility
    from naysay.microdata.utility.measured import tradeoff_html, utility_html

    output.check(options.html)
    reading = Reading(options.separator, options.encoding, options.codes, inputs.missing_texts(options.na))
    original_table = reading.table(options.before)
    release_tables = [
        reading.released(
            release_path, options.before, original_table.height, identity=options.id, synthetic=options.synthetic
        )
        for release_path in options.after
    ]
    without_row_index = (
        options.id is not None
        or options.synthetic
        or any(RECORD not in release_table.columns for release_table in release_tables)
    )
    original_table = original_table if without_row_index else original_table.with_row_index(RECORD)
    compare_options: dict[str, Any] = {
        "variables": None if options.variables is None else inputs.record(options.variables, option="--variables"),
        "id": options.id if without_row_index else RECORD,
        "synthetic": options.synthetic,
        "weights": options.weight,
        "formulas": options.formula or (),
        "model": options.model,
        "seed": options.seed,
    }
    if len(options.after) == 1 and options.keys is None:
        design_of_variable = _published(options.after[0], options) | _designs(options)
        comparison = utility.compare(original_table, release_tables[0], designs=design_of_variable, **compare_options)
        output.result(comparison, options.format_)
        output.write(options.html, lambda: utility_html(comparison))
        return
    if options.keys is None:
        raise DataError("several releases are compared by risk and utility; name with --keys what an intruder knows")
    (keys,) = inputs.key_sets([options.keys])
    release_names = [str(release_path) for release_path in options.after]
    if len(set(release_names)) < len(release_names):
        raise DataError(f"a release is named twice: {', '.join(release_names)}")
    if options.design and len(release_names) > 1:
        raise DataError(
            "of several releases, --design cannot say which one it is about; the codebook beside each one does"
        )
    designs_of_release = {
        release_name: _published(release_path, options) | _designs(options)
        for release_name, release_path in zip(release_names, options.after, strict=True)
    }
    tradeoff = utility.tradeoff(
        original_table,
        dict(zip(release_names, release_tables, strict=True)),
        keys,
        designs=designs_of_release,
        **compare_options,
    )
    output.result(tradeoff, options.format_)
    output.write(options.html, lambda: tradeoff_html(tradeoff))


def _published(path: Path, options: UtilityOptions) -> dict[str, Any]:
    """The designs in the codebook beside a release, such as `naysay protect` writes it."""
    return {name: randomization.design for name, randomization in files.designs_of(path, codes=options.codes).items()}


def _designs(options: UtilityOptions) -> dict[str, Any]:
    """The design of each variable that was released under one."""
    category_texts = inputs.named_values(options.categories or (), option="--categories", example="job=farmer,clerk")
    design_texts = inputs.named_values(options.design or (), option="--design", example="job=pram.json")
    for variable_name in category_texts:
        if variable_name not in design_texts:
            raise DataError(f"--categories is for variables released under a design; {variable_name!r} has no --design")
    return {
        variable_name: design_of(design_text, category_texts.get(variable_name))
        for variable_name, design_text in design_texts.items()
    }
