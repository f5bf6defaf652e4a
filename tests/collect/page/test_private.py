"""A private question in every state: asked or not, blank, required, by ranges, by items; and what is said of it."""

import json

import pytest
from browsing import ANSWERS, Respondent, serve
from measuring import BOXES

from naysay import designs
from naysay.collect.questionnaire import (
    Bin,
    Choice,
    Group,
    Integer,
    Private,
    Questionnaire,
    Rating,
    SelectMultiple,
    SelectOne,
    Sent,
)
from naysay.collect.questionnaire import parse_expression as condition

COLOR = "(element) => getComputedStyle(element).color"
BINS = {"few": 5, "some": 10, "lots": None}


def named(*names):
    return tuple(Choice(name=name, label={"en": name.title()}) for name in names)


def private(design):
    return Private(design=json.loads(design.to_json()))


@pytest.fixture(scope="module")
def gated(tmp_path_factory):
    """A survey whose private questions depend on a plain one, and a plain one on what is sent."""
    open_gate = condition("${gate} = 'yes'")
    offer = designs.negative_levels(("a", "b", "c", "d"))
    items = (
        SelectOne(name="gate", label={"en": "Gate?"}, choices=named("yes", "no")),
        SelectOne(
            name="secret", label={"en": "Secret?"}, choices=named("a", "b", "c", "d"), private=private(offer),
            relevant=open_gate, required=True,
        ),
        Rating(name="after", label={"en": "And?"}, relevant=condition_on_sent()),
        SelectMultiple(
            name="several", label={"en": "Which?"}, choices=named("x", "y"), private=private(designs.two_coins()),
            relevant=open_gate,
        ),
        Integer(
            name="number", label={"en": "How many?"}, relevant=open_gate,
            bins=tuple(Bin(name=name, label={"en": name}, below=below) for name, below in BINS.items()),
            private=private(designs.direct(("few", "some", "lots"))),
        ),
    )  # fmt: skip
    survey = Questionnaire(name="gated", title={"en": "Gated"}, languages=("en",), items=items)
    with serve([survey], tmp_path_factory.mktemp("gated")) as server:
        server.questions = {question.name: question for question in survey.questions}
        yield server


def condition_on_sent():
    """Whether a response to the secret is going to be sent."""
    asked = condition("${gate} != ''")
    return asked.model_copy(update={"args": (Sent(of="secret"), asked.args[1])})


@pytest.fixture
def visitor(respond, gated):
    respondent = respond("gated", on=gated)
    respondent.questions = gated.questions
    return respondent.start()


def past_practice(respondent):
    """Past the practice question, which stands before the first private one."""
    assert respondent.asked() == ["practice"]
    return respondent.move()


def answers(respondent: Respondent):
    return json.loads(respondent.shown())["answers"]


def test_what_is_not_asked_is_null(visitor):
    visitor.answer("gate", "no").move()
    assert set(answers(visitor).values()) == {"no", None}
    assert visitor.page.get_by_text("not asked").count() == 4
    visitor.confirm()


def test_a_required_private_question_is_asked_for(visitor):
    past_practice(visitor.answer("gate", "yes").move()).move()
    assert "Please answer this question." in visitor.page.locator(".summary").text_content()
    visitor.answer("secret", "b").move()
    assert visitor.asked() == ["after"]


def test_going_back_through_the_gate_takes_the_answers_back(visitor):
    past_practice(visitor.answer("gate", "yes").move()).answer("secret", "b").move()
    visitor.back_to("gate").answer("gate", "no").move()
    assert set(answers(visitor).values()) == {"no", None}


def test_a_group_of_which_nothing_is_asked_is_no_step(respond, tmp_path):
    gate = SelectOne(name="gate", label={"en": "Gate?"}, choices=named("yes", "no"))
    inner = Rating(name="inner", label={"en": "Inner?"}, relevant=condition("${gate} = 'yes'"))
    survey = Questionnaire(
        name="grouped", title={"en": "Grouped"}, languages=("en",),
        items=(gate, Group(name="group", label={"en": "G"}, items=(inner,)), Rating(name="last", label={"en": "L"})),
    )  # fmt: skip
    with serve([survey], tmp_path) as server:
        visitor = respond("grouped", on=server).start()
        visitor.questions = {question.name: question for question in survey.questions}
        assert visitor.answer("gate", "no").move().asked() == ["last"]
        assert visitor.move(".back").answer("gate", "yes").move().asked() == ["inner"]


def test_choices_that_are_named_by_numbers(respond, tmp_path):
    coded = named("3", "1", "-99", "2a")
    offer = designs.negative_levels(("3", "1", "-99", "2a"))
    items = (
        SelectMultiple(name="items", label={"en": "Which?"}, choices=coded, private=private(designs.two_coins())),
        SelectOne(name="secret", label={"en": "Secret?"}, choices=coded, private=private(offer)),
        SelectMultiple(name="several", label={"en": "Any?"}, choices=coded),
        Rating(name="follow", label={"en": "And?"}, relevant=condition("selected(${several}, 1)")),
    )
    survey = Questionnaire(name="coded", title={"en": "Coded"}, languages=("en",), items=items)
    with serve([survey], tmp_path) as server:
        visitor = respond("coded", on=server).start()
        visitor.questions = {question.name: question for question in items}
        sides = {"3": "yes", "1": "no", "-99": "no", "2a": "yes"}
        given = {"items": sides, "secret": "1", "several": ["3", "1"], "follow": 4}
        visitor.to_review(given).confirm()
        (row,) = server.store.replies("coded").frame.rows(named=True)
    assert (row["several"], row["follow"]) == (["3", "1"], 4)
    assert {row[f"items/{name}"] for name in sides} <= {"yes", "no"}
    assert row["secret"] in set(sides) - {"1"}


def leaves(respondent):
    """What the bar says: what will be sent, and the line below it."""
    return tuple(respondent.page.locator(f".actions .{part}:not(.may)").text_content() for part in ("sent", "small"))


def test_nothing_ticked_is_no_answer_and_none_of_these_is_one(visitor):
    past_practice(visitor.answer("gate", "yes").move()).answer("secret", "a").move().move()
    boxes = visitor.at("several").locator(".inputs input")
    for place, leaves in ((0, True), (2, True), (2, False), (1, True), (1, False)):
        boxes.nth(place).set_checked(leaves)
        assert visitor.page.locator(".actions.leaving").count() == leaves
    boxes.nth(0).check()
    boxes.nth(2).check()  # none of these
    assert [box.is_checked() for box in boxes.all()] == [False, False, True]
    visitor.move().move()
    assert answers(visitor)["several"].keys() == {"x", "y"}


def test_a_number_stays_and_its_range_goes(visitor):
    past_practice(visitor.answer("gate", "yes").move()).answer("secret", "a").move().move().move()
    visitor.answer("number", 7)
    assert visitor.at("number").locator(".range").first.text_content().endswith("some")
    assert leaves(visitor) == ("Will be sent: some", "This tells your answer.")
    assert visitor.page.locator(".sentence").text_content().endswith("can show your true answer.")
    for wrong in ("1.5", "many"):
        visitor.answer("number", wrong)
        visitor.page.locator(".step > .actions .main").click()
        assert visitor.at("number").locator(".error:visible").count() == 1
    visitor.answer("number", "٧").move()
    assert answers(visitor)["number"] == {"level": None, "response": "some"}
    visitor.confirm()


@pytest.fixture
def screens(respond):
    """Somebody before the private questions of the sample survey, in English, and a way to each."""

    class Screens:
        def __init__(self):
            self.respondent = respond("private").start()

        def to(self, name, value=None, **how):
            while name not in self.respondent.asked():
                self.respondent.move()
            if value is not None:
                self.respondent.answer(name, value, **how)
            return self.respondent.at(name)

    return Screens()


def test_only_what_leaves_is_named_and_the_rest_is_counted(screens):
    screens.to("income", ANSWERS["income"], level=2)
    ruled_out = json.loads("{" + screens.respondent.previews()["income"] + "}")["income"]["response"].split(";")
    choices = {choice.name: choice.label["en"] for choice in screens.respondent.questions["income"].choices}
    labels = [choices[name] for name in choices if name in ruled_out]
    quotes = "“{}”" if "Below 1,000" in labels else "{}"  # which begins as a sentence does
    words = ", ".join(f"not {quotes.format(label)}" for label in labels)
    assert leaves(screens.respondent) == (f"Will be sent: {words}", "2 of 5 answers could be yours.")


def test_another_answer_gives_another_sentence_and_the_first_gives_the_first_again(screens):
    seen = []
    for value in ("to_2000", "to_5000", "to_2000"):
        screens.to("income", value)
        seen.append(leaves(screens.respondent)[0])
        assert screens.respondent.at("income").locator(".inputs input:checked").count() == 1
    assert seen[0] == seen[2]
    labels = {choice.name: choice.label["en"] for choice in screens.respondent.questions["income"].choices}
    assert labels["to_2000"] not in seen[0]


def test_each_level_is_told_in_six_words_once_one_is_touched_and_the_most_private_is_chosen(screens):
    levels = screens.to("income").locator(".levels")
    steps = levels.locator("input")
    assert [each.is_checked() for each in steps.all()] == [True, False, False]
    told = [each.get_attribute("aria-label") for each in steps.all()]
    assert told == [f"{count} of 5 crossed out" for count in (1, 2, 3)]
    assert not levels.locator(".step-words").is_visible()
    for place, words in enumerate(told):
        steps.nth(place).click()
        assert levels.locator(".step-words:visible").text_content() == words


ODDS = (
    "What is sent rules out some options for certain. "
    "For a reader who knew nothing, the odds for an option grow at most"
)


def test_numbers_stand_behind_how_private_is_this_for_the_level_that_is_chosen(screens):
    income = screens.to("income")
    how = income.page.locator(".how")
    assert not how.locator("p").first.is_visible()
    how.locator("summary").click()
    told = how.text_content()
    assert (
        "Think of 100 people who all choose “Below 1,000”. “1,000 to 1,999” is crossed out for about 25 of them, "
        "their own answer for none." in told
    )
    assert f"{ODDS} 1.34-fold. A reader who knew more can learn more. That is 0.33 bits of 2.33 on average" in told
    assert "The setting is sent, too." in told
    for place, numbers in (
        (1, ("50 of them", "2-fold", "0.74 bits of 2.33")),
        (2, ("75 of them", "4-fold", "1.33 bits")),
    ):
        income.locator(".levels input").nth(place).check()
        assert all(number in how.text_content() for number in numbers)
    assert how.get_attribute("open") is not None


def test_where_odds_are_bounded_for_every_reader_it_says_so(screens):
    screens.to("smoking")
    told = screens.respondent.page.locator(".how").text_content()
    assert "Whatever a reader knew before: the odds for an option grow at most 2.34-fold (ε = 0.85)." in told
    assert "That is 0.12 bits of 1" in told
    assert "About 70 of them send “Yes”. The other 30 send something else." in told
    screens.to("taxes")
    told = screens.respondent.page.locator(".how").text_content()
    assert "at most 3-fold (ε = 1.1). That is 0.19 bits of 1 on average" in told


def test_where_chance_swapped_an_answer_it_says_so_and_how_often_it_does(screens):
    screens.to("smoking", "no")
    said = json.loads("{" + screens.respondent.previews()["smoking"] + "}")["smoking"]["response"]
    often = "Chance changes about 30 in 100 answers: nobody can be sure."
    told = {
        "yes": ("Chance will send: Yes (changed)", f"{often} Only results are corrected."),
        "no": ("Chance will send: No", f"Not changed. {often}"),
    }
    assert leaves(screens.respondent) == told[said]


def test_each_line_that_leaves_stands_there_and_those_that_chance_changed_are_marked(screens):
    screens.to("drugs", ANSWERS["drugs"])
    said, why = leaves(screens.respondent)
    lines = said.removeprefix("Chance will send: ").split("\u00a0· ")
    sent = json.loads("{" + screens.respondent.previews()["drugs"] + "}")["drugs"]
    changed = {name: sent[name]["response"] != side for name, side in ANSWERS["drugs"].items()}
    marked = {name: f"{sent[name]['response'].title()}{' (changed)' * changes}" for name, changes in changed.items()}
    assert lines == [f"{name.title()}: {line}" for name, line in marked.items()]
    bold = screens.respondent.page.locator(".actions .sent:not(.may) strong").all_text_contents()
    assert bold == [" (changed)"] * sum(changed.values())
    often = "Chance changes about 25 in 100 answers: nobody can be sure."
    assert why == (f"{often} Only results are corrected." if bold else f"Not changed. {often}")


def test_who_changes_an_answer_is_told_that_trying_out_tells_more(screens):
    screens.to("income", "to_2000")
    assert leaves(screens.respondent)[1] == "4 of 5 answers could be yours."
    screens.to("income", "to_5000")
    assert leaves(screens.respondent)[1] == "Correcting a slip is fine. Trying answers out tells more about you."


def test_skip_becomes_next_in_the_same_place_and_nothing_moves(screens):
    page = screens.to("income").page
    before, main = page.evaluate(BOXES), page.locator(".step > .actions .main")
    assert main.text_content() == "Skip"
    assert main.evaluate(COLOR) == page.locator("h1").evaluate(COLOR)  # in ink: the bar behind it is as light as paper
    screens.to("income", "to_2000")
    assert main.text_content() == "Next"
    assert page.evaluate(BOXES) == before


def test_what_clears_an_answer_begins_where_the_question_does(screens):
    page = screens.to("smoking", "no").page
    page.locator(".how summary").click()
    clear, heading = page.locator(".tools button").first.bounding_box(), page.locator("h1").bounding_box()
    assert abs(clear["x"] - heading["x"]) < 2


def test_more_useful_stands_at_its_own_end_on_a_narrow_screen(respond, served):
    respondent = respond("private", locale="ar", viewport={"width": 320, "height": 568}).start()
    line = respondent.page.locator(".levels .ends").bounding_box()
    useful = respondent.page.locator(".levels .ends > :last-child").bounding_box()
    assert abs(useful["x"] - line["x"]) < 2


def test_another_tab_that_has_sent_ends_this_one(respond):
    first = respond("private").start().to_review({"smoking": "no"})
    second = respond("private", within=first.page.context).start().answer("income", "to_3000")
    first.page.bring_to_front()
    first.confirm()
    second.page.locator(".receipt").wait_for()
    assert not second.problems or not any("Error" in each and "header" not in each for each in second.problems)


@pytest.fixture(scope="module")
def several_ways(tmp_path_factory):
    """Designs whose numbers are no round ones, and one that strikes out without naming what it strikes out."""
    three, near = ("a", "b", "c"), [[0.5, 0.0, 0.5], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    labeled = designs.custom(near, categories=three, responses=("x", "y", "z"))
    asked = {"one": designs.warner(p=0.7), "near": designs.custom(near, categories=three), "other": labeled}
    items = tuple(
        SelectOne(name=name, label={"en": name}, choices=named(*design.categories), private=private(design))
        for name, design in asked.items()
    )
    survey = Questionnaire(name="ways", title={"en": "Ways"}, languages=("en",), items=items)
    with serve([survey], tmp_path_factory.mktemp("ways")) as server:
        yield server


def test_what_is_promised_at_most_is_rounded_up(respond, several_ways):
    visitor = respond("ways", on=several_ways).open()
    visitor.page.get_by_text("What we promise you").click()
    visitor.page.get_by_text("From one answer, for a reader who knew nothing").wait_for()
    visitor.start()
    assert visitor.asked() == ["one"]
    assert "at most 2.34-fold" in visitor.page.locator(".how").text_content()  # 7/3


def test_only_a_design_that_names_what_is_not_true_is_said_to_strike_out(respond, several_ways):
    visitor = respond("ways", on=several_ways).start().move()
    for name in ("near", "other"):
        told = visitor.page.locator(".sentence").text_content()
        assert "crosses out" not in told
        assert "this device may change your answer" in told
        if name == "near":
            visitor.move()
    assert "crosses out" in respond("private").start().page.locator(".sentence").text_content()


@pytest.mark.parametrize("level", [0, 1])
def test_a_sink_and_levels_together_are_asked_and_told_in_words(respond, tmp_path, level):
    """Its responses are sets, drawn of what the sink gives first; at each level the numbers and words are there."""
    design = designs.negative_levels(("never", "once", "few", "many"), sinks={"never": "sink"})
    asked = Private(design=json.loads(design.to_json()), responses={"sink": {"en": "Nothing is ruled out"}})
    often = SelectOne(name="often", label={"en": "How often?"}, choices=named(*design.categories), private=asked)
    with serve(
        [Questionnaire(name="sunk", languages=("en",), title={"en": "Sunk"}, items=(often,))], tmp_path
    ) as server:
        respondent = respond("sunk", on=server)
        respondent.questions = {"often": often}
        respondent.start()
        said = respondent.page.locator(".sent:not(.may)")
        respondent.answer("often", "never", level=level)
        assert said.text_content().startswith("Will be sent: ")
        assert level == 0 or "Nothing is ruled out" not in said.text_content()  # beside it something is
        respondent.page.locator(".how summary").click()
        share = ["28", "56"][level]
        assert f"“Once” is crossed out for about {share} of them" in respondent.page.locator(".how").text_content()
        assert respondent.problems == []


def test_a_set_of_one_option_is_told_as_a_swap(respond, tmp_path):
    """Who said "Red" and reads "Will be sent: Green" takes it for a mistake: nothing says that chance did it."""
    parties = ("red", "green", "blue", "yellow", "violet")
    asked = private(designs.subset_selection(parties, epsilon=1))
    party = SelectOne(name="party", label={"en": "Which?"}, choices=named(*parties), private=asked)
    survey = Questionnaire(name="single", languages=("en",), title={"en": "Single"}, items=(party,))
    with serve([survey], tmp_path) as server:
        visitor = respond("single", on=server)
        visitor.questions = {"party": party}
        visitor.start()
        assert visitor.page.locator(".actions .small:not(.may)").text_content() == "41 in 100 include your answer"
        for name in parties:
            visitor.answer("party", name)
            sent, line = leaves(visitor)
            assert sent.startswith("Chance will send: ")
            assert sent.endswith(" (changed)") == (not sent.startswith(f"Chance will send: {name.title()}"))
            assert "Chance changes about 60 in 100 answers" in line or "Trying answers out" in line
        visitor.page.locator(".how summary").click()
        told = visitor.page.locator(".how").text_content()
        assert "About 40 of them send “Red”. The other 60 send something else." in told
        assert "among others" not in told
        assert visitor.problems == []


def test_an_answer_that_is_compared_is_said_to_be_compared_and_not_to_be_lost(respond, tmp_path):
    """Of "same" and "different" none is an answer: "0 in 100 answers stay unchanged" would be true and frighten."""
    asked = private(designs.crosswise(prevalence="1/4"))
    drunk = SelectOne(name="drunk", label={"en": "Drunk?"}, choices=named("yes", "no"), private=asked)
    survey = Questionnaire(name="crossed", languages=("en",), title={"en": "Crossed"}, items=(drunk,))
    with serve([survey], tmp_path) as server:
        visitor = respond("crossed", on=server).start()
        line = visitor.page.locator(".actions .small:not(.may)")
        assert line.text_content() == "Any answer could be yours."
        visitor.questions = {"drunk": drunk}
        visitor.answer("drunk", "yes")
        sent, line = leaves(visitor)
        assert sent.startswith("Will be sent, compared with a random yes or no: ")
        assert line == "Your own answer stays here. Nobody can be sure of it."
        visitor.to_review({})
        assert visitor.page.locator(".review .private dd p").text_content() == sent
        assert visitor.page.get_by_text("◌ For private answers, chance decides what is sent.").count() == 1


@pytest.mark.parametrize(("size", "keyboard"), [((390, 664), 290), ((320, 568), 250)])
def test_the_bar_never_covers_what_is_typed_above_the_keyboard_of_a_phone(screens, size, keyboard):
    page = screens.respondent.page
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    typed = screens.to("rent").locator("input[type=text]")
    typed.click()
    typed.press_sequentially("450")
    page.evaluate(f"""() => {{
        Object.defineProperty(visualViewport, "height", {{ get: () => innerHeight - {keyboard} }});
        visualViewport.dispatchEvent(new Event("resize"));
    }}""")
    field, bar = typed.bounding_box(), page.locator(".step > .actions").bounding_box()
    assert field["y"] + field["height"] <= min(bar["y"], size[1] - keyboard)
