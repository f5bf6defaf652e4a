"""Modes, sinks beside levels and a check of understanding on the way from scripted respondents to the estimate."""

import json

import numpy as np
import pytest

from naysay import collect, designs, estimate
from naysay.collect import respond
from naysay.collect.questionnaire import Choice, Private, Questionnaire, SelectOne
from naysay.collect.questionnaire.offers import carried_out, private_of
from naysay.collect.questionnaire.xlsform_rows import check_of as understanding
from naysay.collect.survey.submission import check_of

N = 900
OFTEN = ("never", "once", "often", "daily")
SHARES = {"cheated": (0.3, 0.7), "often": (0.4, 0.3, 0.2, 0.1), "understood": (0.7, 0.2, 0.1)}


def label(text):
    return {"en": text}


def one(name, names, **how):
    choices = tuple(Choice(name=each, label=label(each)) for each in names)
    private = Private(**carried_out(private_of(names, words=label("Nothing"), **how), ("en",)))
    return SelectOne(name=name, label=label(f"{name}?"), choices=choices, private=private)


def survey():
    cheated = one("cheated", ("yes", "no"), design="crosswise(prevalence=1/4, between=(0.2, 0.3))")
    often = one("often", OFTEN, levels="1..2", sink="never")
    check = SelectOne(name="understood", **understanding(("en",)))
    return Questionnaire(name="kinds", title=label("T"), languages=("en",), items=(check, cheated, often))


@pytest.fixture
def people():
    rng = np.random.default_rng(17)
    names = {"cheated": ("yes", "no"), "often": OFTEN, "understood": ("nobody", "researchers", "readers")}
    columns = {name: rng.choice(names[name], N, p=SHARES[name]).tolist() for name in SHARES}
    return columns | {"often_level": rng.choice(("1", "2"), N).tolist()}


def test_from_respondents_to_estimates(answered, store, people):
    served = answered(survey())
    assert respond.many(served, respond.checked(served.questionnaire, people)).stored == N
    replies = [json.loads(text) for _, text in store.replies("kinds").rows]
    assert {each["cheated"]["level"] for each in replies} == {None}
    assert {each["cheated"]["response"] for each in replies} == {"same", "different"}
    assert {each["often"]["response"].count(";") + 1 == int(each["often"]["level"]) for each in replies} == {True}
    assert sorted(each["understood"] for each in replies) == sorted(people["understood"])


def test_the_estimates_find_what_was_told(tmp_path, people):
    from naysay.collect.app import create_app
    from naysay.collect.serving import background
    from naysay.collect.storage import Store

    store = Store(tmp_path / "naysay.db")
    with background(create_app([survey()], store, each=0, everybody=0)) as server:
        served = respond.fetch(f"{server}/s/kinds")
        respond.many(served, respond.checked(served.questionnaire, people))
    replies = collect.replies(tmp_path / "naysay.db", "kinds")
    for name, method in (("cheated", estimate.moments), ("often", estimate.stratified)):
        design = replies.private[name]
        fit = method(design, collect.tally(replies, name))
        known = np.array([people[name].count(str(each)) for each in design.categories]) / N
        assert (np.abs(fit.proportions - known) < 4.5 * fit.standard_errors).all(), name
    store.dispose()


@pytest.mark.parametrize(
    ("answer", "taken"),
    [
        ({"level": None, "response": "same"}, True),
        ({"level": None, "response": "yes"}, False),
        ({"level": "hand", "response": "same"}, False),
        ({"level": None, "response": "The same"}, False),
        ({"level": None, "response": "same", "mode": "hand"}, False),
    ],
)
def test_the_server_takes_a_possible_response_and_nothing_that_tells_the_mode(answer, taken):
    check = check_of(one("cheated", ("yes", "no"), design="crosswise(prevalence=1/4)"))
    assert (check(answer) is None) == taken


@pytest.mark.parametrize(
    ("level", "response", "taken"),
    [
        ("1", "sink", True),
        ("2", "sink;once", True),
        ("1", "never", False),
        ("2", "sink", False),
        ("2", "once;sink", False),
    ],
)
def test_a_sink_at_a_level_is_one_of_its_labels(level, response, taken):
    check = check_of(one("often", OFTEN, levels="1..2", sink="never"))
    assert (check({"level": level, "response": response}) is None) == taken


def test_a_mode_changes_no_design():
    """So that a survey which gets a mode draws as before, and its answers are read as before."""
    how = {
        mode: carried_out(private_of(("yes", "no"), design="two_coins"), ("en",), mode=mode) for mode in ("", "hand")
    }
    assert Private(**how[""]).offer == Private(**how["hand"]).offer == designs.two_coins()
