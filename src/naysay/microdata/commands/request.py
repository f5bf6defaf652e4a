"""What ``naysay risk`` is asked: the options read and checked, and the work that answers them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from naysay import files, microdata
from naysay.console import output
from naysay.errors import DataError
from naysay.microdata import (
    Joined,
    Keys,
)
from naysay.microdata.combinations.recodings import everywhere
from naysay.microdata.commands import undeclared
from naysay.microdata.commands.answers import Answers
from naysay.microdata.commands.declared import (
    chances,
    check_free,
    forms,
    key_sets,
    log_of,
    orders,
    policies,
    published_forms,
    record,
)
from naysay.microdata.commands.risk_options import RiskOptions
from naysay.microdata.commands.source import Source
from naysay.microdata.keys.table import Table, check_names
from naysay.microdata.report.page import Provenance
from naysay.microdata.risk.scenarios import probability, scenario
from naysay.microdata.risk.table import check_also

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

    def __init__(self, options: RiskOptions) -> None:
        people = options.population
        self.options = options
        self.asked = key_sets(options.keys)
        self.cells = published_forms(options, self.every) | forms(options)
        self.policies = policies(options.missing or ())
        self.population = int(people) if people is not None and people.is_integer() else people
        self.attempts = chances(options.attempt or ())
        self.also = [name for text in options.also or () for name in record(text, option="--also")]
        self.also += [] if options.household is None else ["household"]
        if options.html is not None:  # a board should not have to know what to ask for
            usual = {"readings": True, "closeness": options.sensitive, "pitman": self.population}
            self.also += [name for name, is_given in usual.items() if is_given and name not in self.also]
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
        if options.engine != "polars" and any(option_of_rows is not None for option_of_rows in of_rows):
            advice = "use --per-row, --row and --household with --engine polars"
            raise DataError(f"rows on {options.engine} have no order; {advice}")
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
            keys_by_policy = [self._keys_under(table, policy, progress) for policy in self.policies]
            for names in self.asked if options.explain else ():
                output.note(f"{' + '.join(names)}:")
                for line in str(microdata.explain(keys_by_policy[0].only(names), rule=options.rule)).splitlines():
                    output.note(f"  {line}")
            self._tell_randomized()
            answers, keys = self._measure_risk(keys_by_policy, progress), keys_by_policy[0].only(self.every)
            answers.keys = keys
            if options.html is not None:
                answers.protection = self.protection
                answers.provenance = Provenance.of(options.file, keys.n, by=options.by or "")
            self._add_stand_out(answers, keys, progress)
            if options.search is not None:
                self._add_search(answers, keys, options.search, progress)
            text = undeclared.sentence(
                undeclared.codes_in_keys(keys_by_policy[0], [*plain, *([sensitive] if sensitive else [])])
            )
            if text is not None:
                output.note(text)
            return answers

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

    def _keys_under(self, table: Any, policy: str | dict[str, str], progress: Reporter) -> Keys:
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
            for keys in keys_by_policy
        ]
        rows = tuple(row for risk_table in tables for row in risk_table.quasi_identifiers)
        tried = [
            [microdata.identification(row, name, attempt=chance) for name, chance in self.attempts.items()]
            for row in rows
        ]
        variable_titles = files.variable_labels(options.file, encoding=options.encoding)
        return Answers(replace(tables[0], quasi_identifiers=rows, titles=variable_titles), tried)

    def _add_stand_out(self, answers: Answers, keys: Keys, progress: Reporter) -> None:
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
            answers.stand_out = microdata.stand_out(keys, most=most, rule=rule, progress=progress)
        if row is not None:
            answers.row = row
            answers.row_key_sets = microdata.stand_out_of(keys, row - 1, most=most, rule=rule, progress=progress)

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
        answers.contributions = microdata.contributions(search, progress=progress)
        worst = keys.only(search.combinations[0].keys)
        orders = {name: _values(worst, name, self.orders[name]) for name in worst.columns if name in self.orders}
        coarser = microdata.recodings(worst, rule=rule, measure=measure, orders=orders, progress=progress)
        answers.recodings = replace(coarser, worst=everywhere(search, coarser))


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
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=None)

        def show_progress(name: str, share: float) -> None:
            cut = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
            progress.update(task, description=cut, total=1, completed=share)

        yield show_progress
