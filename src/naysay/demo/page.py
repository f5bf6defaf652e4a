"""The demonstration's report."""

from __future__ import annotations

from naysay import report
from naysay.demo.results import Results

__all__ = ["page"]


def page(results: Results, *, seed: int | None = None) -> str:
    """The report as one HTML text.

    Parameters
    ----------
    results : Results
    seed : int, optional
        What seeded who was asked, for the note on chance.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    return report.html(
        "Five sensitive questions, asked in the negative",
        [report.estimate_section(result.fit, truth=result.question.truth) for result in results.each],
        facts=[
            (f"{results.people:,}", "people"),
            (f"{len(results.each)}", "questions"),
            (f"{results.holding} of {results.intervals}", "intervals hold the truth"),
        ],
        lead=_lead(results),
        footnotes=[*_NOTES, ("Chance", _chance(seed)), *_SOURCES],
    )


def _lead(results: Results) -> list[str]:
    revealing, answers = results.revealing
    return [
        f"{results.people:,} people were asked five sensitive questions over the web. Instead of their answer, they "
        "named categories that do not apply, picked by chance, and they chose how many. Their devices drew what to "
        "name and sent only that; a server stored it. From what it stored alone the shares below are estimated, for "
        f"all {results.population:,} people of whom those {results.people:,} are a random sample. The true shares are "
        "known here, because this is a published survey repeated on its own counts; they served to draw who is asked "
        "and what each would answer, and stand in the plots as a yardstick. The estimates never use them.",
        "A respondent who rules out one category of seven leaves six possible. A respondent who rules out all but one "
        "reveals the answer. Levels "
        f"were chosen at random here, so {revealing:,} of the {answers:,} answers were given at the most open level, "
        "which reveals them. Under each question stands what every level gives away.",
        "The plots show shares, and how far they lie from the truth. The upright bar is the truth, the round dot with "
        "its line is the stratified estimate with its 95 % interval, and the diamond is the pooled estimate: sharper, "
        "but right only if the choice of a level has nothing to do with the answer. "
        f"{results.holding} of the {results.intervals} intervals hold the truth; about 95 in 100 should.",
    ]


def _chance(seed: int | None) -> str:
    drawn = "What each person sent was drawn by the operating system's randomness, as in any survey, and never seeded"
    if seed is None:
        return f"{drawn}. Another run asks other people, and they send other answers."
    return f"{drawn}. Seed {seed} says who was asked: with it the same people are asked again, and send other answers."


_NOTES = (
    (
        "Method",
        "At every level the unbiased moment estimate, weighted by how many people chose the level (stratified, "
        "proportional weights). It holds however people choose their level. The pooled estimate is the maximum of "
        "the likelihood over all levels together.",
    ),
    (
        "Standard errors and target",
        "The target is the population from which the respondents were drawn by lot, and the truth is that of the "
        "population, too. So the standard errors cover both the chance in the answers and that of being asked.",
    ),
    (
        "What it does not protect against",
        "An answer at the most open level is a direct answer. Even a private answer rules something out for certain, "
        "so ε is infinite. Several answers of one person add up, above all if the same question is asked again with "
        "fresh chance. The chosen level may itself tell something. Randomizing hides neither that someone took part "
        "nor who it was, and it cannot notice a person who does not follow the instructions.",
    ),
)

_SOURCES = (
    (
        "Sources",
        "Esponda F, Huerta K, Guerrero VM (2016). A statistical approach to provide individualized privacy for "
        "surveys. PLoS ONE 11(1): e0147314, doi:10.1371/journal.pone.0147314. Counts: Graphic, Visualization & "
        "Usability Center, 8th WWW User Survey, October and November 1997; UCI KDD Archive, Internet Usage Data. Age "
        "is in ten bins of equal width, where the first holds those who did not say, as in that paper.",
    ),
)
