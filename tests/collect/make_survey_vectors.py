"""Write survey_vectors.json: a survey that can be trusted, and changes after which it must not be.

"changes" are pairs of a path and a value to put there; a value left out takes the entry away, and a path that ends in
"+" appends to a list. "page" is where the respondent's page stops reading, null where it trusts the survey; "server" is
whether the server's checker refuses it. Run after a change only:  python tests/collect/make_survey_vectors.py
"""

import json
from pathlib import Path

from naysay import designs
from naysay.collect import Client, Published
from naysay.collect.questionnaire import (
    Bin,
    Choice,
    Grid,
    Group,
    Integer,
    Note,
    Private,
    Questionnaire,
    SelectMultiple,
    SelectOne,
    Text,
    parse_expression,
)
from naysay.collect.questionnaire.offers import private_of
from naysay.design import Pattern
from naysay.design.drawing import odds_within

HERE = Path(__file__).parent
ABCD = tuple("abcd")
ASK = {"en": "?"}
SUITE = "ristretto255-SHA512"


def choices(*names):
    return tuple(Choice(name=name, label={"en": name}) for name in names)


def private(design, *by_hand, **fields):
    return Private(design=json.loads(design.to_json()), by_hand=by_hand, **fields)


def one(name, design, *by_hand):
    names = map(str, design.categories)
    return SelectOne(name=name, label={"en": name}, choices=choices(*names), private=private(design, *by_hand))


def beside(name, design, innocuous):
    """A question that people answer by hand, with an innocuous one beside it."""
    how = private(design, modes=("hand", "device"), innocuous={"en": innocuous})
    return SelectOne(name=name, label={"en": name}, choices=choices("yes", "no"), private=how)


def survey():
    """Every kind of private question: items 4 to 12; plain ones before and after."""
    offer = {"1": designs.negative(ABCD), "2": designs.negative(ABCD, discards=2)}
    coins = designs.levels({"device": designs.warner(p=0.7), "coin": designs.two_coins()})
    both = Private(**private_of(ABCD, levels="1..2", sink="a"))
    bins = tuple(Bin(name=name, label={"en": name}, below=below) for name, below in (("few", 5), ("many", None)))
    items = (
        Note(name="hello", label={"en": "Hello"}),
        Integer(name="age", label={"en": "Age?"}),
        Grid(name="views", label={"en": "Views?"}, rows=choices("x", "y"), choices=choices(*ABCD)),
        Text(name="why", label={"en": "Why, at ${age}?"}, relevant=parse_expression("${age} > 17")),
        one("smoking", designs.warner(p=0.7)),
        one("income", designs.levels({**offer, "coin": designs.two_option(ABCD, shown=2)}), "coin"),
        one("taxes", coins, "coin"),
        SelectMultiple(name="drugs", label=ASK, choices=choices("x", "y"), private=private(designs.two_coins())),
        Integer(name="rent", label=ASK, bins=bins, private=private(designs.warner(p=0.8, categories=("few", "many")))),
        one("party", designs.negative(ABCD, discards=2, weights=(4, 1, 7, 2))),
        one("faith", designs.mix((3, designs.negative(ABCD, discards=2)), (1, designs.uniform(ABCD, discards=2)))),
        one("club", designs.k_ary(ABCD, epsilon=1).then(designs.negative(ABCD))),
        SelectOne(name="sunk", label=ASK, choices=choices(*ABCD), private=Private(**private_of(ABCD, sink="a"))),
        Group(
            name="last",
            label={"en": "Last"},
            relevant=parse_expression("sent(${smoking}) = 'yes'"),
            items=(Text(name="remarks", label={"en": "Remarks?"}),),
        ),
        beside("cheated", designs.crosswise(prevalence=0.25), "Was your mother born in spring?"),
        beside("stolen", designs.unrelated_question(p="2/3", prevalence=0.25), "Was your father born in spring?"),
        SelectOne(name="understood", label=ASK, choices=choices("a", "b"), right="a", explanation=ASK),
        SelectOne(name="often", label=ASK, choices=choices(*ABCD), private=both),
    )  # fmt: skip
    asked = Questionnaire(name="vectors", title={"en": "Vectors"}, languages=("en",), items=items)
    return Published.of(asked, client=Client({"survey.html": b"<!doctype html>"})).form


def at(place, *path):
    return ["questionnaire", "items", place, *path]


def design(place, *path):
    return at(place, "private", "design", "design", *path)


def level(place, *path):
    return design(5, "levels", place, *path)


def asks(of, kind="answer"):
    return {"kind": kind, "of": of}


def calls(op, *args):
    return {"kind": "apply", "op": op, "args": list(args)}


WARNER = json.loads(designs.warner(p=0.7).to_json())["design"]
EMPTY = {"kind": "grid", "label": {"en": "?"}, "rows": [], "choices": []}
PLAIN = {"kind": "text", "label": {"en": "?"}}
PATTERN = {"kind": "pattern", "name": "", "notes": [], "categories": ["yes", "no"], "own": 7, "other": 3}
K_ARY = Pattern.of(ABCD, *odds_within(1, others=3))
"""Warner's design, and k-ary randomized response, as the patterns that they are."""
SUBSET = {"kind": "subset", "categories": [*ABCD], "discards": 1, "truthful": True}
AFFINE = {"kind": "affine", "name": "", "notes": [], "categories": ["yes", "no"], "base": 5}
AFFINE |= {"named": False, "inside": 2, "outside": 1}
GROUPED = {"kind": "grouped", "name": "", "notes": [], "categories": [*ABCD], "width": 2}
GROUPED |= {"design": json.loads(designs.k_ary((0, 1), epsilon=1).to_json())["design"]}
BIG = 2**53
PRACTICE = {"label": ASK, "choices": [{"name": name, "label": {"en": name}} for name in ABCD]}
ITEMS, WHOLE = ["questionnaire", "items", "+"], "questionnaire"
PRIVACY = "privacy"


def in_arms(*shares, of=("x",), place=0):
    """The survey in two arms, with a note, or another item, in one of them."""
    arm_forms = [{"name": name, "share": share} for name, share in zip("xyz", shares, strict=False)]
    return (["questionnaire", "arms"], arm_forms), (at(place, "arms"), list(of))


def in_language(tag):
    """The survey in one language, by its tag alone."""
    texts = [(path, {tag: text["en"]}) for path, text in _texts(SURVEY["questionnaire"], ["questionnaire"])]
    return [*texts, (["questionnaire", "languages"], [tag])]


def _texts(part, path):
    """Each text of a survey by language, with its path."""
    if isinstance(part, dict) and "en" in part:
        yield path, part
    elif isinstance(part, dict | list):
        for step, inner in part.items() if isinstance(part, dict) else enumerate(part):
            yield from _texts(inner, [*path, step])


def control(truth, *, of="party", label="Suppose ${party_control_truth}.", **fields):
    """A control of the question about parties, with what the survey states of it."""
    party = next(item for item in SURVEY["questionnaire"]["items"] if item["name"] == "party")
    item = {**party, "name": "party_control", "label": {"en": label}, "control": {"of": of, "truth": truth}, **fields}
    return (
        (ITEMS, {name: field for name, field in item.items() if field is not None}),
        ([PRIVACY, "party_control"], SURVEY[PRIVACY]["party"]),
        (["together", "bits"], 99),
    )


SURVEY = survey()
LOT = {"lot": True}
CONTROL = "items[18]"

VECTORS = [
    ("nothing is changed", None),
    ("another kind of document", WHOLE, (["naysay"], "questionnaire")),
    ("another version", WHOLE, (["version"], 2)),
    ("another version of the questionnaire", WHOLE, (["questionnaire", "version"], 2)),
    ("a length that is no number", WHOLE, (["body_length"], "1024")),
    # names
    ("a plain, empty grid with the name of a private question", WHOLE, (ITEMS, {**EMPTY, "name": "smoking"})),
    ("a plain question with the name of a private one", WHOLE, (ITEMS, {**PLAIN, "name": "income"})),
    ("a note with the name of a private question", WHOLE, (ITEMS, {**PLAIN, "kind": "note", "name": "rent"})),
    ("a question inside a group with the name of another", WHOLE, (at(13, "items", 0, "name"), "smoking")),
    ("a private question with the name of another", WHOLE, (at(9, "name"), "faith")),
    ("the name of a column that holds a level", "items[13].items[0]", (at(13, "items", 0, "name"), "income_level")),
    ("the name of the column of days", "items[13].items[0]", (at(13, "items", 0, "name"), "day")),
    ("a choice twice", "items[5]", (at(5, "choices", 1, "name"), "a")),
    ("a row twice", "items[2]", (at(2, "rows", 1, "name"), "x")),
    ("a bin twice", "items[8]", (at(8, "bins", 1, "name"), "few")),
    ("a choice of a private select multiple twice", "items[7]", (at(7, "choices", 1, "name"), "x")),
    ("a name that every object has", "items[13].items[0]", (at(13, "items", 0, "name"), "constructor")),
    ("a name with underscores before it", "items[13].items[0]", (at(13, "items", 0, "name"), "__proto__")),
    ("a choice that every object has", "items[2]", (at(2, "choices", 0, "name"), "toString")),
    ("a row that every object has", "items[2]", (at(2, "rows", 0, "name"), "__proto__")),
    ("a name with blanks", "items[1]", (at(1, "name"), "your age")),
    # kinds and fields
    ("an unknown kind of question", "items[3]", (at(3, "kind"), "upload")),
    ("a kind that every object has", "items[3]", (at(3, "kind"), "toString")),
    ("a text that is private", "items[3]", (at(3, "private"), {})),
    ("a grid that is private", "items[2]", (at(2, "private"), {})),
    ("an unknown field of a question", "items[3]", (at(3, "calculation"), asks("smoking"))),
    ("an unknown field of a private one", "items[4]", (at(4, "private", "truth"), "sent")),
    ("an unknown field of a choice", "items[4]", (at(4, "choices", 0, "image"), "x")),
    ("items in a question", "items[3]", (at(3, "items"), [])),
    # conditions
    ("relevance by a private answer", "items[13]", (at(13, "relevant"), calls("=", asks("smoking"), asks("age")))),
    ("relevance by a private answer, deep inside", "items[13]",
     (at(13, "relevant"), calls("or", calls("not", calls("selected", asks("income"), asks("age")))))),
    ("a constraint by a private answer", "items[13].items[0]",
     (at(13, "items", 0, "constraint"), {"expression": calls("=", asks("."), asks("smoking")), "message": {}})),
    ("a constraint by a plain answer", None,
     (at(13, "items", 0, "constraint"), {"expression": calls("=", asks("."), asks("age")), "message": {}})),
    ("relevance by the answer itself", "items[13]", (at(13, "relevant"), calls("not", asks(".")))),
    ("relevance by a question that is not there", "items[13]", (at(13, "relevant"), asks("age2"))),
    ("relevance by a question that comes later", "items[3]", (at(3, "relevant"), asks("smoking", "sent"))),
    ("relevance by a note", "items[3]", (at(3, "relevant"), asks("hello"))),
    ("relevance by a grid", "items[3]", (at(3, "relevant"), asks("views"))),
    ("relevance by what is sent of a plain question", "items[3]", (at(3, "relevant"), asks("age", "sent"))),
    ("relevance by what is sent of a select multiple", "items[13]", (at(13, "relevant"), asks("drugs", "sent"))),
    ("an unknown function", "items[3]", (at(3, "relevant"), calls("eval", asks("age")))),
    ("a function that every object has", "items[3]", (at(3, "relevant"), calls("toString", asks("age")))),
    ("a function without its arguments", "items[3]", (at(3, "relevant"), calls("="))),
    ("a function with too many", "items[3]", (at(3, "relevant"), calls("not", asks("age"), asks("age")))),
    ("an unknown kind of condition", "items[3]", (at(3, "relevant"), asks("age", "truth"))),
    ("a value that is none", "items[3]", (at(3, "relevant"), {"kind": "value", "value": {}})),
    # texts
    ("a label that repeats a private answer", "items[13]", (at(13, "label", "en"), "So ${smoking}!")),
    ("the same with blanks", "items[13]", (at(13, "label", "en"), "So ${ smoking }!")),
    ("a hint that does", "items[13].items[0]", (at(13, "items", 0, "hint"), {"en": "${rent}"})),
    ("a choice that does", "items[9]", (at(9, "choices", 2, "label", "en"), "${smoking}")),
    ("a row that repeats a later answer", "items[2]", (at(2, "rows", 0, "label", "en"), "${remarks}")),
    ("words for a response that repeat a private answer", "items[12]",
     (at(12, "private", "responses", "sink", "en"), "${smoking}")),
    ("a message that does", "items[13].items[0]",
     (at(13, "items", 0, "constraint"), {"expression": calls("not", asks(".")), "message": {"en": "${smoking}"}})),
    ("a title that repeats an answer", WHOLE, (["questionnaire", "title", "en"], "${age}")),
    ("a text that repeats what is nowhere", "items[3]", (at(3, "label", "en"), "${nobody}")),
    # designs
    ("a column that does not sum to the denominator", "items[4]", (design(4, "columns", 0), [7, 4])),
    ("columns that share another sum", "items[4]", (design(4, "columns"), [[7, 4], [4, 7]])),
    ("weights that are no integers", "items[4]", (design(4, "columns", 0), [6.5, 3.5])),
    ("weights below zero", "items[4]", (design(4, "columns", 0), [11, -1])),
    ("weights that are texts", "items[4]", (design(4, "columns", 0), ["7", "3"])),
    ("a denominator beyond 2**53", "items[4]", (design(4, "denominator"), BIG + 2),
     (design(4, "columns"), [[BIG, 2], [2, BIG]])),
    ("a denominator of nothing", "items[4]", (design(4, "denominator"), 0), (design(4, "columns"), [[0, 0], [0, 0]])),
    ("a column too few", "items[4]", (design(4, "columns"), [[7, 3]])),
    ("a weight too few", "items[4]", (design(4, "columns", 1), [10])),
    ("a response twice", "items[4]", (design(4, "responses"), ["yes", "yes"])),
    ("other categories", "items[4]", (design(4, "categories"), ["no", "yes"])),
    ("a category twice", "items[4]", (design(4, "categories"), ["yes", "yes"])),
    ("no design", "items[4]", (at(4, "private", "design"), {})),
    ("another version of designs", "items[4]", (at(4, "private", "design", "version"), 2)),
    ("an unknown kind of design", "items[4]", (design(4, "kind"), "truth")),
    ("a kind of design that every object has", "items[4]", (design(4, "kind"), "constructor")),
    ("two samples", "items[4]", (design(4), {"kind": "samples", "samples": [], "shares": [], "nuisance": []})),
    ("two answers", "items[4]", (design(4), {"kind": "both", "first": WARNER, "second": WARNER})),
    ("nothing ruled out", "items[5]", (level(1, "design", "discards"), 0)),
    ("everything ruled out", "items[5]", (level(1, "design", "discards"), 4)),
    ("half a category ruled out", "items[5]", (level(1, "design", "discards"), 1.5)),
    ("truthful in a word", "items[5]", (level(1, "design", "truthful"), "no")),
    ("a weight of zero", "items[9]", (design(9, "weights", 0), 0)),
    ("a weight too many", "items[9]", (design(9, "weights", "+"), 1)),
    ("weights too fine to be drawn", "items[9]", (design(9, "weights", 0), BIG), (design(9, "weights", 1), BIG)),
    ("a mixture without a weight", "items[10]", (design(10, "weights"), [3])),
    ("a mixture with a weight of zero", "items[10]", (design(10, "weights"), [3, 0])),
    ("a mixture of other sizes", "items[10]", (design(10, "components", 1, "discards"), 1)),
    ("a mixture of other categories", "items[10]", (design(10, "components", 1, "categories"), [*"abdc"])),
    ("a second design for other categories", "items[11]", (design(11, "second", "categories"), [*"abce"])),
    ("a set that is followed", "items[11]", (design(11, "first"), SUBSET)),
    # two integers in place of a table
    ("a pattern", None, (design(4), PATTERN)),
    ("a pattern that is followed", None, (design(11, "first"), json.loads(K_ARY.to_json())["design"])),
    *(
        (f"a pattern whose {field} is {what}", "items[4]", (design(4), {**PATTERN, field: value}))
        for field in ("own", "other")
        for what, value in (
            ("below zero", -1), ("a fraction", 0.5), ("a text", "3"), ("nothing", None), ("true", True),
            ("beyond 2**53", BIG + 2), ("a list", [3]),
        )
    ),
    *(
        (f"a pattern without {field}", "items[4]", (design(4), {key: PATTERN[key] for key in PATTERN if key != field}))
        for field in ("own", "other")
    ),
    ("a pattern of nothing", "items[4]", (design(4), {**PATTERN, "own": 0, "other": 0})),
    ("a pattern whose column exceeds 2**53 by one", "items[4]", (design(4), {**PATTERN, "own": BIG, "other": 1})),
    ("a pattern about other categories", "items[4]", (design(4), {**PATTERN, "categories": ["no", "yes"]})),
    ("a pattern that tells more than is stated", f"{PRIVACY}.smoking", (design(4), {**PATTERN, "own": 70})),
    # levels
    ("no levels", "items[5]", (design(5, "levels"), [])),
    ("a level twice", "items[5]", (level(1, "level"), "1")),
    ("a level that is no name", "items[5]", (level(1, "level"), True)),
    ("levels within a level", "items[6]", (design(6, "levels", 0, "design"), {"kind": "levels", "levels": []})),
    ("a level about other categories", "items[5]", (level(1, "design", "categories"), [*"abdc"])),
    ("by hand what is not on offer", "items[5]", (at(5, "private", "by_hand"), ["coin", "3"])),
    ("by hand what a device draws", "items[5]", (at(5, "private", "by_hand"), ["coin", "1"])),
    ("by hand without levels", "items[4]", (at(4, "private", "by_hand"), ["null"])),
    ("begins at a level that is not on offer", "items[5]", (at(5, "private", "begins_at"), "9")),
    ("begins with what is drawn by hand", "items[5]", (at(5, "private", "begins_at"), "coin")),
    ("three options for a coin", "items[5]", (level(2, "design", "shown"), 3)),
    ("a pair that is not equally likely", "items[5]", (level(2, "design", "columns", 0), [0, 2, 1, 0])),
    ("coins of other chances", "items[6]", (design(6, "levels", 1, "design", "columns"), [[4, 0], [1, 3]])),
    ("coins that say the opposite", "items[6]", (design(6, "levels", 1, "design", "columns"), [[1, 3], [3, 1]])),
    # who carries a design out
    ("an innocuous question in the words of another", "questionnaire.items",
     (at(15, "private", "innocuous", "en"), "Was  your mother born in Spring")),
    ("an innocuous question that is asked, too", "questionnaire.items", (at(15, "private", "innocuous", "en"), "age")),
    ("an innocuous question that is a row of a grid", "questionnaire.items",
     (at(2, "rows", 0, "label", "en"), "Was your father born in spring")),
    ("an innocuous question that is one of several choices", "questionnaire.items",
     (at(7, "choices", 1, "label", "en"), "Was your father born in spring")),
    ("no innocuous question", "items[14]", (at(14, "private", "innocuous"),)),
    ("an innocuous question that the device answers", "items[14]", (at(14, "private", "modes"), ["device"])),
    ("an innocuous question that repeats an answer", "items[14]",
     (at(14, "private", "innocuous", "en"), "Are you ${smoking}?")),
    ("a mode that there is not", "items[14]", (at(14, "private", "modes"), ["hand", "interviewer"])),
    ("no mode", "items[14]", (at(14, "private", "modes"), [])),
    ("a mode twice", "items[14]", (at(14, "private", "modes"), ["hand", "hand"])),
    ("modes in a text", "items[14]", (at(14, "private", "modes"), "hand")),
    ("a mode by hand among levels", "items[6]", (at(6, "private", "modes"), ["hand", "device"])),
    ("by hand what people cannot do", "items[4]", (at(4, "private", "modes"), ["hand"])),
    ("a die that has no such sides", "items[15]", (design(15, "denominator"), 40),
     (design(15, "columns"), [[31, 9], [3, 37]])),
    ("one innocuous question for several choices", "items[7]", (at(7, "private", "innocuous"), {"en": "Born?"}),
     (at(7, "private", "modes"), ["hand"])),
    ("a right choice that there is not", "items[16]", (at(16, "right"), "c")),
    ("an explanation of nothing", "items[16]", (at(16, "right"),)),
    ("a right answer to a private question", "items[4]", (at(4, "right"), "yes")),
    ("no practice question", None, (["questionnaire", "practice"], False)),
    ("a practice question of the survey's own", None, (["questionnaire", "practice"], PRACTICE)),
    ("a practice question that repeats an answer", WHOLE,
     (["questionnaire", "practice"], {**PRACTICE, "label": {"en": "Why ${smoking}?"}})),
    ("a practice question with a name", WHOLE, (["questionnaire", "practice"], {**PRACTICE, "name": "smoking"})),
    ("a practice question with two choices", WHOLE,
     (["questionnaire", "practice"], {**PRACTICE, "choices": PRACTICE["choices"][:2]})),
    # a sink beside levels
    ("a mask that names another sink", "items[17]",
     (at(17, "private", "design", "design", "levels", 0, "design", "first", "responses", 0), "x")),
    ("a mask that is none", f"{PRIVACY}.often",
     (at(17, "private", "design", "design", "levels", 1, "design", "first", "columns", 0), [6, 0, 0, 0])),
    # numbers, and what depends on them
    ("one bin", "items[8]", (at(8, "bins"), [{"name": "few", "label": {"en": "few"}, "below": None}])),
    ("bins that end", "items[8]", (at(8, "bins", 1, "below"), 9)),
    ("bins without an end", "items[8]", (at(8, "bins", 0, "below"), None)),
    ("a private number with a range", "items[8]", (at(8, "low"), 0)),
    ("a private answer with a constraint", "items[4]", (at(4, "constraint"), {"expression": asks("."), "message": {}})),
    # what is stated
    ("ε that is less than the integers give", f"{PRIVACY}.smoking", ([PRIVACY, "smoking", 0, "epsilon"], 0.1)),
    ("chances of 999 to 1 for which 0.85 is stated", f"{PRIVACY}.smoking", (design(4, "denominator"), 1000),
     (design(4, "columns"), [[999, 1], [1, 999]])),
    ("odds that are less", f"{PRIVACY}.income", ([PRIVACY, "income", 1, "odds"], 2)),
    ("bits that are less", f"{PRIVACY}.income", ([PRIVACY, "income", 0, "bits"], 0)),
    ("more that stays possible", f"{PRIVACY}.income", ([PRIVACY, "income", 0, "still_possible"], [4, 4])),
    ("more categories", f"{PRIVACY}.smoking", ([PRIVACY, "smoking", 0, "categories"], 3)),
    ("by hand, only as it is stated", f"{PRIVACY}.smoking", ([PRIVACY, "smoking", 0, "by_hand"], True)),
    ("a level of another name", f"{PRIVACY}.income", ([PRIVACY, "income", 0, "level"], "2")),
    ("a level that is not stated", f"{PRIVACY}.income", ([PRIVACY, "income", 2],)),
    ("a question of which nothing is stated", f"{PRIVACY}.smoking", ([PRIVACY, "smoking"],)),
    ("less together", "together", (["together", "bits"], 1)),
    ("together a finite ε", "together", (["together", "epsilon"], 9)),
    # lists for texts, and what is shown as it stands
    ("a kind in a list", "items[3]", (at(3, "kind"), ["text"])),
    ("a note in a list", "items[0]", (at(0, "kind"), ["note"])),
    ("a kind of design in a list", "items[4]", (design(4, "kind"), ["table"])),
    ("a function in a list", "items[3]", (at(3, "relevant"), calls(["or"], asks("age")))),
    ("responses in lists", "items[4]", (design(4, "responses"), [["yes"], ["no"]])),
    ("a label without a language", "items[4]", (at(4, "label"), "Smoking?")),
    ("a language in a list", WHOLE, (["questionnaire", "languages", 0], ["en"])),
    ("a language that is none", WHOLE, (["questionnaire", "languages", 0], "no language")),
    ("a hash before that is a sentence", "renewed", (["renewed"], ["approved by the ethics board"])),
    ("hashes before that are no list", "renewed", (["renewed"], "0" * 64)),
    ("a hash before", None, (["renewed"], ["0" * 64])),
    ("invitations under a key", None, (["invitations"], {"suite": SUITE, "key": "ab" * 32})),
    ("invitations of another suite", "invitations", (["invitations"], {"suite": "P256-SHA256", "key": "ab" * 32})),
    ("a key that is too short", "invitations", (["invitations"], {"suite": SUITE, "key": "ab" * 31})),
    ("a key that is no text", "invitations", (["invitations"], {"suite": SUITE, "key": 7})),
    ("invitations without a key", "invitations", (["invitations"], {"suite": SUITE})),
    ("invitations with more", "invitations", (["invitations"], {"suite": SUITE, "key": "ab" * 32, "more": 1})),
    ("invitations that are null", "invitations", (["invitations"], None)),
    # arms and controls
    ("two arms", None, *in_arms(2, 1)),
    ("no arm, and ε that is less than the integers give", WHOLE, (["questionnaire", "arms"], []),
     ([PRIVACY, "smoking", 0, "epsilon"], 0.1)),
    ("two arms, and ε that is less than the integers give", f"{PRIVACY}.smoking", *in_arms(2, 1),
     ([PRIVACY, "smoking", 0, "epsilon"], 0.1)),
    ("one arm", WHOLE, *in_arms(1)),
    ("an arm without a share", WHOLE, *in_arms(0, 1)),
    ("a share that is no whole number", WHOLE, *in_arms(1.5, 1)),
    ("shares whose sum is rounded", WHOLE, *in_arms(BIG, 1)),
    ("arms of one name", WHOLE, *in_arms(1, 1), (["questionnaire", "arms", 1, "name"], "x")),
    ("an arm that there is not", "items[0]", *in_arms(1, 1, of=("z",))),
    ("arms in a text", "items[0]", *in_arms(1, 1), (at(0, "arms"), "x")),
    ("arms without a survey in arms", "items[0]", (at(0, "arms"), ["x"])),
    ("the name of the column with the arm", "items[13].items[0]", *in_arms(1, 1), (at(13, "items", 0, "name"), "arm")),
    ("one innocuous question in two arms", None, *in_arms(1, 1, place=14), (at(15, "arms"), ["y"]),
     (at(15, "private", "innocuous", "en"), "Was your mother born in spring?")),
    ("one innocuous question twice in an arm", "questionnaire.items", *in_arms(1, 1, of="xy", place=14),
     (at(15, "arms"), ["y"]), (at(15, "private", "innocuous", "en"), "Was your mother born in spring?")),
    ("a control that lot decides", None, *control(LOT)),
    ("choices that are shuffled", None, (at(9, "order"), "shuffled")),
    ("an order that there is not", "items[9]", (at(9, "order"), "by truth")),
    ("a control that states less than it tells", f"{PRIVACY}.party_control", *control(LOT),
     ([PRIVACY, "party_control"], [{**SURVEY[PRIVACY]["party"][0], "bits": 0}])),
    ("a control that repeats another answer", CONTROL, *control(LOT, label="Suppose ${party}.")),
    ("a control without a lot that repeats one", CONTROL, *control({"category": "a"})),
    ("a question that repeats what lot has drawn", "items[3]", *control(LOT),
     (at(3, "label", "en"), "${party_control_truth}")),
    ("a control with something more", CONTROL, *control({**LOT, "seen": True})),
    ("the name of the column of a lot", "items[13].items[0]", *control(LOT),
     (at(13, "items", 0, "name"), "party_control_truth")),
    ("ε that is more than the integers give", None, ([PRIVACY, "smoking", 0, "epsilon"], 1)),
    ("ε for which nothing is promised", None, ([PRIVACY, "smoking", 0, "epsilon"], None)),
    ("a plain control", CONTROL, *control(LOT, private=None)),
    ("levels beside a table", "items[4]", (design(4, "levels"), [{"level": "1", "design": WARNER}])),
    ("a pattern with responses of its own", "items[4]", (design(4), {**PATTERN, "responses": ["no", "yes"]})),
    ("words that turn a response around", "items[4]", (at(4, "private", "responses"), {"yes": {"en": "no"}})),
    ("a hash that stands in the response", "items[4]", (design(4), {**AFFINE, "named": True})),
    ("a hash that does not", None, (design(4), AFFINE)),
    ("a design of parts that an app draws", "items[9]", (design(9), GROUPED)),
    ("an unknown field of a design", "items[4]", (design(4, "tables"), [])),
    ("an unknown field of a level", "items[5]", (level(0, "name"), "device")),
    ("an unknown field beside a design", "items[4]", (at(4, "private", "design", "hash"), "0" * 64)),
    *(
        (f"an empty name of a field, {what}", where, ([*path, ""], 1))
        for what, where, path in (
            ("of a note", "items[0]", at(0)), ("of a group", "items[13]", at(13)),
            ("of the whole", WHOLE, ["questionnaire"]), ("of a design", "items[4]", design(4)),
        )
    ),
    ("invitations with an empty name", "invitations", (["invitations"], {"suite": SUITE, "key": "ab" * 32, "": 1})),
    ("hashes before that are null", "renewed", (["renewed"], None)),
    ("a practice question that is null", WHOLE, (["questionnaire", "practice"], None)),
    ("an order that is null", "items[9]", (at(9, "order"), None)),
    ("a list of no arms", WHOLE, (["questionnaire", "arms"], [])),
    ("an item in no arm", "items[1]", (at(1, "arms"), [])),
    *(
        (f"the language {tag}", WHOLE if page else None, *in_language(tag))
        for tag, page in (
            ("valueOf", True), ("en-US-US", True), ("de-DE-DE-1996", True), ("en-", True), ("e", True),
            ("en_US", True), ("toString", True),
            ("zh-Hant-TW", False), ("es-419", False), ("de-1996", False), ("ca-ES-valencia", False),
        )
    ),
]  # fmt: skip

SERVER_ALONE = [
    ("a language with a calendar", *in_language("en-u-ca-gregory")),
    ("messages that are too short for an answer", (["body_length"], 1024)),
    ("choices in letters that look alike", (at(5, "choices", 0, "label", "en"), "oh"),
     (at(5, "choices", 1, "label", "en"), "\N{CYRILLIC SMALL LETTER O}h")),
]  # fmt: skip
"""What the page reads past: it looks odd, or the page ends when it writes the message."""


def main():
    vectors = [
        {
            "what": what,
            "changes": [list(change) for change in changes],
            "page": page,
            "server": page is not None,
        }
        for what, page, *changes in VECTORS
    ]
    vectors += [
        {"what": what, "changes": [list(change) for change in changes], "page": None, "server": True}
        for what, *changes in SERVER_ALONE
    ]
    lines = ",\n".join(json.dumps(vector, ensure_ascii=False) for vector in vectors)
    text = f'{{"survey": {json.dumps(SURVEY, ensure_ascii=False)},\n"vectors": [\n{lines}\n]}}\n'
    (HERE / "survey_vectors.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
