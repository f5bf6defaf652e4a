"""Commands that judge a release: `utility` says what it kept of its original, `attack` links a register with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from typer import Argument, Option

from naysay import files
from naysay._values import JsonObject
from naysay.console import output
from naysay.console.options import Codes, Encoding, Format, Html, Separator, column, design_of
from naysay.console.output import takes
from naysay.errors import DataError
from naysay.microdata import attack as attacks
from naysay.microdata.attack.inference import Inference, Replicated, attack_html
from naysay.microdata.attack.linkage import Linkage, csv_of_links
from naysay.microdata.commands import inputs
from naysay.microdata.commands.inputs import RECORD, Reading
from naysay.microdata.commands.options import Place, Text, Texts
from naysay.microdata.keys.codes import check_names


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
            release_path,
            options.before,
            original_table.height,
            role="original",
            identity=options.id,
            synthetic=options.synthetic,
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
        if options.format_ == "table":
            _note_roles(options.after, options.before, role="original")
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
    if options.format_ == "table":
        _note_roles(options.after, options.before, role="original")
    output.write(options.html, lambda: tradeoff_html(tradeoff))


def _note_roles(releases: Sequence[Path], other: Path, *, role: str) -> None:
    """Say which file is taken as what where no log beside a release says it: swapped, their numbers mean nothing."""
    unlogged_names = [path.name for path in releases if not path.with_name(f"{path.name}.log.toml").is_file()]
    if unlogged_names:
        output.note(f"taken as the release: {', '.join(unlogged_names)}; as the {role}: {other.name}")


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


@dataclass(frozen=True)
class AttackOptions:
    """The options of ``naysay attack``."""

    release: Annotated[Path, Argument(metavar="RELEASE", help="The file that would be released.")]
    register: Annotated[
        Path, Option(metavar="FILE", help="People whom an intruder knows: a register, or the original itself.")
    ]
    keys: Annotated[
        list[str], Option(metavar="RECORD", help="What is known of each person, such as 'age,gender'. Repeat for more.")
    ]
    id: Annotated[
        Text, column("Names people in both files, only to count what is right; by default rows have one order.")
    ] = None
    household: Annotated[Text, column("The household of each person.")] = None
    wave: Annotated[Text, column("The wave of each row, if people have several rows.")] = None
    by: Annotated[
        Text, Option(metavar="RECORD", help="Attacks: exact, nearest, probabilistic. [default: exact,nearest]")
    ] = None
    recoding: Annotated[
        Texts,
        Option(
            metavar="KEY=FILE", help="A CSV file with the columns value and released; by default as people show it."
        ),
    ] = None
    secret: Annotated[Texts, Option(metavar="COLUMN", help="Guess this column of people, too. Repeat for more.")] = None
    control: Annotated[
        Place, Option(metavar="FILE", help="People who are in neither file, for --secret and --synthetic.")
    ] = None
    synthetic: Annotated[
        bool, Option("--synthetic", help="Records belong to nobody: count copies of people instead of links.")
    ] = False
    most: Annotated[int, Option(min=1, metavar="N", help="The most people attacked of each kind, drawn at random.")] = (
        1_000
    )
    confidence: Annotated[float, Option(help="The confidence of each interval.")] = 0.95
    na: Annotated[Text, Option(metavar="RECORD", help="Cells that mean missing, such as 'Not_Say,NA,-9'.")] = None
    seed: Annotated[int, Option(help="For what is drawn at random.")] = 1
    html: Html = None
    format_: Format = "table"
    separator: Separator = ","
    encoding: Encoding = None
    codes: Codes = False


@takes(AttackOptions)
def attack(options: AttackOptions) -> None:
    """Attack a release, and count how often that is right.

    The intruder holds a register: a file of people with some of the variables of the release. The command links the two
    and says what share of links is right, with an interval. A gap is no evidence: it contradicts nothing. People of the
    register who are not in the release are the control: every link to one of them is wrong. It prints no person's
    values.

    \b
    Examples:
      naysay attack safe.csv --register survey.csv --keys age,gender,region
      naysay attack safe.csv --register register.csv --id number \\
          --keys age,gender,region --by exact,nearest,probabilistic
      naysay attack safe.csv --register survey.csv --keys age,region \\
          --household household --html attack.html
      naysay attack synthetic.csv --synthetic --register survey.csv \\
          --keys age,region --secret illness --control others.csv
    """
    output.check(options.html)
    if options.control is not None and not (options.secret or options.synthetic):
        raise DataError(
            "--control is for --secret and --synthetic; in a link, people who are not in the release control it"
        )
    key_sets, files_read = inputs.key_sets(options.keys), _Files.of(options)
    results_by_set = [_attack_results(options, files_read, keys) for keys in key_sets]
    results = [result for set_results in results_by_set for result in set_results]
    if options.format_ == "json":
        json_parts = [_form(set_results) for set_results in results_by_set]
        output.say(output.json_text(json_parts[0] if len(json_parts) == 1 else {"sets": json_parts}))
    elif options.format_ == "csv":
        linkages = [result for result in results if isinstance(result, Linkage)]
        if not linkages:
            raise DataError("only links are told in csv; ask for table or json")
        output.say(csv_of_links(linkages))
        if len(results) > len(linkages):
            output.note("--secret is not in csv; ask for table or json")
    else:
        output.say("\n\n".join(map(str, results)))
        _note_roles([options.release], options.register, role="register")
    inputs.note_codes(files_read.codes([*(name for keys in key_sets for name in keys), *(options.secret or ())]))
    output.write(options.html, lambda: attack_html(results))


def _form(results: Sequence[Linkage | Replicated | Inference]) -> JsonObject:
    """What was found by an intruder who knows one set of keys, as JSON holds it."""
    inferences = [result.to_dict() for result in results if isinstance(result, Inference)]
    json_fields: JsonObject = {result.name: result.to_dict() for result in results if not isinstance(result, Inference)}
    json_fields |= {"inference": inferences[0]} if len(inferences) == 1 else {}  # one field cannot hold several
    return json_fields | ({"inferences": inferences} if inferences else {})


@dataclass(frozen=True)
class _Files:
    """The files of an attack, each read once."""

    register: pl.DataFrame
    release: pl.DataFrame
    control: pl.DataFrame | None
    names: Mapping[str, str]

    @classmethod
    def of(cls, options: AttackOptions) -> _Files:
        reading = Reading(options.separator, options.encoding, options.codes, inputs.missing_texts(options.na))
        register = reading.table(options.register)
        release = reading.released(
            options.release,
            options.register,
            register.height,
            role="register",
            identity=options.id,
            synthetic=options.synthetic,
        )
        control = None if options.control is None else reading.table(options.control)
        file_names = {"register": options.register.name, "release": options.release.name}
        return cls(register, release, control, file_names)

    def codes(self, columns: Sequence[str]) -> list[inputs.MissingCode]:
        """Cells of these columns that may mean missing, in the register and in the release."""
        tables = {"register": self.register, "release": self.release}
        return [
            code
            for file_role, table in tables.items()
            for code in inputs.codes_in_frame(table, columns, file=f"the {file_role}, {self.names[file_role]}")
        ]


def _attack_results(
    options: AttackOptions, files_read: _Files, keys: tuple[str, ...]
) -> list[Linkage | Replicated | Inference]:
    """What each attack that was asked for found, by an intruder who knows these keys."""
    register, release, control = files_read.register, files_read.release, files_read.control
    check_names(keys, register.columns)
    check_names(keys, [column_name for column_name in release.columns if column_name != RECORD])
    is_linked_by_row = options.id is None and RECORD in release.columns
    register = register.with_row_index(RECORD) if is_linked_by_row else register
    results: list[Linkage | Replicated | Inference] = []
    if options.synthetic:
        for option_name in ("id", "household", "wave", "by", "recoding"):
            if getattr(options, option_name):
                raise DataError(f"--{option_name} is for links, and synthetic records belong to nobody; leave it out")
        results.append(attacks.replicated(release, register, keys, control=control))
    else:
        attack_names = ("exact", "nearest") if options.by is None else inputs.record(options.by, option="--by")
        recodings = {
            key_name: _recoding(Path(path_text))
            for key_name, path_text in inputs.named_values(
                options.recoding or (), option="--recoding", example="age=age.csv"
            ).items()
        }
        results.append(
            attacks.link(
                release,
                register,
                keys,
                attacks=attack_names,
                recodings=recodings,
                id=RECORD if is_linked_by_row else options.id,
                household=options.household,
                wave=options.wave,
                most=options.most,
                confidence=options.confidence,
                seed=options.seed,
            )
        )
    results += [
        attacks.infer(
            release,
            register,
            keys,
            secret,
            control=control,
            most=options.most,
            confidence=options.confidence,
            seed=options.seed,
        )
        for secret in options.secret or ()
    ]
    return results


def _recoding(path: Path) -> dict[str, str]:
    """The released value of each value, from a CSV file."""
    with files.readable(path):
        frame = files.scan(path).select(pl.all().cast(pl.String)).collect()
    if frame.columns != ["value", "released"]:
        raise DataError(f"{str(path)!r} must have the columns value and released; got {', '.join(frame.columns)}")
    if frame["value"].is_duplicated().any():
        repeated_text = frame["value"].filter(frame["value"].is_duplicated())[0]
        raise DataError(f"{str(path)!r} gives {repeated_text!r} two released values; each value has one")
    return dict(frame.iter_rows())
