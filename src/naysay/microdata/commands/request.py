"""What ``naysay risk`` is asked: the options read and checked, the work that answers them, and what is printed."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from naysay import _checks, files, microdata
from naysay._values import JsonNode, JsonObject
from naysay.console import output
from naysay.console.options import design_of
from naysay.errors import DataError
from naysay.microdata.commands import inputs
from naysay.microdata.commands.inputs import Source, key_sets, named_values, record
from naysay.microdata.commands.options import OF_REPORT, OF_SEARCH, RiskOptions
from naysay.microdata.keys.codes import Between, Either, Form, Joined, Privatized, Table, check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.risk.intruders import probability, scenario
from naysay.microdata.risk.table import check_also

if TYPE_CHECKING:  # a search and the page are loaded by those who ask for them
    from naysay.microdata import Contributions, Identification, Recodings, RiskTable, Search, StandOut
    from naysay.microdata.report import Provenance

Reporter = Callable[[str, float], None] | None
_NAME = 40  # characters of a quasi-identifier beside its bar
_LONG = 60.0  # seconds; a search that should take longer says so beforehand


class Request:
    """The options of ``naysay risk``, with their CSV records read.

    Parameters
    ----------
    options : Options

    Raises
    ------
    DataError
        For options that are wrong whatever the file holds.
    """

    def __init__(self, options: RiskOptions) -> None:
        people = options.population
        self.options = options
        self.asked = key_sets(options.keys)
        # private columns among the keys, from the codebook beside a survey's export; options say more
        private_columns = files.designs_of(options.file, codes=options.codes)
        self.cells: dict[str, Form] = {
            name: Privatized(private_columns[name].design, level=private_columns[name].level)
            for name in self.every
            if name in private_columns
        }
        self.cells |= forms(options)
        self.policies = policies(options.missing or ())
        self.population = int(people) if people is not None and people.is_integer() else people
        self.attempts = chances(options.attempt or ())
        self.also = [
            measure_name for also_text in options.also or () for measure_name in record(also_text, option="--also")
        ]
        self.also += [] if options.household is None else ["household"]
        if options.html is not None:  # a board should not have to know what to ask for
            page_measures = {"readings": True, "closeness": options.sensitive, "pitman": self.population}
            self.also += [
                measure_name
                for measure_name, is_given in page_measures.items()
                if is_given and measure_name not in self.also
            ]
        self.households: Any = None
        self.orders = orders(options.order or ()) if options.search is not None else {}
        self._check()
        self.areas = [inputs.areas(rule, separator=options.separator) for rule in options.areas or ()]
        self.protection = None if options.protection is None else log_of(options.protection)

    @property
    def every(self) -> list[str]:
        """All keys that are named."""
        return list(dict.fromkeys(name for names in self.asked for name in names))

    def _check(self) -> None:
        options = self.options
        for search_option in OF_SEARCH:
            if options.search is None and getattr(options, search_option) is not None:
                raise DataError(f"--{search_option} is for a search; ask for one: naysay risk search")
        for page_option in OF_REPORT:
            if options.html is None and getattr(options, page_option) is not None:
                raise DataError(f"--{page_option} is for a report; ask for one: naysay risk report")
        for key_name in self.cells:
            if key_name not in self.every:
                raise DataError(f"{key_name!r} is declared as a key, but no --keys names it", column=key_name)
        for scenario_name, chance in self.attempts.items():
            scenario(scenario_name), probability(chance)
        if options.search is not None:
            if not 1 <= options.search <= len(self.every):
                keys_text = f"the {len(self.every)} that --keys names"
                problem = f"{options.search_option} must be a number of keys, from 1 to {keys_text}"
                raise DataError(f"{problem}; got {options.search}")
            check_names(list(self.orders), self.every, what="key")
            if options.resume is not None:
                output.check_free(options.resume, force=True)  # a search goes on with the file that is there
        of_rows = (options.per_row, options.row, options.household)
        if options.engine != "polars" and any(option_of_rows is not None for option_of_rows in of_rows):
            advice = "use --per-row, --row and --household with --engine polars"
            raise DataError(f"rows on {options.engine} have no order; {advice}")
        check_also(self.also, population=self.population, sensitive=options.sensitive)
        if options.per_row is not None:
            files.kind(options.per_row, to_write=True)
            output.check_free(options.per_row, force=options.force)

    def answers(self) -> Answers:
        """All that is asked for, from the file."""
        options, sensitive = self.options, self.options.sensitive
        # a set of candidates in one column is read like plain cells: from the column of that name
        candidate_columns = [
            candidate_column for name in self.every for candidate_column in self.cells.get(name, Joined()).columns(name)
        ]
        plain_keys = [name for name in self.every if name not in self.cells]
        na = inputs.missing_texts(options.na)
        other_columns = [name for name in (sensitive, options.household) if name is not None]
        source = Source(options, [*candidate_columns, *other_columns], plain_keys, na)
        with files.readable(options.file), source.table() as table, _progress() as progress:
            if options.household is not None:
                self.households = Table.of(table).column(options.household)
            keys_by_policy = [self._keys_under(table, policy, progress) for policy in self.policies]
            for key_set in self.asked if options.explain else ():
                output.note(f"{' + '.join(key_set)}:")
                for explanation_line in str(
                    microdata.explain(keys_by_policy[0].only(key_set), rule=options.rule)
                ).splitlines():
                    output.note(f"  {explanation_line}")
            self._tell_randomized()
            answers, keys = self._measure_risk(keys_by_policy, progress), keys_by_policy[0].only(self.every)
            answers.keys = keys
            if options.html is not None:
                from naysay.microdata.report import Provenance

                answers.protection = self.protection
                answers.provenance = Provenance.of(options.file, keys.n, by=options.by or "")
            for areas in self.areas:
                area_column = Source(options, [areas.variable], [areas.variable], na).frame().select(areas.variable)
                answers.areas.append(areas.verdict(area_column.collect().to_series()))
            self._add_stand_out(answers, keys, progress)
            if options.search is not None:
                self._add_search(answers, keys, options.search, progress)
            value_keys = [*plain_keys, *([sensitive] if sensitive else [])]
            inputs.note_codes(inputs.codes_in_keys(keys_by_policy[0], value_keys))
            return answers

    def _tell_randomized(self) -> None:
        """Say which columns hold randomized answers, and how those among the keys are counted."""
        randomized_columns = files.randomized_columns(self.options.file, encoding=self.options.encoding)
        if randomized_columns:
            output.note(f"randomized answers, not people's own: {', '.join(randomized_columns)}")
        if plain_keys := [
            column_name
            for column_name in randomized_columns
            if column_name in self.every and column_name not in self.cells
        ]:
            output.note(
                f"{', '.join(plain_keys)}: counted as if they were people's own answers, so that a match may be wrong; "
                "name the design with --design, or leave them out of --keys"
            )
        if self.options.sensitive in randomized_columns:
            output.note(f"{self.options.sensitive}: what is told of it is about the values that were sent")

    def _keys_under(self, table: object, policy: str | dict[str, str], progress: Reporter) -> Keys:
        """All keys under a policy, and the sensitive variable, read once."""
        sensitive = self.options.sensitive
        if sensitive in self.every:
            raise DataError(f"the sensitive variable must not be a key; {sensitive!r} is both")
        return Keys(
            table,
            [*self.every, *([] if sensitive is None else [sensitive])],
            missing=dict.fromkeys(self.every, policy) if isinstance(policy, str) else policy,
            cells=self.cells,
            weights=self.options.weight,
            progress=None if progress is None else partial(progress, "reading keys"),
        )

    def _measure_risk(self, keys_by_policy: Sequence[Keys], progress: Reporter) -> Answers:
        """The table of risk under each policy in turn, and the scenarios that were asked for."""
        options = self.options
        risk_tables = [
            microdata.risk_table(
                keys,
                self.asked,
                population=self.population,
                rule=options.rule,
                weights=options.weight,
                sensitive=options.sensitive,
                also=self.also,
                households=self.households,
                confidence=options.confidence,
                records=options.per_row is not None,
                progress=progress,
            )
            for keys in keys_by_policy
        ]
        risk_rows = tuple(risk_row for risk_table in risk_tables for risk_row in risk_table.quasi_identifiers)
        identifications_by_row = [
            [
                microdata.identification(risk_row, scenario_name, attempt=chance)
                for scenario_name, chance in self.attempts.items()
            ]
            for risk_row in risk_rows
        ]
        variable_titles = files.variable_labels(options.file, encoding=options.encoding)
        return Answers(
            replace(risk_tables[0], quasi_identifiers=risk_rows, titles=variable_titles), identifications_by_row
        )

    def _add_stand_out(self, answers: Answers, keys: Keys, progress: Reporter) -> None:
        """The keys on which everybody, or one respondent, stands out, where that was asked for."""
        row_number, largest, rule = self.options.row, self.options.stand_out, self.options.rule
        if row_number is not None and row_number > keys.n:
            raise DataError(f"--row must be from 1 to {keys.n:,}, the number of respondents; got {row_number:,}")
        if len(self.policies) > 1 and not (largest is None and row_number is None):
            first_policy = self.policies[0]
            policy_text = (
                first_policy
                if isinstance(first_policy, str)
                else ",".join(f"{key}={policy}" for key, policy in first_policy.items())
            )
            output.note(f"--stand-out and --row are for the first --missing, {policy_text}")
        most_keys = None if largest is None else min(largest, len(self.every))
        if most_keys is not None:
            answers.stand_out = microdata.stand_out(keys, most=most_keys, rule=rule, progress=progress)
        if row_number is not None:
            answers.row = row_number
            answers.row_key_sets = microdata.stand_out_of(
                keys, row_number - 1, most=most_keys, rule=rule, progress=progress
            )

    def _add_search(self, answers: Answers, keys: Keys, size: int, progress: Reporter) -> None:
        """The search and, unless it was interrupted, contributions and recodings of the worst combination."""
        options, rule, measure = self.options, self.options.rule, self.options.measure or "matches"
        if options.resume is None or not options.resume.exists():
            plan = microdata.search_plan(keys, size=size, rule=rule)
            if plan.time > _LONG:
                output.note(f"{plan}; smaller: {plan.smaller}")
        answers.search = search = microdata.search(
            keys,
            size=size,
            rule=rule,
            measure=measure,
            population=None if options.weight else self.population,  # θ of a combination needs equal chances
            confidence=options.confidence,
            most=options.most,
            minutes=options.minutes,
            file=options.resume,
            progress=progress,
        )
        if search.stopped == "interrupted" or not search.complete:
            return
        from naysay.microdata.combinations.search import everywhere

        answers.contributions = microdata.contributions(search, progress=progress)
        worst_keys = keys.only(search.combinations[0].keys)
        value_orders = {
            key_name: _values(worst_keys, key_name, self.orders[key_name])
            for key_name in worst_keys.columns
            if key_name in self.orders
        }
        key_recodings = microdata.recodings(
            worst_keys, rule=rule, measure=measure, orders=value_orders, progress=progress
        )
        answers.recodings = replace(key_recodings, worst=everywhere(search, key_recodings))


def _values(keys: Keys, name: str, texts: Sequence[str]) -> list[Any]:
    """The values of a key that these texts write; files other than CSV hold numbers and truth values."""
    value_of = {str(value): value for value in keys.variable(name).cells.values if value is not None}
    return [value_of.get(text, text) for text in texts]


@contextmanager
def _progress() -> Iterator[Reporter]:
    """How far the work is, on a terminal's stderr."""
    if not sys.stderr.isatty():
        yield None
        return
    progress_columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*progress_columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=None)

        def show_progress(name: str, share: float) -> None:
            short_name = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
            progress.update(task, description=short_name, total=1, completed=share)

        yield show_progress


def policies(texts: Sequence[str]) -> list[str | dict[str, str]]:
    """For each ``--missing``, one policy or one for each key; without any, ``wildcard``."""
    policies_read: list[str | dict[str, str]] = []
    for option_text in texts:
        policy_texts = record(option_text, option="--missing")
        plain_policies = [policy_text for policy_text in policy_texts if "=" not in policy_text]
        if not plain_policies:
            policies_read.append(named_values(policy_texts, option="--missing", example="age=drop,income=category"))
        elif len(policy_texts) == 1:
            policies_read.append(policy_texts[0])
        else:
            received_text = f"got {plain_policies[0]!r} in {option_text!r}"
            raise DataError(f"--missing must be one policy for all keys, or KEY=POLICY for each; {received_text}")
    return policies_read or ["wildcard"]


def forms(options: RiskOptions) -> dict[str, Form]:
    """How each key writes its candidates, from the options that declare it."""
    form_of: dict[str, Form] = {}
    for key_name in options.joined or ():
        _once(form_of, key_name)[key_name] = Joined()
    pair_example = "month=first_month,second_month"
    for option, option_texts in (("--either", options.either or ()), ("--between", options.between or ())):
        for key_name, columns_text in named_values(option_texts, option=option, example=pair_example).items():
            candidate_columns = record(columns_text, option=option)
            if len(candidate_columns) != 2:
                raise DataError(f"{option} must name two columns, such as {pair_example}; got {columns_text!r}")
            _once(form_of, key_name)[key_name] = (
                Either(*candidate_columns) if option == "--either" else Between(*candidate_columns)
            )
    category_texts = named_values(options.categories or (), option="--categories", example="income=low,middle,high")
    level_columns = named_values(options.level or (), option="--level", example="income=income_level")
    design_texts = named_values(options.design or (), option="--design", example='income="negative(discards=2)"')
    for option, declared_keys in (("--categories", category_texts), ("--level", level_columns)):
        for key_name in declared_keys:
            if key_name not in design_texts:
                raise DataError(f"{option} is for answers given under a design; {key_name!r} has no --design")
    for key_name, design_text in design_texts.items():
        _once(form_of, key_name)[key_name] = Privatized(
            design_of(design_text, category_texts.get(key_name)), level=level_columns.get(key_name)
        )
    return form_of


def log_of(path: Path) -> JsonObject:
    """The log of a protected file, from TOML or JSON.

    Raises
    ------
    DataError
        A file that cannot be read, or is no log.
    """
    from naysay.microdata.report import protection_content

    try:
        log_text = path.read_text(encoding="utf-8")
        log_fields = json.loads(log_text) if path.suffix.lower() == ".json" else tomllib.loads(log_text)
        protection_content(log_fields)
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}, the log of --protection: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{str(path)!r} is no log of naysay protect ({error})") from None
    return dict(log_fields)


def _once(form_of: dict[str, Form], name: str) -> dict[str, Form]:
    if name in form_of:
        options_text = "--joined, --either, --between, --design"
        raise DataError(f"the candidates of {name!r} are declared twice; use one of {options_text}")
    return form_of


def orders(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The order of the values of each key that has one."""
    order_texts = named_values(texts, option="--order", example="school=none,primary,secondary")
    return {name: record(value, option="--order") for name, value in order_texts.items()}


def chances(texts: Sequence[str]) -> dict[str, float]:
    """Pr(attempt) for each scenario."""
    chance_of = {}
    for scenario_name, chance_text in named_values(texts, option="--attempt", example="acquaintance=0.05").items():
        try:
            chance_of[scenario_name] = float(chance_text)
        except ValueError:
            problem = (
                f"--attempt must be a probability, such as acquaintance=0.05; got {_checks.listing_text([chance_text])}"
            )
            raise DataError(problem) from None
    return chance_of


@dataclass
class Answers:
    """Everything that the command answers, filled in as the work goes on; None for what was not asked.

    Parameters
    ----------
    risk : RiskTable
    tried : for each quasi-identifier, the scenarios that were asked for
    keys : Keys, optional
        All keys, under the first policy.
    stand_out : StandOut, optional
    row : int, optional
        The respondent asked for, counted from 1.
    row_key_sets : key sets on which that respondent stands out
    search : Search, optional
    contributions, recodings : optional
        From the search, unless it was interrupted.
    areas : for each rule on areas, the areas of too few people
    protection, provenance : optional
        For the page: what was done to the file before, and where the report comes from.
    """

    risk: RiskTable
    tried: Sequence[Sequence[Identification]]
    keys: Keys | None = None
    stand_out: StandOut | None = None
    row: int | None = None
    row_key_sets: Sequence[tuple[str, ...]] = ()
    search: Search | None = None
    contributions: Contributions | None = None
    recodings: Recodings | None = None
    protection: JsonNode | None = None
    provenance: Provenance | None = None
    areas: list[JsonObject] = field(default_factory=list)

    def write(self, path: Path, separator: str) -> None:
        """Write k and m of every respondent, what measures say of each, and how few keys make them stand out."""
        columns: dict[str, Any] = {"row": pl.int_range(1, self.risk.n + 1, eager=True)}
        for risk_row in self.risk.quasi_identifiers:
            if risk_row.records is not None:
                columns[f"k: {risk_row.label}"] = _series(risk_row.records.anonymity)
                columns[f"m: {risk_row.label}"] = _series(risk_row.records.matches)
                columns |= {
                    f"{name}: {risk_row.label}": pl.Series(respondent_values, nan_to_null=True)
                    for measure in risk_row.measures
                    for name, respondent_values in measure.of_each().items()
                }
        if self.stand_out is not None:
            columns["keys to stand out"] = self.stand_out.size
        files.write(pl.DataFrame(columns), path, separator=separator)
        output.note(f"{path}: k and m of {self.risk.n:,} respondents; whoever reads it can find those who stand out")

    def page(self) -> str:
        """The report for the board."""
        from naysay.microdata.report import risk_html

        return risk_html(
            self.risk,
            keys=self.keys,
            identifications=self.tried,
            search=self.search,
            contributions=self.contributions,
            recodings=self.recodings,
            protection=self.protection,
            provenance=self.provenance,
            areas=[f"{_areas_sentence(verdict)}." for verdict in self.areas],
        )

    def table(self) -> None:
        """Print the tables as a person reads them."""
        output.say(str(self.risk))
        for risk_row, row_identifications in zip(self.risk.quasi_identifiers, self.tried, strict=True):
            for identification in row_identifications:
                output.say(f"{risk_row.label}, {identification.scenario.name}: {identification}")
        sets_text = (
            "; ".join(" + ".join(key_names) for key_names in self.row_key_sets) or "no set of keys that was tried"
        )
        row_sentence = None if self.row is None else f"row {self.row} stands out on {sets_text}"
        for report_part in (
            *map(_areas_sentence, self.areas),
            self.stand_out,
            row_sentence,
            self.search,
            self.contributions,
            self.recodings,
        ):
            if report_part is not None:
                output.say()
                output.say(str(report_part))

    def json(self) -> None:
        """Print one JSON object."""
        json_fields = self.risk.to_dict()
        for row_fields, row_identifications in zip(json_fields["quasi_identifiers"], self.tried, strict=True):
            if row_identifications:
                row_fields["identification"] = {
                    identification.scenario.name: identification.to_dict() for identification in row_identifications
                }
        if self.areas:
            json_fields["areas"] = self.areas
        if self.stand_out is not None:
            json_fields["stand_out"] = self.stand_out.to_dict()
        if self.row is not None:
            json_fields["row"] = {
                "row": self.row,
                "stands_out_on": [list(key_names) for key_names in self.row_key_sets],
            }
        if self.search is not None:
            search_results = {"contributions": self.contributions, "recodings": self.recodings}
            search_parts = {
                result_name: None if search_result is None else search_result.to_dict()
                for result_name, search_result in search_results.items()
            }
            json_fields["search"] = self.search.to_dict() | search_parts
        output.say(output.json_text(json_fields))

    def csv(self) -> None:
        """Print one row of CSV for each quasi-identifier; reservations go to stderr."""
        output.say(self.risk.to_csv())
        for reservation in self.risk.reservations:
            output.note(reservation)
        if self.search is not None:
            output.note(
                "csv holds the quasi-identifiers that were named; json and table also hold what the search found"
            )
        is_asked = {
            "--areas": bool(self.areas),
            "--attempt": any(self.tried),
            "--stand-out": self.stand_out is not None,
            "--row": self.row is not None,
        }
        options_left = [option for option, is_given in is_asked.items() if is_given]
        if options_left:
            output.note(
                f"{' and '.join(options_left)} {'is' if len(options_left) == 1 else 'are'} not in csv; "
                "ask for table or json"
            )


def _areas_sentence(verdict: JsonObject) -> str:
    """What a rule on areas finds, in a sentence or two."""
    below, rule = verdict["areas_below"], f"{verdict['least']:,} people"
    if not below:
        return f"{verdict['column']}: each of the {verdict['areas']:,} areas of the file holds {rule} or more"
    finding = f"{verdict['column']}: {len(below):,} of {verdict['areas']:,} areas hold fewer than {rule}"
    records = _checks.several(verdict["records_below"], "respondent is", "respondents are")
    return f"{finding}, and {records} in them ({_checks.listing_text(below)})"


def _series(sizes: np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]) -> pl.Series:
    """Sizes with null where a respondent has none."""
    absence_mask = pl.Series(np.ma.getmaskarray(sizes))
    return pl.select(pl.when(~absence_mask).then(pl.Series(sizes.data))).to_series()
