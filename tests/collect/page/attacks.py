"""Surveys that were made to tell a true private answer: one change after another, at random from a seed."""

import copy
import random

from naysay.collect.questionnaire import (
    Bin,
    Choice,
    Group,
    Integer,
    Private,
    Questionnaire,
    SelectMultiple,
    SelectOne,
    Text,
)
from naysay.collect.questionnaire.offers import private_of

ABCD = ("north", "east", "south", "west")


def _choices(*names):
    return tuple(Choice(name=name, label={"en": name.title()}) for name in names)


def attacked():
    """The survey that is changed: four private questions of four kinds, with a plain one on each side."""
    warner = {"design": "warner(p=0.7)"}
    bins = tuple(Bin(name=name, label={"en": name}, below=below) for name, below in (("few", 5), ("many", None)))
    items = (
        SelectOne(name="first", label={"en": "First?"}, choices=_choices("red", "blue")),
        SelectOne(name="smoking", label={"en": "Smoking?"}, choices=_choices("yes", "no"),
                  private=Private(**private_of(("yes", "no"), **warner))),
        SelectOne(name="place", label={"en": "Place?"}, choices=_choices(*ABCD),
                  private=Private(**private_of(ABCD, levels="1..2, coin"))),
        SelectMultiple(name="drugs", label={"en": "Drugs?"}, choices=_choices("tea", "wine"),
                       private=Private(**private_of(("yes", "no"), **warner))),
        Integer(name="drinks", label={"en": "Drinks?"}, bins=bins,
                private=Private(**private_of(("few", "many"), **warner))),
        Group(name="end", label={"en": "End"}, items=(Text(name="remarks", label={"en": "Remarks?"}),)),
    )  # fmt: skip
    return Questionnaire(name="attacked", title={"en": "Attacked"}, languages=("en",), items=items)


PRIVATE = ("smoking", "place", "drugs", "drinks")


def mutated(form, seed):
    """The survey after one to three attacks."""
    rng = random.Random(seed)
    form = copy.deepcopy(form)
    for attack in rng.sample(ATTACKS, rng.randint(1, 3)):
        attack(form["questionnaire"]["items"], rng)
    return form


def _plain(rng, name):
    """A plain question of any kind, with choices like those of private ones."""
    kind = rng.choice(["grid", "text", "select_one", "select_multiple", "integer", "ranking", "note", "group"])
    names = rng.choice([(), ("yes", "no"), ABCD, ("tea", "wine")])
    choices = [{"name": each, "label": {"en": each}} for each in names]
    fields = {
        "grid": {"rows": choices[:1], "choices": choices},
        "text": {"max_length": 99, "lines": 1},
        "group": {"items": []},
    }
    choosing = {"choices": choices} if kind in ("select_one", "select_multiple", "ranking") else {}
    return {"kind": kind, "name": name, "label": {"en": f"Also {name}"}, **fields.get(kind, choosing)}


def twice(items, rng):
    """A plain question with the name of a private one, somewhere."""
    items.insert(rng.randint(0, len(items)), _plain(rng, rng.choice(PRIVATE)))


def twice_inside(items, rng):
    """The same within a group."""
    inside = {"kind": "group", "name": "more", "label": {"en": "More"}, "items": [_plain(rng, rng.choice(PRIVATE))]}
    items.insert(rng.randint(0, len(items)), inside)


def twice_private(items, rng):
    """A private question once more, at another place or under another design."""
    again = copy.deepcopy(rng.choice([item for item in items if item.get("private")]))
    again["label"] = {"en": "Once more"}
    items.insert(rng.randint(0, len(items)), again)


def renamed(items, rng):
    """A plain question takes the name of a private one."""
    plain = [item for item in items if item["kind"] != "group" and not item.get("private")]
    rng.choice(plain)["name"] = rng.choice(PRIVATE)


def asked_if(items, rng):
    """What is asked depends on a private answer."""
    of = {"kind": "answer", "of": rng.choice(PRIVATE)}
    value = {"kind": "value", "value": rng.choice(["yes", "no", "north", "west", 3, 900, "", "few", "many"])}
    node = {"kind": "apply", "op": rng.choice(["=", "!=", "<", "selected"]), "args": [of, value]}
    if rng.random() < 0.5:
        node = {"kind": "apply", "op": "not", "args": [node]}
    rng.choice([item for item in items if not item.get("private")])["relevant"] = node


def accepted_if(items, rng):
    """What is accepted depends on a private answer."""
    node = {"kind": "apply", "op": "=", "args": [{"kind": "answer", "of": rng.choice(PRIVATE)}] * 2}
    node["args"][1] = {"kind": "value", "value": rng.choice(["yes", "north", 3])}
    item = rng.choice([item for item in items if item["kind"] not in ("group", "note")])
    item["constraint"] = {"expression": node, "message": {"en": "No."}}


def repeated(items, rng):
    """A text repeats a private answer."""
    item = rng.choice(items)
    key = rng.choice(["label", "hint"])
    item[key] = {"en": f"You said ${{{rng.choice(PRIVATE)}}} there"}


def by_hand(items, rng):
    """A device's level passes for one that is drawn by hand."""
    item = rng.choice([item for item in items if item.get("private")])
    item["private"]["by_hand"] = rng.choice([["null"], ["1"], ["2"], ["device"]])


def undrawn(items, rng):
    """A table of which no column is what it says."""
    table = next(item for item in items if item.get("private") and item["name"] in ("smoking", "drinks"))
    table["private"]["design"]["design"]["columns"] = rng.choice([[[10, 0], [0, 9]], [[7, 3]], [[7.5, 2.5], [3, 7]]])


def asked_by_each(items, rng):
    """A plain question behind each private one, asked of those with its first category alone."""
    for name, op, value in (("smoking", "=", "yes"), ("place", "selected", "north"), ("drinks", "<", 5)):
        node = {"kind": "apply", "op": op, "args": [{"kind": "answer", "of": name}, {"kind": "value", "value": value}]}
        items.append({"kind": "text", "name": f"{name}-then", "label": {"en": "And?"}, "relevant": node})
        items[-1] |= {"max_length": 99, "lines": 1}


def repeated_each(items, rng):
    """A plain question whose words repeat each private answer."""
    said = " ".join(f"${{{name}}}" for name in PRIVATE)
    items.append({"kind": "text", "name": "said", "label": {"en": f"So, {said}?"}, "max_length": 99, "lines": 1})


def twice_each(items, rng):
    """A plain, empty grid, and a text, with the name of each private question."""
    for name in PRIVATE:
        items.append({"kind": "grid", "name": name, "label": {"en": "?"}, "rows": [], "choices": []})
        items.insert(0, {"kind": "text", "name": name, "label": {"en": "?"}, "max_length": 99, "lines": 1})


EACH = [asked_by_each, repeated_each, twice_each]
ATTACKS = [twice, twice_inside, twice_private, renamed, asked_if, accepted_if, repeated, by_hand, undrawn]
