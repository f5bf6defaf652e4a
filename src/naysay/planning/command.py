"""``naysay plan``: how many respondents, how precise, how private, and whether randomizing pays."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from naysay import _checks, planning, privacy
from naysay._values import Floats
from naysay.console import options, output
from naysay.console.options import numbers, record_cells
from naysay.console.output import takes
from naysay.design import Answerable
from naysay.design.several import whole_people
from naysay.designs import direct
from naysay.errors import DataError
from naysay.estimate.registry import estimators
from naysay.planning import Comparison, Liars
from naysay.planning.comparison import comparison_html
from naysay.planning.controls import arm_lines, control_lines
from naysay.planning.power import exclusion, people_for, two_groups
from naysay.show import Column, Content, Points, Records, Result, Table
from naysay.simulate.command import Preferences, preferences_of

_HONEST = "direct, if all are honest"
_USUAL = 1_000
_CSV = ("category", "proportion", "standard_error", "variance_of_one", "n", "n_second_group", "power")


@dataclass(frozen=True)
class PlanOptions:
    """The options of ``naysay plan``."""

    design: Annotated[list[str], options.design_option]
    proportions: Annotated[
        str, typer.Option(metavar="SHARES", help="Assumed proportions of the population, such as 0.1,0.9.")
    ]
    categories: options.Categories = None
    people: Annotated[int | None, typer.Option("--n", help="Respondents who answer, in each group.")] = None
    standard_error: float | None = None
    null: float | None = None
    versus: Annotated[
        str | None, typer.Option(metavar="SHARES", help="Assumed proportions of a second group to compare with.")
    ] = None
    lead: Annotated[
        float | None, options.share("Show who leads by more than this, such as 0.03; 0 for who leads at all.")
    ] = None
    power: float = 0.8
    confidence: float = 0.95
    category: str | None = None
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
        goals = {
            "--standard-error": self.standard_error,
            "--null": self.null,
            "--versus": self.versus,
            "--lead": self.lead,
        }
        goal_options = [option_name for option_name, value in goals.items() if value is not None]
        if len(goal_options) > 1:
            raise DataError(f"{' and '.join(goal_options)} are different goals; give one of them")
        if not 0 < self.power < 1:
            raise DataError(f"--power must lie between 0 and 1, such as 0.8; got {self.power:g}")
        if self.power != PlanOptions.power and not goal_options:
            raise DataError("--power is about a difference: add --null SHARE, --versus SHARES or --lead SHARE")
        if self.compare and goal_options and self.standard_error is None:
            raise DataError("--compare is about precision; leave --null, --versus and --lead out")
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


@takes(PlanOptions, planning.sample_size)
def command(request: PlanOptions) -> None:
    """Plan a survey: respondents, precision and power.

    With --compare: precision against privacy.

    Give --n to see what this many respondents reach, --standard-error to see how many are needed, --null or
    --versus for a difference to detect, and --lead for who leads. With --compare, give --design once for each design.
    With --compare and --liars, the direct question is compared too. Lying biases it, however many people answer. So
    above some number of respondents, randomizing pays.

    \b
    Examples:
      naysay plan --design "warner(p=0.7)" --proportions 0.1,0.9 \\
          --standard-error 0.02
      naysay plan --design "negative(discards=2)" --categories "a,b,c,d" \\
          --proportions 0.4,0.3,0.2,0.1 --n 1000 --format json
      naysay plan --design "two_coins()" --proportions 0.1,0.9 --null 0.05
      naysay plan --design "warner(p=0.8)" --proportions 0.1,0.9 \\
          --versus 0.2,0.8 --power 0.9
      naysay plan --design "negative()" --categories "Ada,Ben,Cleo" \\
          --proportions 0.45,0.35,0.2 --lead 0.03
      naysay plan --compare --design "warner(p=0.7)" --vary p=0.6,0.7,0.8,0.9 \\
          --proportions 0.1,0.9 --liars 0.4 --says no --html plan.html
    """
    output.check(request.html)
    # Read the numbers first: their errors shall come before errors in a design.
    _ = request.pi, request.versus and request.second
    request.check()
    designs = _designs(request)
    first_design = next(iter(designs.values()))
    above_lines: list[str] = []
    if request.compare:
        output.result(_comparison(designs, request), request.format_)
    else:
        plan = _plan_of(first_design, request)
        output.result_and_remarks(plan, request.format_)
        category_name = request.category or _checks.label(first_design.categories[0])
        request = replace(request, category=category_name, people=plan.n)
        if len(request.pi) == len(first_design.categories) and request.liars is None:
            # one design beside nothing compares nothing
            designs = {_HONEST: direct(first_design.categories), **designs}
        above_lines = [plan.reached, *plan.warnings]
    output.write(request.html, lambda: comparison_html(_comparison(designs, request), above=above_lines))


def _designs(request: PlanOptions) -> dict[str, Answerable]:
    """The designs by name; with --vary, one for each value of the parameter."""
    vary = request.vary
    design_calls = (
        request.design
        if vary is None
        else [design_call for design_text in request.design for design_call in _varied_calls(design_text, vary)]
    )
    design_list = [options.design_of(design_call, request.categories) for design_call in design_calls]
    designs = {
        design.name or design_call: design for design_call, design in zip(design_calls, design_list, strict=True)
    }
    if len(designs) < len(design_list):
        raise DataError(f"designs to compare must differ; got {_checks.listing_text(design_calls)}")
    return designs


def _varied_calls(text: str, vary: str) -> list[str]:
    """The call, once for each value of the parameter."""
    parameter_name, _, values_text = vary.partition("=")
    try:
        call_node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call_node = None
    if not parameter_name.strip().isidentifier() or not values_text.strip():
        raise DataError(f"--vary must be a parameter with its values, such as p=0.6,0.7,0.8; got {vary!r}")
    if not isinstance(call_node, ast.Call):
        raise DataError(f"--vary needs a design that is written as a call, such as 'warner(p=0.7)'; got {text[:80]!r}")
    other_keywords = [keyword for keyword in call_node.keywords if keyword.arg != parameter_name.strip()]
    varied_calls = []
    for value_text in record_cells(values_text):
        try:
            varied_keyword = ast.keyword(
                arg=parameter_name.strip(), value=ast.parse(value_text.strip(), mode="eval").body
            )
        except (SyntaxError, ValueError):
            raise DataError(f"--vary {parameter_name.strip()}: {value_text!r} is no value") from None
        varied_calls.append(
            ast.unparse(ast.Call(func=call_node.func, args=call_node.args, keywords=[*other_keywords, varied_keyword]))
        )
    return varied_calls


def _comparison(designs: dict[str, Answerable], request: PlanOptions) -> Comparison:
    several_designs = list(designs.values())
    choosing = (design for design in several_designs if design.offer.assigned_by == "respondent")
    return planning.compare(
        designs,
        request.pi,
        n=_USUAL if request.people is None else request.people,
        category=request.category,
        standard_error=request.standard_error,
        liars=None if request.liars is None else Liars(request.liars, request.says, request.liars_under_design),
        **request.assumed(next(choosing, several_designs[0])),
    )


def _plan_of(design: Answerable, request: PlanOptions) -> Plan:
    """The plan of one design. Numbers that are not given follow from the goal."""
    assumed = request.assumed(design)
    variance, n = planning.variance(design, request.pi, **assumed), request.people
    test_options = {"category": request.category, "confidence": request.confidence, **assumed}
    if request.standard_error is not None:
        return Plan(request, design, variance, people_for(variance, request.standard_error, request.category))
    if request.null is not None:
        if n is None:
            n = planning.sample_size(design, request.pi, null=request.null, power=request.power, **test_options)
        power = planning.power(design, request.pi, n=n, null=request.null, **test_options)
        return Plan(request, design, variance, n, power=power)
    if request.lead is not None:
        lead_options = {"margin": request.lead, "confidence": request.confidence, **assumed}
        if n is None:
            n = planning.lead_sample_size(design, request.pi, power=request.power, **lead_options)
        return Plan(request, design, variance, n, power=planning.lead_power(design, request.pi, n=n, **lead_options))
    if request.versus is not None:
        if n is None:
            group_sizes = planning.difference_sample_size(
                design, request.pi, request.second, power=request.power, **test_options
            )
        else:
            group_sizes = (n, n)
        power = planning.difference_power(design, request.pi, request.second, n=group_sizes, **test_options)
        second_variance = planning.variance(design, request.second, **assumed)
        return Plan(request, design, variance, group_sizes[0], group_sizes[1], power, second_variance)
    return Plan(request, design, variance, _USUAL if n is None else n)


class Errors(NamedTuple):
    """Proportions, or differences between them, with their standard errors, (t,) each."""

    what: str
    values: Floats
    errors: Floats


@dataclass(frozen=True)
class Plan(Result):
    """The plan of one design: the numbers of respondents, their precision, and the power if there is a difference."""

    request: PlanOptions
    design: Answerable
    variance: planning.Variance
    n: int
    second: int | None = None
    power: float | None = None
    second_variance: planning.Variance | None = None

    @property
    def errors(self) -> list[Errors]:
        """The standard errors for one group; or for two groups and the difference between them."""
        first_errors = Errors("", self.variance.values, self.variance.standard_errors(self.n))
        if self.second_variance is None or self.second is None:
            return [first_errors]
        second_errors = Errors(
            "second group", self.second_variance.values, self.second_variance.standard_errors(self.second)
        )
        difference_errors = Errors(
            "difference",
            first_errors.values - second_errors.values,
            np.hypot(first_errors.errors, second_errors.errors),
        )
        return [first_errors._replace(what="first group"), second_errors, difference_errors]

    @property
    def warnings(self) -> list[str]:
        """Warnings for the reader of the plan."""
        near_zero = [_checks.label(category_name) for category_name in self.variance.near_zero(self.n)]
        advice_text = "a maximum-likelihood estimate is cut off there, so try it with naysay simulate"
        cut_off = [f"within two standard errors of 0: {', '.join(near_zero)}; {advice_text}"] if near_zero else []
        request, warning_lines = self.request, cut_off
        if self.power is None or request.lead is not None:
            return warning_lines
        if request.target == "file":  # shares that no whole number of people has
            for n, shares in [(self.n, request.pi), *([(self.second, request.second)] if self.second else [])]:
                place = self.variance.place(request.category)
                members = int(whole_people(np.array(shares), n)[place])
                if abs(members - n * shares[place]) > 1e-6:
                    warning_lines.append(
                        f"no file of {n:,} people has a share of {shares[place]:g}; the power is for {members:,} people"
                    )
        if request.null is not None:
            power_test = exclusion(
                self.design, self.variance, self.variance.place(request.category), request.null, request.confidence
            )
        else:
            group_designs = [(self.design, request.pi), (self.design, request.second)]
            relative_sizes = (1.0, (self.second or self.n) / self.n)
            power_test = two_groups(
                group_designs, relative_sizes, request.category, request.confidence, **request.assumed(self.design)
            )
        return [*warning_lines, *filter(None, [power_test.rests_on(self.n)])]

    @property
    def reached(self) -> str:
        """The plan in one line."""
        request = self.request
        if request.standard_error is not None:
            where_text = "every category" if request.category is None else repr(request.category)
            return f"{self.n:,} respondents: a standard error of {request.standard_error:g} for {where_text}"
        if self.power is None:
            return f"{self.n:,} respondents"
        if request.lead is not None:
            leader_name = _checks.label(self.variance.names[int(np.argmax(self.variance.values))])
            lead_text = f" by more than {100 * request.lead:.4g} points" if request.lead else ""
            return f"{self.n:,} respondents show that {leader_name!r} leads{lead_text} with a power of {self.power:.3f}"
        category_place = self.variance.place(request.category)
        category_name = _checks.label(self.variance.names[category_place])
        category_share = self.variance.values[category_place]
        if self.second is None:
            difference_text = f"{category_name!r}, {category_share:g}, from {request.null:g}"
            return f"{self.n:,} respondents tell {difference_text} with a power of {self.power:.3f}"
        difference_text = f"{category_name!r}, {category_share:g} from {request.second[category_place]:g}"
        return (
            f"{self.n:,} and {self.second:,} respondents in two groups "
            f"tell {difference_text} with a power of {self.power:.3f}"
        )

    def parts(self) -> list[Content]:
        """What is reached, the numbers, and what one answer tells."""
        above_points = (f"{self.design.name or self.design.kind}: {self.reached}", self.variance.kind)
        below_points, channel = privacy.lines(self.design), next(iter(self.design.parts.values()))
        pure = not self.design.offer.several and channel.structure.pure
        if pure and np.isfinite(privacy.epsilon(channel)):
            least_share = planning.detectable(channel, n=self.n, confidence=self.request.confidence)
            below_points += [
                f"a category stands out of the noise of all categories with an estimate above {least_share:.3g}"
            ]
        if not self.power and self.variance.values[len(self.design.categories) :].size:
            values, t = self.variance.values, len(self.design.categories)
            below_points += control_lines(self.design, values[:t], float(values[t]), self.n)
        if not self.power and self.design.structure.stacked:
            below_points += arm_lines(self.design, self.variance.values, self.request.category)
        below_points += [f"note: {warning}" for warning in self.warnings]
        return [Points(above_points), self._numbers(), Points(tuple(below_points))]

    def remarks(self) -> list[str]:
        """What one answer tells, and warnings."""
        return [*privacy.lines(self.design), *self.warnings]

    def _numbers(self) -> Table:
        """The numbers of one group, with the standard deviation of one answer; or of two and their difference."""
        from scipy.stats import norm

        z = float(norm.ppf(0.5 + _checks.confidence(self.request.confidence) / 2))
        is_alone, level_title = self.second_variance is None, f"± at {self.request.confidence:g}"
        column_titles = [
            column_title for group_errors in self.errors for column_title in (group_errors.what or "proportion", "s.e.")
        ]
        column_titles += [level_title, "s.d. of one"] if is_alone else [level_title]
        table_rows = []
        for category_place, category_name in enumerate(self.variance.names):
            row_numbers = [
                group_numbers[category_place]
                for group_errors in self.errors
                for group_numbers in (group_errors.values, group_errors.errors)
            ]
            row_numbers += [
                z * self.errors[-1].errors[category_place],
                *([self.variance.each[category_place] ** 0.5] if is_alone else []),
            ]
            table_rows.append((_checks.label(category_name), *(f"{cell_number:.4f}" for cell_number in row_numbers)))
        return Table((Column("category", words=True, width=44), *map(Column, column_titles)), tuple(table_rows))

    def numbers(self) -> dict[str, object]:
        """The plan by the names of its JSON."""
        return {
            "design": self.design.name or self.design.kind,
            "n": self.n,
            "n_second_group": self.second,
            "power": self.power,
            "confidence": self.request.confidence,
            "categories": [_checks.label(name) for name in self.variance.names],
            "proportions": self.variance.values,
            "standard_errors": self.variance.standard_errors(self.n),
            "variances_of_one": self.variance.each,
            **{
                group.what.replace(" ", "_"): {"values": group.values, "standard_errors": group.errors}
                for group in self.errors[1:]
            },
            "standard_error_kind": self.variance.kind,
            "privacy": privacy.lines(self.design),
            "warnings": self.warnings,
        }

    def records(self) -> Records:
        """The numbers, a row for each category."""
        standard_errors = self.variance.standard_errors(self.n)
        category_numbers = zip(self.variance.values, standard_errors, self.variance.each, strict=True)
        rows = [
            [_checks.label(name), *numbers, self.n, self.second, self.power]
            for name, numbers in zip(self.variance.names, category_numbers, strict=True)
        ]
        return Records(_CSV, rows)
