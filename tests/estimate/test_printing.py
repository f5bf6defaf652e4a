"""A printed number carries its error, its assumptions and its source."""

import json
import pickle

import numpy as np
import pytest

from naysay import designs, estimate

FIELDS = [
    "question",
    "design",
    "n",
    "missing",
    "target",
    "method",
    "categories",
    "proportions",
    "standard_errors",
    "standard_error_kind",
    "covariance",
    "intervals",
    "confidence",
    "interval_method",
    "privacy",
    "warnings",
]


@pytest.fixture
def fit():
    survey = designs.negative(tuple("abcd"))
    return estimate.moments(survey, survey.tally(["a", "b", "c", "d", "a", "b", None]))


def test_the_json_object_has_the_promised_fields(fit):
    told = json.loads(json.dumps(fit.to_dict(), allow_nan=False))
    assert list(told)[: len(FIELDS)] == FIELDS
    assert told["privacy"]["epsilon"] == "inf"
    assert told["privacy"]["still_possible"] == [3, 3]
    assert told["privacy"]["prior"] == "uniform"
    assert told["n"] == 6
    assert told["missing"] == 1
    assert len(told["intervals"]) == 4
    assert all(len(bounds) == 2 for bounds in told["intervals"])


def test_undefined_numbers_are_null():
    survey = designs.negative(tuple("abcd"))
    told = estimate.moments(survey, survey.tally(["a"])).to_dict()
    assert told["standard_errors"] == [None] * 4
    json.dumps(told, allow_nan=False)


def test_a_finite_epsilon_is_a_number():
    coins = designs.two_coins()
    assert estimate.moments(coins, coins.tally(count=[3, 5])).to_dict()["privacy"]["epsilon"] == pytest.approx(
        1.0986, abs=1e-4
    )


def test_for_levels_the_json_has_one_privacy_value_per_level_and_the_comparison():
    choice = designs.negative_levels(tuple("abc"))
    told = estimate.stratified(choice, choice.tally(["a", "b", "a;b"], level=[1, 1, 2])).to_dict()
    assert list(told["privacy"]["by_level"]) == ["1", "2"]
    assert told["privacy"]["still_possible"] == [1, 1]  # of the level that tells most
    assert {"stratified", "pooled", "difference", "difference_standard_errors", "independence"} <= set(told["levels"])


@pytest.mark.parametrize("method", [estimate.stratified, estimate.pooled])
def test_for_levels_both_estimates_carry_their_standard_errors(method):
    choice = designs.negative_levels(tuple("abc"))
    tally = choice.tally(["a", "b", "c", "a;b", "b;c"], level=[1, 1, 1, 2, 2])
    told = method(choice, tally).to_dict()["levels"]
    for beside in (estimate.stratified, estimate.pooled):
        errors = beside(choice, tally).standard_errors
        assert told[f"{beside.__name__}_standard_errors"] == pytest.approx(errors.tolist(), rel=1e-9)
    header = str(method(choice, tally)).splitlines()[5]
    assert ("pooled" if method is estimate.stratified else "stratified ") in header


def test_pairs_of_answers_are_named_alike_in_rows_and_in_notes():
    both = designs.negative(tuple("abc")) * designs.warner(p=0.7)
    tally = both.tally((["a"] * 50, ["yes"] * 50))
    for fit in (estimate.moments(both, tally), estimate.maximum_likelihood(both, tally)):
        assert "c × yes" in str(fit.warnings[0])
        assert str(fit).count("c × yes") >= 2
        assert "('" not in str(fit)


def test_the_text_names_what_the_numbers_rest_on(fit):
    text = str(fit)
    for word in ("6 answers, 1 missing", "target: the population", "moments (closed form)", "n - 1", "agresti_coull"):
        assert word in text
    assert "3 of 4 categories stay possible" in text
    assert "ε = ∞ (an answer rules categories out for certain)" in text


@pytest.mark.parametrize(
    "label", ["نعم، دائماً", "לא", "收入很高", "[red]x[/red]", "<b>", "x" * 300, "a|b", "tab\there"]
)
def test_any_label_can_be_printed(label):
    survey = designs.negative((label, "b", "c"))
    fit = estimate.moments(survey, survey.tally(count=[3, 4, 5]))
    assert label[:10].split("\t")[0] in str(fit)
    assert "<b>" not in fit._repr_html_()
    assert max(map(len, str(fit).splitlines())) < 250


def test_printing_is_the_same_twice():
    choice = designs.negative_levels(tuple("abcd"))
    tally = choice.tally(list("abcdabcd"), level=[1] * 8) + choice.tally([set("abc"), set("bcd")], level=[3, 3])
    fit, again = (estimate.stratified(choice, tally) for _ in range(2))
    assert str(fit) == str(again)


# digits


def numbers(fit, name):
    line = next(line for line in str(fit).splitlines() if line.startswith(f"{name} "))
    return line.removeprefix(name).split()


@pytest.mark.parametrize(
    ("n", "shown"),
    [(40, ["0.250", "0.069"]), (4_000, ["0.2500", "0.0068"]), (400_000, ["0.25000", "0.00068"])],
)
def test_digits_follow_the_standard_error(n, shown):
    survey = designs.direct(("yes", "no"))
    fit = estimate.moments(survey, survey.tally(count=[n // 4, 3 * n // 4]))
    found = numbers(fit, "yes")
    assert found[:2] == shown
    assert {len(number) for number in found} == {len(shown[0])}
    assert fit.to_dict()["standard_errors"][0] == fit.standard_errors[0], "JSON is not rounded"


def test_one_table_has_one_number_of_decimals_from_its_smallest_standard_error():
    survey = designs.direct(tuple("abc"))
    fit = estimate.moments(survey, survey.tally(count=[4, 1_000, 1_000]))
    assert fit.standard_errors[0] < 0.001 < fit.standard_errors[1]
    assert numbers(fit, "a")[:2] == ["0.00200", "0.00100"]
    assert numbers(fit, "b")[:2] == ["0.49900", "0.01117"]


def test_a_standard_error_that_is_called_unreliable_is_no_number_in_print():
    survey = designs.negative(tuple("abcd"))
    fit = estimate.maximum_likelihood(survey, survey.tally(count=[40, 30, 28, 2]))
    assert fit.proportions[0] == 0
    assert numbers(fit, "a")[:2] == ["0.000", "–"]
    assert numbers(fit, "d")[1] == "–" if fit.proportions[3] == 1 else numbers(fit, "d")[1] != "–"
    assert fit.to_dict()["standard_errors"][0] is not None
    assert any("unreliable" in text for text in fit.to_dict()["warnings"])


def test_where_all_answers_are_alike_there_is_no_standard_error_in_print():
    survey = designs.negative(tuple("abc"))
    fit = estimate.moments(survey, survey.tally(["a"] * 25))
    assert [numbers(fit, name)[1] for name in "abc"] == ["–"] * 3


def test_nuisance_parameters_at_the_boundary_have_no_standard_error_in_print():
    survey = designs.cheating_detection(p=("1/4", "3/4"))
    tally = survey.tally(["yes", "no"] * 2, sample=[1, 1, 2, 2], count=[300, 200, 440, 60])
    fit = estimate.maximum_likelihood(survey, tally)
    assert fit.nuisance["cheaters"].value == pytest.approx(0, abs=1e-9)
    assert numbers(fit, "cheaters")[1] == "–"


@pytest.mark.parametrize("call", ["warner(p=0.7)", "two_coins()", "negative(('a', 'b', 'c'))"])
def test_a_printed_estimate_can_be_pickled(call):
    survey = designs.parse(call)
    for estimator in (estimate.moments, estimate.maximum_likelihood):
        fit = estimator(survey, survey.tally(count=[30, 70, *[50] * (len(survey.responses) - 2)]))
        printed = str(fit)  # which keeps bands and tests with the estimate
        assert str(pickle.loads(pickle.dumps(fit))) == printed


def test_weights_that_may_go_with_a_rare_category_are_told_of():
    answers, weights = ["yes"] * 600 + ["no"] * 4, np.r_[np.ones(600), np.full(4, 0.4)]
    survey = designs.direct(("yes", "no"))
    shown = str(estimate.maximum_likelihood(survey, survey.tally(answers, weights=weights)))
    assert "fewer than 30 people in no: if weights go with the category" in shown
    assert "intervals hold from" not in shown
    plenty = survey.tally(["yes", "no"] * 300, weights=np.tile([1.0, 0.5], 300))
    assert "go with the category" not in str(estimate.maximum_likelihood(survey, plenty))


@pytest.mark.parametrize(("n", "told"), [(1, True), (5, True), (6, False)])
def test_five_people_tell_nothing_and_the_print_says_so(n, told):
    survey = designs.warner(p=0.8)
    shown = str(estimate.maximum_likelihood(survey, survey.tally(count=[1, n - 1])))
    assert ("so few people tell nothing" in shown) == told
