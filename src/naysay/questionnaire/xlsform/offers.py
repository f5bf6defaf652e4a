"""The privacy of a question as an XLSForm writes it: a design, the levels on offer, sinks, bins of numbers.

Who carries out a design, as an XLSForm writes it: modes, innocuous question, words of the responses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from naysay import _checks, designs
from naysay.design import Answerable, Design, read
from naysay.designs.randomized import PREVALENCE
from naysay.errors import DesignError
from naysay.questionnaire.by_hand import by_hand_design, way_by_hand
from naysay.questionnaire.kinds.base import Label, Private

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


def private_of(
    categories: Sequence[str],
    *,
    design: str = "",
    levels: str = "",
    sink: str = "",
    words: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The privacy that the cells of a row describe, as the JSON form of `Private`.

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
    object

    Raises
    ------
    DesignError
        The cells describe no design for these categories; the message says what must hold.

    Examples
    --------
    >>> private_of(("low", "middle", "high"), design="negative", levels="1..1, coin")["by_hand"]
    ['coin']
    """
    names = tuple(categories)
    if len(names) > _MOST_CATEGORIES:
        raise DesignError(f"a private question must have at most {_MOST_CATEGORIES} categories; got {len(names):,}")
    if sink:
        return _with_sink(names, design, levels, sink, _SINK if words is None else words)
    offered = [level_range.strip() for level_range in levels.split(",") if level_range.strip()]
    level_ranges = [level_range for level_range in offered if level_range != COIN]
    base = _base(names, design, level_ranges) if design or level_ranges else None
    if not offered:
        return _form(_fitting_design(base, names))
    offer = {} if base is None else _on_offer(_fitting_design(base, names), level_ranges)
    if COIN in offered:
        offer[COIN] = by_hand_design(names)
    return _form(designs.levels(offer), by_hand=[COIN] if COIN in offered else [])


def sink_words(languages: Sequence[str]) -> dict[str, str]:
    """The words for a sink where the author wrote none, in those of the languages that naysay knows.

    Examples
    --------
    >>> sink_words(("en-GB", "fr"))
    {'en-GB': 'Nothing is ruled out'}
    """
    base_of_language = {language: language.partition("-")[0].lower() for language in languages}
    return {language: _SINK[base] for language, base in base_of_language.items() if base in _SINK}


def _form(design: Answerable, **fields: Any) -> dict[str, Any]:
    return {"by_hand": [], "responses": {}, "design": json.loads(design.to_json()), **fields}


def _base(names: tuple[str, ...], design: str, level_ranges: list[str]) -> Answerable:
    """The design that the cell asks for; a negative survey with a range of levels becomes an offer of these levels."""
    text = design.strip() or "negative_levels()"
    if text.startswith("{"):
        return read(text)
    call = text if "(" in text else f"{text}()"
    if level_ranges and call.replace(" ", "") == "negative()":
        call = "negative_levels()"
    return designs.parse(call, categories=names)


def _fitting_design(design: Answerable | None, names: tuple[str, ...]) -> Answerable:
    if design is not None and (design.assigned_by == "researcher" or design.finer):
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
    if design.assigned_by != "respondent":
        if level_ranges:
            raise DesignError(
                "levels from floor to ceiling need an offer, such as negative_levels(); "
                f"{design.name or 'this'} is one design (leave the levels out, or write 'coin' alone)"
            )
        return {DEVICE: design}
    channel_of_level = {str(level): channel for level, channel in design.parts.items()}
    offered_names = [
        name for level_range in level_ranges for name in _range(level_range, list(channel_of_level))
    ] or channel_of_level
    return {name: channel for name, channel in channel_of_level.items() if name in offered_names}


def _range(text: str, level_names: list[str]) -> list[str]:
    low, dots, high = (part.strip() for part in text.partition(".."))
    ends = (low, high if dots else low)
    for end in ends:
        if end not in level_names:
            hint = _checks.nearest(end, level_names)
            raise DesignError(f"there is no level {end!r}; {hint}; write floor..ceiling, such as 1..2")
    floor, ceiling = map(level_names.index, ends)
    if floor > ceiling:
        order = "levels run from the most private to the most open"
        raise DesignError(f"{order}; got {text!r} (write {high}..{low})")
    return level_names[floor : ceiling + 1]


def _with_sink(names: tuple[str, ...], design: str, levels: str, sink: str, words: Mapping[str, str]) -> dict[str, Any]:
    level_ranges = [level_range.strip() for level_range in levels.split(",") if level_range.strip()]
    if design.replace("()", "").strip() not in ("", "negative", "negative_sink", "negative_levels"):
        raise DesignError(f"a sink goes with the design negative; got {design} (leave the design or the sink out)")
    if COIN in level_ranges:
        raise DesignError(
            "a sink and the coin exclude each other: of the two options that are shown one is ruled out, and it may be "
            f"the sink (leave {COIN!r} out of the levels)"
        )
    sink_names = [sink_name.strip() for sink_name in sink.split(",") if sink_name.strip()]
    labels = {name: "sink" if len(sink_names) == 1 else f"sink_{name}" for name in sink_names}
    offered = bool(level_ranges) or "levels" in design
    offer: Answerable = designs.negative_sink(names, sinks=labels)
    if offered:
        offer = designs.levels(_on_offer(designs.negative_levels(names, sinks=labels), level_ranges))
    return _form(offer, responses={label: dict(words) for label in labels.values()})


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
    >>> from naysay.questionnaire import sample
    >>> [written_private(q.private) for q in sample().questions if q.name == "income"]
    [{'design': 'negative', 'levels': '1..3, coin'}]
    """
    names = tuple(map(str, private.offer.categories))
    expected_form = {"design": private.design, "by_hand": list(private.by_hand)}
    for cells in _candidates(private, names):
        try:
            design, levels, sink = (cells.get(cell, "") for cell in ("design", "levels", "sink"))
            read_back = private_of(names, design=design, levels=levels, sink=sink)
        except DesignError:
            continue
        if {key: read_back[key] for key in expected_form} == expected_form:
            return cells
    return {"design": json.dumps(private.design, ensure_ascii=False)}


def _candidates(private: Private, names: tuple[str, ...]) -> list[dict[str, str]]:
    """Candidate cells for a design, the plainest first."""
    offer = private.offer
    sinks = [name for name in names if f"sink_{name}" in private.responses]
    candidates = [{"design": "negative", "sink": name} for name in names if "sink" in private.responses]
    candidates += [{"design": "negative", "sink": ", ".join(sinks)}] if sinks else []
    if offer.assigned_by != "respondent":
        return [*candidates, {"design": offer.name.removesuffix("()")}, {"design": offer.name}]
    coin = f", {COIN}" if private.by_hand else ""
    levels = [level for level in private.levels if level not in private.by_hand]
    if levels:
        ends = f"{levels[0]}..{levels[-1]}"
        candidates = [{**cells, "levels": ends} for cells in candidates]
        candidates.append({"design": "negative", "levels": f"{ends}{coin}"})
        candidates.append({"design": offer.channel(offer.levels[0]).name, "levels": COIN})
    return [*candidates, {"design": offer.name, "levels": coin.removeprefix(", ")}, {"design": "", "levels": COIN}]


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
    edges = [None, *bounds, None]
    return [
        {
            "name": _bin_name(low, high),
            "label": {language: _bin_label(low, high, language, whole=whole) for language in languages},
            "below": high,
        }
        for low, high in pairwise(edges)
    ]


def _bin_name(low: float | None, high: float | None) -> str:
    name_text = f"below_{high:.15g}" if low is None else f"from_{low:.15g}"
    return name_text.replace("-", "minus_").replace(".", "_").replace("+", "")


_WORDS = {
    "en": ("under {high}", "{low} to {last}", "{low} to under {high}", "{low} or more"),
    "de": ("unter {high}", "{low} bis {last}", "{low} bis unter {high}", "{low} oder mehr"),
    "es": ("menos de {high}", "de {low} a {last}", "de {low} a menos de {high}", "{low} o más"),
    "ar": ("أقل من {high}", "من {low} إلى {last}", "من {low} إلى أقل من {high}", "{low} أو أكثر"),
}
_SIGNS = ("< {high}", "{low}–{last}", "≥ {low}, < {high}", "≥ {low}")


def _bin_label(low: float | None, high: float | None, language: str, *, whole: bool) -> str:
    first, closed, half_open, last = _WORDS.get(language.split("-", maxsplit=1)[0].lower(), _SIGNS)
    between = closed if whole else half_open
    pattern = first if low is None else last if high is None else between
    ends = {"low": low, "high": high, "last": None if high is None else high - 1}
    return pattern.format(**{name: f"{end:.15g}" for name, end in ends.items() if end is not None})


_MODES = ("hand", "device")
_RESPONSES = {
    "crosswise": {
        "en": ("The same", "Different"),
        "de": ("Gleich", "Verschieden"),
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
    form: dict[str, Any],
    languages: Sequence[str],
    *,
    mode: str = "",
    several: bool = False,
    innocuous: Label | None = None,
    first: Label | None = None,
    second: Label | None = None,
) -> dict[str, Any]:
    """The privacy of a question, completed by who carries out its design and in which words.

    Parameters
    ----------
    form : object
        The JSON form of `Private`, as `private_of` gives it.
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
    >>> from naysay.questionnaire.xlsform.offers import private_of
    >>> form = private_of(("yes", "no"), design="crosswise(prevalence=1/4)")
    >>> told = carried_out(form, ("en",))
    >>> told["modes"], told["innocuous"]
    (['hand', 'device'], {'en': "Is your mother's birthday in the months January to March?"})
    """
    modes = _modes(mode)
    offer = read(form["design"])
    asks = modes != ["device"] and not several and _assumes_prevalence(offer)
    innocuous_label = innocuous or (_birthday(offer, languages) if asks else {})
    modes = modes or (["hand", "device"] if innocuous_label else ["device"])
    words = _default_words(offer, languages)
    label_pairs = zip(_labels(offer), (first, second), strict=False)
    words |= {label: dict(response_label) for label, response_label in label_pairs if response_label}
    mode_fields = {"modes": modes} | ({"innocuous": dict(innocuous_label)} if innocuous_label else {})
    return {
        **form,
        "responses": form["responses"] | words,
        **(mode_fields if innocuous_label or modes != ["device"] else {}),
    }


def written_carried(private: Private) -> dict[str, Any]:
    """The cells for who carries out a design and in which words; `carried_out` reads them back."""
    needed = private.modes != ("device",) or _assumes_prevalence(private.offer)
    cells: dict[str, Any] = {"mode": ", ".join(private.modes)} if needed else {}
    cells["innocuous"] = private.innocuous
    for column, label in zip(("first_label", "second_label"), _labels(private.offer), strict=False):
        cells[column] = private.responses.get(label, {})
    return cells


def _modes(text: str) -> list[str]:
    mode_names = [mode_name.strip().lower() for mode_name in text.split(",") if mode_name.strip()]
    unknown = [mode_name for mode_name in mode_names if mode_name not in _MODES]
    if unknown:
        raise DesignError(f"a mode must be hand or device; {_checks.nearest(unknown[0], _MODES)}")
    return mode_names


def _assumes_prevalence(offer: Answerable) -> bool:
    return offer.protocol is not None and PREVALENCE in offer.protocol.assumes


def _single(offer: Answerable) -> Design | None:
    """The one design of an offer without levels or samples."""
    return next(iter(offer.parts.values())) if offer.assigned_by == "nobody" else None


def _labels(offer: Answerable) -> list[str]:
    """The two responses of a design for two categories, if they differ from the categories; else none."""
    design = _single(offer)
    labels = [] if design is None or not design.space.one_label else [str(label) for label in design.space.labels]
    return labels if len(labels) == 2 and labels != list(map(str, offer.categories)) else []


def _way(offer: Answerable) -> str | None:
    """How people carry out a design with an innocuous question; other designs, such as cards, may share its chances."""
    design = _single(offer)
    return way_by_hand(design, innocuous=True) if design is not None and _assumes_prevalence(offer) else None


def _default_words(offer: Answerable, languages: Sequence[str]) -> dict[str, Label]:
    words_of_language = _in_languages(_RESPONSES.get(_way(offer) or "", {}), languages)
    return {
        label: {tag: words[place] for tag, words in words_of_language.items()}
        for place, label in enumerate(_labels(offer))
        if words_of_language
    }


def _birthday(offer: Answerable, languages: Sequence[str]) -> Label:
    """An innocuous question about birthdays for a prevalence in twelfths; empty for other prevalences."""
    months = _prevalence(offer) * 12
    if months.denominator > 1 or not 2 <= months <= 11:
        return {}
    question_texts = _in_languages(_BIRTHDAY, languages)
    ends = _in_languages(_MONTHS, languages)
    return {tag: text.format(month=ends[tag].split()[int(months) - 2]) for tag, text in question_texts.items()}


def _prevalence(offer: Answerable) -> Fraction:
    """The prevalence of the innocuous question: how often its yes makes others give the first response."""
    way, ((a, b), (c, _)) = _way(offer), _columns(offer)
    return Fraction(b, b + c) if way == "unrelated" else Fraction(a if way == "crosswise" else b, a + c)


def _columns(offer: Answerable) -> Any:
    """The weights of both responses, for members and for others; ((0, 0), (1, 1)) for other designs."""
    weights = offer.channel().integers(offer.space.listing()) if _way(offer) else None
    return ((0, 0), (1, 1)) if weights is None else weights.tolist()


def _in_languages(text_of_base: Mapping[str, Any], languages: Sequence[str]) -> dict[str, Any]:
    """The known texts, for those of the languages that have one."""
    base_of_language = {tag: tag.partition("-")[0].lower() for tag in languages}
    return {tag: text_of_base[base_tag] for tag, base_tag in base_of_language.items() if base_tag in text_of_base}
