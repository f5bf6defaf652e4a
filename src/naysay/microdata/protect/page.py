"""The page on a release: three numbers before and after that decide, and below them all that was done."""

from __future__ import annotations

from naysay.microdata.protect.releases import Release, Standing
from naysay.microdata.risk.written import DASH, grid, percent
from naysay.show import Content, Facts, Note, Sentence, page
from naysay.show.page import Section


def protect_html(release: Release, *, title: str = "What protection changed") -> str:
    """A release before and after, as a whole page for people who are no statisticians. It holds no person's value.

    First stand three numbers: how many stand out, how often an intruder is right, and what the file lost, each with a
    sentence. Below stands what ``naysay protect`` prints.

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    """
    about, *details = release.content()
    numbers = (_standing_out(release), _intruder(release), _lost(release))
    rows = [row for row, _ in numbers]
    decisive: list[Content] = [
        grid("The three numbers", ("", "before", "after"), rows),
        *(Sentence(text) for _, text in numbers),
    ]
    warnings = [part for part in details if isinstance(part, Note)]
    other_parts = [part for part in details if not isinstance(part, Note)]
    sections = [Section("Three numbers that decide", decisive)]
    if warnings:
        sections.append(Section("What to know before it is released", warnings))
    sections.append(Section("In detail", [_facts(about), *other_parts]))
    return page.html(title, sections, facts=[(f"{before} → {after}", name) for name, before, after in rows], flow=True)


def _facts(about: Content) -> Content:
    return about if isinstance(about, Facts) else Facts(())


def _one_of(standings: tuple[Standing, ...]) -> str:
    """On which keys; of several sets of keys, on the worst."""
    if len(standings) == 1:
        return ", ".join(standings[0].keys)
    return "the worst of the sets of keys below"


def _standing_out(release: Release) -> tuple[tuple[str, str, str], str]:
    """How many stand out, with all that other columns and earlier releases tell."""
    least = release.before.least
    who = "people" if release.plan.unit is None else "households"
    befores, afters = [], []
    for standing in release.standings:
        befores.append(standing.before.below[0])
        if standing.after is not None:
            pairs = [pair[1] for pair in (standing.read_back, standing.beside) if pair is not None]
            afters.append(max([standing.after.below[0], *pairs]))
    after = f"{max(afters):,}" if afters else DASH
    records = release.before.records
    sentence = (
        f"{who.capitalize()} stand out if they read like fewer than {least}, themselves counted, on what an intruder "
        f"may know: {_one_of(release.standings)}. Somebody who knows them can pick them out, or nearly so. There are "
        f"{records:,} {who} in the original."
    )
    if any(standing.read_back is not None for standing in release.standings):
        sentence += " Counted with what other columns of the release tell of hidden values."
    if any(standing.beside is not None for standing in release.standings):
        sentence += " Counted together with the earlier releases, as if every row could be linked."
    if not afters:
        sentence += " The release does not have all of these columns, and nobody is counted in it."
    return (f"{who} who stand out", f"{max(befores):,}", after), sentence


def _intruder(release: Release) -> tuple[tuple[str, str, str], str]:
    """How often an intruder is right: by these columns, by weighing others too, and at most."""
    name = "people whom an intruder finds"
    exact_standings = [
        standing
        for standing in release.standings
        if standing.most_after is not None and standing.most_before is not None
    ]
    if len(exact_standings) == len(release.standings):
        before, after = (
            max(getattr(standing, f"most_{when}") for standing in exact_standings) for when in ("before", "after")
        )
        weighing_share, bound = (
            max(getattr(standing, f"{what}_after") for standing in exact_standings) for what in ("weighing", "bound")
        )
        sentence = (
            "An intruder finds so many people, on average, who knows all of this about everybody in the file, knows "
            "how it was protected, and repeats that. Who knows less finds fewer. Who also weighs what goes together "
            f"with these columns only loosely found {percent(weighing_share)}, as far as that was tried. And nobody "
            f"finds more than {percent(bound)} who has no log and knows no more of people than these columns: that is "
            "proved."
        )
        return (f"{name} by these columns", percent(before), percent(after)), sentence
    nearest = [(standing.intruder_before, standing.intruder_nearest) for standing in release.standings]
    pairs = [(first.mean, second.value) for first, second in nearest if first is not None and second is not None]
    if len(pairs) == len(release.standings):
        before, after = (max(pair[place] for pair in pairs) for place in (0, 1))
        sentence = (
            f"After {', '.join(release.plan.moved)}, values may differ from the true ones, and an intruder takes the "
            "most similar record: so many people are found. It is the result of one attack, tried on a sample, and not "
            "the most that anybody can find."
        )
        return (f"{name}, by the nearest record", percent(before), percent(after)), sentence
    sentence = (
        "This is not measured here: it needs a file with one row for each person, and a release with all columns that "
        "an intruder may know and only rows of the original. Attack the release before you give it away."
    )
    return (name, DASH, DASH), sentence


def _lost(release: Release) -> tuple[tuple[str, str, str], str]:
    """Answers that are no longer what they were."""
    name, losses = "answers that changed or are gone", release.losses
    if losses is None:
        sentence = "Every record is made up, though it may equal that of a person: answers are not compared one by one."
        return (name, DASH, DASH), sentence
    sentence = (
        f"The price: of {losses.answers:,} answers, {losses.emptied:,} are empty now or were deleted with their "
        f"record, and {losses.changed:,} hold another value, such as an age in years that became five years. What that "
        "does to results is another question: naysay utility answers it."
    )
    if losses.left_out:
        sentence += f" Not counted are columns that were left out: {', '.join(losses.left_out)}."
    return (name, percent(0.0), percent(losses.share)), sentence
