import csv
import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naysay import designs, planning, privacy
from naysay.errors import DataError
from naysay.planning import Liars

PI = (0.1, 0.9)
OFFER = [designs.warner(p=p) for p in (0.6, 0.75, 0.9)]


def by_name(found):
    return {option.name: option for option in found.options}


def test_privacy_and_precision_trade():
    found = planning.compare(OFFER, PI)
    errors = [option.standard_error for option in found.options]
    for measure in ("bits", "epsilon", "largest_odds"):
        values = [getattr(option, measure) for option in found.options]
        assert values == sorted(values)
    assert errors == sorted(errors, reverse=True)


def test_an_option_says_what_privacy_and_planning_say():
    survey = designs.negative(tuple("abcd"), discards=2)
    (option,) = planning.compare([survey], (0.4, 0.3, 0.2, 0.1), n=500, category="b").options
    assert option.standard_error == planning.standard_error(survey, (0.4, 0.3, 0.2, 0.1), n=500)[1]
    assert (option.still_possible, option.bits) == ((2, 2), privacy.information(survey))
    assert (option.epsilon, option.largest_odds) == (math.inf, privacy.odds(survey).max())
    assert (option.bias, option.rmse) == (0, option.standard_error)


def test_an_offer_of_levels_is_as_private_as_its_most_open_level():
    choice = designs.negative_levels(tuple("abcd"))
    (option,) = planning.compare([choice], (0.4, 0.3, 0.2, 0.1), category="a", preferences=(0.5, 0.5, 0)).options
    assert option.still_possible == (1, 3)
    assert option.bits == pytest.approx((math.log2(4 / 3) + 1) / 2)
    assert math.isinf(option.largest_odds)


def test_the_direct_question_is_biased_by_its_liars():
    found = planning.compare(OFFER, PI, n=1_000, liars=Liars(0.4, says="no"))
    direct = found.options[0]
    assert (direct.name, direct.pays_from) == ("direct()", None)
    assert direct.bias == pytest.approx(-0.04)
    assert direct.standard_error == pytest.approx(math.sqrt(0.06 * 0.94 / 1_000))
    assert direct.rmse == pytest.approx(math.hypot(0.04, direct.standard_error))


@given(
    p=st.floats(0.55, 0.95),
    pi=st.floats(0.02, 0.5),
    lying=st.floats(0.05, 1.0),
    honest=st.floats(0.0, 0.9),
)
def test_randomizing_pays_from_the_first_n_with_the_smaller_error(p, pi, lying, honest):
    liars = Liars(lying, under_design=lying * honest)
    design = designs.warner(p=p)
    n = planning.compare([design], (pi, 1 - pi), liars=liars).options[1].pays_from
    for number, pays in ((n, True), (n - 1, False)):
        if number >= 1:
            direct, ours = planning.compare([design], (pi, 1 - pi), n=number, liars=liars).options
            assert (ours.rmse < direct.rmse) is pays


def test_without_liars_or_with_as_many_it_never_pays():
    for liars in (Liars(0.0), Liars(0.3, under_design=0.3), Liars(0.1, under_design=0.3)):
        options = planning.compare(OFFER, PI, liars=liars).options
        assert [option.pays_from for option in options] == [None] * 4


def test_a_design_that_is_no_less_precise_pays_at_once():
    found = planning.compare({"the same": designs.direct(("yes", "no"))}, (0.5, 0.5), liars=Liars(0.9, says="no"))
    assert found.options[1].pays_from == 2  # at n = 1 both err by exactly one half
    harmless = planning.compare({"the same": designs.direct(("yes", "no"))}, (0.9, 0.1), liars=Liars(0.5, says="no"))
    assert harmless.options[1].pays_from == 1


def test_needed_counts_the_bias():
    found = by_name(planning.compare(OFFER, PI, standard_error=0.03, liars=Liars(0.4, under_design=0.1)))
    assert found["direct()"].needed is None, "its bias alone is larger"
    option = found["warner(p=0.75)"]
    error = math.hypot(option.bias, option.deviation / math.sqrt(option.needed))
    assert error <= 0.03 < math.hypot(option.bias, option.deviation / math.sqrt(option.needed - 1))


def test_liars_over_several_categories():
    survey, pi = designs.negative(tuple("abc")), (0.2, 0.3, 0.5)
    spread = planning.compare([survey], pi, category="a", liars=Liars(0.5)).options[0]
    denied = planning.compare([survey], pi, category="a", liars=Liars(0.5, says="c")).options[0]
    assert spread.bias == denied.bias == pytest.approx(-0.1)


def test_too_many_respondents_are_none():
    assert planning.compare(OFFER, PI, standard_error=1e-9).options[0].needed is None


def test_json_and_csv_say_the_same():
    found = planning.compare([designs.direct(("yes", "no")), *OFFER], PI, standard_error=0.02)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["name"] for row in rows] == [option["name"] for option in told["options"]]
    assert [float(row["standard_error"]) for row in rows] == [each["standard_error"] for each in told["options"]]
    assert (told["options"][0]["epsilon"], rows[0]["epsilon"]) == ("inf", "inf")
    assert told["options"][1]["still_possible"] == [2, 2]


def test_preferences_are_those_of_the_designs_that_offer_levels():
    chosen, single = designs.negative_levels(tuple("abcd")), designs.negative(tuple("abcd"))
    shares, preferences = (0.4, 0.3, 0.2, 0.1), (0.5, 0.3, 0.2)
    both = planning.compare([chosen, single], shares, category="a", preferences=preferences).options
    alone = planning.compare([chosen], shares, category="a", preferences=preferences).options[0]
    plain = planning.compare([single], shares, category="a").options[0]
    assert both == (alone, plain)


def test_the_table_can_be_read():
    text = str(planning.compare(OFFER, PI, standard_error=0.02, liars=Liars(0.4, says="no")))
    lines = text.splitlines()
    assert lines[1] == "A share of 0.4 of those in 'yes' says 'no' to the direct question, 0 under a randomized design"
    assert any(line.split()[:5] == ["direct()", "0.0075", "-0.0400", "0.0407", "–"] for line in lines)
    assert "of 0.02; none reaches it: the bias of direct() alone is as large" in text
    few = str(planning.compare(OFFER, PI, standard_error=1e-9))
    assert f"none reaches it: {', '.join(design.name for design in OFFER)} would need more respondents than" in few
    assert max(map(len, lines[:8])) <= 120
    assert "never" in str(planning.compare(OFFER, PI, liars=Liars(0)))


def test_too_many_responses_to_list_leave_gaps_not_errors():
    big = designs.two_coins() * designs.negative(tuple(map(str, range(60))), discards=30)
    found = planning.compare([big], [1 / 120] * 120, category="yes × 0", estimator="moments")
    assert math.isnan(found.options[0].largest_odds)
    assert found.to_dict()["options"][0]["largest_odds"] is None
    assert str(found).splitlines()[3].split()[-1] == "–"


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: planning.compare([], PI), "at least one design"),
        (lambda: planning.compare(["warner"], PI), "a comparison takes designs; got str"),
        (lambda: planning.compare([OFFER[0], designs.negative(tuple("abc"))], PI), "must have the same categories"),
        (lambda: planning.compare([OFFER[0], OFFER[0]], PI), "must differ in name"),
        (lambda: planning.compare(OFFER, (0.5, 0.6)), "must sum to one"),
        (lambda: planning.compare(OFFER, PI, n=0), "at least one respondent"),
        (lambda: planning.compare(OFFER, PI, standard_error=0), "above 0"),
        (lambda: planning.compare(OFFER, PI, liars=Liars(0.2, says="maybe")), "'maybe' is no category"),
        (lambda: Liars(1.2), r"share of liars must lie in \[0, 1\]"),
        (lambda: Liars(0.2, under_design=-1), r"under a design must lie in \[0, 1\]"),
        (lambda: planning.compare([designs.negative(tuple("abc"))], (0.2, 0.3, 0.5)), "name the category"),
    ],
)
def test_bad_comparisons(made, told):
    with pytest.raises(DataError, match=told):
        made()


def test_samples_are_compared_by_what_they_tell_about_the_categories():
    survey = designs.unrelated_question_unknown(p=(0.7, 0.3))
    found = planning.compare([survey, designs.warner(p=0.7)], (0.06, 0.14, 0.24, 0.56), standard_error=0.02)
    stacked, single = found.options
    about = privacy.about_categories(survey, {"innocuous yes": 0.3})
    assert found.proportion == pytest.approx(0.2)
    assert stacked.epsilon == pytest.approx(max(each.epsilon for each in about.values()), rel=1e-12)
    assert stacked.bits == pytest.approx(sum(each.bits for each in about.values()) / 2, rel=1e-12)
    assert stacked.still_possible == (2, 2)
    assert single == planning.compare([designs.warner(p=0.7)], (0.2, 0.8), standard_error=0.02).options[0]


def test_cells_say_who_lies():
    survey = designs.cheating_detection(p=(0.25, 0.75))
    with pytest.raises(DataError, match="the cells of cheating_detection"):
        planning.compare([survey], (0.2, 0.7, 0.1), liars=Liars(0.2, under_design=0.1))
    with pytest.raises(DataError, match="proportions must be of the cells"):
        planning.compare([survey, designs.stochastic_lie_detector(p=(0.2, 0.8))], (0.2, 0.7, 0.1))
