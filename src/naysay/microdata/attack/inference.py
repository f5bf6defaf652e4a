"""What an intruder learns about a person beside their keys, for released and for synthetic records.

People who are alone with their keys in the original, and stand again in a synthetic file. At the end stands the page
on all attacks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import gammaln

from naysay import _checks
from naysay.errors import DataError
from naysay.microdata.attack.linkage import Linkage, nearest_records
from naysay.microdata.attack.register import Register, Share, frame_of, share_of, texts
from naysay.microdata.keys.codes import check_names
from naysay.microdata.keys.variables import Keys
from naysay.microdata.risk.uniques import Sample, pitman
from naysay.show import Chart, Content, Facts, Note, Sentence, charts, page
from naysay.show.page import Section
from naysay.show.result import DASH, Printed, percent
from naysay.show.rows import Mark

_Z = 1.959963984540054


@dataclass(frozen=True)
class Inference(Printed):
    """How often a secret is guessed from a release, of people whom it was made from and of others.

    Parameters
    ----------
    secret : str
    keys : tuple of str
    inside, control : Share
        Right guesses about people of the original, and about people who are not in it.
    baseline : float
        Right guesses of the most common value for everybody, which needs no release of records.
    """

    name = "inference"
    secret: str
    keys: tuple[str, ...]
    inside: Share
    control: Share
    baseline: float

    @property
    def excess(self) -> float:
        """(inside - control)/(1 - control): what being in the file costs a person, beyond what it teaches of all."""
        if not self.control.n or self.control.value == 1:
            return float("nan")
        return (self.inside.value - self.control.value) / (1 - self.control.value)

    @property
    def excess_interval(self) -> tuple[float, float]:
        """The 95 % interval of the excess, by the delta method, with binomial shares."""
        a, c = self.inside, self.control
        if math.isnan(self.excess):
            return self.excess, self.excess
        variance = a.value * (1 - a.value) / a.n + c.value * (1 - c.value) / c.n * ((1 - a.value) / (1 - c.value)) ** 2
        half_width = _Z * math.sqrt(variance) / (1 - c.value)
        return self.excess - half_width, self.excess + half_width

    def parts(self) -> list[Content]:
        fact_rows = [
            ("people whom the release was made from", f"{self.inside}, of {self.inside.n:,}"),
            (
                "the same attack on others (control)",
                f"{self.control}, of {self.control.n:,}" if self.control.n else "–",
            ),
            ("the most common value for everybody", percent(self.baseline)),
        ]
        if not np.isnan(self.excess):
            low_text, high_text = map(percent, self.excess_interval)
            fact_rows.append(
                (
                    "what being in the file costs",
                    f"{percent(self.excess)} of what else is unknown ({low_text} to {high_text})",
                )
            )
        lead_sentence = f"A guess of {self.secret!r} from the nearest records on {', '.join(self.keys)} is right for"
        control_warning = "without a control, what the release teaches of everybody is taken for a risk of its people"
        return [Sentence(lead_sentence), Facts(tuple(fact_rows)), *([] if self.control.n else [Note(control_warning)])]

    def numbers(self) -> dict[str, object]:
        return {
            "secret": self.secret,
            "keys": self.keys,
            "baseline": self.baseline,
            "excess": self.excess,
            "excess_interval": self.excess_interval,
            "inside": self.inside.numbers(),
            "control": self.control.numbers(),
        }


def infer(
    release: object,
    original: object,
    keys: Sequence[str],
    secret: str,
    *,
    control: object = None,
    most: int | None = 1_000,
    confidence: float = 0.95,
    seed: int = 1,
) -> Inference:
    """Guess a secret of people from the released records that are nearest to them on some keys.

    The records may be synthetic: nobody needs to be linked. A guess is drawn from the nearest records.

    Parameters
    ----------
    release, original : dataframe or mapping of columns
    keys : sequence of str
    secret : str
        A column that is no key.
    control : dataframe or mapping of columns, optional
        People from the same population who are not in the original.
    most : int, optional
        The most people attacked of each kind.
    confidence : float
    seed : int

    Raises
    ------
    DataError
        Columns that a file does not have; a secret that is a key.

    Examples
    --------
    >>> people = {"age": [20, 30, 40], "ill": ["no", "no", "yes"]}
    >>> infer(people, people, ["age"], "ill").inside.value
    1.0

    Source: Giomi et al. (2023), inference and its control.
    """
    level = _checks.confidence(confidence)
    if secret in keys:
        raise DataError(f"the secret must not be a key; {secret!r} is both", column=secret)
    release_frame = frame_of(release, what="the release")
    check_names([secret], release_frame.columns, what="column of the release")
    right_shares, baseline = [], float("nan")
    for people_table, table_title in ((original, "the original"), (control, "the control")):
        if people_table is None:
            right_shares.append(share_of([]))
            continue
        people_frame = frame_of(people_table, what=table_title)
        check_names([*keys, secret], people_frame.columns, what="column of " + table_title)
        people_with_secret = people_frame.filter(texts(people_frame[secret]).is_not_null())
        right_chances = _guess_chances(release_frame, people_with_secret, keys, secret, most, seed)
        right_shares.append(share_of(right_chances, confidence=level))
        if table_title == "the original":
            true_secrets = texts(people_with_secret[secret])
            baseline = float((true_secrets == true_secrets.mode().sort()[0]).mean() or 0.0)
    return Inference(secret, tuple(keys), right_shares[0], right_shares[1], baseline)


def _guess_chances(
    file: pl.DataFrame, people: pl.DataFrame, keys: Sequence[str], secret: str, most: int | None, seed: int
) -> NDArray[np.float64]:
    """The chance of each guess to be right."""
    no_rows = np.full(people.height, -1)
    key_names = tuple(keys)
    check_names(key_names, file.columns, what="column of the release")
    register = Register(key_names, people, file, no_rows)
    register = register if most is None else register.sampled(most, seed)
    all_secrets = pl.concat([texts(register.people[secret]), texts(file[secret])])
    secret_numbers = all_secrets.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
    true_codes, secret_codes = np.split(secret_numbers, [register.people.height])
    right_chances = np.zeros(len(true_codes))
    for person_rows, is_close in nearest_records(register):
        is_useful = is_close & (secret_codes > 0)
        useful_counts = is_useful.sum(axis=1)
        right_chances[person_rows] = (is_useful & (secret_codes == true_codes[person_rows, None])).sum(
            axis=1
        ) / np.maximum(useful_counts, 1)
    return right_chances


@dataclass(frozen=True)
class Replicated(Printed):
    """Unique people of the original whose keys stand again in a file of synthetic records.

    Parameters
    ----------
    keys : tuple of str
    unique : int
        People who are alone with their complete keys in the original.
    found : int
        Those whose keys a synthetic record holds.
    fresh : float
        How many a fresh sample of as many people holds: counted in the control, or else expected; NaN where too few
        people are alike for that.
    control : int
        People of the control; 0 where the number is expected.
    """

    name = "replicated"
    keys: tuple[str, ...]
    unique: int
    found: int
    fresh: float
    control: int

    def parts(self) -> list[Content]:
        source_text = f"in {self.control:,} other people" if self.control else "expected under Pitman's model"
        fresh_text = DASH if math.isnan(self.fresh) else f"{self.fresh:,.0f}, {source_text}"
        fact_rows = (
            ("alone in the original", f"{self.unique:,} people, on {', '.join(self.keys)}"),
            ("of them again in the synthetic file", f"{self.found:,}"),
            ("of them again in a fresh sample", fresh_text),
        )
        explanation = "More than a fresh sample holds means that the synthesis copied people."
        return [Facts(fact_rows), Sentence(explanation, small=True)]

    def numbers(self) -> dict[str, object]:
        return dict(vars(self))


def replicated(synthetic: object, original: object, keys: Sequence[str], *, control: object = None) -> Replicated:
    """How many unique people of the original stand again in a synthetic file, beside what a fresh sample holds.

    Parameters
    ----------
    synthetic, original : dataframe or mapping of columns
    keys : sequence of str
    control : dataframe or mapping of columns, optional
        Other people of the same population, as many as there are synthetic records or more; the first of them count.
        Without it, the number is expected under Pitman's model (`recurring`).

    Raises
    ------
    DataError
        A control with fewer people than there are synthetic records.

    Examples
    --------
    >>> people = {"age": [20, 30, 40, 40]}
    >>> found = replicated({"age": [20, 25, 40, 40]}, people, ["age"], control={"age": [21, 30, 20, 40]})
    >>> found.unique, found.found, found.fresh
    (2, 1, 2)
    """
    original_frame = frame_of(original, what="the original")
    synthetic_frame = frame_of(synthetic, what="the synthetic file")
    key_table = _known_keys(original_frame, keys)
    unique_people = key_table.filter(key_table.is_unique())

    def again(frame: pl.DataFrame) -> int:
        return unique_people.join(_known_keys(frame, keys).unique(), on=list(keys), how="semi").height

    copied_people = again(synthetic_frame)
    if control is None:
        return Replicated(
            tuple(keys), unique_people.height, copied_people, recurring(key_table, synthetic_frame.height), 0
        )
    control_frame = frame_of(control, what="the control")
    if control_frame.height < synthetic_frame.height:
        counts_text = (
            f"the control has {control_frame.height:,} people, and there are {synthetic_frame.height:,} "
            "synthetic records"
        )
        raise DataError(f"a control must have as many people as there are synthetic records; {counts_text}")
    fresh_count = again(control_frame.head(synthetic_frame.height))
    return Replicated(tuple(keys), unique_people.height, copied_people, fresh_count, synthetic_frame.height)


def recurring(key_table: pl.DataFrame, people: int) -> float:
    """How many of the unique people of a file have their keys again among so many others of its population.

    Under Pitman's model with θ and α a class of one person stays alone in m more draws after n with probability
    Γ(θ+n+m-1+α) Γ(θ+n) / (Γ(θ+n-1+α) Γ(θ+n+m)). NaN where the model has no answer.
    """
    class_sizes = key_table.group_by(key_table.columns).len()["len"].cast(pl.Int64).to_numpy()
    n = int(class_sizes.sum())
    if n < 2:
        return float("nan")
    pitman_parameters = pitman(Sample.of(class_sizes, 2 * n)).parameters  # they do not depend on the population
    if not pitman_parameters:
        return float("nan")
    theta, alpha = pitman_parameters["theta"], pitman_parameters["alpha"]
    log_chance_alone = gammaln(theta + n + people - 1 + alpha) - gammaln(theta + n + people)
    log_chance_alone += gammaln(theta + n) - gammaln(theta + n - 1 + alpha)
    return float((class_sizes == 1).sum() * -np.expm1(log_chance_alone))


def _known_keys(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The keys of people of whom all are known."""
    Keys(frame, keys)  # checks them
    return pl.DataFrame({name: texts(frame[name]) for name in keys}).drop_nulls()


_HEADINGS = {"linkage": "Links", "inference": "What is learned beside", "replicated": "Copies of people"}


def right_links_chart(linkage: Linkage, *, size: int = 640, room: int = 26) -> str:
    """An SVG image of the share of right links of each attack, and of the links made to people who are not there.

    Parameters
    ----------
    linkage : Linkage
    size, room : int
        As in `charts.dots`.
    """

    def mark(role: str, name: str, shares: Sequence[Share]) -> Mark:
        share_values, bounds = [share.value for share in shares], [share.interval for share in shares]
        return Mark(role, name, share_values, bounds)

    attacks = linkage.attacks
    marks = [
        mark("estimate", "right, of all people", [success.of_all for success in attacks]),
        mark("pooled", "right, of links made", [success.of_links for success in attacks]),
    ]
    if linkage.control:
        marks.append(Mark("truth", "control: links made", [success.control.value for success in attacks]))
    return charts.dots(
        [success.name for success in attacks],
        marks,
        title="What share of links is right",
        size=size,
        room=room,
        axis="share",
    )


def attack_html(
    results: Sequence[Linkage | Inference | Replicated], *, title: str = "What an intruder would find"
) -> str:
    """What attacks on a release achieve, as a whole page. It holds no person's value.

    Parameters
    ----------
    results : sequence of Linkage, Inference or Replicated
    title : str

    Raises
    ------
    ExtraMissing
        Without the extra ``plots``.

    Examples
    --------
    >>> from naysay.microdata import attack
    >>> table = {"age": [20, 30, 40, 40]}
    >>> attack_html([attack.link(table, table, ["age"])]).startswith("<!doctype html>")
    True
    """

    def links_image(linkage: Linkage) -> Chart:
        return Chart(lambda size, room: right_links_chart(linkage, size=size, room=room))

    sections, facts = [], []
    for result in results:
        section_content = list(result.parts())
        if isinstance(result, Linkage) and result.people:
            section_content.insert(1, links_image(result))
            best_attack = result.strongest
            facts.append(
                (
                    f"{100 * best_attack.of_all.value:.1f} %",
                    f"of the people found by the strongest attack, {best_attack.name}",
                )
            )
        if isinstance(result, Inference) and not np.isnan(result.excess):
            facts.append((f"{100 * result.excess:.1f} %", f"what being in the file costs, of {result.secret!r}"))
        if isinstance(result, Replicated):
            facts.append((f"{result.found:,}", "unique people stand again in the synthetic file"))
        sections.append(Section(_HEADINGS[result.name], section_content))
    return page.html(title, sections, facts=facts, flow=True)
