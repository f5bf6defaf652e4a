"""The demonstration's report."""

from __future__ import annotations

import tomllib
from importlib import resources

from naysay import report
from naysay.demo.results import Results

__all__ = ["page"]


def page(results: Results, *, seed: int | None = None) -> str:
    """The report as one HTML text. Its wording is in ``words.toml``.

    Parameters
    ----------
    results : Results
    seed : int, optional
        The seed of the people asked, for the note on chance.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    words = tomllib.loads(resources.files("naysay.demo").joinpath("words.toml").read_text(encoding="utf-8"))
    holding, intervals, (revealing, answers) = results.holding, results.intervals, results.revealing
    found = {"people": results.people, "population": results.population, "revealing": revealing, "answers": answers}
    chance = words["chance"]["unseeded" if seed is None else "seeded"].format(seed=seed)
    return report.html(
        "Five sensitive questions, asked in the negative",
        [report.estimate_section(result.fit, truth=result.question.truth) for result in results.each],
        facts=[
            (f"{results.people:,}", "people"),
            (f"{len(results.each)}", "questions"),
            (f"{holding} of {intervals}", "intervals hold the truth"),
        ],
        lead=[text.format(holding=holding, intervals=intervals, **found) for text in words["lead"]],
        footnotes=[*words["before"].items(), ("Chance", chance), *words["after"].items()],
    )
