"""``naysay plan``: how many respondents, how precise, how private, and whether randomizing pays."""

from __future__ import annotations

import ast
import csv
import io
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from naysay import _checks, planning, printing, privacy
from naysay.console import output, pages
from naysay.console.options import Categories, design_of
from naysay.console.people import PREFERENCES, numbers, preferences_of
from naysay.design import Answerable, Levels
from naysay.errors import DataError
from naysay.planning import Comparison, Liars
from naysay.planning.size import people_for
from naysay.printing import Column, Points, Table
from naysay.report import study_page

__all__ = ["command"]

_USUAL = 1_000


class Goal(NamedTuple):
    """What is planned for."""

    category: str | None
    standard_error: float | None
    null: float | None
    versus: tuple[float, ...] | None
    power: float
    confidence: float


class Plan(NamedTuple):
    """One design, planned: the numbers of respondents, what they reach, and the power where there is a difference."""

    design: Answerable
    found: planning.Variance
    n: int
    second: int | None
    power: float | None
    goal: Goal
    other: planning.Variance | None = None

    @property
    def errors(self) -> list[Errors]:
        """The standard errors of what is estimated: of one group, or of two and of the difference between them."""
        first = Errors("", self.found.values, self.found.standard_errors(self.n))
        if self.other is None or self.second is None:
            return [first]
        second = Errors("second group", self.other.values, self.other.standard_errors(self.second))
        apart = Errors("difference", first.values - second.values, np.hypot(first.errors, second.errors))
        return [first._replace(what="first group"), second, apart]


class Errors(NamedTuple):
    """Proportions, or differences of them, with their standard errors, (t,) each."""

    what: str
    values: NDArray[np.float64]
    errors: NDArray[np.float64]


def command(
    design: Annotated[
        list[str],
        typer.Option(
            metavar="DESIGN", help="A call, as 'warner(p=0.7)', or a JSON file; with --compare once for each."
        ),
    ],
    proportions: Annotated[
        str, typer.Option(metavar="SHARES", help="What the population is assumed to be, as 0.1,0.9.")
    ],
    categories: Categories = None,
    people: Annotated[int | None, typer.Option("--n", help="Respondents who answer, in each group.")] = None,
    standard_error: Annotated[float | None, typer.Option(help="To be reached: how many respondents?")] = None,
    null: Annotated[float | None, typer.Option(help="A value that the proportion is to be told from.")] = None,
    versus: Annotated[
        str | None, typer.Option(metavar="SHARES", help="What a second group is assumed to be, to be told apart.")
    ] = None,
    power: Annotated[float, typer.Option(help="How often a difference should be found.")] = 0.8,
    confidence: Annotated[float, typer.Option(help="Of intervals; a test has the size 1 - confidence.")] = 0.95,
    category: Annotated[str | None, typer.Option(help="Whose proportion; of two the first.")] = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="maximum_likelihood (default), moments; for levels stratified (default), stratified_equal, "
            "stratified_variance, pooled.",
        ),
    ] = None,
    preferences: Annotated[str | None, typer.Option(metavar="TEXT", help=f"Of levels: {PREFERENCES}")] = None,
    target: Annotated[
        Literal["population", "file"], typer.Option(help="file: only the randomization is random.")
    ] = "population",
    compare: Annotated[bool, typer.Option("--compare", help="Put designs beside one another.")] = False,
    vary: Annotated[
        str | None, typer.Option(metavar="NAME=…", help="With --compare: a parameter of the design, as p=0.6,0.7,0.8.")
    ] = None,
    liars: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="With --compare: of the category, who lie to the direct question."),
    ] = None,
    says: Annotated[str | None, typer.Option(metavar="CATEGORY", help="What liars say; else any other.")] = None,
    liars_under_design: Annotated[
        float, typer.Option(metavar="SHARE", help="Who lie under a randomized design all the same.")
    ] = 0.0,
    format_: Annotated[
        Literal["table", "json", "csv"], typer.Option("--format", help="Numbers in json and csv are not rounded.")
    ] = "table",
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write plots and numbers as a page.")] = None,
) -> None:
    """Plan a survey: respondents, precision and power; with --compare, precision against privacy.

    Give --n for what so many respondents reach, --standard-error for how many they must be, --null or --versus for a
    difference that is to be found. With --compare and --liars the direct question stands beside the designs: lying
    biases it however many answer, so from some number of respondents on randomizing pays.

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
    pages.check(html)
    pi = numbers(proportions, "--proportions")
    other = None if versus is None else numbers(versus, "--versus")
    goal = Goal(category, standard_error, null, other, power, confidence)
    _check_one_goal(goal, None if compare else people)
    _check_options(compare=compare, vary=vary, liars=liars, goal=goal, design=design)
    named = _designs(design, categories, vary)
    first = next(iter(named.values()))
    choosing = next((each for each in named.values() if isinstance(each, Levels)), first)
    assumed = {"estimator": estimator, "preferences": preferences_of(preferences, choosing), "target": target}
    if compare:
        lying = None if liars is None else Liars(liars, says, liars_under_design)
        found = _compared(named, pi, people, goal, lying, assumed)
        {"table": _compare_table, "json": _compare_json, "csv": _compare_csv}[format_](found)
        pages.write(html, lambda: study_page.comparison_html(found))
    else:
        plan = _planned(first, pi, people, goal, assumed)
        {"table": _table, "json": _json, "csv": _csv}[format_](plan)
        shown = goal._replace(category=goal.category or _checks.label(first.categories[0]))
        pages.write(html, lambda: study_page.comparison_html(_compared(named, pi, plan.n, shown, None, assumed)))


def _check_one_goal(goal: Goal, people: int | None) -> None:
    given = {"--standard-error": goal.standard_error, "--null": goal.null, "--versus": goal.versus}
    named = [option for option, value in given.items() if value is not None]
    if len(named) > 1:
        raise DataError(f"{' and '.join(named)} are different goals; give one of them")
    if goal.standard_error is not None and people is not None:
        raise DataError("give --n or --standard-error, not both: one follows from the other")


def _check_options(*, compare: bool, vary: str | None, liars: float | None, goal: Goal, design: list[str]) -> None:
    """Raise for options that go with --compare only, or without it."""
    if compare:
        if goal.null is not None or goal.versus is not None:
            raise DataError("--compare is about precision; leave --null and --versus out")
        return
    if vary is not None or liars is not None:
        raise DataError(f"{'--vary' if vary is not None else '--liars'} goes with --compare")
    if len(design) > 1:
        raise DataError(f"give --design once, or put the {len(design)} designs beside one another with --compare")


def _designs(texts: list[str], categories: str | None, vary: str | None) -> dict[str, Answerable]:
    """The designs by name, each with every value of the parameter that varies."""
    calls = texts if vary is None else [call for text in texts for call in _varied(text, vary)]
    found = [design_of(call, categories) for call in calls]
    named = {design.name or call: design for call, design in zip(calls, found, strict=True)}
    if len(named) < len(found):
        raise DataError(f"designs to compare must differ; got {_checks.shown(calls)}")
    return named


def _varied(text: str, vary: str) -> list[str]:
    """The call once for each value of a parameter."""
    name, _, values = vary.partition("=")
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        node = None
    if not name.strip().isidentifier() or not values.strip():
        raise DataError(f"--vary must be a parameter with its values, as p=0.6,0.7,0.8; got {vary!r}")
    if not isinstance(node, ast.Call):
        raise DataError(f"--vary needs a design that is written as a call, as 'warner(p=0.7)'; got {text[:80]!r}")
    kept = [keyword for keyword in node.keywords if keyword.arg != name.strip()]
    calls = []
    for value in next(csv.reader([values], skipinitialspace=True)):
        try:
            varied = ast.keyword(arg=name.strip(), value=ast.parse(value.strip(), mode="eval").body)
        except (SyntaxError, ValueError):
            raise DataError(f"--vary {name.strip()}: {value!r} is no value") from None
        calls.append(ast.unparse(ast.Call(func=node.func, args=node.args, keywords=[*kept, varied])))
    return calls


def _compared(
    named: dict[str, Answerable],
    pi: tuple[float, ...],
    people: int | None,
    goal: Goal,
    liars: Liars | None,
    assumed: dict[str, Any],
) -> Comparison:
    return planning.compare(
        named,
        pi,
        n=_USUAL if people is None else people,
        category=goal.category,
        standard_error=goal.standard_error,
        liars=liars,
        **assumed,
    )


def _planned(
    design: Answerable, pi: tuple[float, ...], people: int | None, goal: Goal, assumed: dict[str, Any]
) -> Plan:
    """The plan of one design; what is not given follows from the goal."""
    found = planning.variance(design, pi, **assumed)
    asked = {"category": goal.category, "confidence": goal.confidence, **assumed}
    if goal.standard_error is not None:
        return Plan(design, found, people_for(found, goal.standard_error, goal.category), None, None, goal)
    if goal.null is not None:
        n = people
        if n is None:
            n = planning.sample_size(design, pi, null=goal.null, power=goal.power, **asked)
        return Plan(design, found, n, None, planning.power(design, pi, n=n, null=goal.null, **asked), goal)
    if goal.versus is not None:
        sizes = (
            planning.difference_sample_size(design, pi, goal.versus, power=goal.power, **asked)
            if people is None
            else (people, people)
        )
        reached = planning.difference_power(design, pi, goal.versus, n=sizes, **asked)
        other = planning.variance(design, goal.versus, **assumed)
        return Plan(design, found, sizes[0], sizes[1], reached, goal, other)
    return Plan(design, found, _USUAL if people is None else people, None, None, goal)


def _reached(plan: Plan) -> str:
    """The plan in a line."""
    goal = plan.goal
    if goal.standard_error is not None:
        where = "every category" if goal.category is None else repr(goal.category)
        return f"{plan.n:,} respondents: a standard error of {goal.standard_error:g} for {where}"
    if plan.power is None:
        return f"{plan.n:,} respondents"
    place = plan.found.place(goal.category)
    name, value = _checks.label(plan.found.names[place]), plan.found.values[place]
    if goal.versus is None:
        told = f"{name!r}, {value:g}, from {goal.null:g}"
        return f"{plan.n:,} respondents tell {told} with a power of {plan.power:.3f}"
    told = f"{name!r}, {value:g} from {goal.versus[place]:g}"
    return f"{plan.n:,} and {plan.second:,} respondents in two groups tell {told} with a power of {plan.power:.3f}"


def _table(plan: Plan) -> None:
    above = (f"{plan.design.name or plan.design.kind}: {_reached(plan)}", plan.found.kind)
    below = (*privacy.lines(plan.design), *(f"note: {told}" for told in _notes(plan)))
    output.say(printing.text([Points(above), _numbers(plan), Points(below)]))


def _numbers(plan: Plan) -> Table:
    """The proportions of each group (or of the one), their errors, and what they come to."""
    z = _normal(plan.goal.confidence)
    names = ["proportion"] if plan.other is None else [each.what for each in plan.errors]
    columns = [title for name in names for title in (name, "s.e.")] + [f"± at {plan.goal.confidence:g}"]
    columns += ["s.d. of one"] if plan.other is None else []
    rows = []
    for place, name in enumerate(plan.found.names):
        cells = [f"{number[place]:.4f}" for each in plan.errors for number in (each.values, each.errors)]
        cells.append(f"{z * plan.errors[-1].errors[place]:.4f}")
        cells += [f"{plan.found.each[place] ** 0.5:.4f}"] if plan.other is None else []
        rows.append((_checks.label(name), *cells))
    return Table((Column("category", words=True, width=44), *map(Column, columns)), tuple(rows))


def _notes(plan: Plan) -> list[str]:
    """What a reader of the plan must know."""
    near = [_checks.label(name) for name in plan.found.near_zero(plan.n)]
    if not near:
        return []
    return [
        f"within two standard errors of 0: {', '.join(near)}; a maximum-likelihood estimate is cut off there, so try "
        "it with naysay simulate"
    ]


def _normal(confidence: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf(0.5 + _checks.confidence(confidence) / 2))


def _json(plan: Plan) -> None:
    told = {
        "design": plan.design.name or plan.design.kind,
        "n": plan.n,
        "n_second_group": plan.second,
        "power": plan.power,
        "confidence": plan.goal.confidence,
        "categories": [_checks.label(name) for name in plan.found.names],
        "proportions": plan.found.values.tolist(),
        "standard_errors": plan.found.standard_errors(plan.n).tolist(),
        "variances_of_one": plan.found.each.tolist(),
        **{
            each.what.replace(" ", "_"): {"values": each.values.tolist(), "standard_errors": each.errors.tolist()}
            for each in plan.errors[1:]
        },
        "standard_error_kind": plan.found.kind,
        "privacy": privacy.lines(plan.design),
        "warnings": _notes(plan),
    }
    output.say(output.json_text(told))


def _csv(plan: Plan) -> None:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["category", "proportion", "standard_error", "variance_of_one", "n", "n_second_group", "power"])
    rows = zip(plan.found.names, plan.found.values, plan.found.standard_errors(plan.n), plan.found.each, strict=True)
    for name, *numbers_ in rows:
        ends = [plan.n, plan.second, plan.power]
        table.writerow([_checks.label(name), *map(float, numbers_), *ends])
    for line in [*privacy.lines(plan.design), *_notes(plan)]:
        output.note(line)
    output.say(out.getvalue().rstrip("\n"))


def _compare_table(found: Comparison) -> None:
    output.say(str(found))


def _compare_json(found: Comparison) -> None:
    output.say(output.json_text(found.to_dict()))


def _compare_csv(found: Comparison) -> None:
    output.say(found.to_csv())
