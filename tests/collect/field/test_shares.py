"""From people of known shares to an estimate of them: over HTTP, through the database, with levels of every kind."""

import json

import numpy as np
import pytest
from scipy import stats

from naysay import collect, designs, estimate
from naysay.collect import respond
from naysay.collect.app import create_app
from naysay.collect.questionnaire import Choice, Private, Questionnaire, SelectOne
from naysay.collect.serving import background
from naysay.collect.storage import Store
from naysay.design import drawing

CATEGORIES = ("red", "green", "blue", "gray", "gold")
SHARES = np.array([0.4, 0.25, 0.2, 0.1, 0.05])
PEOPLE = 3_000


def offer():
    levels = {"1": designs.negative(CATEGORIES), "3": designs.negative(CATEGORIES, discards=3)}
    return designs.levels({**levels, "coin": designs.two_option(CATEGORIES, shown=2)})


def survey():
    choices = tuple(Choice(name=name, label={"en": name}) for name in CATEGORIES)
    private = Private(design=json.loads(offer().to_json()), by_hand=("coin",))
    party = SelectOne(name="party", label={"en": "Party?"}, choices=choices, private=private)
    area = SelectOne(name="area", label={"en": "Area?"}, choices=choices[:2])
    return Questionnaire(name="shares", title={"en": "Shares"}, languages=("en",), items=(area, party))


def people_of(*, tied):
    """People of these shares, and levels that go with the category or not."""
    rng = np.random.default_rng(2016)
    party = rng.choice(CATEGORIES, PEOPLE, p=SHARES)
    chances = dict.fromkeys(CATEGORIES, (0.5, 0.3, 0.2))
    if tied:
        chances |= {"red": (0.9, 0.05, 0.05), "gold": (0.1, 0.2, 0.7)}
    level = [rng.choice(("1", "3", "coin"), p=chances[name]) for name in party]
    return {"party": party.tolist(), "party_level": list(map(str, level)), "area": ["red", "green"] * (PEOPLE // 2)}


@pytest.fixture(scope="module", params=["not tied, in sqlite", "tied, in postgresql"])
def field(request, client, tmp_path_factory):
    """Who was asked, and what is in the database after all have answered, with a generator in the place of chance."""
    tied = not request.param.startswith("not")
    if "sqlite" in request.param:
        url = f"sqlite:///{tmp_path_factory.mktemp('shares')}/answers.db"
    else:
        server = request.getfixturevalue("postgresql")
        url = server.url(server.new_database())
    store, people = Store(url), people_of(tied=tied)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "system", drawing.ByteSource(np.random.default_rng(7).bytes))
        with background(create_app([survey()], store, client=client, each=0, everybody=0)) as address:
            fetched = respond.fetch(f"{address}/s/shares")
            sent = respond.many(fetched, respond.checked(fetched.questionnaire, people))
    assert sent.stored == PEOPLE
    yield store.replies("shares"), people, tied
    store.dispose()


def misses(fit):
    """By how many standard errors the estimate misses the shares at most."""
    return np.abs((fit.proportions - SHARES) / fit.standard_errors).max()


def test_estimates_hold_the_shares_and_responses_fit_the_design(field):
    replies, people, tied = field
    tally = collect.tally(replies, "party")
    design = replies.private["party"]
    assert (tally.n, tally.missing) == (PEOPLE, 0)
    fit = estimate.stratified(design, tally)
    assert misses(fit) < 4
    for level in ("1", "3"):
        check_level(design.channel(level), replies, people, level)
    independence = estimate.independence_test(design, tally)
    assert (independence.p_value < 0.01) == tied
    assert (misses(estimate.pooled(design, tally)) > 4) == tied  # right only where levels are not tied to categories


def check_level(channel, replies, people, level):
    """χ² of the responses at a level against P times the categories of those who chose it; a wrong P visibly fails."""
    here = [truth for truth, chosen in zip(people["party"], people["party_level"], strict=True) if chosen == level]
    counts = np.array([here.count(name) for name in CATEGORIES])
    said = replies.frame.filter(party_level=level)["party"].to_list()
    observed = np.array([said.count(text) for text in channel.responses.texts()])
    assert observed.sum() == len(said) == len(here)
    assert stats.chisquare(observed, channel.matrix @ counts).pvalue > 1e-4
    assert stats.chisquare(observed, channel.matrix @ np.roll(counts, 1)).pvalue < 1e-4


def test_what_is_drawn_by_hand_estimates_those_who_drew(field):
    replies, people, _ = field
    coin = replies.frame.filter(party_level="coin")
    channel = replies.private["party"].channel("coin")
    here = [truth for truth, chosen in zip(people["party"], people["party_level"], strict=True) if chosen == "coin"]
    own = np.array([here.count(name) for name in CATEGORIES]) / len(here)
    fit = estimate.maximum_likelihood(channel, channel.tally(coin["party"].to_list()))
    assert np.abs((fit.proportions - own) / fit.standard_errors).max() < 4


def test_groups_are_estimated_each_by_itself(field):
    replies, _, _ = field
    groups = collect.tally(replies, "party", by="area")
    assert {name: tally.n for name, tally in groups.items()} == {"red": PEOPLE // 2, "green": PEOPLE // 2}
