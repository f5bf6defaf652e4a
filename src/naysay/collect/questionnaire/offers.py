"""The privacy of a question as an XLSForm writes it: a design, the levels on offer, sinks, bins of numbers.

Who carries out a design, as an XLSForm writes it: modes, innocuous question, words of the responses.

Privacy that stands where nobody reads it: not in the column or property that makes answers private.
"""

from __future__ import annotations

import difflib
import inspect
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

import numpy as np

from naysay import _checks, designs
from naysay.collect.questionnaire.arms import innocuous_of
from naysay.collect.questionnaire.privacy import assumes_prevalence, by_hand_design, way_by_hand
from naysay.collect.questionnaire.questions import Label, Private, in_languages
from naysay.design import Answerable, Both, Design, read
from naysay.design.base import answers_of
from naysay.designs import FAMILIES
from naysay.errors import DesignError
from naysay.responses import Labels

COIN = "coin"
"""The name of the level that respondents draw themselves."""

DEVICE = "device"
"""The name of the level that the device draws, if there is one design beside the coin."""

_MOST_CATEGORIES = 200  # the design's table has so many columns, and as many rows
_SINK = {
    "en": "Nothing is ruled out",
    "de": "Nichts wird ausgeschlossen",
    "es": "No se descarta nada",
    "ar": "لا يُستبعد شيء",
}


class PrivateForm(TypedDict):
    """The JSON form of `Private`."""

    by_hand: list[str]
    responses: dict[str, Label]
    design: dict[str, Any]
    modes: NotRequired[list[str]]
    innocuous: NotRequired[Label]
    begins_at: NotRequired[str]


def private_of(
    categories: Sequence[str],
    *,
    design: str = "",
    levels: str = "",
    sink: str = "",
    words: Mapping[str, str] | None = None,
) -> PrivateForm:
    """The privacy that the cells of a row describe.

    Parameters
    ----------
    categories : sequence of str
        Names of the choices or bins; yes and no for a select multiple.
    design : str
        A call such as ``warner(p=0.7)``, its name alone, or the design's JSON.
    levels : str
        ``1..3, coin``: from the most private level to the most open on offer, and whether respondents may draw
        themselves.
    sink : str
        Choices that are never ruled out, parted by commas.
    words : {language: text}, optional
        What respondents read for the sink.

    Returns
    -------
    PrivateForm

    Raises
    ------
    DesignError
        The cells describe no design for these categories; the message says what must hold.

    Examples
    --------
    >>> private_of(("low", "middle", "high"), design="negative", levels="1..1, coin")["by_hand"]
    ['coin']
    """
    category_names = tuple(categories)
    if len(category_names) > _MOST_CATEGORIES:
        raise DesignError(
            f"a private question must have at most {_MOST_CATEGORIES} categories; got {len(category_names):,}"
        )
    offered_levels, sink_names = parted(levels), parted(sink)
    if sink:
        if design.replace("()", "").strip() not in ("", "negative", "negative_sink", "negative_levels"):
            raise DesignError(f"a sink goes with the design negative; got {design} (leave the design or the sink out)")
        if COIN in offered_levels:
            raise DesignError(
                "a sink and the coin exclude each other: of the two options that are shown one is ruled out, and it "
                f"may be the sink (leave {COIN!r} out of the levels)"
            )
        label_of_sink = {name: "sink" if len(sink_names) == 1 else f"sink_{name}" for name in sink_names}
        sink_offer: Answerable = designs.negative_sink(category_names, sinks=label_of_sink)
        if offered_levels or "levels" in design:
            levels_with_sink = designs.negative_levels(category_names, sinks=label_of_sink)
            sink_offer = designs.levels(_on_offer(levels_with_sink, offered_levels))
        sink_label = dict(_SINK if words is None else words)
        return _form(sink_offer, responses=dict.fromkeys(label_of_sink.values(), sink_label))
    level_ranges = [level_range for level_range in offered_levels if level_range != COIN]
    design_of_level = {}
    if design or level_ranges or not offered_levels:
        base_design = _base(category_names, design, level_ranges) if design or level_ranges else None
        fitting_design = _fitting_design(base_design, category_names)
        if not offered_levels:
            return _form(fitting_design)
        design_of_level = _on_offer(fitting_design, level_ranges)
    if COIN in offered_levels:
        design_of_level[COIN] = by_hand_design(category_names)
    return _form(designs.levels(design_of_level), by_hand=[COIN] if COIN in offered_levels else [])


def parted(text: str) -> list[str]:
    """The pieces of a cell that are parted by commas.

    Examples
    --------
    >>> parted("1..3, coin,")
    ['1..3', 'coin']
    """
    return [piece.strip() for piece in text.split(",") if piece.strip()]


def sink_words(languages: Sequence[str]) -> dict[str, str]:
    """The words for a sink where the author wrote none, in those of the languages that naysay knows.

    Examples
    --------
    >>> sink_words(("en-GB", "fr"))
    {'en-GB': 'Nothing is ruled out'}
    """
    return in_languages(_SINK, languages)


def _form(
    design: Answerable, *, by_hand: Sequence[str] = (), responses: Mapping[str, Label] | None = None
) -> PrivateForm:
    form = json.loads(design.to_json())
    del form["drawing"]  # the rules that every client follows: prose, for each question, that no page reads
    return {"by_hand": list(by_hand), "responses": dict(responses or {}), "design": form}


def _base(names: tuple[str, ...], design: str, level_ranges: list[str]) -> Answerable:
    """The design that the cell asks for; a negative survey with a range of levels becomes an offer of these levels."""
    design_text = design.strip() or "negative_levels()"
    if design_text.startswith("{"):
        return read(design_text)
    design_call = design_text if "(" in design_text else f"{design_text}()"
    if level_ranges and design_call.replace(" ", "") == "negative()":
        design_call = "negative_levels()"
    return designs.parse(design_call, categories=names)


def _fitting_design(design: Answerable | None, names: tuple[str, ...]) -> Answerable:
    if design is not None and (design.offer.assigned_by == "researcher" or design.structure.finer):
        raise DesignError(
            "a questionnaire is one sample; this design puts its question to several, or to cells that are no "
            "categories (make a questionnaire for each sample, or take another design, such as warner(p=0.7))"
        )
    if design is None or tuple(map(str, design.categories)) != names:
        got_text = "none" if design is None else _checks.listing_text(design.categories)
        raise DesignError(
            f"a design must be about the choices in their order, {_checks.listing_text(names)}; this one is about "
            f"{got_text} (leave the categories out of the call)"
        )
    return design


def _on_offer(design: Answerable, level_ranges: list[str]) -> dict[str, Answerable]:
    """The levels of an offer from floor to ceiling, named by their text."""
    if design.offer.assigned_by != "respondent":
        if level_ranges:
            raise DesignError(
                "levels from floor to ceiling need an offer, such as negative_levels(); "
                f"{design.name or 'this'} is one design (leave the levels out, or write 'coin' alone)"
            )
        return {DEVICE: design}
    channel_of_level = {str(level): channel for level, channel in design.parts.items()}
    offered_names = [
        level_name for level_range in level_ranges for level_name in _range(level_range, list(channel_of_level))
    ] or channel_of_level
    return {level_name: channel for level_name, channel in channel_of_level.items() if level_name in offered_names}


def _range(text: str, level_names: list[str]) -> list[str]:
    low_name, dots, high_name = (part.strip() for part in text.partition(".."))
    end_names = (low_name, high_name if dots else low_name)
    for end_name in end_names:
        if end_name not in level_names:
            hint = _checks.nearest(end_name, level_names)
            raise DesignError(f"there is no level {end_name!r}; {hint}; write floor..ceiling, such as 1..2")
    floor_place, ceiling_place = map(level_names.index, end_names)
    if floor_place > ceiling_place:
        order_rule = "levels run from the most private to the most open"
        raise DesignError(f"{order_rule}; got {text!r} (write {high_name}..{low_name})")
    return level_names[floor_place : ceiling_place + 1]


def written_private(private: Private) -> dict[str, str]:
    """The cells design, levels and sink that describe a question's privacy; `private_of` reads them back.

    Parameters
    ----------
    private : Private

    Returns
    -------
    {column: text}
        One cell with the design's JSON, if nothing shorter says the same.

    Examples
    --------
    >>> from naysay.collect.questionnaire import sample
    >>> [written_private(q.private) for q in sample().questions if q.name == "income"]
    [{'design': 'negative', 'levels': '1..3, coin'}]
    """
    offer, category_names = private.offer, tuple(map(str, private.offer.categories))
    sink_names = [category_name for category_name in category_names if f"sink_{category_name}" in private.responses]
    candidates = [{"design": "negative", "sink": name} for name in category_names if "sink" in private.responses]
    candidates += [{"design": "negative", "sink": ", ".join(sink_names)}] if sink_names else []
    if offer.offer.assigned_by != "respondent":
        candidates += [{"design": offer.name.removesuffix("()")}, {"design": offer.name}]
    else:
        coin_suffix = f", {COIN}" if private.by_hand else ""
        device_levels = [device_level for device_level in private.levels if device_level not in private.by_hand]
        if device_levels:
            level_range = f"{device_levels[0]}..{device_levels[-1]}"
            candidates = [{**cells, "levels": level_range} for cells in candidates]
            candidates.append({"design": "negative", "levels": f"{level_range}{coin_suffix}"})
            candidates.append({"design": offer.channel(offer.levels[0]).name, "levels": COIN})
        candidates.append({"design": offer.name, "levels": coin_suffix.removeprefix(", ")})
        candidates.append({"design": "", "levels": COIN})
    for candidate_cells in candidates:  # the plainest first
        try:
            design, levels, sink = (candidate_cells.get(cell_name, "") for cell_name in ("design", "levels", "sink"))
            read_back = private_of(category_names, design=design, levels=levels, sink=sink)
        except DesignError:
            continue
        if read_back["design"] == private.design and read_back["by_hand"] == list(private.by_hand):
            return candidate_cells
    return {"design": json.dumps(private.design, ensure_ascii=False)}


def bins_of(bounds: Sequence[float], languages: Sequence[str], *, whole: bool) -> list[dict[str, Any]]:
    """Bins between these bounds, with names for data and words for respondents.

    Parameters
    ----------
    bounds : sequence of float
        Where one bin ends and the next begins.
    languages : sequence of str
    whole : bool
        Whether numbers are whole: then "20 to 39" instead of "20 to under 40".

    Returns
    -------
    list of object

    Examples
    --------
    >>> [each["label"]["en"] for each in bins_of((20, 40), ("en",), whole=True)]
    ['under 20', '20 to 39', '40 or more']
    """
    patterns_of_language = {tag: _WORDS.get(tag.partition("-")[0].lower(), _SIGNS) for tag in languages}
    bins = []
    for low_edge, high_edge in pairwise([None, *bounds, None]):
        pattern_place = 0 if low_edge is None else 3 if high_edge is None else 1 if whole else 2
        bin_ends = {"low": low_edge, "high": high_edge, "last": None if high_edge is None else high_edge - 1}
        end_texts = {end_name: f"{end:.15g}" for end_name, end in bin_ends.items() if end is not None}
        bin_name = f"below_{high_edge:.15g}" if low_edge is None else f"from_{low_edge:.15g}"
        bin_label = {tag: patterns[pattern_place].format(**end_texts) for tag, patterns in patterns_of_language.items()}
        bins.append({"name": bin_name.translate(_NAME_PARTS), "label": bin_label, "below": high_edge})
    return bins


_NAME_PARTS = str.maketrans({"-": "minus_", ".": "_", "+": ""})


_WORDS = {
    "en": ("under {high}", "{low} to {last}", "{low} to under {high}", "{low} or more"),
    "de": ("unter {high}", "{low} bis {last}", "{low} bis unter {high}", "{low} oder mehr"),
    "es": ("menos de {high}", "de {low} a {last}", "de {low} a menos de {high}", "{low} o más"),
    "ar": ("أقل من {high}", "من {low} إلى {last}", "من {low} إلى أقل من {high}", "{low} أو أكثر"),
}
"""The first bin, one of whole numbers between two bounds, one of other numbers there, and the last bin."""
_SIGNS = ("< {high}", "{low}–{last}", "≥ {low}, < {high}", "≥ {low}")


def measured_form(categories: Sequence[str], design: str) -> dict[str, Any]:
    """The JSON of the design that a cell gives to a measure; for people who count, about yes and no.

    Examples
    --------
    >>> measured_form((), "item_count(items=4)")["design"]["kind"]
    'samples'
    """
    text = design.strip()
    measured = read(text) if text.startswith("{") else designs.parse(text, categories=tuple(categories) or None)
    return dict(json.loads(measured.to_json()))


def written_measured(categories: Sequence[str], form: dict[str, Any]) -> str:
    """The design of a measure as `measured_form` reads it: its name, or its JSON where no name says the same."""
    name = read(form).name
    try:
        return name if measured_form(categories, name) == form else json.dumps(form, ensure_ascii=False)
    except DesignError:
        return json.dumps(form, ensure_ascii=False)


def stacked_offer(categories: Sequence[str], design: str) -> Answerable | None:
    """The design of several samples, or with cells of its own, that a cell asks for; None for any other cell.

    Examples
    --------
    >>> stacked_offer(("yes", "no"), "cheating_detection(p=(1/4, 3/4))").levels, stacked_offer(("yes", "no"), "warner")
    ((1, 2), None)
    """
    try:
        offer = _base(tuple(categories), design, []) if design else None
    except DesignError:
        return None  # `private_of` says why
    return offer if offer is not None and (offer.offer.assigned_by == "researcher" or offer.structure.finer) else None


def stacked_items(item: dict[str, Any], form: dict[str, Any]) -> list[dict[str, Any]]:
    """The questions that a row with a stacked design asks: one in each arm; or one and its control.

    Where the questionnaire has no arms, it gets one of equal share for each sample.

    Parameters
    ----------
    item : object
        The question, with the JSON of its design in ``stacked``; any other stays as it is.
    form : object
        The questionnaire, to which arms and the design are added.

    Raises
    ------
    DesignError
        The design cannot be asked by the page.
    """
    stacked_form, innocuous = item.pop("stacked", None), item.pop("stacked_innocuous", {})
    if stacked_form is None:
        return [item]
    offer, name, languages = read(stacked_form), item["name"], form["languages"]
    channels = list(offer.parts.values())
    pairs = [[part.first, part.second] if isinstance(part, Both) else [part] for part in channels]
    complying = [offer.cells.index(offer.shares[place].of[0]) for place in range(len(offer.categories))]

    def private_form(design: Answerable, label: Label) -> PrivateForm:
        return carried_out(_form(design), languages, mode="hand" if offer.offer.measures_compliance else "",
                           innocuous=label)  # fmt: skip

    is_anchored = len(pairs) == 1 and len(pairs[0]) == 2 and not np.ptp(pairs[0][1].matrix[:, complying], axis=1).any()
    if len(pairs[0]) == 2 and not is_anchored:
        raise DesignError(_two_answers(offer, name, pairs[0]))
    if is_anchored:
        asked, anchor = (_by_people(part, complying, offer, name) for part in pairs[0])
        truth = {"of": name, "truth": {"category": str(offer.categories[-1])}}
        control = {**item, "name": f"{name}_control", "control": truth, "label": {}, "hint": {}}
        question = item | {"private": private_form(asked, innocuous)}
        another = innocuous_of({"innocuous": _birthday(anchor, languages)}, languages)  # than beside the question
        return [question, control | {"private": private_form(anchor, {}) | another}]
    arm_forms = form.get("arms") or [{"name": str(level), "share": 1} for level in offer.levels]
    arm_names = [arm["name"] for arm in arm_forms]
    if len(arm_names) != len(channels):
        raise DesignError(
            f"{offer.name} puts people into {len(channels)} arms; the settings name {_checks.listing_text(arm_names)}"
        )
    items = []
    for arm_name, (part, *_) in zip(arm_names, pairs, strict=True):
        fields: dict[str, Any] = {"name": f"{name}_{arm_name}", "arms": [arm_name], "measures": name}
        if not np.array_equal(part.matrix[:, complying], np.eye(len(complying))):  # else the arm is asked directly
            fields["private"] = private_form(_by_people(part, complying, offer, name), innocuous)
        items.append(item | fields)
    form["arms"], form["measured"] = arm_forms, form.get("measured", {}) | {name: stacked_form}
    return items


def _two_answers(offer: Answerable, name: str, pair: Sequence[Design]) -> str:
    """Why one row cannot ask two answers of a person, and how they are asked."""
    if not offer.offer.measures_compliance:
        return f"{offer.name} takes two numbers of each person: {_as_counts(offer, name)}"
    if pair[0] == pair[1]:
        return (
            f"{offer.name} asks one question twice, and the page sends one draw for a question, since two would tell "
            f"more of the answer: write the design of the question here, and a control in a row of its own, with "
            f"{name}: lot in bind::naysay_control; it shows as much with fewer people (or write the question into two "
            f"rows, each with its design, hand in bind::naysay_mode, another innocuous question, and {name} = "
            f"{offer.name} in bind::naysay_measures)"
        )
    return (
        f"{offer.name} takes two answers: the page draws once for a question, and asks a control in a row of its "
        f"own, with {name}: lot, or {name}: and the category that is true of all, in bind::naysay_control"
    )


def _as_counts(offer: Answerable, name: str) -> str:
    """How a design is fielded whose people say how many statements are true: in rows of whole numbers."""
    ranges = {
        level: " and ".join(f"{answer.space.labels[0]}..{answer.space.labels[-1]}" for answer in answers_of(part))
        for level, part in offer.parts.items()
    }
    in_row = f"a row of type integer with a name of its own, with {name} = {offer.name} in bind::naysay_measures"
    if None in ranges:
        return f"write the list into {in_row}, and {ranges[None]} in bind::naysay_range"
    rows = "; ".join(f"arm {arm}: {text}" for arm, text in ranges.items())
    return (
        f"write {', '.join(map(str, ranges))} into naysay_arms of the settings, and each list into {in_row}, its arm "
        f"in bind::naysay_arms, and in bind::naysay_range what it counts ({rows})"
    )


def _by_people(part: Design, complying: Sequence[int], offer: Answerable, name: str) -> Design:
    """What people who comply are asked in one sample: the plain design of two categories with these chances."""
    weights = part.integers(part.space.listing()) if part.space.size == 2 and len(complying) == 2 else None
    if weights is None and isinstance(part.space, Labels) and isinstance(part.space.labels[0], int):
        raise DesignError(f"{offer.name} takes a number of each person: {_as_counts(offer, name)}")
    if weights is None:
        raise DesignError(
            f"the page asks designs of two categories and two responses in arms, and {offer.name} has others "
            "(write a question for each arm, each with its own design, and name what they measure)"
        )
    cells_hold_innocuous = len(part.cells) == 4 and len(offer.shares[0].of) == 2  # an answer whose share is unknown
    if cells_hold_innocuous:
        own = Fraction(*(weights[0, 1].item(), weights[:, 1].sum().item()))
        return designs.unrelated_question(p=own, prevalence=Fraction(1, 4))
    member, other = (Fraction(weights[0, place].item(), weights[:, place].sum().item()) for place in complying)
    if member == other and 0 < member < 1:  # an anchor: the answer is that of people without the trait
        return designs.crosswise(prevalence=1 - member)
    if member == other:
        raise DesignError(  # the page asks such samples only in plain rows
            f"a sample of {offer.name} is of people whose answer is known: name the arms "
            f"{_checks.listing_text(map(str, offer.levels))} in the settings, write the rows of each arm, "
            f'and estimate from a file of the answers, with --design "{offer.name}" and --sample arm'
        )
    if member + other == 1:
        return designs.crosswise(prevalence=member)
    if member == 1:
        return designs.triangular(prevalence=other)
    if member < other:
        raise DesignError(f"the first response of {offer.name} must be the one that members give more often")
    return designs.unrelated_question(p=member - other, prevalence=other / (1 - member + other))


_MODES = ("hand", "device")
_RESPONSES = {
    "crosswise": {
        "en": ("The same", "Different"),
        "de": ("Beide gleich", "Verschieden"),
        "es": ("Iguales", "Distintas"),
        "ar": ("متطابقتان", "مختلفتان"),
    },
    "triangular": {
        "en": ("At least one", "Neither"),
        "de": ("Mindestens eine", "Keine"),
        "es": ("Al menos una", "Ninguna"),
        "ar": ("واحدة على الأقل", "ولا واحدة"),
    },
}
"""What respondents read for the two responses: of what "yes" and "no" to both questions comes to."""

_BIRTHDAY = {
    "en": "Is your mother's birthday in the months January to {month}?",
    "de": "Hat Ihre Mutter in den Monaten Januar bis {month} Geburtstag?",
    "es": "¿Cumple años su madre en los meses de enero a {month}?",
    "ar": "هل يقع عيد ميلاد والدتك في الأشهر من يناير إلى {month}؟",
}
_MONTHS = {
    "en": "February March April May June July August September October November",
    "de": "Februar März April Mai Juni Juli August September Oktober November",
    "es": "febrero marzo abril mayo junio julio agosto septiembre octubre noviembre",
    "ar": "فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر",
}


def carried_out(
    form: PrivateForm,
    languages: Sequence[str],
    *,
    mode: str = "",
    several: bool = False,
    innocuous: Label | None = None,
    first: Label | None = None,
    second: Label | None = None,
) -> PrivateForm:
    """The privacy of a question, completed by who carries out its design and in which words.

    Parameters
    ----------
    form : PrivateForm
        As `private_of` gives it.
    languages : sequence of str
    mode : str
        ``hand, device``; the first is what the page begins with. By default by hand where there is an innocuous
        question, with the device for those who prefer it.
    several : bool
        Whether the question has several answers; one innocuous question cannot protect them.
    innocuous, first, second : {language: text}, optional
        The innocuous question and the words of the two responses. Where they are missing, naysay writes its own if it
        has fitting ones: a mother's birthday for a prevalence in twelfths.

    Raises
    ------
    DesignError
        The mode is unknown.

    Examples
    --------
    >>> from naysay.collect.questionnaire.offers import private_of
    >>> form = private_of(("yes", "no"), design="crosswise(prevalence=1/4)")
    >>> told = carried_out(form, ("en",))
    >>> told["modes"], told["innocuous"]
    (['hand', 'device'], {'en': "Is your mother's birthday in the months January to March?"})
    """
    mode_names = parted(mode.lower())
    unknown_modes = [mode_name for mode_name in mode_names if mode_name not in _MODES]
    if unknown_modes:
        raise DesignError(f"a mode must be hand or device; {_checks.nearest(unknown_modes[0], _MODES)}")
    offer = read(form["design"])
    asks_innocuous = mode_names != ["device"] and not several and assumes_prevalence(offer)
    innocuous_label = innocuous or (_birthday(offer, languages) if asks_innocuous else {})
    mode_names = mode_names or (["hand", "device"] if innocuous_label else ["device"])
    response_words = dict(form["responses"])
    default_words = in_languages(_RESPONSES.get(_way(offer) or "", {}), languages)
    for response_place, (response, own_label) in enumerate(zip(_labels(offer), (first, second), strict=False)):
        default_label = {language_tag: words[response_place] for language_tag, words in default_words.items()}
        if own_label or default_label:
            response_words[response] = dict(own_label or default_label)
    completed_form: PrivateForm = {**form, "responses": response_words}
    if innocuous_label or mode_names != ["device"]:
        completed_form["modes"] = mode_names
    if innocuous_label:
        completed_form["innocuous"] = dict(innocuous_label)
    return completed_form


def written_carried(private: Private) -> dict[str, Any]:
    """The cells for who carries out a design and in which words; `carried_out` reads them back."""
    needs_mode = private.modes != ("device",) or assumes_prevalence(private.offer)
    privacy_cells: dict[str, Any] = {"mode": ", ".join(private.modes)} if needs_mode else {}
    privacy_cells["innocuous"] = private.innocuous
    for label_column, response_label in zip(("first_label", "second_label"), _labels(private.offer), strict=False):
        privacy_cells[label_column] = private.responses.get(response_label, {})
    sink_label: Label = {} if privacy_cells.get("first_label") else next(iter(private.responses.values()), {})
    return privacy_cells | {"begins_at": private.begins_at or "", "sink_label": sink_label}


def _single(offer: Answerable) -> Design | None:
    """The one design of an offer without levels or samples."""
    return next(iter(offer.parts.values())) if offer.offer.assigned_by == "nobody" else None


def _labels(offer: Answerable) -> list[str]:
    """The two responses of a design for two categories, if they differ from the categories; else none."""
    design = _single(offer)
    response_labels = [] if design is None or not design.space.one_label else list(map(str, design.space.labels))
    return response_labels if len(response_labels) == 2 and response_labels != list(map(str, offer.categories)) else []


def _way(offer: Answerable) -> str | None:
    """How people carry out a design with an innocuous question; other designs, such as cards, may share its chances."""
    design = _single(offer)
    return way_by_hand(design, innocuous=True) if design is not None and assumes_prevalence(offer) else None


def _birthday(offer: Answerable, languages: Sequence[str]) -> Label:
    """An innocuous question about birthdays for a prevalence in twelfths; empty for other prevalences.

    The prevalence is how often the innocuous yes makes others give the first response.
    """
    way = _way(offer)
    weights = offer.channel().integers(offer.space.listing()) if way else None
    if weights is None:
        return {}
    (a, b), (c, _) = weights.tolist()  # chances of both responses, for members and for others
    prevalence = Fraction(b, b + c) if way == "unrelated" else Fraction(a if way == "crosswise" else b, a + c)
    month_count = prevalence * 12
    if month_count.denominator > 1 or not 2 <= month_count <= 11:
        return {}
    month_names = in_languages(_MONTHS, languages)
    return {
        language_tag: question_text.format(month=month_names[language_tag].split()[int(month_count) - 2])
        for language_tag, question_text in in_languages(_BIRTHDAY, languages).items()
    }


SENT_PLAINLY = "answers that were to be private would be sent as they are"
"""Why privacy that is not read is an error."""

_LOOK_ALIKE = str.maketrans(
    "авекмнорстухіјѕԁһԛԝґАВЕКМНОРСТУХІЈЅαβικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑ",
    "abekmhopctyxijsdhqwrABEKMHOPCTYXIJSabiknoptuxABEZHIKMNOPTYXiga",
)
"""Letters of other alphabets that look like Latin ones; not ε, which is a word of its own."""
_UNSEEN = ("Cf", "Mn")  # characters that copying brings: joiners, marks of direction, accents


def _plain(text: str) -> str:
    """A text without what nobody sees: letters of another alphabet that look alike, other widths, accents, marks."""
    visible_characters = (
        character for character in unicodedata.normalize("NFKD", text) if unicodedata.category(character) not in _UNSEEN
    )
    return "".join(visible_characters).translate(_LOOK_ALIKE)


_PRIVACY_WORDS = frozenset(map(_plain, {
    "naysay", "design", "designs", "private", "privacy", "randomize", "randomise", "randomized", "randomised",
    "randomization", "randomisation", "epsilon", "sensitive", "rrt", "sink", "innocuous", "levels", "privat", "geheim",
    "vertraulich", "privado", "privada", "diseño", "secret", "confidential", "confidencial", "anonymous", "anonymize",
    "anonymized", "anonym", "protect", "protected", "protection", "schutz", "datenschutz", "ldp", "krr", "rr", "eps",
    "ε", "randomizer", "randomiser",
    "randomizing", "randomising", "perturb", "perturbed", "perturbation", "randomisiert",
    "geschützt", "vertraulichkeit", "privatsphäre", "privacidad", "confidencialidad", "aleatorizado", "aleatorizada",
    "anonymisiert", "geheimhaltung", "zufallsverfahren", "verschleiert", "sensibel", "sensible", "anonymity",
    "aleatorio", "aleatoria", "anónimo", "anónima", "aléatoire", "confidentiel", "confidentialité", "privé", "privée",
    "anonyme", "protégé", "privacidade", "sigiloso", "riservato", "vertrouwelijk", "конфиденциально", "анонимно",
    "приватно", "секретно", "рандомизация", "خصوصية", "الخصوصية", "سري", "سرية", "عشوائي", "عشوائية",
}))  # fmt: skip
_EVERYDAY = frozenset(map(_plain, {
    "design", "designs", "levels", "sink", "secret", "protection", "randomize", "randomise", "sensible", "aleatorio",
    "aleatoria", "aléatoire", "عشوائي", "عشوائية",
}))  # fmt: skip
"""Of the words: those that ordinary columns hold beside another word, as in "child protection"."""
_FRAMES = frozenset({"bind", "body", "control", "instance", "question", "answer", "answers"})  # belong to any column
_COMMON = frozenset({
    "affine", "budgets", "custom", "direct", "frequency", "hierarchy", "levels", "mix", "number", "samples", "unary",
    "uniform", "window", "remembered",
})  # fmt: skip  # families whose names are everyday words: without arguments they are no design
_IN_TEXTS = frozenset({"negative", "negative_levels", "two_coins", "two_option"})  # everyday words in a label or hint
_PART = re.compile(r"[A-ZÀ-Þ]?[^\W\d_A-Z]+|[A-ZÀ-Þ]+")
_BEFORE = re.compile(r"[=\"'`“„\s]*(?:(?:naysay|designs|nd)\.)*")  # of a formula, a quotation, or a line of Python
_CALL = re.compile(r"([a-z][a-z0-9_-]*(?: [a-z0-9_-]+)*) ?[([{](.*)[)\]}]\W*", re.DOTALL)
_LOOSE = re.compile(
    r"([a-z][a-z0-9_ -]*?)[\s:;,\[{(]+(?:[a-zε]+\s*[:=]\s*)?([01]?[.,/]?\d+(?:/\d+)?)\W*"
)  # warner: p = .7
_INSIDE = re.compile(r"([a-z][a-z0-9_]*) ?\(([^()]*)\)")  # a call within a sentence
_ABBREVIATED = frozenset(
    {"rr", "rrt", "dp", "ldp", "krr", "k-rr", "grr", "oue", "olh"}
)  # methods, with a number behind
_PRICE = re.compile(r"(?:epsilon|eps|ε)\s*[:=]?\s*(?:ln ?)?\(?[\d.,/]+\W*")
_JSON = re.compile(r"""["'](naysay|kind|design)["']\s*:""")
_ARGUMENT = re.compile(r"(?:^|[(,;])\s*([a-zε_]+)\s*[:=]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_TELLING = frozenset({"epsilon", "eps", "ε", "sigma", "discards", "forced_yes", "forced_no"})  # of a design by any name
_METHOD = re.compile(
    r"\b(?:randomi[sz]ed (?:response|answer|reply)s?|(?:local |locally )?differential(?:ly)? priva(?:cy|te)|rappor"
    r"|local(?:ly)? randomi[sz]\w+|locally private|local privacy|negative surveys?|forced responses?|crosswise|warner"
    r"|rrt|ldp|k ?rr|zufallsantwort\w*|randomisierte\w* antwort\w*|respuestas? aleatori\w+|reponses? aleatoires?"
    r"|respostas? aleatori\w+)\b"
)
_MOST_WORDS = 8  # of a cell that names a method; a longer one is a remark
_SHORT = re.compile(r"\W*(?:RRT?|LDP|DP)\W*")
_LEAST, _LONG = 5, 8  # letters of a word that may be misspelled, and in which one may be replaced
_ALIKE = 0.85


def names_privacy(header: str) -> bool:
    """Whether a column or property is called, or all but called, as if it made answers private.

    Examples
    --------
    >>> names_privacy("bind::private"), names_privacy("randomizedBy"), names_privacy("remarks")
    (True, True, False)
    >>> names_privacy("naysay design"), names_privacy("desing"), names_privacy("designer")
    (True, True, False)
    >>> names_privacy("bind::design"), names_privacy("design effect"), names_privacy("child protection")
    (True, False, False)
    >>> names_privacy("d\u0435sign"), names_privacy("Zufallsantwort"), names_privacy("Zufallszahl")  # a Cyrillic е
    (True, True, False)
    """
    header_parts = [header_part.lower() for header_part in _PART.findall(_plain(header))]
    if _METHOD.search(" ".join(header_parts)):
        return True
    is_alone = all(header_part in _FRAMES or _is_word(header_part, _PRIVACY_WORDS) for header_part in header_parts)
    return any(
        _is_word(header_part, _PRIVACY_WORDS if is_alone else _PRIVACY_WORDS - _EVERYDAY)
        for header_part in header_parts
    )


def asks_for_privacy(text: str) -> bool:
    """Whether a text holds nothing but words for privacy, such as "private question".

    Examples
    --------
    >>> asks_for_privacy("Private!"), asks_for_privacy("ask in private"), asks_for_privacy("")
    (True, False, False)
    """
    text_parts = [text_part.lower() for text_part in _PART.findall(_plain(text))]
    return (
        bool(text_parts)
        and all(text_part in _FRAMES or _is_word(text_part, _PRIVACY_WORDS) for text_part in text_parts)
        and names_privacy(text)
    )


def _is_word(part: str, words: frozenset[str]) -> bool:
    return part in words or any(_is_slip(part, word) for word in words)


def _is_slip(part: str, word: str) -> bool:
    """Whether one slip of the pen makes a word of another: a letter left out, doubled or replaced, or two exchanged.

    The first letter is right in most slips, and other words, such as "designer", end otherwise.
    """
    if len(word) < _LEAST or part[:1] != word[0]:
        return False
    if len(part) == len(word):
        wrong_places = [letter_place for letter_place, letter in enumerate(word) if part[letter_place] != letter]
        if len(wrong_places) == 2 and wrong_places[1] == wrong_places[0] + 1:
            return part[wrong_places[0]] == word[wrong_places[1]] and part[wrong_places[1]] == word[wrong_places[0]]
        return len(wrong_places) == 1 and len(word) >= _LONG and part[-1] == word[-1]
    shorter_word, longer_word = sorted((part, word), key=len)
    ends_alike = part[-1] == word[-1] and len(longer_word) == len(shorter_word) + 1
    return ends_alike and any(
        longer_word[:letter_place] + longer_word[letter_place + 1 :] == shorter_word
        for letter_place in range(len(longer_word))
    )


def reads_as_design(text: str, *, alone: bool = True) -> bool:
    """Whether a cell reads as a design: a call such as ``warner(p=0.7)``, its JSON, or the name of a method alone.

    Parameters
    ----------
    text : str
    alone : bool
        Whether a name without arguments counts, such as ``negative``. In a text that respondents read it does not.

    Examples
    --------
    >>> reads_as_design("Waner(p = .7)"), reads_as_design("two coins"), reads_as_design('{"kind": "table"}')
    (True, True, True)
    >>> reads_as_design("krr(epsilon=1)"), reads_as_design("randomized response"), reads_as_design("RR")
    (True, True, True)
    >>> (
    ...     reads_as_design("=designs.warner(p=0.7)"),
    ...     reads_as_design("warner: p = 0.7"),
    ...     reads_as_design("ｗarner（p=.7）"),
    ... )
    (True, True, True)
    >>> reads_as_design("number (of people)"), reads_as_design("negative", alone=False), reads_as_design("see below")
    (False, False, False)
    """
    plain_text = " ".join(_plain(text).lower().split())
    if plain_text.startswith("{"):
        return _JSON.search(plain_text) is not None
    plain_text = _BEFORE.sub("", plain_text, count=1).rstrip("\"'`”“ ")
    call_match, loose_match = _CALL.fullmatch(plain_text), _LOOSE.fullmatch(plain_text)
    if call_match is not None and _is_call(call_match[1], call_match[2], alone=alone):
        return True
    if loose_match is not None and (
        _takes(_family(loose_match[1]), loose_match[2], alone=alone) or (alone and loose_match[1] in _ABBREVIATED)
    ):
        return True
    for name, inside in _INSIDE.findall(plain_text):  # with arguments by their names, as in no ordinary sentence
        if name in FAMILIES.keys() - _COMMON and not _parameters(name).isdisjoint(_ARGUMENT.findall(inside)):
            return True
    if not alone:
        return False
    if _PRICE.fullmatch(plain_text) or _SHORT.fullmatch(text.strip()):
        return True
    if difflib.get_close_matches(_family(plain_text), FAMILIES.keys() - _COMMON, n=1, cutoff=_ALIKE):
        return True
    is_short = len(plain_text.split()) <= _MOST_WORDS and _YEAR.search(plain_text) is None  # no remark, no citation
    return is_short and _METHOD.search(plain_text.replace("-", " ")) is not None


def _parameters(family: str) -> Set[str]:
    return inspect.signature(FAMILIES[family]).parameters.keys()


def _is_call(name: str, inside: str, *, alone: bool) -> bool:
    """Whether these are a design and its arguments, and not a word with a remark behind it, as in "number(s)"."""
    holds_call = any(
        _is_call(inner_call[1], inner_call[2], alone=alone) for inner_call in re.finditer(r"(\w+)\(([^()]*)\)", inside)
    )
    argument_names = set(_ARGUMENT.findall(inside))
    if holds_call or (argument_names & _TELLING and (alone or " " not in name)):
        return True
    likely_families = difflib.get_close_matches(_family(name), FAMILIES, n=1, cutoff=_ALIKE)
    if not likely_families:
        return False
    if not inside.strip() or argument_names & _parameters(likely_families[0]):
        return True
    return _takes(likely_families[0], inside, alone=alone)


def _takes(family: str, numbers: str, *, alone: bool) -> bool:
    """Whether these are arguments of a design: numbers, and no year; in a text that respondents read, shares alone."""
    everyday_families = _COMMON if alone else _COMMON | _IN_TEXTS
    are_shares = alone or re.search(r"[./]", numbers) is not None
    are_numbers = re.fullmatch(r"[\d\s.,/()\[\]-]+", numbers) is not None and _YEAR.fullmatch(numbers.strip()) is None
    return family in FAMILIES.keys() - everyday_families and are_numbers and are_shares


def _family(name: str) -> str:
    return re.sub(r"[ -]", "_", name)
