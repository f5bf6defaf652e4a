"""``naysay risk``: who stands out in a file of respondents, on which keys, and how sure an intruder could be.

What ``naysay risk`` is asked: the options read and checked, and the work that answers them.

What ``naysay risk`` prints and writes.

How key variables are written on the command line: their policies for missing cells, and their sets of candidates.
"""

from __future__ import annotations

import csv
import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from naysay import _checks, files, microdata
from naysay.console import output
from naysay.console.commands import takes
from naysay.console.options import design_of, record_text
from naysay.errors import DataError
from naysay.microdata import (
    Between,
    Contributions,
    Either,
    Form,
    Identification,
    Joined,
    Keys,
    Privatized,
    Recodings,
    RiskTable,
    Search,
    StandOut,
)
from naysay.microdata.combinations.recodings import everywhere
from naysay.microdata.commands import undeclared
from naysay.microdata.commands.risk_options import Options
from naysay.microdata.commands.source import Source
from naysay.microdata.keys.table import Table, check_names
from naysay.microdata.report.page import Provenance, risk_html
from naysay.microdata.report.protection import protection
from naysay.microdata.risk.scenarios import probability, scenario
from naysay.microdata.risk.table import check_also

__all__ = [
    "Answers",
    "Request",
    "chances",
    "check_free",
    "command",
    "forms",
    "key_sets",
    "log_of",
    "named",
    "orders",
    "policies",
    "published",
    "record",
]

_INTERRUPTED = 130


@takes(Options)
def command(options: Options) -> None:
    """Show how identifiable the respondents of a file are.

    The file has one row for each respondent. A quasi-identifier is a set of key variables that an intruder may know.
    For each of them the command counts the respondents who are alone with their keys (k = 1) after those with a missing
    key are deleted. It counts those who match only themselves (m = 1) when a missing key matches everything. It says
    how often an intruder who knows these keys of a person in the file picks the right record. With --population it also
    gives the probability that a match with a person who is alone is right (θ). It prints no respondent's values. The
    page on risk in the documentation explains the numbers.

    \b
    Examples:
      naysay risk panel.csv --keys age,gender
      naysay risk panel.csv --keys age,gender --keys age,gender,job \\
          --population 16700000
      naysay risk panel.csv --keys age,gender,job --population 16700000 \\
          --missing wildcard --missing age=drop,job=category --na "refused,-9"
      naysay risk panel.csv --keys age,month --joined month \\
          --population 16700000 --weight weight --sensitive illness --format json
      naysay risk panel.csv --keys age,income --population 16700000 \\
          --design "income=negative()" --categories "income=low,middle,high"
      naysay risk panel.csv --keys age,gender,job --population 16700000 \\
          --stand-out 2 --attempt acquaintance=0.05 --per-row risk.parquet
      naysay risk panel.csv --keys age,gender,job,income \\
          --population 16700000 --search 3 --resume found.jsonl --html risk.html
    """
    request = Request(options)
    output.check(options.html)
    answers = request.answers()
    if options.per_row is not None:
        answers.write(options.per_row, options.separator)
    {"table": answers.table, "json": answers.json, "csv": answers.csv}[options.format_]()
    output.write(options.html, answers.page)
    if answers.search is not None and answers.search.stopped == "interrupted":
        raise typer.Exit(_INTERRUPTED)


Reporter = Callable[[str, float], None] | None
_NAME = 40  # characters of a quasi-identifier beside its bar
_LONG = 60.0  # seconds; a search that should take longer says so beforehand
_OF_A_PAGE = ("by", "protection")
_OF_A_SEARCH = ("measure", "order", "most", "minutes", "resume")


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

    def __init__(self, options: Options) -> None:
        people = options.population
        self.options = options
        self.asked = key_sets(options.keys)
        self.cells = published(options, self.every) | forms(options)
        self.policies = policies(options.missing or ())
        self.population = int(people) if people is not None and people.is_integer() else people
        self.attempts = chances(options.attempt or ())
        self.also = [name for text in options.also or () for name in record(text, option="--also")]
        self.also += [] if options.household is None else ["household"]
        if options.html is not None:  # a board should not have to know what to ask for
            usual = {"readings": True, "closeness": options.sensitive, "pitman": self.population}
            self.also += [name for name, given in usual.items() if given and name not in self.also]
        self.households: Any = None
        self.orders = orders(options.order or ()) if options.search is not None else {}
        self._check()
        self.protection = None if options.protection is None else log_of(options.protection)

    @property
    def every(self) -> list[str]:
        """All keys that are named."""
        return list(dict.fromkeys(name for names in self.asked for name in names))

    def _check(self) -> None:
        options = self.options
        for name in _OF_A_SEARCH:
            if options.search is None and getattr(options, name) is not None:
                raise DataError(f"--{name} is for a search; ask for one with --search")
        for name in _OF_A_PAGE:
            if options.html is None and getattr(options, name) is not None:
                raise DataError(f"--{name} is for a report; ask for one with --html")
        for name in self.cells:
            if name not in self.every:
                raise DataError(f"{name!r} is declared as a key, but no --keys names it", column=name)
        for name, chance in self.attempts.items():
            scenario(name), probability(chance)
        if options.search is not None:
            if not 1 <= options.search <= len(self.every):
                every = f"the {len(self.every)} that --keys names"
                raise DataError(f"--search must be a number of keys, from 1 to {every}; got {options.search}")
            check_names(list(self.orders), self.every, what="key")
            if options.resume is not None:
                check_free(options.resume, force=True)  # a search goes on with the file that is there
        of_rows = (options.per_row, options.row, options.household)
        if options.engine != "polars" and any(each is not None for each in of_rows):
            told = "use --per-row, --row and --household with --engine polars"
            raise DataError(f"rows on {options.engine} have no order; {told}")
        check_also(self.also, population=self.population, sensitive=options.sensitive)
        if options.per_row is not None:
            files.kind(options.per_row, to_write=True)
            check_free(options.per_row, force=options.force)

    def answers(self) -> Answers:
        """All that is asked for, from the file."""
        options, sensitive = self.options, self.options.sensitive
        # a set of candidates in one column is read like plain cells: from the column of that name
        columns = [column for name in self.every for column in self.cells.get(name, Joined()).columns(name)]
        plain = [name for name in self.every if name not in self.cells]
        na = () if options.na is None else record(options.na, option="--na")
        others = [name for name in (sensitive, options.household) if name is not None]
        source = Source(options, [*columns, *others], plain, na)
        with files.readable(options.file), source.table() as table, _progress() as progress:
            if options.household is not None:
                self.households = Table.of(table).column(options.household)
            read = [self._read(table, policy, progress) for policy in self.policies]
            for names in self.asked if options.explain else ():
                output.note(f"{' + '.join(names)}:")
                for line in str(microdata.explain(read[0].only(names), rule=options.rule)).splitlines():
                    output.note(f"  {line}")
            self._tell_randomized()
            found, keys = self._measured(read, progress), read[0].only(self.every)
            found.keys = keys
            if options.html is not None:
                found.protection = self.protection
                found.provenance = Provenance.of(options.file, keys.n, by=options.by or "")
            self._alone(found, keys, progress)
            if options.search is not None:
                self._searched(found, keys, options.search, progress)
            text = undeclared.sentence(undeclared.codes_in_keys(read[0], [*plain, *([sensitive] if sensitive else [])]))
            if text is not None:
                output.note(text)
            return found

    def _tell_randomized(self) -> None:
        """Say which columns hold randomized answers, and how those among the keys are counted."""
        randomized = files.randomized_columns(self.options.file, encoding=self.options.encoding)
        if randomized:
            output.note(f"randomized answers, not people's own: {', '.join(randomized)}")
        if plain := [name for name in randomized if name in self.every and name not in self.cells]:
            output.note(
                f"{', '.join(plain)}: counted as if they were people's own answers, so that a match may be wrong; name "
                "the design with --design, or leave them out of --keys"
            )
        if self.options.sensitive in randomized:
            output.note(f"{self.options.sensitive}: what is told of it is about the values that were sent")

    def _read(self, table: Any, policy: str | dict[str, str], progress: Reporter) -> Keys:
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

    def _measured(self, read: Sequence[Keys], progress: Reporter) -> Answers:
        """The table of risk under each policy in turn, and the scenarios that were asked for."""
        options = self.options
        tables = [
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
            for keys in read
        ]
        rows = tuple(row for each in tables for row in each.quasi_identifiers)
        tried = [
            [microdata.identification(row, name, attempt=chance) for name, chance in self.attempts.items()]
            for row in rows
        ]
        called = files.variable_labels(options.file, encoding=options.encoding)
        return Answers(replace(tables[0], quasi_identifiers=rows, titles=called), tried)

    def _alone(self, found: Answers, keys: Keys, progress: Reporter) -> None:
        """The keys on which everybody, or one respondent, stands out, where that was asked for."""
        row, largest, rule = self.options.row, self.options.stand_out, self.options.rule
        if row is not None and row > keys.n:
            raise DataError(f"--row must be from 1 to {keys.n:,}, the number of respondents; got {row:,}")
        if len(self.policies) > 1 and not (largest is None and row is None):
            first = self.policies[0]
            named = first if isinstance(first, str) else ",".join(f"{key}={policy}" for key, policy in first.items())
            output.note(f"--stand-out and --row are for the first --missing, {named}")
        most = None if largest is None else min(largest, len(self.every))
        if most is not None:
            found.stand_out = microdata.stand_out(keys, most=most, rule=rule, progress=progress)
        if row is not None:
            found.row = row
            found.own = microdata.stand_out_of(keys, row - 1, most=most, rule=rule, progress=progress)

    def _searched(self, found: Answers, keys: Keys, size: int, progress: Reporter) -> None:
        """The search and, unless it was interrupted, contributions and recodings of the worst combination."""
        options, rule, measure = self.options, self.options.rule, self.options.measure or "matches"
        if options.resume is None or not options.resume.exists():
            plan = microdata.search_plan(keys, size=size, rule=rule)
            if plan.time > _LONG:
                output.note(f"{plan}; smaller: {plan.smaller}")
        found.search = search = microdata.search(
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
        found.contributions = microdata.contributions(search, progress=progress)
        worst = keys.only(search.combinations[0].keys)
        orders = {name: _values(worst, name, self.orders[name]) for name in worst.columns if name in self.orders}
        coarser = microdata.recodings(worst, rule=rule, measure=measure, orders=orders, progress=progress)
        found.recodings = replace(coarser, worst=everywhere(search, coarser))


def _values(keys: Keys, name: str, texts: Sequence[str]) -> list[Any]:
    """The values of a key that these texts write; files other than CSV hold numbers and truth values."""
    written = {str(value): value for value in keys.variable(name).cells.values if value is not None}
    return [written.get(text, text) for text in texts]


@contextmanager
def _progress() -> Iterator[Reporter]:
    """How far the work is, on a terminal's stderr."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=None)

        def told(name: str, share: float) -> None:
            cut = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
            progress.update(task, description=cut, total=1, completed=share)

        yield told


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
    own : key sets on which that respondent stands out
    search : Search, optional
    contributions, recodings : optional
        From the search, unless it was interrupted.
    protection, provenance : optional
        For the page: what was done to the file before, and where the report comes from.
    """

    risk: RiskTable
    tried: Sequence[Sequence[Identification]]
    keys: Keys | None = None
    stand_out: StandOut | None = None
    row: int | None = None
    own: Sequence[tuple[str, ...]] = ()
    search: Search | None = None
    contributions: Contributions | None = None
    recodings: Recodings | None = None
    protection: Mapping[str, Any] | None = None
    provenance: Provenance | None = None

    def write(self, path: Path, separator: str) -> None:
        """Write k and m of every respondent, what measures say of each, and how few keys make them stand out."""
        columns: dict[str, Any] = {"row": pl.int_range(1, self.risk.n + 1, eager=True)}
        for row in self.risk.quasi_identifiers:
            if row.records is not None:
                columns[f"k: {row.label}"] = _series(row.records.anonymity)
                columns[f"m: {row.label}"] = _series(row.records.matches)
                each = {name: values for measure in row.measures for name, values in measure.of_each().items()}
                columns |= {
                    f"{name}: {row.label}": pl.Series(values, nan_to_null=True) for name, values in each.items()
                }
        if self.stand_out is not None:
            columns["keys to stand out"] = self.stand_out.size
        files.write(pl.DataFrame(columns), path, separator=separator)
        output.note(f"{path}: k and m of {self.risk.n:,} respondents; whoever reads it can find those who stand out")

    def page(self) -> str:
        """The report for the board."""
        return risk_html(
            self.risk,
            keys=self.keys,
            identifications=self.tried,
            search=self.search,
            contributions=self.contributions,
            recodings=self.recodings,
            protection=self.protection,
            provenance=self.provenance,
        )

    def table(self) -> None:
        """Print the tables as a person reads them."""
        output.say(str(self.risk))
        for row, tried in zip(self.risk.quasi_identifiers, self.tried, strict=True):
            for each in tried:
                output.say(f"{row.label}, {each.scenario.name}: {each}")
        sets = "; ".join(" + ".join(names) for names in self.own) or "no set of keys that was tried"
        own = None if self.row is None else f"row {self.row} stands out on {sets}"
        for part in (self.stand_out, own, self.search, self.contributions, self.recodings):
            if part is not None:
                output.say()
                output.say(str(part))

    def json(self) -> None:
        """Print one JSON object."""
        told = self.risk.to_dict()
        for row, tried in zip(told["quasi_identifiers"], self.tried, strict=True):
            if tried:
                row["identification"] = {each.scenario.name: each.to_dict() for each in tried}
        if self.stand_out is not None:
            told["stand_out"] = self.stand_out.to_dict()
        if self.row is not None:
            told["row"] = {"row": self.row, "stands_out_on": [list(names) for names in self.own]}
        if self.search is not None:
            parts = {"contributions": self.contributions, "recodings": self.recodings}
            more = {name: None if part is None else part.to_dict() for name, part in parts.items()}
            told["search"] = self.search.to_dict() | more
        output.say(output.json_text(told))

    def csv(self) -> None:
        """Print one row of CSV for each quasi-identifier; reservations go to stderr."""
        rows = [_flat(row, self.risk) for row in self.risk.to_dict()["quasi_identifiers"]]
        names = list(dict.fromkeys(name for row in rows for name in row))  # a measure may tell of some keys only
        output.say(record_text(names))
        for row in rows:
            output.say(record_text([row.get(name) for name in names]))
        for text in self.risk.reservations:
            output.note(text)
        if self.search is not None:
            output.note(
                "csv holds the quasi-identifiers that were named; json and table also hold what the search found"
            )
        asked = {"--attempt": any(self.tried), "--stand-out": self.stand_out is not None, "--row": self.row is not None}
        left = [option for option, given in asked.items() if given]
        if left:
            output.note(f"{' and '.join(left)} {'is' if len(left) == 1 else 'are'} not in csv; ask for table or json")


def _series(sizes: np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]) -> pl.Series:
    """Sizes with null where a respondent has none."""
    gone = pl.Series(np.ma.getmaskarray(sizes))
    return pl.select(pl.when(~gone).then(pl.Series(sizes.data))).to_series()


def _flat(row: Mapping[str, Any], risk: RiskTable) -> dict[str, Any]:
    """One row of CSV: keys and policies as records, and each field of a measure named ``measure.field``."""
    policies = [f"{name}={policy}" for name, policy in row["missing"].items()]
    flat: dict[str, Any] = {"keys": record_text(row["keys"]), "missing": record_text(policies)}
    flat |= {"n": risk.n, "population": risk.population}
    for kind in risk.kinds:
        for name, value in row.get(kind.name, {}).items():
            if name.endswith("_interval"):
                stem = f"{kind.name}.{name.removesuffix('_interval')}"
                flat |= dict(zip((f"{stem}_low", f"{stem}_high"), value, strict=True))
            elif isinstance(value, Mapping):
                flat |= {f"{kind.name}.{name}.{inner}": number for inner, number in value.items()}
            else:
                flat[f"{kind.name}.{name}"] = record_text(value) if isinstance(value, list) else value
    return flat


def record(text: str, *, option: str) -> tuple[str, ...]:
    """The names that one CSV record lists."""
    try:
        rows = list(csv.reader([text], strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise DataError(f"{option} must be one CSV record, such as 'age,gender'; {error}") from None
    names = tuple(rows[0]) if rows else ()
    if not names or not all(name.strip() for name in names):
        raise DataError(f"{option} must list names with commas, such as 'age,gender'; got {text!r}")
    return names


def key_sets(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """The sets of keys that ``--keys`` lists, one for each time it is given.

    Raises
    ------
    DataError
        A key that a set names twice, or a set that stands twice, in whatever order.
    """
    sets: list[tuple[str, ...]] = []
    for text in texts:
        names = record(text, option="--keys")
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            raise DataError(f"{twice!r} is named twice in --keys {text!r}; name each key once", column=twice)
        same = next((other for other in sets if set(other) == set(names)), None)
        if same is not None:
            told = f"--keys lists the same keys twice, as {','.join(same)!r} and as {text!r}"
            raise DataError(f"{told}: what an intruder knows has no order; give each set once")
        sets.append(names)
    return sets


def check_free(path: Path, *, force: bool) -> None:
    """Raise unless a file can be written there: in a folder that exists, and over another only with ``--force``."""
    if path.exists() and not force:
        raise DataError(f"{str(path)!r} exists; add --force to overwrite it")
    if not path.parent.is_dir():
        raise DataError(f"there is no folder {str(path.parent)!r} to write to")


def named(texts: Iterable[str], *, option: str, example: str) -> dict[str, str]:
    """The values of ``NAME=VALUE`` options, by name."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name or not value:
            raise DataError(f"{option} must be NAME=VALUE, such as {example}; got {text!r}")
        if name in found:
            raise DataError(f"{option} is given twice for {name!r}")
        found[name] = value
    return found


def policies(texts: Sequence[str]) -> list[str | dict[str, str]]:
    """For each ``--missing``, one policy or one for each key; without any, ``wildcard``."""
    found: list[str | dict[str, str]] = []
    for text in texts:
        parts = record(text, option="--missing")
        plain = [part for part in parts if "=" not in part]
        if not plain:
            found.append(named(parts, option="--missing", example="age=drop,income=category"))
        elif len(parts) == 1:
            found.append(parts[0])
        else:
            got = f"got {plain[0]!r} in {text!r}"
            raise DataError(f"--missing must be one policy for all keys, or KEY=POLICY for each; {got}")
    return found or ["wildcard"]


def forms(options: Options) -> dict[str, Form]:
    """How each key writes its candidates, from the options that declare it."""
    found: dict[str, Form] = {}
    for name in options.joined or ():
        _once(found, name)[name] = Joined()
    pair = "month=first_month,second_month"
    for option, texts in (("--either", options.either or ()), ("--between", options.between or ())):
        for name, value in named(texts, option=option, example=pair).items():
            columns = record(value, option=option)
            if len(columns) != 2:
                raise DataError(f"{option} must name two columns, such as {pair}; got {value!r}")
            _once(found, name)[name] = Either(*columns) if option == "--either" else Between(*columns)
    labels = named(options.categories or (), option="--categories", example="income=low,middle,high")
    levels = named(options.level or (), option="--level", example="income=income_level")
    designs = named(options.design or (), option="--design", example='income="negative(discards=2)"')
    for option, others in (("--categories", labels), ("--level", levels)):
        for name in others:
            if name not in designs:
                raise DataError(f"{option} is for answers given under a design; {name!r} has no --design")
    for name, text in designs.items():
        _once(found, name)[name] = Privatized(design_of(text, labels.get(name)), level=levels.get(name))
    return found


def published(options: Options, keys: Iterable[str]) -> dict[str, Form]:
    """How private columns among these keys write their candidates, from the codebook beside a survey's export."""
    known = files.designs_of(options.file, codes=options.codes)
    return {name: Privatized(known[name].design, level=known[name].level) for name in keys if name in known}


def log_of(path: Path) -> dict[str, Any]:
    """The log of a protected file, from TOML or JSON.

    Raises
    ------
    DataError
        A file that cannot be read, or is no log.
    """
    try:
        text = path.read_text(encoding="utf-8")
        told = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
        protection(told)
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}, the log of --protection: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{str(path)!r} is no log of naysay protect ({error})") from None
    return dict(told)


def _once(found: dict[str, Form], name: str) -> dict[str, Form]:
    if name in found:
        every = "--joined, --either, --between, --design"
        raise DataError(f"the candidates of {name!r} are declared twice; use one of {every}")
    return found


def orders(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The order of the values of each key that has one."""
    given = named(texts, option="--order", example="school=none,primary,secondary")
    return {name: record(value, option="--order") for name, value in given.items()}


def chances(texts: Sequence[str]) -> dict[str, float]:
    """Pr(attempt) for each scenario."""
    found = {}
    for name, text in named(texts, option="--attempt", example="acquaintance=0.05").items():
        try:
            found[name] = float(text)
        except ValueError:
            told = f"--attempt must be a probability, such as acquaintance=0.05; got {_checks.shown([text])}"
            raise DataError(told) from None
    return found
