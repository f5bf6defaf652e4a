"""``naysay risk``: who stands out in a file of respondents, on which keys, and how sure an intruder could be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from naysay import files, microdata
from naysay.console import output, pages
from naysay.console.options import Codes, Encoding, File, Separator
from naysay.errors import DataError
from naysay.microdata import Form, Joined, Keys
from naysay.microdata.commands import keys as written
from naysay.microdata.commands import risk_output, risk_search
from naysay.microdata.commands.engines import EngineName, Source
from naysay.microdata.commands.risk_output import Told
from naysay.microdata.report import page as risk_page
from naysay.microdata.risk.scenarios import probability, scenario

__all__ = ["command"]

Rule = Literal["worst", "intersect", "first"]
Measure = Literal["matches", "anonymity"]
Reporter = Callable[[str, float], None] | None
_INTERRUPTED = 130
_NAME = 40  # characters of a quasi-identifier beside its bar


def command(
    file: File,
    keys: Annotated[
        list[str],
        typer.Option(metavar="RECORD", help="A quasi-identifier: its key variables. Once for each that is assessed."),
    ],
    population: Annotated[
        float | None,
        typer.Option(metavar="N", help="People from whom the respondents are a sample; only θ and weights need it."),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICIES",
            help="What a missing key means: wildcard (matches everything, the default), category (a value of its own) "
            "or drop, for all keys or as age=drop,income=category. Several times: side by side.",
        ),
    ] = None,
    na: Annotated[
        str | None, typer.Option(metavar="RECORD", help="Cells that mean missing, such as 'Not_Say,NA,-9'.")
    ] = None,
    rule: Annotated[
        Rule, typer.Option(help="How uncertain keys match: for the worst candidate, by any, or by the first.")
    ] = "worst",
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Sampling weights: people that a respondent stands for.")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Tell how many of its values people alike on the keys have.")
    ] = None,
    joined: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="A key whose cells list candidates, as 'March;April'.")
    ] = None,
    either: Annotated[
        list[str] | None, typer.Option(metavar="KEY=A,B", help="A key with two candidates, from columns A and B.")
    ] = None,
    between: Annotated[
        list[str] | None, typer.Option(metavar="KEY=LOW,HIGH", help="A key known to lie between two columns.")
    ] = None,
    design: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=DESIGN", help="A key of privatized answers, as income='negative(discards=2)'."),
    ] = None,
    categories: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=RECORD", help="The categories of that design, unless it names them."),
    ] = None,
    level: Annotated[
        list[str] | None, typer.Option(metavar="KEY=COLUMN", help="The level chosen, where the design offers levels.")
    ] = None,
    attempt: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCENARIO=P",
            help="Pr(attempt) in your judgment, for Pr(identification): acquaintance, demonstration or register.",
        ),
    ] = None,
    stand_out: Annotated[
        int | None,
        typer.Option(min=1, metavar="MOST", help="The fewest keys, up to MOST, on which people match only themselves."),
    ] = None,
    row: Annotated[
        int | None, typer.Option(min=1, metavar="ROW", help="The same for one respondent, counted from 1.")
    ] = None,
    search: Annotated[
        int | None,
        typer.Option(metavar="Q", help="Count every combination of up to Q of the keys, and rank them."),
    ] = None,
    measure: Annotated[
        Measure | None, typer.Option(help="What --search ranks by: m = 1 (matches, the default), or k = 1.")
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=RECORD", help="The order of a key's values, to put neighbors together."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Combinations that --search counts now, at most.")
    ] = None,
    minutes: Annotated[float | None, typer.Option(metavar="MINUTES", help="Time that --search takes, at most.")] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where --search keeps what is finished, and goes on from."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report for a review board, one page.")
    ] = None,
    per_row: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write k and m of every respondent, without the keys.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE of --per-row if it exists.")] = False,
    engine: Annotated[EngineName, typer.Option(help="Where the respondents are counted.")] = "polars",
    explain: Annotated[
        bool, typer.Option("--explain", help="Say on stderr which algorithm is taken, and what it should cost.")
    ] = False,
    confidence: Annotated[float, typer.Option(help="Of θ's intervals.")] = 0.95,
    format_: Annotated[
        Literal["table", "json", "csv"], typer.Option("--format", help="Numbers in json and csv are not rounded.")
    ] = "table",
    separator: Separator = ",",
    encoding: Encoding = None,
    codes: Codes = False,
) -> None:
    """Tell how identifiable the respondents of a file are.

    For each quasi-identifier: how many respondents are alone with their key variables (k = 1) after those with a
    missing key are deleted; how many match only themselves (m = 1) when what is missing matches everything; how often
    an intruder who knows these keys of a person in the file picks the right record; and, with --population, θ, the
    probability that a match with a person who is alone is right. Reads a file with one row for each respondent. Values
    of respondents are not printed. What the numbers mean: the page on risk in the documentation.

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
    sets = [written.record(text, option="--keys") for text in keys]
    people = int(population) if population is not None and population.is_integer() else population
    limits = {"measure": measure, "order": order, "most": most, "minutes": minutes, "resume": resume}
    cells = written.forms(
        joined=joined or (),
        either=either or (),
        between=between or (),
        design=design or (),
        categories=categories or (),
        level=level or (),
    )
    request = _Request(
        sets,
        {name: form for name, form in cells.items() if any(name in names for names in sets)},
        written.policies(missing or ()),
        people,
        rule,
        weight,
        sensitive,
        confidence,
        written.chances(attempt or ()),
        stand_out,
        None if row is None else row - 1,
        _searched(search, limits, rule=rule, population=None if weight else people, confidence=confidence),
    )
    request.check(cells, per_row, force=force, engine=engine)
    pages.check(html)
    absent = () if na is None else written.record(na, option="--na")
    source = Source(file, request.columns, request.plain, weight, absent, separator, encoding, codes)
    told = _told(source, engine, request, explain=explain, records=per_row is not None, described=html is not None)
    if per_row is not None:
        risk_output.write(told, per_row, separator)
    {"table": risk_output.table, "json": risk_output.json, "csv": risk_output.csv}[format_](told)
    pages.write(html, lambda: _page(told))
    if told.found is not None and told.found.search.stopped == "interrupted":
        raise typer.Exit(_INTERRUPTED)


def _searched(search: int | None, limits: Mapping[str, Any], **others: Any) -> risk_search.Asked | None:
    """The search that is asked for; an error for options that need one where there is none."""
    if search is not None:
        orders = written.orders(limits["order"] or ())
        most, minutes, resume = (limits[name] for name in ("most", "minutes", "resume"))
        return risk_search.Asked(search, limits["measure"] or "matches", orders, most, minutes, resume, **others)
    for name, value in limits.items():
        if value is not None:
            raise DataError(f"--{name} is for a search; ask for one with --search")
    return None


def _told(
    source: Source, engine: EngineName, request: _Request, *, explain: bool, records: bool, described: bool
) -> Told:
    """All answers, from the file."""
    with files.readable(source.path), source.on(engine) as table, _progress() as progress:
        read = request.encoded(table, progress) if explain or described or request.once else None
        if explain and read is not None:
            _explain(request, read)
        return request.answer(table, read, progress, records=records, described=described)


def _page(told: Told) -> str:
    found = told.found
    return risk_page.risk_html(
        told.risk,
        keys=told.keys,
        identifications=told.tried,
        search=None if found is None else found.search,
        contributions=None if found is None else found.contributions,
        recodings=None if found is None else found.recodings,
    )


@dataclass(frozen=True)
class _Request:
    """What is asked of a file."""

    asked: Sequence[tuple[str, ...]]
    cells: Mapping[str, Form]
    policies: Sequence[str | dict[str, str]]
    population: float | None
    rule: Rule
    weight: str | None
    sensitive: str | None
    confidence: float
    attempts: Mapping[str, float]
    stand_out: int | None
    row: int | None
    search: risk_search.Asked | None = None

    @property
    def every(self) -> list[str]:
        """All keys that are named."""
        return list(dict.fromkeys(name for names in self.asked for name in names))

    @property
    def columns(self) -> list[str]:
        """The columns that they, and the sensitive variable, are read from."""
        read = [column for name in self.every for column in self._form(name).columns(name)]
        return [*read, *([] if self.sensitive is None else [self.sensitive])]

    @property
    def plain(self) -> list[str]:
        """Keys that are columns of plain values."""
        return [name for name in self.every if name not in self.cells]

    def _form(self, name: str) -> Form:
        return self.cells.get(name, Joined())  # which like plain cells is read from the column of that name

    def check(self, cells: Mapping[str, Form], per_row: Path | None, *, force: bool, engine: EngineName) -> None:
        """Raise for what can be known to be wrong before the file is read."""
        for name in cells:
            if name not in self.every:
                raise DataError(f"{name!r} is declared as a key, but no --keys names it", column=name)
        for name, chance in self.attempts.items():
            scenario(name), probability(chance)
        if self.search is not None:
            self.search.check(self.every)
        if per_row is None and self.row is None:
            return
        if engine != "polars":
            raise DataError(f"rows on {engine} have no order; use --per-row and --row with --engine polars")
        if per_row is not None:
            files.kind(per_row, to_write=True)
            if per_row.exists() and not force:
                raise DataError(f"{str(per_row)!r} exists; add --force to overwrite it")
            if not per_row.parent.is_dir():
                raise DataError(f"there is no folder {str(per_row.parent)!r} to write to")

    @property
    def once(self) -> bool:
        """Whether keys encoded under the first policy answer something."""
        asked = (self.stand_out, self.row, self.search)
        return len(self.policies) == 1 or any(each is not None for each in asked)

    def answer(self, table: Any, read: Keys | None, progress: Reporter, *, records: bool, described: bool) -> Told:
        """All that is asked for, from the keys that are read already where these are enough."""
        several = read is None or len(self.policies) > 1
        found = microdata.risk_table(
            table if several else read,
            self.asked,
            population=self.population,
            rule=self.rule,
            missing=self.policies if several else "wildcard",
            cells=self.cells if several else None,
            weights=self.weight,
            sensitive=self.sensitive,
            confidence=self.confidence,
            records=records,
            progress=progress,
        )
        tried = [
            [microdata.identification(row, name, attempt=chance) for name, chance in self.attempts.items()]
            for row in found.quasi_identifiers
        ]
        alone = self.stand_out is None and self.row is None
        if read is None or (alone and self.search is None and not described):
            return Told(found, tried, None, None, ())
        every = read.only(self.every)
        if self.row is not None and self.row >= every.n:
            raise DataError(f"there are {every.n:,} respondents; --row counts from 1, and got {self.row + 1:,}")
        if len(self.policies) > 1 and not alone:
            first = self.policies[0]
            named = first if isinstance(first, str) else ",".join(f"{key}={policy}" for key, policy in first.items())
            output.note(f"--stand-out and --row are for the first --missing, {named}")
        most = None if self.stand_out is None else min(self.stand_out, len(self.every))
        sets = None if most is None else microdata.stand_out(every, most=most, rule=self.rule, progress=progress)
        own = (
            ()
            if self.row is None
            else microdata.stand_out_of(every, self.row, most=most, rule=self.rule, progress=progress)
        )
        searched = None if self.search is None else self.search.answer(every, progress)
        return Told(found, tried, sets, self.row, own, searched, every)

    def encoded(self, table: Any, progress: Reporter) -> Keys:
        """All keys under the first policy, and the sensitive variable, read once."""
        if self.sensitive in self.every:
            raise DataError(f"the sensitive variable must not be a key; {self.sensitive!r} is both")
        policy = self.policies[0]
        policies = dict.fromkeys(self.every, policy) if isinstance(policy, str) else policy
        names = [*self.every, *([] if self.sensitive is None else [self.sensitive])]
        told = None if progress is None else partial(progress, "reading keys")
        return Keys(table, names, missing=policies, cells=self.cells, weights=self.weight, progress=told)


@contextmanager
def _progress() -> Iterator[Reporter]:
    """How far the work is, on a terminal's stderr."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=None)
        yield lambda name, share: progress.update(task, description=_cut(name), total=1, completed=share)


def _cut(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def _explain(request: _Request, every: Keys) -> None:
    for names in request.asked:
        output.note(f"{' + '.join(names)}:")
        for line in str(microdata.explain(every.only(names), rule=request.rule)).splitlines():
            output.note(f"  {line}")
