"""``naysay plan``: how many respondents, how precise, how private, and whether randomizing pays."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from naysay import _checks, planning, privacy, show
from naysay.console import options, output
from naysay.console.commands import takes
from naysay.console.methods import estimators
from naysay.console.people import Preferences, listed, numbers, preferences_of
from naysay.design import Answerable
from naysay.design.several import whole_people
from naysay.errors import DataError
from naysay.planning import Comparison, Liars, page
from naysay.planning.power import exclusion, people_for, two_groups
from naysay.show import Column, Points, Table
from naysay.show.text import csv_text

_USUAL = 1_000
_CSV = ("category", "proportion", "standard_error", "variance_of_one", "n", "n_second_group", "power")


@dataclass(frozen=True)
class Options:
    """The options of ``naysay plan``."""

    design: Annotated[list[str], options.design_option]
    proportions: Annotated[
        str, typer.Option(metavar="SHARES", help="Assumed proportions of the population, such as 0.1,0.9.")
    ]
    categories: options.Categories = None
    people: Annotated[int | None, typer.Option("--n", help="Respondents who answer, in each group.")] = None
    standard_error: Annotated[
        float | None, typer.Option(help="The standard error to reach; gives the number of respondents.")
    ] = None
    null: Annotated[float | None, typer.Option(help="A value from which to distinguish the proportion.")] = None
    versus: Annotated[
        str | None, typer.Option(metavar="SHARES", help="Assumed proportions of a second group to compare with.")
    ] = None
    power: Annotated[float, typer.Option(help="How often the test shall detect the difference.")] = 0.8
    confidence: Annotated[float, typer.Option(help="Confidence of intervals; a test has size 1 - confidence.")] = 0.95
    category: Annotated[
        str | None, typer.Option(help="The category whose proportion counts; of two, by default the first.")
    ] = None
    estimator: Annotated[str | None, typer.Option(metavar="METHOD", help=estimators(published=False))] = None
    preferences: Preferences = None
    target: Annotated[options.Target, typer.Option(help="file: only the randomization is random.")] = "population"
    compare: Annotated[bool, typer.Option("--compare", help="Compare several designs.")] = False
    vary: Annotated[
        str | None, typer.Option(metavar="NAME=…", help="With --compare: values of a parameter, such as p=0.6,0.7,0.8.")
    ] = None
    liars: Annotated[
        float | None, options.share("With --compare: share of the category's members who lie when asked directly.")
    ] = None
    says: Annotated[
        str | None, typer.Option(metavar="CATEGORY", help="What liars say; by default any other category.")
    ] = None
    liars_under_design: Annotated[float, options.share("Share of those who lie even under a randomized design.")] = 0.0
    format_: options.Format = "table"
    html: options.Html = None

    @property
    def pi(self) -> tuple[float, ...]:
        """The proportions of the population."""
        return numbers(self.proportions, "--proportions")

    @property
    def second(self) -> tuple[float, ...]:
        """The proportions of the second group."""
        return numbers(self.versus or "", "--versus")

    def assumed(self, design: Answerable) -> dict[str, Any]:
        """The assumptions for all designs, with preferences over this design's levels."""
        preferences = preferences_of(self.preferences, design)
        return {"estimator": self.estimator, "preferences": preferences, "target": self.target}

    def check(self) -> None:
        """Raise if goals or options exclude each other."""
        goals = {"--standard-error": self.standard_error, "--null": self.null, "--versus": self.versus}
        named = [option for option, value in goals.items() if value is not None]
        if len(named) > 1:
            raise DataError(f"{' and '.join(named)} are different goals; give one of them")
        if self.compare and named and self.standard_error is None:
            raise DataError("--compare is about precision; leave --null and --versus out")
        if self.compare:
            return
        if self.standard_error is not None and self.people is not None:
            raise DataError("give --n or --standard-error, not both: one follows from the other")
        if self.vary is not None or self.liars is not None:
            raise DataError(f"{'--vary' if self.vary is not None else '--liars'} goes with --compare")
        if len(self.design) > 1:
            raise DataError(
                f"give --design once, or put the {len(self.design)} designs beside one another with --compare"
            )


@takes(Options)
def command(asked: Options) -> None:
    """Plan a survey: respondents, precision and power; with --compare, precision against privacy.

    Give --n to see what this many respondents reach, --standard-error to see how many are needed, and --null or
    --versus for a difference to detect. With --compare, give --design once for each design. With --compare and --liars,
    the direct question is compared too. Lying biases it, however many people answer. So above some number of
    respondents, randomizing pays.

    \b
    Examples:
      naysay plan --design "warner(p=0.7)" --proportions 0.1,0.9 \\
          --standard-error 0.02
      naysay plan --design "negative(discards=2)" --categories "a,b,c,d" \\
          --proportions 0.4,0.3,0.2,0.1 --n 1000 --format json
      naysay plan --design "two_coins()" --proportions 0.1,0.9 --null 0.05
      naysay plan --design "warner(p=0.8)" --proportions 0.1,0.9 \\
          --versus 0.2,0.8 --power 0.9
      naysay plan --compare --design "warner(p=0.7)" --vary p=0.6,0.7,0.8,0.9 \\
          --proportions 0.1,0.9 --liars 0.4 --says no --html plan.html
    """
    output.check(asked.html)
    # Read the numbers first: their errors shall come before errors in a design.
    _ = asked.pi, asked.versus and asked.second
    asked.check()
    named = _designs(asked)
    first = next(iter(named.values()))
    choosing = next((each for each in named.values() if each.assigned_by == "respondent"), first)
    assumed = asked.assumed(choosing)
    above: list[str] = []
    if asked.compare:
        found = _compared(named, asked, assumed)
        output.result(found, asked.format_)
    else:
        plan = _planned(first, asked, assumed)
        output.result(plan, asked.format_)
        category = asked.category or _checks.label(first.categories[0])
        asked = replace(asked, category=category, people=plan.n)
        above = [plan.reached, *plan.warnings]
    output.write(asked.html, lambda: page.comparison_html(_compared(named, asked, assumed), above=above))


def _designs(asked: Options) -> dict[str, Answerable]:
    """The designs by name; with --vary, one for each value of the parameter."""
    vary = asked.vary
    calls = asked.design if vary is None else [call for text in asked.design for call in _varied(text, vary)]
    found = [options.design_of(call, asked.categories) for call in calls]
    named = {design.name or call: design for call, design in zip(calls, found, strict=True)}
    if len(named) < len(found):
        raise DataError(f"designs to compare must differ; got {_checks.shown(calls)}")
    return named


def _varied(text: str, vary: str) -> list[str]:
    """The call, once for each value of the parameter."""
    name, _, values = vary.partition("=")
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        node = None
    if not name.strip().isidentifier() or not values.strip():
        raise DataError(f"--vary must be a parameter with its values, such as p=0.6,0.7,0.8; got {vary!r}")
    if not isinstance(node, ast.Call):
        raise DataError(f"--vary needs a design that is written as a call, such as 'warner(p=0.7)'; got {text[:80]!r}")
    kept = [keyword for keyword in node.keywords if keyword.arg != name.strip()]
    calls = []
    for value in listed(values):
        try:
            varied = ast.keyword(arg=name.strip(), value=ast.parse(value.strip(), mode="eval").body)
        except (SyntaxError, ValueError):
            raise DataError(f"--vary {name.strip()}: {value!r} is no value") from None
        calls.append(ast.unparse(ast.Call(func=node.func, args=node.args, keywords=[*kept, varied])))
    return calls


def _compared(named: dict[str, Answerable], asked: Options, assumed: dict[str, Any]) -> Comparison:
    return planning.compare(
        named,
        asked.pi,
        n=_USUAL if asked.people is None else asked.people,
        category=asked.category,
        standard_error=asked.standard_error,
        liars=None if asked.liars is None else Liars(asked.liars, asked.says, asked.liars_under_design),
        **assumed,
    )


def _planned(design: Answerable, asked: Options, assumed: dict[str, Any]) -> Plan:
    """The plan of one design. Numbers that are not given follow from the goal."""
    found, n = planning.variance(design, asked.pi, **assumed), asked.people
    told = {"category": asked.category, "confidence": asked.confidence, **assumed}
    if asked.standard_error is not None:
        return Plan(asked, design, found, people_for(found, asked.standard_error, asked.category))
    if asked.null is not None:
        if n is None:
            n = planning.sample_size(design, asked.pi, null=asked.null, power=asked.power, **told)
        power = planning.power(design, asked.pi, n=n, null=asked.null, **told)
        return Plan(asked, design, found, n, power=power)
    if asked.versus is not None:
        if n is None:
            sizes = planning.difference_sample_size(design, asked.pi, asked.second, power=asked.power, **told)
        else:
            sizes = (n, n)
        power = planning.difference_power(design, asked.pi, asked.second, n=sizes, **told)
        other = planning.variance(design, asked.second, **assumed)
        return Plan(asked, design, found, sizes[0], sizes[1], power, other)
    return Plan(asked, design, found, _USUAL if n is None else n)


class Errors(NamedTuple):
    """Proportions, or differences between them, with their standard errors, (t,) each."""

    what: str
    values: NDArray[np.float64]
    errors: NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """The plan of one design: the numbers of respondents, their precision, and the power if there is a difference."""

    asked: Options
    design: Answerable
    found: planning.Variance
    n: int
    second: int | None = None
    power: float | None = None
    other: planning.Variance | None = None

    @property
    def errors(self) -> list[Errors]:
        """The standard errors for one group; or for two groups and the difference between them."""
        first = Errors("", self.found.values, self.found.standard_errors(self.n))
        if self.other is None or self.second is None:
            return [first]
        second = Errors("second group", self.other.values, self.other.standard_errors(self.second))
        apart = Errors("difference", first.values - second.values, np.hypot(first.errors, second.errors))
        return [first._replace(what="first group"), second, apart]

    @property
    def warnings(self) -> list[str]:
        """Warnings for the reader of the plan."""
        near = [_checks.label(name) for name in self.found.near_zero(self.n)]
        told = "a maximum-likelihood estimate is cut off there, so try it with naysay simulate"
        cut_off = [f"within two standard errors of 0: {', '.join(near)}; {told}"] if near else []
        return [*cut_off, *self._whole_people(), *self._rests()]

    def _whole_people(self) -> list[str]:
        """The shares of a file that no whole number of people has, where a power is told."""
        if self.power is None or self.asked.target != "file":
            return []
        groups = [(self.n, self.asked.pi), *([(self.second, self.asked.second)] if self.second else [])]
        lines = []
        for n, shares in groups:
            place = self.found.place(self.asked.category)
            members = int(whole_people(np.array(shares), n)[place])
            if abs(members - n * shares[place]) > 1e-6:
                lines.append(
                    f"no file of {n:,} people has a share of {shares[place]:g}; the power is for {members:,} people"
                )
        return lines

    def _rests(self) -> list[str]:
        """What the power rests on, where it is not exact."""
        asked = self.asked
        if self.power is None:
            return []
        if asked.null is not None:
            test = exclusion(self.design, self.found, self.found.place(asked.category), asked.null, asked.confidence)
        else:
            both = [(self.design, asked.pi), (self.design, asked.second)]
            sizes = (1.0, (self.second or self.n) / self.n)
            test = two_groups(both, sizes, asked.category, asked.confidence, **asked.assumed(self.design))
        return [told] if (told := test.rests_on(self.n)) else []

    @property
    def reached(self) -> str:
        """The plan in one line."""
        asked = self.asked
        if asked.standard_error is not None:
            where = "every category" if asked.category is None else repr(asked.category)
            return f"{self.n:,} respondents: a standard error of {asked.standard_error:g} for {where}"
        if self.power is None:
            return f"{self.n:,} respondents"
        place = self.found.place(asked.category)
        name, value = _checks.label(self.found.names[place]), self.found.values[place]
        if self.second is None:
            told = f"{name!r}, {value:g}, from {asked.null:g}"
            return f"{self.n:,} respondents tell {told} with a power of {self.power:.3f}"
        told = f"{name!r}, {value:g} from {asked.second[place]:g}"
        return f"{self.n:,} and {self.second:,} respondents in two groups tell {told} with a power of {self.power:.3f}"

    def __str__(self) -> str:
        above = (f"{self.design.name or self.design.kind}: {self.reached}", self.found.kind)
        below = (*privacy.lines(self.design), *self._least(), *(f"note: {told}" for told in self.warnings))
        return show.text([Points(above), self._numbers(), Points(below)])

    def _least(self) -> list[str]:
        """The least share that stands out, for designs of many categories."""
        channel: Any = next(iter(self.design.parts.values()))
        if self.design.several or not channel.pure:
            return []
        share = planning.detectable(channel, n=self.n, confidence=self.asked.confidence)
        return [f"a category stands out of the noise of all categories with an estimate above {share:.3g}"]

    def _numbers(self) -> Table:
        """The numbers of one group, with the standard deviation of one answer; or of two and their difference."""
        from scipy.stats import norm

        z = float(norm.ppf(0.5 + _checks.confidence(self.asked.confidence) / 2))
        alone, level = self.other is None, f"± at {self.asked.confidence:g}"
        columns = [title for each in self.errors for title in (each.what or "proportion", "s.e.")]
        columns += [level, "s.d. of one"] if alone else [level]
        rows = []
        for place, name in enumerate(self.found.names):
            shown = [number[place] for each in self.errors for number in (each.values, each.errors)]
            shown += [z * self.errors[-1].errors[place], *([self.found.each[place] ** 0.5] if alone else [])]
            rows.append((_checks.label(name), *(f"{number:.4f}" for number in shown)))
        return Table((Column("category", words=True, width=44), *map(Column, columns)), tuple(rows))

    def to_dict(self) -> dict[str, Any]:
        """All numbers, in a form that JSON can hold."""
        return {
            "design": self.design.name or self.design.kind,
            "n": self.n,
            "n_second_group": self.second,
            "power": self.power,
            "confidence": self.asked.confidence,
            "categories": [_checks.label(name) for name in self.found.names],
            "proportions": self.found.values.tolist(),
            "standard_errors": self.found.standard_errors(self.n).tolist(),
            "variances_of_one": self.found.each.tolist(),
            **{
                each.what.replace(" ", "_"): {"values": each.values.tolist(), "standard_errors": each.errors.tolist()}
                for each in self.errors[1:]
            },
            "standard_error_kind": self.found.kind,
            "privacy": privacy.lines(self.design),
            "warnings": self.warnings,
        }

    def to_csv(self) -> str:
        """The numbers as CSV; warnings go to stderr."""
        rows: list[Sequence[Any]] = [_CSV]
        columns = (self.found.names, self.found.values, self.found.standard_errors(self.n), self.found.each)
        for name, *numbered in zip(*columns, strict=True):
            rows.append([_checks.label(name), *map(float, numbered), self.n, self.second, self.power])
        for line in [*privacy.lines(self.design), *self.warnings]:
            output.note(line)
        return csv_text(rows)
