"""The statement for an ethics board: its numbers are those of the designs, and it promises only what holds."""

import datetime
import json
import math
import re

import numpy as np
import pytest
import segno

from naysay import designs, privacy
from naysay.collect import Published
from naysay.collect.ethics import Statement, after, disclosures_of
from naysay.collect.questionnaire import Choice, Private, Questionnaire, SelectOne, sample
from naysay.collect.questionnaire.privacy import lines, together
from naysay.collect.survey import tallies
from naysay.errors import DataError
from naysay.show import Table
from naysay.show.result import rounded_up

FIVE = tuple("abcde")


def asked(*offers, by_hand=(), title="Work"):
    """A survey of one private question for each design, and its statement."""
    items = tuple(
        SelectOne(
            name=f"q{place}",
            label={"en": f"Question {place}?"},
            choices=tuple(Choice(name=str(each), label={"en": str(each)}) for each in offer.categories),
            private=Private(design=json.loads(offer.to_json()), by_hand=by_hand),
        )
        for place, offer in enumerate(offers)
    )
    form = Questionnaire(name="work", title={"en": title}, languages=("en",), items=items)
    return Statement(Published.of(form))


def table(statement, heading):
    [content] = [content for title, content in statement.sections() if title == heading]
    return next(each for each in content if isinstance(each, Table))


def test_a_stated_number_is_never_better_than_what_the_design_tells():
    rng = np.random.default_rng(18)
    for _ in range(40):
        p, epsilon, discards = rng.uniform(0.51, 0.99), rng.uniform(0.1, 6), int(rng.integers(1, 4))
        offer = [designs.warner(p=p), designs.k_ary(FIVE, epsilon=epsilon), designs.negative(FIVE, discards=discards)]
        for design, each in zip(offer, disclosures_of(asked(*offer).published.questionnaire, "en"), strict=True):
            rows = design.matrix  # the second route: from the probabilities themselves
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = rows[:, :, None] / rows[:, None, :]
            worst = np.nanmax(np.where(rows[:, :, None] > 0, ratio, 0))
            assert each.epsilon == pytest.approx(math.log(worst))
            assert each.odds == pytest.approx(privacy.odds(design).max())
            # a category has a prior of 1/10 and the others share the rest: no posterior is above the one that is stated
            for j in range(rows.shape[1]):
                prior = np.full(rows.shape[1], 0.9 / (rows.shape[1] - 1))
                prior[j] = 0.1
                seen = rows.sum(axis=1) > 0
                posterior = (rows[seen] * prior)[:, j] / (rows[seen] @ prior)
                assert 100 * posterior.max() <= after(each.odds) + 1e-9
            for value in (each.odds, each.epsilon, each.bits):
                assert math.isinf(value) or float(rounded_up(value)) >= value * (1 - 1e-8)


def test_neither_the_sum_of_bits_nor_the_moved_points_are_rounded_below_themselves():
    for discards in (1, 2, 3):
        form = asked(*[designs.negative(FIVE, discards=discards)] * 3).published.questionnaire
        bits = re.search(r"([\d.]+) bits at most", lines(form)[-1])[1]
        assert float(bits) >= together(form)["bits"] - 1e-9
    statement = asked(designs.negative(tuple("abcdefgh"), discards=3))
    assert float(statement.facts[-1][0]) >= tallies.most_moved_points(statement.published.questionnaire) - 1e-9


def test_of_levels_the_most_open_one_is_stated():
    offer = designs.levels({"1": designs.negative(FIVE), "3": designs.negative(FIVE, discards=3)})
    [row] = table(asked(offer), "What each answer tells").rows
    assert row[2:5] == ("2", "2 of 5", "× 4")
    open_ = designs.levels({"1": designs.negative(FIVE), "all": designs.direct(FIVE)})
    [revealing] = table(asked(open_), "What each answer tells").rows
    assert revealing[3:5] == ("1 of 5", "reveals it")
    assert "may show the true category" in asked(open_).to_markdown()


def test_it_says_how_many_questions_offer_a_draw_by_hand():
    coin = designs.levels({"device": designs.warner(p=0.75), "coin": designs.two_coins()})
    for statement, said in (
        (asked(coin, by_hand=("coin",)), "which every private question offers"),
        (asked(designs.warner(p=0.7)), "which this survey does not offer"),
        (Statement(Published.of(sample())), "which 2 of 8 private questions offer"),
    ):
        assert said in statement.to_markdown()
        assert "chance decides what is sent, on the respondent’s own device or by hand" in statement.to_markdown()


def test_a_survey_without_private_questions_claims_no_protection():
    direct = [each for each in sample().questions if each.privacy is None and not each.relevant][:2]
    form = Questionnaire(name="plain", title={"en": "Plain"}, languages=("en",), items=tuple(
        each.model_copy(update={"label": {"en": each.label["en"]}, "hint": {}, "constraint": None}) for each in direct
    ))  # fmt: skip
    told = Statement(Published.of(form))
    assert "No question is private" in told.to_markdown()
    assert "private answers are protected" not in told.to_markdown()
    assert [number for number, _ in told.facts] == ["0"]


def test_blanks_are_filled_with_what_is_known():
    published = Published.of(sample())
    blank = Statement(published).to_markdown()
    assert r"to be deleted by \_\_" in blank
    filled = Statement(published, until=datetime.date(2027, 12, 31), smallest=1_000).to_markdown()
    assert "to be deleted by 2027-12-31" in filled
    assert "no estimate for fewer than 1,000 people" in filled
    assert published.hash in filled


def test_questions_are_quoted_in_a_language_of_the_survey():
    assert "Rauchen Sie?" in Statement(Published.of(sample()), language="de").to_markdown()
    with pytest.raises(DataError, match="no texts in 'fr'; it has en, de, es, ar"):
        Statement(Published.of(sample()), language="fr")


def test_more_questions_than_two_pages_hold_have_an_annex():
    many = asked(*[designs.warner(p=p) for p in np.linspace(0.6, 0.9, 14)])
    assert len(table(many, "What each answer tells").rows) == 10
    shown = [row[0] for row in table(many, "What each answer tells").rows]
    assert shown == [f"Question {n}?" for n in range(4, 14)]  # those that tell most, in their order
    assert len(table(many, "Annex: every private question").rows) == 14


def test_titles_from_strangers_are_shown_as_they_are_written():
    told = asked(designs.warner(p=0.7), title="<img src=x onerror=alert(1)> | [a](javascript:b) `c`")
    assert "<img" not in told.to_html()
    assert r"\<img src=x onerror=alert(1)\> \| \[a\](javascript:b) \`c\`" in told.to_markdown()


def test_a_survey_that_invites_says_what_invitations_hide_and_what_they_do_not():
    invites = Statement(Published.of(sample(), key="ab" * 32))
    [before, after] = [
        str(dict(each.sections())["Invitations"]) for each in (Statement(Published.of(sample())), invites)
    ]
    assert "any number of times" in before and "any number of times" not in after
    assert "does not tell whose answer is whose" in after and "compare times and addresses" in after


def test_the_page_shows_the_hash_as_a_code_to_scan(published):
    code = segno.make_qr(published.hash.upper(), error="m").svg_inline(border=4, omitsize=True)
    assert code in Statement(published).to_html()
