"""What the bar says of an answer is true: of every design that a survey can hold, and every pair of truth and response.

The page's own modules say it (`promises.mjs`), by the device and by hand, of choices, lists and ranges, at every level;
Python's matrices judge it.
"""

import itertools
import json
import re
from functools import cached_property

import numpy as np
import pytest
from test_measures import SHARP, catalog

from naysay import Design, designs, privacy
from naysay.collect.questionnaire.offers import private_of
from naysay.collect.questionnaire.privacy import way_by_hand

FEW, DRAWS = 300, 20
"""Responses that are looked at one by one; how many are drawn for each truth of designs that have more."""

MANY, MOST = 12, 150
"""Categories of which only three are tried as the truth; pairs that are tried of one question."""

DOUBT = re.compile(r"obody can be sure|Any answer could be yours|(\d+) of (\d+) answers could be yours")
REVEALS, LOUD, KEPT, CORRECTED = (
    "This tells your answer.",
    "This tells a lot",
    "Not changed.",
    "Only results are corrected",
)
MARK = " (changed)"


def offers():
    """Designs with several levels: quiet and loud ones side by side, with sinks, compared, and drawn by hand."""
    four, yes_no = ("a", "b", "c", "d"), ("yes", "no")
    quiet, mangat, kuk = designs.warner(p=0.7), designs.mangat(p=0.7), designs.kuk(p=(0.6, 0.3))
    mixed = {"quiet": quiet, "loud": SHARP, "certain": designs.direct(yes_no), "half": mangat}
    compared = {"crosswise": designs.crosswise(prevalence=0.25), "kuk": kuk}
    yield from (json.loads(designs.levels(each).to_json()) for each in (mixed, compared))
    yield private_of(four, design="negative", levels="1..3, coin")["design"]
    yield private_of(four, sink="a", levels="1..2")["design"]
    yield private_of(yes_no, design="warner(p=0.7)", levels="coin")["design"]


def chances_of(design):
    """The chance of each response, as text, of people with each truth; of designs with many responses, of some."""
    if design.space.size <= FEW:
        return dict(zip(design.responses.texts(), design.matrix.tolist(), strict=True))
    rng, rows = np.random.default_rng(29), {}
    for truth in some(design.categories):
        drawn = design.randomize(np.repeat(np.array([truth], dtype=object), DRAWS), rng=rng)
        rows |= dict(zip(drawn.texts(), design.likelihood(drawn).tolist(), strict=True))
    return rows


def some(categories):
    return categories if len(categories) <= MANY else categories[:: len(categories) // 2]


class Case:
    """A question under a design, at a level: what may be sent for each line, and what is entered for it."""

    def __init__(self, design, kind, way, *, level=None, offer=None):
        self.design, self.kind, self.way, self.level = design, kind, way, level
        self.names = [str(category) for category in design.categories]
        self.lines = ("x", "y") if kind == "select_multiple" else ("",)
        self.rows = chances_of(design)
        self.given = {
            "question": self.question(offer),
            "way": way,
            "level": level,
            "entered": list(map(self.entered, self.answers)),
        }

    def question(self, offer):
        labeled = [{"name": name, "label": {"en": name}} for name in (self.lines if self.lines[0] else self.names)]
        bins = [{**each, "below": place + 1} for place, each in enumerate(labeled)]
        hidden = {
            "design": offer or json.loads(self.design.to_json()),
            "by_hand": ["coin"] if self.level == "coin" or "coin" in ((offer or {}).get("levels") or ()) else [],
            "responses": {},
            "modes": ["device"] if self.way == "device" else ["hand"],
            "innocuous": {"en": "Were you born in May?"} if self.way == "beside" else {},
        }
        parts = {"bins": bins, "low": None, "high": None} if self.kind == "integer" else {"choices": labeled}
        return {"kind": self.kind, "name": "asked", "label": {"en": "Asked?"}, "private": hidden, **parts}

    @cached_property
    def answers(self):
        """A truth and a response of each line that may come together; by hand the truth is None."""
        truths = [(place, self.names.index(str(each))) for place, each in enumerate(some(self.names))]
        pairs = [(self.names[at], said) for said, row in self.rows.items() for _, at in truths if row[at] > 0]
        if self.way != "device":
            pairs = [(None, said) for said in dict.fromkeys(said for _, said in pairs)]
        pairs = pairs[:: len(pairs) // (MOST if len(self.names) <= MANY else MANY) + 1]
        return list(itertools.product(pairs, *[pairs[:: len(pairs) // 8 + 1] for _ in self.lines[1:]]))

    def entered(self, answer):
        """What is entered; what is drawn for it, a table for each line; the options that are shown by hand."""
        sent = [{"level": self.level, "response": said} for _, said in answer]
        drawn = dict(zip(self.lines, ({truth: said} for truth, said in answer), strict=True))
        [(truth, said), *_] = answer
        if self.way != "device":
            other = next(name for name in self.names if name != said)
            value = dict(zip(self.lines, sent, strict=True)) if self.lines[0] else sent[0]
            return {"value": value, "shown": [said, other] if self.way == "coin" else None}
        if self.lines[0]:
            return {"value": {line: truth for line, (truth, _) in zip(self.lines, answer, strict=True)}, "drawn": drawn}
        return {"value": self.names.index(truth) if self.kind == "integer" else truth, "drawn": drawn}

    @cached_property
    def loud(self):
        epsilon = privacy.epsilon(self.design)
        most = np.exp(epsilon) if np.isfinite(epsilon) else privacy.odds(self.design).max()
        return most > 20 and privacy.still_possible(self.design)[0] > 1

    def named(self, said):
        """The category that a response names as possible; None where it names none, rules one out, or is a set."""
        space = self.design.space
        one_label = space.one_label or getattr(space, "most", None) == 1
        labels = [str(label) for label in getattr(space, "labels", ())] if one_label else []
        possible = said in labels and said in self.names and self.rows[said][self.names.index(said)] > 0
        return said if possible else None

    def before(self, sentence, line):
        """What is untrue of the screen as it opens."""
        least, _ = privacy.still_possible(self.design)
        if DOUBT.search(sentence) and (least == 1 or self.loud):
            yield "a sentence that nobody can be sure"
        if line == "Any answer could be yours." and least < len(self.names):
            yield "a level at which any answer is possible"
        if kept := re.fullmatch(r"(\d+) in 100 answers stay unchanged", line):
            shares = [self.rows[name][place] for place, name in enumerate(self.names) if self.named(name)]
            if abs(int(kept[1]) - np.ceil(100 * max(shares) - 1e-9)) > 0:
                yield "a share that stays unchanged"

    def after(self, answer, sent, line):
        """What is untrue of what will be sent, and of the line below it."""
        remain = min(sum(chance > 0 for chance in self.rows[said]) for _, said in answer)
        moved = [truth is not None and self.named(said) not in (None, truth) for truth, said in answer]
        doubt = DOUBT.search(line)
        if self.way == "beside" and doubt:  # who knows the second answer can be sure
            yield "a line that nobody can be sure beside a second question"
        if (remain == 1) != (line == REVEALS):
            yield "whether it tells the answer"
        if (remain > 1 and self.loud) != line.startswith(LOUD):
            yield "whether it tells a lot"
        if doubt and (remain == 1 or self.loud):
            yield "a line that nobody can be sure"
        if doubt and remain < len(self.names) and tuple(map(int, doubt.groups(0))) != (remain, len(self.names)):
            yield "how many answers remain"
        if CORRECTED in line and not any(moved):
            yield "a change that was none"
        if line.startswith(KEPT) and any(self.named(said) != truth for truth, said in answer):
            yield "no change where there was one"
        if share := re.search(r"changes about (\d+) in 100", line):
            shares = [
                100 - 100 * self.rows[truth][self.names.index(truth)] if truth in self.rows else 100
                for truth, _ in answer
            ]
            if abs(int(share[1]) - max(shares)) > 0.51 and not 0 < max(shares) < int(share[1]) == 1:
                yield "how many answers chance changes"
        if sent.startswith("Chance") and (remain < len(self.names) or self.loud):
            yield "that chance sends it"
        sent = sent.replace("\u00a0", " ")
        parts = sent.partition(": ")[2].split(" · ") if self.lines[0] else [sent.partition(": ")[2]]
        for name, part, change, (_, said) in zip(self.lines, parts, moved, answer, strict=True):
            words = part.removeprefix(f"{name}: ").strip("“”").replace("”" + MARK, MARK)
            if (MARK in part) != change:
                yield "a mark"
            if self.named(said) and words.removesuffix(MARK).lower() != said.lower():
                yield "what is sent"


def cases():
    """Every design in every shape and way in which a survey can ask it."""
    for design in catalog():
        yield from by_device(design)
        if way_by_hand(design, innocuous=False):
            yield Case(design, "select_one", "coin")
            yield from [Case(design, "select_multiple", "coin")] if listed(design) else []
        if way_by_hand(design, innocuous=True):
            yield Case(design, "select_one", "beside")
    for node in offers():
        offer = Design.from_json(node)
        for level in map(str, offer.levels):
            design = offer.channel(level)
            where = {"level": level, "offer": node}
            yield from [Case(design, "select_one", "coin", **where)] if level == "coin" else by_device(design, **where)


def by_device(design, **where):
    for kind, fits in {
        "select_one": True,
        "integer": len(design.categories) <= MANY,
        "select_multiple": listed(design),
    }.items():
        if fits:
            yield Case(design, kind, "device", **where)


def listed(design):
    return tuple(map(str, design.categories)) == ("yes", "no")


@pytest.mark.slow
def test_every_sentence_is_true_of_every_pair_of_truth_and_response(node):
    asked = list(cases())
    read = node("promises.mjs", "sentences", "survey.js", [case.given for case in asked])
    assert len(asked) > 400
    assert sum(len(case.answers) for case in asked) > 6_000
    untrue = []
    for case, page in zip(asked, read, strict=True):
        told = [(None, page["before"], case.before(*page["before"]))]
        told += [
            (answer, said, case.after(answer, *said)) for answer, said in zip(case.answers, page["after"], strict=True)
        ]
        untrue += [
            (why, case.design.name, case.kind, case.way, answer, said) for answer, said, flaws in told for why in flaws
        ]
    assert untrue == []
