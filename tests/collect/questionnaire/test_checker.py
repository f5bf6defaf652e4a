"""Every rule of the checker fires, where it should, and says why."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs
from naysay.collect.questionnaire import check, examine, lines, load, of_form, sample
from naysay.collect.questionnaire.rules import RULES
from naysay.errors import DataError

ABC = ("a", "b", "c")


def text(words="Words"):
    return words if isinstance(words, dict) else {"en": words}


def choice(name, words=None):
    return {"name": name, "label": text(words or f"Choice {name}")}


def private(design, by_hand=(), responses=None):
    return {"design": json.loads(design.to_json()), "by_hand": list(by_hand), "responses": responses or {}}


SAME = {"same": {"en": "The same"}, "different": {"en": "Different"}}
RANGED = {"prevalence": 0.25, "between": (0.23, 0.27)}


def beside(name="q", design=None, modes=("hand", "device"), innocuous="Born in spring?", **fields):
    """A crosswise question that people answer by hand."""
    how = private(design or designs.crosswise(**RANGED), responses=SAME)
    how |= {"modes": list(modes), "innocuous": text(innocuous)} if innocuous else {"modes": list(modes)}
    return select(name, ("yes", "no"), private=how, **fields)


def select(name="q", names=ABC, **fields):
    return {"kind": "select_one", "name": name, "label": text(), "choices": [choice(each) for each in names], **fields}


def number(name="q", **fields):
    return {"kind": "integer", "name": name, "label": text(), **fields}


def group(*items, **fields):
    return {"kind": "group", "name": "group", "label": text(), "items": list(items), **fields}


def bins(*ends):
    return [{**choice(f"b{place}"), "below": end} for place, end in enumerate(ends)]


def answer(name):
    return {"kind": "answer", "of": name}


def sent(name):
    return {"kind": "sent", "of": name}


def apply(op, *args):
    return {"kind": "apply", "op": op, "args": list(args)}


def equals(left, value="a"):
    return apply("=", left, {"kind": "value", "value": value})


SECRET = select("secret", label=text("Secret?"), private=private(designs.negative(ABC)))
PLAIN = number("plain")


def control_of_secret(of="secret", *, truth, names=ABC, **fields):
    """A control of SECRET, asked as it is."""
    how = private(designs.negative(names))
    label = {"label": text("An exercise: suppose ${control_truth}.")} if truth.get("lot") else {"label": text("Test?")}
    return select("control", names, private=how, control={"of": of, "truth": truth}, **label | fields)


TWO = private(designs.two_coins())
TWO3 = private(designs.negative(ABC))
GRID = {"kind": "grid", "name": "grid", "label": text(), "rows": [choice("r")], "choices": [choice("a"), choice("b")]}
LEVELS = designs.negative_levels(("a", "b", "c", "d"))
FALLING = designs.levels({"2": LEVELS.channel(2), "1": LEVELS.channel(1)})
COIN3 = designs.levels({"1": designs.negative(ABC), "coin": designs.two_option(ABC)})
HALVES = designs.levels({0.5: designs.negative(ABC), 1.0: designs.k_ary(ABC, epsilon=2)})
NONE = [choice("a"), choice("b"), choice("c", "None of these")]
RULES_AND_BREACHES = [
    ("names", "items[1].name", [number("q"), number("q")]),
    ("names", "items[0].choices[1].name", [select(names=("a", "a", "b"))]),
    ("names", "items[0].name", [number("__proto__")]),
    ("names", "items[0].choices[0].name", [select(names=("__proto__", "b"))]),
    ("names", "items[0].name", [number("constructor")]),
    ("names", "items[0].choices[1].name", [select(names=("a", "toString"))]),
    ("names", "items[0].name", [number("day")]),
    (
        "names",
        "items[1].name",
        [select("secret", ("a", "b", "c", "d"), private=private(LEVELS)), number("secret_level")],
    ),
    ("arms", "items[0].arms", [number(arms=["masked"])]),
    ("controls", "items[1].control.of", [SECRET, control_of_secret(of="nobody", truth={"lot": True})]),
    ("controls", "items[1].control.truth", [SECRET, control_of_secret(truth={})]),
    ("controls", "items[1].control.truth", [SECRET, control_of_secret(truth={"lot": True, "category": "a"})]),
    ("controls", "items[1].control.truth", [SECRET, control_of_secret(truth={"category": "z"})]),
    ("controls", "items[1].control.truth", [SECRET, control_of_secret(truth={"shares": dict.fromkeys(ABC, 1 / 3)})]),
    ("controls", "items[1].control.truth.shares", [SECRET, control_of_secret(truth={"shares": {"a": 0.5, "b": 0.1}})]),
    ("controls", "items[1].control.truth.file", [SECRET, control_of_secret(truth={"file": "secret"})]),
    ("controls", "items[1].label", [SECRET, control_of_secret(truth={"lot": True}, label=text("Suppose something."))]),
    ("controls", "items[1].items[0].control", [SECRET, group(control_of_secret(truth={"category": "a"}))]),
    ("controls", "items[1].control", [SECRET, control_of_secret(truth={"category": "a"}, names=("a", "b", "x"))]),
    ("levels", "items[0].private.design", [select(private=private(HALVES))]),
    ("languages", "items[0].label.en", [number(label={})]),
    ("languages", "items[0].label.en", [number(label={"en": "  "})]),
    ("languages", "items[0].hint.en", [number(hint={"de": "Hinweis"})]),
    ("languages", "items[0].choices[1].label.en", [select(choices=[choice("a"), {"name": "b", "label": {}}])]),
    ("wording", "items[0].label.en", [number(label=text("a \u202e b"))]),
    ("choices", "items[0].choices", [select(names=("a",))]),
    ("choices", "items[0].choices", [{**select(names=()), "kind": "select_multiple"}]),
    ("choices", "items[0].choices", [{**select(names=[f"c{i}" for i in range(21)]), "kind": "ranking"}]),
    ("choices", "items[0].rows", [{**GRID, "rows": []}]),
    ("choices", "items[0]", [{"kind": "group", "name": "g", "label": text(), "items": []}]),
    ("scales", "items[0].low", [{"kind": "rating", "name": "q", "label": text(), "low": 5, "high": 1}]),
    ("scales", "items[0].low", [{"kind": "rating", "name": "q", "label": text(), "low": 0, "high": 99}]),
    ("scales", "items[0].low", [number(low=2, high=1)]),
    ("piping", "items[1].label.en", [SECRET, number(label=text("You said ${secret}"))]),
    ("piping", "items[1].hint.en", [SECRET, number(hint=text("${ secret }"))]),
    ("piping", "items[1].choices[0].label.en", [SECRET, select(choices=[choice("a", "${secret}"), choice("b")])]),
    (
        "piping",
        "items[1].constraint.message.en",
        [SECRET, number(constraint={"expression": answer("."), "message": text("${secret}")})],
    ),
    ("references", "items[0].label.en", [number(label=text("${nobody}"))]),
    ("references", "items[0].label.en", [number(label=text("${later}")), number("later")]),
    ("references", "items[0].relevant", [number(relevant=equals(answer("nobody")))]),
    ("references", "items[0].relevant", [number(relevant=equals(answer("later"))), number("later")]),
    ("references", "items[0].relevant", [number(relevant=equals(answer("q")))]),
    ("references", "items[0].relevant", [number(relevant=equals(answer(".")))]),
    ("references", "items[1].relevant", [PLAIN, number(relevant=equals(sent("plain")))]),
    ("references", "items[1].relevant", [GRID, number(relevant=equals(answer("grid")))]),
    (
        "references",
        "items[1].relevant",
        [{**SECRET, "kind": "select_multiple", "private": TWO}, number(relevant=equals(sent("secret")))],
    ),
    (
        "references",
        "items[0].relevant",
        [{"kind": "group", "name": "g", "label": text(), "items": [PLAIN], "relevant": equals(answer("plain"))}],
    ),
    ("skip_logic", "items[1].relevant", [SECRET, number(relevant=equals(answer("secret")))]),
    (
        "skip_logic",
        "items[1].relevant",
        [
            SECRET,
            {"kind": "group", "name": "g", "label": text(), "items": [PLAIN], "relevant": equals(answer("secret"))},
        ],
    ),
    (
        "skip_logic",
        "items[1].items[0].relevant",
        [
            SECRET,
            {
                "kind": "group",
                "name": "g",
                "label": text(),
                "items": [number(relevant=apply("not", equals(answer("secret"))))],
            },
        ],
    ),
    (
        "validation",
        "items[1].constraint.expression",
        [SECRET, number(constraint={"expression": equals(answer("secret")), "message": text()})],
    ),
    (
        "validation",
        "items[0].constraint",
        [{**SECRET, "constraint": {"expression": equals(answer(".")), "message": text()}}],
    ),
    (
        "validation",
        "items[0].low",
        [number(low=0, bins=bins(1, 2, None), private=private(designs.negative(("b0", "b1", "b2"))))],
    ),
    ("expressions", "items[0].relevant", [number(relevant=apply("not"))]),
    ("designs", "items[0].private.design", [select(private={"design": {"naysay": "nothing"}})]),
    ("designs", "items[0].private.design", [select(private=private(designs.negative(("x", "y", "z"))))]),
    ("designs", "items[0].private.design", [select(private=private(designs.negative(("b", "a", "c"))))]),
    ("designs", "items[0].private.design", [select(private=private(designs.uniform(ABC)))]),
    (
        "designs",
        "items[0].private.design",
        [select(names=("yes", "no"), private=private(designs.cheating_detection(p=("1/4", "3/4"))))],
    ),
    (
        "designs",
        "items[0].private.design",
        [select(names=("yes", "no"), private=private(designs.warner(p=0.7) * designs.two_coins()))],
    ),
    (
        "designs",
        "items[0].private.design",
        [{**select(), "kind": "select_multiple", "private": private(designs.negative(ABC))}],
    ),
    (
        "negative",
        "items[0].private.design",
        [select(names=("a", "b"), private=private(designs.custom([[0, 1], [1, 0]], categories=("a", "b"))))],
    ),
    ("by_hand", "items[0].private.by_hand", [select(private=private(COIN3, ["dice"]))]),
    ("by_hand", "items[0].private.by_hand", [select(private=private(COIN3, ["1"]))]),
    (
        "by_hand",
        "items[0].private.by_hand",
        [select(names=("yes", "no"), private=private(designs.levels({"coin": designs.warner(p=0.7)}), ["coin"]))],
    ),
    ("none_of_the_above", "items[0].choices[2].label", [select(choices=NONE, private=private(COIN3, ["coin"]))]),
    (
        "none_of_the_above",
        "items[0].choices[2].label",
        [select(choices=NONE, private=private(designs.two_option(ABC)))],
    ),
    ("bins", "items[0].bins", [number(private=private(designs.negative(ABC)))]),
    (
        "bins",
        "items[0].bins[1].below",
        [number(bins=bins(5, 5, None), private=private(designs.negative(("b0", "b1", "b2"))))],
    ),
    (
        "bins",
        "items[0].bins[2].below",
        [number(bins=bins(1, 2, 3), private=private(designs.negative(("b0", "b1", "b2"))))],
    ),
    (
        "bins",
        "items[0].bins[0].below",
        [number(bins=bins(None, 2, None), private=private(designs.negative(("b0", "b1", "b2"))))],
    ),
    ("modes", "items[0].private.modes", [beside(modes=())]),
    ("modes", "items[0].private.modes", [beside(modes=("hand", "hand"))]),
    ("modes", "items[0].private.modes", [beside(modes=("hand",), innocuous="")]),
    ("modes", "items[0].private.modes", [beside(design=designs.warner(p=0.7), innocuous="")]),
    ("modes", "items[0].private.modes", [beside(design=designs.unrelated_question(p=0.7, **RANGED))]),
    ("modes", "items[0].private.modes", [select(private=private(COIN3) | {"modes": ["hand"]})]),
    ("innocuous", "items[0].private.innocuous", [{**beside(), "kind": "select_multiple"}]),
    ("innocuous", "items[0].private.innocuous", [beside(modes=("device",))]),
    ("innocuous", "items[1].private.innocuous", [beside(), beside("other", innocuous="born in  spring")]),
    ("innocuous", "items[1].private.innocuous", [number("plain", label=text("Born in spring")), beside()]),
    ("languages", "items[0].private.innocuous.en", [beside(innocuous={"de": "Im Frühling geboren?"})]),
    ("piping", "items[1].private.innocuous.en", [SECRET, beside(innocuous="${secret}")]),
    ("understanding", "items[0].right", [select(right="d")]),
    ("understanding", "items[0].right", [select(right="a", private=SECRET["private"])]),
    ("understanding", "items[0].explanation", [select(explanation=text())]),
    ("form", "items[0].private.modes[0]", [beside(modes=("interviewer",))]),
    ("form", "items[0].name", [number("1st")]),
    ("form", "items[0]", [{"name": "q", "label": text()}]),
    ("form", "items[0].length", [number(length=3)]),
    (
        "form",
        "items[0].items[0].name",
        [{"kind": "group", "name": "g", "label": text(), "items": [number("no spaces")]}],
    ),
    ("form", "items[0].name", [{"kind": "group", "name": "no spaces", "label": text(), "items": [number()]}]),
]
WARNINGS = [
    ("modes", "items[0].private.modes", [beside(modes=("device",), innocuous="")]),
    ("innocuous", "items[0].private.innocuous", [beside(design=designs.crosswise(prevalence=0.25))]),
    ("words", "items[0].private.responses", [select(private=private(designs.negative_sink(ABC, sinks={"a": "sink"})))]),
    ("languages", "items[0].label.fr", [number(label={"en": "A", "fr": "B"})]),
    ("wording", "items[0].label.en", [number(label=text("<script>alert(1)</script>"))]),
    ("validation", "items[0].constraint.message", [number(constraint={"expression": answer(".")})]),
    ("skip_logic", "items[1].relevant", [SECRET, number(relevant=equals(sent("secret")))]),
    ("skip_logic", "items[1].relevant", [SECRET, group(number(), relevant=apply("not", equals(sent("secret"))))]),
    ("reveals", "items[0].private.design", [select(names=("yes", "no"), private=private(designs.warner(p=0.9999)))]),
    ("reveals", "items[0].private.design", [select(private=private(designs.k_ary(ABC, epsilon=3.1)))]),
    ("reveals", "items[0].private.design", [select(private=private(designs.direct(ABC)))]),
    ("reveals", "items[0].private.design", [select(private=private(designs.negative_levels(ABC)))]),
    ("reveals", "items[0].private.design", [select(names=("yes", "no"), private=private(designs.mangat(p=0.7)))]),
    ("levels", "items[0].private.design", [select(names="abcd", private=private(FALLING))]),
    ("sinks", "items[0].choices[2].label", [select(choices=NONE, private=private(designs.negative(ABC)))]),
    (
        "sinks",
        "items[0].choices[0].label",
        [
            select(
                choices=[choice("a", "Prefiero no decirlo"), choice("b"), choice("c")],
                private=private(designs.negative(ABC)),
            )
        ],
    ),
    (
        "sinks",
        "items[0].choices[0].label",
        [
            select(
                choices=[choice("a", "Never"), choice("b"), choice("c")],
                private=private(designs.negative(ABC, weights=(1, 2, 3))),
            )
        ],
    ),
    (
        "sinks",
        "items[0].bins[0].label",
        [
            number(
                bins=[{**choice("b0", "0 to 2"), "below": 3}, *bins(3, 4, None)[1:]],
                private=private(designs.negative(("b0", "b1", "b2"))),
            )
        ],
    ),
    ("bins", "items[0].bins", [number(bins=bins(1, None))]),
    (
        "expressions",
        "items[1].relevant",
        [PLAIN, number(relevant=apply(">=", answer("plain"), {"kind": "value", "value": "08:00"}))],
    ),
]


def found(asked, **head):
    form = {"naysay": "questionnaire", "version": 1, "name": "q", "title": text(), "languages": ["en"], "items": asked}
    return of_form(form | head).problems


@pytest.mark.parametrize(
    ("rule", "path", "items"), RULES_AND_BREACHES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_error_is_found_where_it_is(rule, path, items):
    matching = [each for each in found(copy.deepcopy(items)) if (each.rule, each.path) == (rule, path)]
    assert [each.severity for each in matching] == ["error"], found(items)
    assert all(each.message and (each.reason or each.way_out or rule in ("form", "designs")) for each in matching)


@pytest.mark.parametrize(("rule", "path", "items"), WARNINGS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_warning_is_found_where_it_is(rule, path, items):
    matching = [each for each in found(items) if (each.rule, each.path) == (rule, path)]
    assert [each.severity for each in matching] == ["warning"], found(items)
    assert not [each for each in found(items) if each.severity == "error"]


def test_every_rule_is_broken_by_some_questionnaire():
    broken = {
        each.__name__ for each in RULES for _, _, items in RULES_AND_BREACHES + WARNINGS if list(_of(each, items))
    }
    assert broken == {rule.__name__ for rule in RULES}


def _of(rule, items):
    from naysay.collect.questionnaire.questionnaire import Questionnaire, Walk

    try:
        form = Questionnaire.model_validate({"name": "q", "title": text(), "languages": ["en"], "items": items})
    except ValueError:
        return ()
    return rule(Walk(form))


@pytest.mark.parametrize(
    "items",
    [
        [SECRET, select(private=private(designs.negative(ABC)), relevant=equals(sent("secret")))],
        [SECRET, {"kind": "note", "name": "n", "label": text(), "relevant": equals(sent("secret"))}],
        [select(private=private(designs.k_ary(ABC, epsilon=3)))],
        [PLAIN, number(relevant=equals(answer("plain")), label=text("${plain}?"))],
        [number("a"), number("b", constraint={"expression": apply("<", answer("."), answer("a")), "message": text()})],
        [number("a", constraint={"expression": apply("<", answer("a"), answer(".")), "message": text()})],
        [select(choices=NONE)],
        [
            select(
                choices=NONE,
                private=private(designs.negative_sink(ABC, sinks={"c": "sink"}), responses={"sink": text()}),
            )
        ],
        [select(private=private(COIN3, ["coin"]))],
        [select(names=("yes", "no"), private=TWO)],
        [{**select(), "kind": "select_multiple", "private": TWO}],
        [number(bins=bins(1, 2, None), private=private(designs.negative(("b0", "b1", "b2"))))],
        [select(choices=NONE, private=private(designs.k_ary(ABC, epsilon=1)))],
        [beside(), beside("other", innocuous="Was your mother born in spring?", label=text("Another?"))],
        [
            group(
                select(private=TWO3, label=text("One?"), hint=text("Of last year.")),
                select("r", private=TWO3, label=text("Two?"), hint=text("Of last year.")),
            )
        ],
        [beside(design=designs.unrelated_question(p="1/3", **RANGED))],
        [select(names=("yes", "no"), private=TWO | {"modes": ["device", "hand"]})],
        [select(private=private(designs.two_option(ABC)) | {"modes": ["hand"]})],
        [select(right="b", explanation=text())],
    ],
)
def test_what_is_fine_passes(items):
    assert found(items) == ()


def test_the_sample_passes_without_a_word():
    assert check(sample()) == ()


@pytest.mark.parametrize(
    ("head", "path"),
    [
        ({"name": "Not A Name"}, "name"),
        ({"title": {}}, "title.en"),
        ({"title": text("${q}")}, "title.en"),
        ({"thanks": {"de": "Danke"}}, "thanks.en"),
        ({"languages": []}, "languages"),
        ({"languages": ["en", "en"]}, "languages"),
        ({"languages": ["english!"]}, "languages[0]"),
        ({"items": None}, "items"),
        ({"version": 2}, "version"),
        ({"colour": "red"}, "colour"),
        ({"practice": {"label": text(), "choices": [choice("a"), choice("b")]}}, "practice.choices"),
        ({"practice": {"label": {}, "choices": [choice(each) for each in ABC]}}, "practice.label.en"),
        ({"practice": {"label": text("${q}"), "choices": [choice(each) for each in ABC]}}, "practice.label.en"),
        ({"practice": {"label": text(), "choices": [choice("a b")]}}, "practice.choices[0].name"),
    ],
)
def test_the_head_is_checked_and_the_rest_too(head, path):
    told = found([SECRET, number(relevant=equals(answer("secret")))], **head)
    assert path in [each.path for each in told if each.severity == "error"]
    if "items" not in head:
        assert "skip_logic" in [each.rule for each in told]


def test_everything_is_told_at_once():
    broken = [items for rule, _, items in RULES_AND_BREACHES if rule in ("skip_logic", "bins", "designs", "form")]
    renamed = json.loads(json.dumps([item for items in broken for item in items]))
    assert len([each for each in found(renamed) if each.severity == "error"]) >= len(broken)


def test_groups_may_not_be_bottomless():
    item = number()
    for depth in range(30):
        item = {"kind": "group", "name": f"g{depth}", "label": text(), "items": [item]}
    assert any("deep at most" in each.message for each in found([item]))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "must be JSON"),
        (
            b'{"naysay": "questionnaire", "version": 2}',
            "is of version 2; it was made by a newer naysay: upgrade naysay",
        ),
        (b"\xff\xfe", "must be JSON"),
        (b"[]", "must be an object"),
        (b'{"naysay": "design"}', "must be an object"),
        (b'{"naysay": NaN}', "NaN is no number"),
        (b"[" * 200_000, "must be JSON"),
        (b" " * 5_000_001, "at most 5,000,000 bytes"),
        (b'{"naysay": "questionnaire", "name": ' + b"9" * 5_000 + b"}", "must be JSON"),
    ],
)
def test_a_file_that_is_no_questionnaire_is_refused(content, told, tmp_path):
    (tmp_path / "q.json").write_bytes(content)
    with pytest.raises(DataError, match=told):
        load(tmp_path / "q.json")


def test_a_file_that_is_not_there(tmp_path):
    for name in ("q.json", "q.xlsx", "q.md"):
        with pytest.raises(DataError, match="there is no file"):
            examine(tmp_path / name)
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(DataError, match="cannot read"):
        examine(tmp_path / "folder.json")


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["select_one", "group", "integer", "en", "answer", "apply", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "kind",
                    "name",
                    "label",
                    "en",
                    "items",
                    "choices",
                    "private",
                    "design",
                    "relevant",
                    "of",
                    "op",
                    "args",
                    "bins",
                    "below",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(
    st.dictionaries(st.sampled_from(["name", "title", "languages", "items", "about"]), ANYTHING),
    st.lists(ANYTHING, max_size=3),
)
def test_any_object_is_a_questionnaire_or_problems(form, items):
    for tried in (form, {"name": "q", "title": text(), "languages": ["en"], "items": items}):
        examined = of_form(tried)
        assert (examined.questionnaire is None) == bool(examined.errors)
        assert all(isinstance(str(each), str) for each in examined.problems)


def test_no_hint_leads_to_a_plain_question_behind_a_private_one():
    """Whoever follows the advice and asks "how often?" behind the response to "were you?" learns who was."""
    [problem] = found([SECRET, number("often", relevant=equals(answer("secret")))])
    assert "sent(" not in str(problem)
    [warned] = found([SECRET, number("often", relevant=equals(sent("secret")))])
    assert "they tell who gave a true response to ${secret}" in str(warned)


def test_both_options_stay_possible_is_never_said_without_the_odds():
    items = [select("drug", names=("yes", "no"), private=private(designs.warner(p=0.9999)))]
    [problem] = found(items)
    assert "its ε is 9.21, and an answer changes the odds between two categories by up to 9,999 to 1" in str(problem)
    form = {"naysay": "questionnaire", "version": 1, "name": "q", "title": text(), "languages": ["en"], "items": items}
    told = lines(of_form(form).questionnaire)
    possible = [line for line in told if "stay possible" in line]
    assert possible
    assert all("changes the odds between two categories by 10000 at most" in line for line in possible)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"title": ["A"]}, "title must be an object; got ['A']"),
        ({"practice": []}, "practice must be an object; got []"),
        ({"version": "one"}, "version must be"),
        ({"contact": 7}, "contact must be"),
    ],
)
def test_values_of_another_shape_are_told_in_words_of_json(change, told):
    found = [each.message for each in of_form(sample().form() | change).errors]
    assert any(told in each for each in found), found
    assert not any("valid dictionary" in each or "instance of" in each for each in found)


@pytest.mark.parametrize(
    "second",
    [
        select("again", label=text("SECRET ?"), private=TWO3),
        select("again", label=text("Tell us"), hint=text("Secret?"), private=TWO3),
        select(
            "again", label=text("Tell us"), private=TWO3, choices=[choice("a", "Secret?"), choice("b"), choice("c")]
        ),
    ],
)
def test_words_that_would_be_drawn_for_twice_are_an_error(second):
    (problem,) = [each for each in found([SECRET, second]) if each.rule == "apart"]
    assert (problem.severity, problem.path) == ("error", "items[1]")
    assert "'secret' has the same words" in problem.message


def test_a_heading_that_was_asked_before_is_an_error():
    items = [SECRET, group(select("again", label=text("Tell us"), private=TWO3), label=text("Secret?"))]
    assert [each.path for each in found(items)] == ["items[1].items[0]"]
    items = [group(SECRET | {"name": "a", "label": text("Tell us")}, label=text("Secret?")), SECRET]
    assert [each.path for each in found(items)] == ["items[1]"]


def test_equal_choices_of_a_private_question_are_an_error():
    five = [choice(f"c{place}", "I smoke" + "!" * place) for place in range(5)]
    asked = {**select(choices=five), "kind": "select_multiple"}
    assert found([asked]) == ()
    told = found([asked | {"private": TWO}])
    assert [each.path for each in told] == [f"items[0].choices[{place}].label.en" for place in range(1, 5)]
    assert "'c1' reads as 'c0'" in told[0].message


@pytest.mark.parametrize("value", [8, "8.5", "2026-11-20"])
def test_numbers_and_days_have_an_order(value):
    items = [PLAIN, number(relevant=apply(">=", answer("plain"), {"kind": "value", "value": value}))]
    assert not [each for each in found(items) if each.rule == "expressions"]
