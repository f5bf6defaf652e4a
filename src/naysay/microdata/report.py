"""The report for a review board: one page that says how recognizable the people in a file are."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from naysay._values import JsonNode
from naysay.errors import DataError
from naysay.files.text import hash_of
from naysay.microdata import (
    SCENARIOS,
    Combination,
    Contributions,
    Identification,
    Keys,
    QuasiIdentifier,
    Recodings,
    RiskTable,
    Search,
    charts,
)
from naysay.microdata.risk.measure import Measure, OnRequest
from naysay.microdata.risk.theta import theta_percent
from naysay.microdata.risk.uniques import Pitman
from naysay.show import Chart, Content, Facts, Points, Sentence, html, page
from naysay.show.page import Section
from naysay.show.result import DASH, grid, percent, spanned

_ROWS = 25  # of a table of combinations or recodings


def risk_html(
    risk_table: RiskTable,
    *,
    keys: Keys | None = None,
    identifications: Sequence[Sequence[Identification]] = (),
    search: Search | None = None,
    contributions: Contributions | None = None,
    recodings: Recodings | None = None,
    protection: JsonNode | None = None,
    provenance: Provenance | None = None,
    areas: Sequence[str] = (),
    title: str = "How recognizable the people in this file are",
) -> str:
    """A report on the risk of re-identification, as a whole page for people who are no statisticians.

    What is assumed about an intruder, who stands out, what was done with missing and uncertain answers, the most
    dangerous combinations, what each key adds, what coarser values would buy, and what the numbers do not say. It is
    one file that loads nothing, and holds no value of a respondent.

    Parameters
    ----------
    risk_table : RiskTable
        Its titles stand in place of the names of keys.
    keys : Keys, optional
        For a table of what is missing and uncertain.
    identifications : for each quasi-identifier, a sequence of Identification
        Where attempts were judged.
    search, contributions, recodings : optional
        Where there was a search.
    protection : mapping, optional
        The log of what was done to the file before, as plain data; see `protection_content`.
    provenance : Provenance, optional
        Where the report comes from.
    areas : sequence of str
        What rules on areas find, a sentence each.
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.
    DataError
        A log of protection without steps.

    Examples
    --------
    >>> from naysay import microdata
    >>> found = microdata.risk_table({"age": [40, 36, 36]}, [["age"]], population=100)
    >>> risk_html(found).startswith("<!doctype html>")
    True
    """
    titles = Titles.of(risk_table.titles)
    risk_table = titles.risk(risk_table)
    search = None if search is None else titles.search(search)
    contributions = None if contributions is None else titles.contributions(contributions)
    recodings = None if recodings is None else titles.recodings(recodings)
    worst_count = max(risk_row.matches.sizes.unique for risk_row in risk_table.quasi_identifiers)
    facts = [
        (f"{risk_table.n:,}", "people in the file"),
        *([(f"{risk_table.population:,.12g}", "people whom they were sampled from")] if risk_table.population else []),
        (f"{worst_count:,}", "stand out on the worst quasi-identifier named here"),
        *([(f"{len(search.combinations):,}", "combinations of keys counted")] if search is not None else []),
    ]
    sections = [
        Section("In short", html([_list([*short(risk_table, search, recodings, protection), *areas])])),
        Section("What is assumed about the intruder", html(_intruder(risk_table, identifications))),
        *(
            [Section("What was done, and what is left", protection_content(protection, titles))]
            if protection is not None
            else []
        ),
        Section("Who stands out", html(_standing(risk_table))),
        *([Section("In the population", html(_people(risk_table)))] if _population_measures(risk_table) else []),
        Section("Missing and uncertain answers", html(_gaps(risk_table, keys, titles))),
    ]
    if search is not None and search.combinations:
        sections.append(Section("The most dangerous combinations", html(_search_content(search))))
    if contributions is not None:
        sections.append(Section("What each key adds", html(_contribution_content(contributions))))
    if recodings is not None and recodings.recodings:
        sections.append(Section("What coarser values would change", html(_recoding_content(recodings))))
    sections.append(Section("What these numbers do not say", html([_list(LIMITS)])))
    if provenance is not None:
        sections.append(Section("Where this report comes from", provenance.parts()))
    return page.html(title, sections, lead=lead(risk_table), facts=facts, footnotes=GLOSSARY, flow=True)


def _intruder(risk_table: RiskTable, identifications: Sequence[Sequence[Identification]]) -> list[Content]:
    risk_rows = risk_table.quasi_identifiers
    scenarios = SCENARIOS.values()
    intruder_rows = [
        (scenario.name, scenario.motivation, scenario.means, scenario.target, INTRUDERS[scenario.name])
        for scenario in scenarios
    ]
    success_rows = [
        [
            risk_row.label,
            *(spanned(scenario.success(risk_row), scenario.most(risk_row), percent) for scenario in scenarios),
        ]
        for risk_row in risk_rows
    ]
    column_titles = (
        "scenario",
        "what drives them",
        "what they have",
        "whom they look for",
        "how likely they are to be right",
    )
    return [
        _text(
            "An intruder is anybody who looks for a person in the file. They are assumed to know the following about"
            " that person, correctly, and nothing else:"
        ),
        _list([risk_row.label for risk_row in risk_rows]),
        grid("Three kinds of intruder", column_titles, intruder_rows, words=True),
        grid("How often an attempt succeeds", ("quasi-identifier", *SCENARIOS), success_rows),
        _text(
            f"{DASH}: too few people stand out, or nearly do, for the number to mean anything. Two numbers are the"
            " least that such an intruder achieves and the most that anybody can.",
            small=True,
        ),
        *_attempt_content(risk_rows, identifications),
    ]


def _attempt_content(
    rows: Sequence[QuasiIdentifier], identifications: Sequence[Sequence[Identification]]
) -> list[Content]:
    """The table of attempts as they were judged, if any were."""
    cell_rows = [
        (
            f"{risk_row.label}, {identification.scenario.name}",
            f"{identification.attempt:g}",
            spanned(identification.success, identification.most, percent),
            spanned(identification.probability, identification.highest, lambda share: percent(share, 4)),
        )
        for risk_row, row_identifications in zip(rows, identifications, strict=False)
        for identification in row_identifications
    ]
    column_titles = ("quasi-identifier and scenario", "somebody tries", "they succeed then", "both")
    table_title = "With the probability that somebody tries, as it was judged"
    return [grid(table_title, column_titles, cell_rows)] if cell_rows else []


def _standing(risk_table: RiskTable) -> list[Content]:
    return [
        _text(
            "Each quasi-identifier is looked at in two ways. In the upper bar (k) people with a gap in these keys are"
            " set aside, and the others are alone if nobody has the same keys. In the lower bar (m) nobody is set"
            " aside, and a gap may hide anything: people are alone only if nobody else can be the same."
        ),
        Chart(lambda size, room: charts.alone(risk_table, size=size, room=room)),
        *(
            risk_table.table_of(measure_type, page=True)
            for measure_type in risk_table.kinds
            if measure_type not in _population_measures(risk_table)
        ),
        *([_list(risk_table.reservations)] if risk_table.reservations else []),
    ]


def _population_measures(risk_table: RiskTable) -> list[type[Measure]]:
    """The measures on request that speak of the population."""
    return [
        measure_type
        for measure_type in risk_table.kinds
        if issubclass(measure_type, OnRequest) and "population" in measure_type.needs
    ]


def _people(risk_table: RiskTable) -> list[Content]:
    return [
        _text(
            "Most of the population is not in the file, so a person who is alone in the file need not be alone in the"
            " world. How many are must be estimated, and each way to do so assumes something that the file cannot"
            " confirm. Where the ways disagree, believe the range, not one of them."
        ),
        *(risk_table.table_of(measure_type, page=True) for measure_type in _population_measures(risk_table)),
        _list(sentence for measure_type in _population_measures(risk_table) for sentence in measure_type.explanation),
    ]


def _gaps(risk_table: RiskTable, keys: Keys | None, titles: Mapping[str, str]) -> list[Content]:
    rules = dict.fromkeys(risk_row.matches.rule for risk_row in risk_table.quasi_identifiers)
    content_parts: list[Content] = [
        _text(
            "People skip questions, or are not asked them. For k those with a missing or uncertain key are set aside,"
            " as counted above. For m a missing answer counts as the policy of its key says."
        ),
        *(_text(RULES[rule]) for rule in rules),
    ]
    if keys is not None:
        key_rows = []
        for variable, key_codes in zip(keys.variables, keys.tuples.columns, strict=True):
            # codes above those of values are sets of candidates
            value_count, tuple_counts = len(variable.cells.values), keys.tuples.count
            gap_count, set_count = tuple_counts[key_codes == 0].sum(), tuple_counts[key_codes > value_count].sum()
            count_texts = map("{:,}".format, (value_count, gap_count, set_count))
            key_rows.append([titles[variable.name], POLICIES[variable.policy], *count_texts])
        column_titles = ("key", "a missing answer", "values", "people without", "with several possible")
        content_parts.append(grid("The keys", column_titles, key_rows, words=True))
    if risk_table.policies:
        content_parts.append(
            _text("Where another policy was tried beside it, the tables name it in parentheses.", small=True)
        )
    return content_parts


def _search_content(search: Search) -> list[Content]:
    stand_text = STAND[search.measure]
    length_rows = (
        (
            f"{size}",
            f"{len(finished_combinations):,}",
            f"{finished_combinations[0].unique(search.measure):,}",
            " + ".join(finished_combinations[0].keys),
        )
        for size, finished_combinations in search.by_size
    )
    combination_rows = [
        _combination(rank, combination, search) for rank, combination in enumerate(search.combinations[:_ROWS], start=1)
    ]
    on_m, on_k = ([], []) if search.population is None else (["θ on m"], ["θ on k"])
    column_titles = ["combination", "m=1", "m<5", "share", "exact", *on_m, "set aside", "k=1", "k<5", "of all", *on_k]
    return [
        _text(
            f"All combinations of up to {search.size} of {len(search.keys.columns)} keys were looked for:"
            f" {search.asked:,}. More keys can only make more people stand out, so the worst combinations are long. The"
            " first picture shows how fast the danger grows with what an intruder knows: how many"
            f" {stand_text} on the worst, the middle and the mildest"
            " combination of each length."
        ),
        *([_text(f"{search.unfinished}.")] if search.left else []),
        Chart(lambda size, _: charts.growth(search, size=size)),
        grid("By the number of keys", ("keys", "combinations", f"worst: {stand_text}", "on"), length_rows, words=True),
        Chart(lambda size, room: charts.ranking(search, size=size, room=room)),
        grid(f"The {len(combination_rows)} most dangerous", column_titles, combination_rows),
    ]


def _combination(place: int, combination: Combination, search: Search) -> list[str]:
    match_cells = [
        f"{combination.m.unique:,}",
        f"{combination.m.below_5:,}",
        percent(combination.pr_su),
        percent(combination.exact),
    ]
    listwise_cells = [
        f"{combination.deleted:,}",
        f"{combination.k.unique:,}",
        f"{combination.k.below_5:,}",
        percent(combination.pr_su_all),
    ]
    ranked_name = f"{place}. {' + '.join(combination.keys)}"
    if search.population is None:
        return [ranked_name, *match_cells, *listwise_cells]
    on_k, on_m = (theta_percent(theta) for theta in combination.thetas(search.population))
    return [ranked_name, *match_cells, on_m, *listwise_cells, on_k]


def _contribution_content(contributions: Contributions) -> list[Content]:
    contribution_rows = [
        [contribution.key, percent(contribution.alone), percent(contribution.last), percent(contribution.averaged)]
        for contribution in contributions.keys
    ]
    column_titles = ("key", "alone", "last", "on average")
    stand_text = STAND[contributions.measure]
    return [
        _text(added(contributions.measure)),
        _text(f"On all keys together {percent(contributions.every)} of the people {stand_text}."),
        Chart(lambda size, room: charts.added(contributions, size=size, room=room)),
        grid(f"Added to the share of people who {stand_text}", column_titles, contribution_rows),
        _text(f"On average: over combinations of up to {contributions.size} keys.", small=True),
    ]


def _recoding_content(recodings: Recodings) -> list[Content]:
    before = recodings.before
    column_titles = ("change", "values now", "then", "m=1", "k=1", f"fewer {STAND[recodings.measure]}", "lost")
    return [
        _text(
            f"What would happen on {' + '.join(before.keys)} if one key were published less exactly, the others as they"
            f" are. Now {before.m.unique:,} people stand out (m = 1), and {before.k.unique:,} are alone once gaps are"
            " set aside (k = 1). Nothing was changed in the file. What a change loses of the key's information stands"
            " last, and must be weighed against what it buys; those that are free should always be made."
        ),
        grid("One change at a time, those that help most first", column_titles, recodings.cells(_ROWS)),
        _text("Where the numbers of a key are codes for something else, bins of them mean nothing.", small=True),
    ]


def _text(text: str, *, small: bool = False) -> Sentence:
    return Sentence(_unbroken(text), small)


def _list(items: Iterable[str]) -> Points:
    return Points(tuple(map(_unbroken, items)))


def _unbroken(text: str) -> str:
    """The text with k = 1 and m = 1 on one line each."""
    return re.sub(r"\b([km]) = 1\b", "\\1\u00a0=\u00a01", text)


@dataclass(frozen=True)
class Provenance:
    """Where a report comes from.

    Parameters
    ----------
    file : str
        Its name, without the folders that it lies in.
    rows : int
    made_at : datetime.datetime
    by : str
        Who made the report; empty if nobody said so.
    digest : str
        SHA-256 of the file, by which anybody can check that they have the same.
    """

    file: str
    rows: int
    made_at: datetime.datetime
    by: str = ""
    digest: str = ""

    @classmethod
    def of(cls, path: Path, rows: int, *, by: str = "", made_at: datetime.datetime | None = None) -> Provenance:
        """Of a file as it is now."""
        return cls(path.name, rows, made_at or datetime.datetime.now().astimezone(), by, hash_of(path))

    def parts(self) -> list[Content]:
        """As names and what they hold."""
        facts = [
            ("file", self.file),
            ("rows", f"{self.rows:,}"),
            ("SHA-256", self.digest),
            ("made", self.made_at.strftime("%Y-%m-%d %H:%M %Z").strip()),
            ("by", self.by),
            ("with", f"naysay {version('naysay')}"),
        ]
        return [Facts(tuple((name, value) for name, value in facts if value))]


class Titles(dict[str, str]):
    """What keys are called, by name; a key without a title keeps its name, and so do keys with the same title.

    Examples
    --------
    >>> titles = Titles.of({"v1": "Age", "v2": "Job", "v3": "Job"})
    >>> titles["v1"], titles["v2"], titles["v4"]
    ('Age', 'Job (v2)', 'v4')
    """

    @classmethod
    def of(cls, title_of: Mapping[str, str]) -> Titles:
        """From what a file says; empty titles say nothing."""
        title_texts = [title_text.strip() for title_text in title_of.values()]
        named_texts = zip(title_of, title_texts, strict=True)
        return cls(
            {
                key_name: title_text if title_texts.count(title_text) == 1 else f"{title_text} ({key_name})"
                for key_name, title_text in named_texts
                if title_text
            }
        )

    def __missing__(self, name: str) -> str:
        return name

    def risk(self, risk_table: RiskTable) -> RiskTable:
        """A table of risk."""
        titled_rows = tuple(
            replace(
                risk_row,
                keys=self._all(risk_row.keys),
                missing={self[key_name]: policy for key_name, policy in risk_row.missing.items()},
                measures=tuple(measure.titled(self) for measure in risk_row.measures),
            )
            for risk_row in risk_table.quasi_identifiers
        )
        return replace(risk_table, quasi_identifiers=titled_rows, titles={})

    def search(self, search: Search) -> Search:
        """Combinations of a search."""
        return replace(search, combinations=tuple(self._keys(combination) for combination in search.combinations))

    def contributions(self, contributions: Contributions) -> Contributions:
        """What keys add."""
        return replace(
            contributions,
            keys=tuple(replace(contribution, key=self[contribution.key]) for contribution in contributions.keys),
        )

    def recodings(self, recodings: Recodings) -> Recodings:
        """Coarser versions."""
        recodings_titled = tuple(
            replace(recoding, key=self[recoding.key], after=self._keys(recoding.after))
            for recoding in recodings.recodings
        )
        worst = None if recodings.worst is None else self._keys(recodings.worst)
        return replace(recodings, before=self._keys(recodings.before), recodings=recodings_titled, worst=worst)

    def _keys(self, combination: Combination) -> Combination:
        return replace(combination, keys=self._all(combination.keys))

    def _all(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self[name] for name in names)


INTRUDERS = {
    "acquaintance": "On average over the people in the file, at least: the better of two ways to pick among the records"
    " that fit.",
    "demonstration": "Somebody met by chance fits exactly one record: how often they are the person behind it (θ).",
    "register": "Share of the population that is in the file, times the share of the file that fits nobody else.",
}

POLICIES = {
    "wildcard": "may be anything: it fits everybody",
    "category": "an answer of its own: it fits only others without one",
    "drop": "the person is left out",
    "impute": "taken from somebody who is alike otherwise, drawn at random",
}

RULES = {
    "worst": "Where the file holds several possible values, the intruder is taken to know the true one, whichever it"
    " is; the count is the least over them. This errs on the side of caution.",
    "intersect": "Where the file holds several possible values, two people fit each other if they share one of them."
    " This makes people look safer than they are towards somebody who knows the truth.",
    "first": "Where the file holds several possible values, the intruder is taken to know the first of them.",
}

STAND = {"matches": "stand out", "anonymity": "are alone (k = 1)"}
"""The verb for the people who are counted, by the measure that ranks combinations."""

LIMITS = (
    "The numbers hold for the keys named here. They do not cover an intruder who knows something else about a person.",
    "Keys are taken to be right and up to date, in the file and in the intruder's mind. Errors and changes protect"
    " people, and are not counted.",
    "Being found is not the only harm: people who share all keys and the same sensitive answer give it away without"
    " being told apart.",
    "Standing out in the file is not standing out in the world. Most of the population is not in the file; but this"
    " protects only where it is not known who took part.",
    "θ takes the people in the file for a random sample of the population. For volunteers, or a panel, it is a rough"
    " guide.",
    "Members of a household, and waves of a panel, are taken one by one.",
    "How likely it is that somebody tries cannot be read from a file. Where this report gives such a probability, it is"
    " a judgment of those who made it.",
    "A file in which nobody stands out is hard to search by these keys. That alone does not make it anonymous.",
)

GLOSSARY = (
    ("Key, key variable", "Something that may be known about a person from elsewhere, and is in the file."),
    ("Quasi-identifier", "A combination of keys that an intruder is assumed to know."),
    ("k", "How many people in the file have exactly the same keys; those with a gap are set aside. k = 1: alone."),
    ("m", "How many people in the file may be the same, as far as the file tells; a gap may be anything."),
    ("To stand out", "m = 1: nobody else in the file can be the same."),
    (
        "Right pick",
        "How often somebody who knows these keys of a person in the file picks that record. At least: by picking"
        " the record that shows all keys, or one that fits, with a preference for records that fit few people. At most:"
        " by any use of these keys, even with the keys of everybody else.",
    ),
    ("Exact", "A right pick by looking for the record that shows all keys: the share kept times the mean of 1/k."),
    ("Mean 1/k", "How often the record that shows all keys is the right one, of the people without a gap."),
    (
        "Mean 1/m",
        "How often a pick would be right if all who may be the same were equally likely. With gaps they are not.",
    ),
    (
        "Unique in the population",
        "Nobody else in the population has the same keys. It is estimated by a model, from how many people in the file"
        " are alone, in pairs, and so on.",
    ),
    ("θ (theta)", "How often a match with a record that fits nobody else is right, if the person was met by chance."),
)


def added(measure: str) -> str:
    """What the three numbers about a key are."""
    stand_text = STAND[measure]
    would_text = stand_text.replace("are", "be")
    return (
        f"Alone: people who {stand_text} on this key by itself. Last: how many fewer would {would_text} on all keys"
        " together if this one were not known."
        " On average: how much it adds when it joins a few others picked at random. A key can"
        " be harmless alone and decisive in company, so the average is the fairest of the three."
    )


def lead(risk_table: RiskTable) -> list[str]:
    """What the report is, before any number."""
    key_names = list(dict.fromkeys(key_name for risk_row in risk_table.quasi_identifiers for key_name in risk_row.keys))
    first_keys = " and ".join(key_names[:2])
    return [
        "Even if names and addresses are gone from a file, somebody who knows a few things about a person, such"
        f" as {first_keys}, may find their record and everything else they told. This report says how many people"
        " that concerns, on which combinations of things, and what could be done. It is meant for those who decide"
        " whether a file is released, and in what form.",
        "It holds only counts of people, and nobody's answers.",
    ]


def short(
    risk_table: RiskTable, search: Search | None, recoded: Recodings | None, protection: JsonNode | None = None
) -> list[str]:
    """The findings, one sentence or two each."""
    sentences = [] if protection is None else _of_protection(protection)
    sentences += [_of_row(risk_row, risk_table.n) for risk_row in risk_table.quasi_identifiers]
    sentences += [model_text for risk_row in risk_table.quasi_identifiers if (model_text := _of_model(risk_row))]
    if search is not None and search.combinations:
        top_combination = search.combinations[0]
        sentences.append(
            f"Of {len(search.combinations):,} combinations of up to {search.size} keys that were counted, the most"
            f" dangerous is {' + '.join(top_combination.keys)}:"
            f" {_share_of_people(top_combination.unique(search.measure), risk_table.n)}"
            f" {STAND[search.measure]} on it."
        )
        if search.left:
            sentences.append(f"{search.unfinished}.")
    if recoded is not None and recoded.recodings:
        sentences += _of_recodings(recoded, search)
    return sentences


def _of_row(row: QuasiIdentifier, n: int) -> str:
    match_sizes = row.matches.sizes
    row_text = (
        f"{row.label}: {_share_of_people(match_sizes.unique, n)} stand out:"
        " nobody else in the file can be the same (m = 1)."
    )
    if row.listwise.sizes.unique != match_sizes.unique:
        row_text += f" If people with a gap are set aside, {row.listwise.sizes.unique:,} are alone (k = 1)."
    if match_sizes.records:
        least, most = row.matches.informed.least, row.matches.informed.most
        row_text += (
            " Somebody who knows that a person took part, and these things about them, picks the right record"
            f" {spanned(least, most, lambda share: f'{100 * share:.1f}')} times in 100."
        )
    return row_text


def _of_model(row: QuasiIdentifier) -> str:
    """Who is unique in the population, by the default model."""
    model = row.measure(Pitman)
    if model is None or model.estimate.withheld or math.isnan(model.estimate.interval[0]):
        return ""
    low, high = model.estimate.interval
    return (
        f"{row.label}: about {model.estimate.people:,.0f} people of the population ({low:,.0f} to {high:,.0f}) share"
        " these things with nobody, if Pitman's model holds."
    )


def _of_protection(log: JsonNode) -> list[str]:
    """What was done before, in numbers."""
    log_fields = log.get("log", log)
    guarantee_before, guarantee_after = (log_fields.get(f"guarantee_{when}") or {} for when in ("before", "after"))
    if "k" not in guarantee_before or "k" not in guarantee_after:
        return []
    protection_text = (
        "The file was protected: every row now reads the same on the keys"
        f" as at least {guarantee_after['k'] - 1:,} others"
        f" (k is at least {guarantee_after['k']:,}; before, {guarantee_before['k']:,})."
    )
    risk_before, risk_after = (
        (log_fields.get(f"intruder_{when}") or {}).get("mean_at_risk") for when in ("before", "after")
    )
    if risk_before is not None and risk_after is not None:
        protection_text += (
            " Somebody who knows all true keys of a person who stood out before picks the right record"
            f" {100 * risk_after:.1f} times in 100, instead of {100 * risk_before:.1f}."
        )
    return [protection_text]


def _share_of_people(some: int, n: int) -> str:
    return f"{some:,} of {n:,} people ({percent(some / n)})"


def _of_recodings(recodings: Recodings, search: Search | None) -> list[str]:
    """The coarser version that helps most on the worst combination, and what it does on all others."""
    best_recoding = recodings.best
    if best_recoding is None:
        return []
    would_text = STAND[recodings.measure].replace("are", "be")
    recoding_text = (
        f"On {' + '.join(recodings.before.keys)} the coarser version that would help most is"
        f" {best_recoding.key}, {best_recoding.told}:"
        f" {best_recoding.after.unique(recodings.measure):,} people would {would_text} on these keys instead of"
        f" {recodings.before.unique(recodings.measure):,}."
    )
    if search is None:
        return [recoding_text]
    if recodings.worst is None:
        return [f"{recoding_text} That is about this combination alone; the others were not counted again."]
    worst_keys = " + ".join(recodings.worst.keys)
    return [
        f"{recoding_text} Of all {len(search.combinations):,} combinations that were counted, {worst_keys}"
        f" would then be the worst: {recodings.worst.unique(recodings.measure):,} people would {would_text} on it."
    ]


_GUARANTEES = {
    "k": "people whose rows read the same (k)",
    "c": "people who show as much (c)",
    "m": "people who may be the same (m)",
}
_INTRUDER_SHARES = {
    "mean": "right about anybody in the file",
    "mean_at_risk": "right about those who stood out before",
    "highest": "right about one person, at most",
}


def protection_content(log: JsonNode, titles: Mapping[str, str] | None = None) -> list[Content]:
    """The content of a section on protection.

    Parameters
    ----------
    log : mapping
        Plain data, as ``naysay protect`` writes it: ``steps``, each with what was done (``step``), the records deleted
        and, by column, its cells changed and suppressed; ``guarantee_before`` and ``guarantee_after`` (the least k, c
        and m); ``intruder_before`` and ``intruder_after`` (how often an informed intruder is right). All of it may
        stand under ``log``, as in the file beside a release.
    titles : {key: text}, optional
        What variables are called.

    Raises
    ------
    DataError
        A log without steps.

    Examples
    --------
    >>> steps = [{"step": {"method": "suppress"}, "columns": {"age": {"cells": 100, "changed": 3, "suppressed": 3}}}]
    >>> told = protection_content({"steps": steps, "guarantee_before": {"k": 1}, "guarantee_after": {"k": 3}})
    >>> [part.caption for part in told if hasattr(part, "caption")]
    ['What was done', 'What is left']
    """
    log_fields = log.get("log", log)
    steps = log_fields.get("steps") if isinstance(log_fields, Mapping) else None
    if not isinstance(steps, Sequence) or not all(isinstance(step, Mapping) for step in steps):
        raise DataError("a log of protection holds a list 'steps'; give the log that naysay protect wrote")
    step_rows = []
    for step_number, step in enumerate(steps, start=1):
        for column_name, cell_counts in step.get("columns", {}).items():
            cell_count, changed_count = int(cell_counts.get("cells", 0)), int(cell_counts.get("changed", 0))
            counts = (cell_count, changed_count, int(cell_counts.get("suppressed", 0)))
            changed_share = percent(changed_count / cell_count) if cell_count else DASH
            row_name = f"{step_number}. {_step_name(step)}: {(titles or {}).get(column_name, column_name)}"
            step_rows.append((row_name, *map("{:,}".format, counts), changed_share))
    deleted_count = sum(int(step.get("deleted", 0)) for step in steps)
    content_parts: list[Content] = [
        Sentence(
            "The file was changed before this report, in these steps. Cells are those that held an answer before."
        ),
        grid("What was done", ("step", "cells", "changed", "of it emptied", "share changed"), step_rows),
    ]
    if deleted_count:
        content_parts.append(Sentence(f"{deleted_count:,} records were deleted."))
    notes = [f"{_step_name(step)}: {note}" for step in steps for note in step.get("notes", ())]
    content_parts += [Points(tuple(notes))] if notes else []
    return [*content_parts, *_remaining_risk(log_fields)]


def _step_name(step: JsonNode) -> str:
    step_form = step.get("step", {})
    return str(step_form.get("method", step_form.get("name", "step")) if isinstance(step_form, Mapping) else step_form)


def _remaining_risk(log_fields: JsonNode) -> list[Content]:
    """Risk before and after."""
    guarantee_before, guarantee_after = (log_fields.get(f"guarantee_{when}") or {} for when in ("before", "after"))
    guarantee_rows = [
        (f"fewest {text}", *(_whole_or_dash(guarantee.get(sign)) for guarantee in (guarantee_before, guarantee_after)))
        for sign, text in _GUARANTEES.items()
    ]
    content_parts: list[Content] = []
    if guarantee_before or guarantee_after:
        content_parts += [
            grid("What is left", ("", "before", "after"), guarantee_rows),
            Sentence(
                "Only k is a promise: whatever somebody knows of these keys, they pick the right record with a"
                " probability of at most one in k. c and m also count rows with gaps, which need not be taken for"
                " the person by somebody who knows all keys.",
                True,
            ),
        ]
    intruder_before, intruder_after, intruder_nearest = (
        log_fields.get(f"intruder_{when}") or {} for when in ("before", "after", "nearest")
    )
    if intruder_before and not intruder_after:
        nearest_text = (
            f" Of {_whole_or_dash(intruder_nearest['n'])} people,"
            f" the nearest record was right for {_percent_or_dash(intruder_nearest['share'])}"
        )
        content_parts.append(
            Sentence(
                "Keys may hold other values now than the true ones. So it is not told how often somebody who knows all"
                " true keys picks the right record by comparing values: they would take the nearest record instead."
                + (
                    f"{nearest_text}; in the original it was {_percent_or_dash(intruder_before.get('mean'))}."
                    if intruder_nearest
                    else ""
                )
                + " naysay attack measures such attacks."
            )
        )
    if (guarantee_before or guarantee_after) and not intruder_before:
        content_parts.append(
            Sentence(
                "How often an intruder picks the right record is not told: it is measured where each row is a person,"
                " where the release has all keys and only rows of the original, and where memory holds the file."
            )
        )
    if intruder_before and intruder_after:
        intruder_rows = [
            (text, *(_percent_or_dash(intruder.get(share_name)) for intruder in (intruder_before, intruder_after)))
            for share_name, text in _INTRUDER_SHARES.items()
        ]
        content_parts += [
            grid(
                "How often somebody who knows all true keys picks the right record",
                ("", "before", "after"),
                intruder_rows,
            ),
            Sentence("They take the records that fit, and of these the ones with the fewest gaps.", True),
        ]
    return content_parts


def _whole_or_dash(value: float | None) -> str:
    return DASH if value is None else f"{int(value):,}"


def _percent_or_dash(value: float | None) -> str:
    return DASH if value is None else percent(float(value))
