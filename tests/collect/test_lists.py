"""Lists in a survey: people say how many statements are true, and arms tell the sensitive one apart."""

import html
import json
import re
import shlex

import numpy as np
import pytest

from naysay import designs, estimate, questionnaire
from naysay.cli import main
from naysay.collect import Published, respond
from naysay.collect.app import create_app
from naysay.collect.ethics import Statement
from naysay.collect.export import export
from naysay.collect.questionnaire import Questionnaire, check
from naysay.collect.questionnaire.arms import measurements
from naysay.collect.questionnaire.questions import QuestionnaireError
from naysay.collect.questionnaire.xlsform import write_xlsform
from naysay.collect.results import aggregates, page
from naysay.collect.results.answered import of_database, of_export
from naysay.collect.results.sharing import share, shared_page
from naysay.collect.serving import background
from naysay.collect.storage import Store
from naysay.collect.survey import tallies

from .test_controls import stacked, stored

SHEET = """
| survey | | | | | | | | |
| | type | name | label::English (en) | bind::naysay_range | bind::naysay_arms | bind::naysay_measures | bind::naysay_design | bind::naysay_mode | bind::naysay_innocuous | relevant |
| | select_one region | region | Where do you live? | | | | | | |
{rows}
| choices | | | |
| | list_name | name | label::English (en) |
| | region | north | North |
| | region | south | South |
| | place | town | Town |
| | place | village | Village |
| | place | farm | Farm |
| | yes_no | yes | Yes |
| | yes_no | no | No |
| settings | | | |
| | form_id | form_title | naysay_arms |
| | drugs | Drugs | {arms} |
"""  # noqa: E501


def rows_of(*rows):
    """Rows of a sheet: name, range, arms, measure; the type is integer unless the name begins with another."""
    lines = []
    for place, *cells in rows:
        kind, _, name = place.rpartition("/")
        lines.append(
            f"| | {kind or 'integer'} | {name} | How many are true of you, of list {name}? | {' | '.join(cells)} |"
        )
    return "\n".join(lines)


def fielded(tmp_path, rows, arms):
    sheet = tmp_path / "drugs.md"
    sheet.write_text(SHEET.format(rows=rows_of(*rows), arms=arms).lstrip(), encoding="utf-8")
    return questionnaire.load(sheet)


def item_count(design="item_count(items=4)", low="0..4", high="0..5"):
    return [("short", low, "control", f"drugs = {design}"), ("long", high, "treatment", "drugs")]


PLACEBO = "item_count(items=4, placebo=True, types=('random',))"
DOUBLE = "double_list(items=(4, 3))"
SURVEYS = {
    "item_count(items=4)": (item_count(), "control, treatment"),
    PLACEBO: ([("harmless", "0..5", "placebo", "drugs"), *item_count(PLACEBO)], "control, placebo, treatment"),
    DOUBLE: ([("a_all", "0..5", "one", f"drugs = {DOUBLE}"), ("b", "0..3", "one", "drugs"),
              ("a", "0..4", "two", "drugs"), ("b_all", "0..4", "two", "drugs")], "one, two"),
    "single_sample_count(items=4)": ([("all", "0..5", "", "drugs = single_sample_count()")], ""),
    "single_sample_count(types=('zero',))": ([("all", "0..5", "", "drugs = single_sample_count(types=('zero',))")], ""),
}  # fmt: skip


def answered(form, design, people, *, seed):
    """Answers of people to the lists of their arm, as columns; their tally by the design itself; how many they are."""
    rng = np.random.default_rng(seed)
    survey = designs.parse(design)
    [measured] = measurements(form).values()
    arms = list(measured.arms)
    truth = rng.choice(survey.cells, people)
    arm = rng.integers(len(arms), size=people)
    by_name = dict(zip(map(str, survey.levels), survey.levels, strict=True))
    level = [by_name.get(name, survey.levels[place]) for place, name in enumerate(arms)]
    if measured.is_of_everybody:
        said = survey.randomize(truth, rng=rng)
    else:
        said = survey.randomize(truth, sample=[level[place] for place in arm], rng=rng)
    columns = {"region": rng.choice(["north", "south"], people).tolist()}
    columns |= {"arm": [arms[place] for place in arm]} if form.arms else {}
    numbers = [tuple(map(int, text.split(" × "))) for text in said.texts()]
    for place, questions in enumerate(measured.arms.values()):
        for answer, name in enumerate(questions):
            columns[name] = [row[answer] if arm[i] == place else None for i, row in enumerate(numbers)]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], survey.tally(said)


@pytest.mark.parametrize("design", SURVEYS)
def test_a_survey_of_lists_is_estimated_from_the_counts_that_people_sent(tmp_path, client, capsys, monkeypatch, design):
    """Database, export, page, command and shared page agree with the design's own estimate from the same counts."""
    form = fielded(tmp_path, *SURVEYS[design])
    rows, tally = answered(form, design, 500, seed=4)
    store = stored(tmp_path, client, form, rows, name="naysay.db")
    survey = designs.parse(design)
    for name in ("moments", "maximum_likelihood"):
        expected = getattr(estimate, name)(survey, tally)
        fit = of_database(store.replies("drugs"), names=True, language=None).estimates("drugs", estimator=name)[None]
        assert fit.proportions == pytest.approx(expected.proportions)
        assert fit.standard_errors == pytest.approx(expected.standard_errors)
    shares = expected.proportions.tolist()
    [result] = [each for each in aggregates(store, "drugs")["questions"] if each["column"] == "drugs"]
    assert result["result"]["proportions"] == pytest.approx(shares)
    share(store, "drugs", by="region")
    assert "Nobody has answered" not in shared_page(store, "drugs")
    store.close("drugs")
    export(store, "drugs", tmp_path / "drugs.csv")
    store.dispose()
    exported = of_export(tmp_path / "drugs.csv", names=True, separator=",", encoding=None, columns=("drugs",))
    assert exported.estimates("drugs")[None].proportions == pytest.approx(shares)
    codebook = (tmp_path / "drugs.csv.codebook.md").read_text(encoding="utf-8").partition("## `drugs`")[2]
    assert all(f"`{name}`" in codebook for name in rows[0] if name not in ("arm", "region"))
    monkeypatch.chdir(tmp_path)
    [command] = re.findall("^    naysay (.*)$", codebook, re.MULTILINE)
    assert main([*shlex.split(command), "--estimator", "maximum_likelihood", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["proportions"] == pytest.approx(shares)
    data = ["--survey", "drugs", "--data", str(tmp_path), "--format", "json"]
    assert main(["estimate", "--response", "drugs", *data]) == 0
    assert json.loads(capsys.readouterr().out)["proportions"] == pytest.approx(shares)
    assert main(["crosstab", "--row", "drugs", "--column", "region", "--bootstrap", "0", *data]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "without_control" not in told
    regressed = main(["regress", "drugs ~ region", *data])  # of people at random the means of counts tell nothing
    assert (regressed == 0) == (design != PLACEBO)
    capsys.readouterr()
    assert main(["regress", "drugs ~ region", str(tmp_path / "drugs.csv")]) == 2
    assert "'drugs' is what other columns of this export measure" in capsys.readouterr().err


def test_devices_draw_the_arm_and_send_the_count_of_its_list_over_the_network(tmp_path, client):
    """400 people know their count on both lists; each is asked one, and it comes as they gave it."""
    form = fielded(tmp_path, *SURVEYS["item_count(items=4)"])
    rng = np.random.default_rng(8)
    harmless = rng.binomial(4, 0.4, 400)
    drugs = rng.random(400) < 0.3
    store = Store(tmp_path / "naysay.db")
    with background(create_app([form], store, client=client)) as server:
        survey = respond.fetch(f"{server}/s/drugs")
        everybody = {"short": harmless.tolist(), "long": (harmless + drugs).tolist()}
        respond.many(survey, respond.checked(form, everybody))
    replies = store.replies("drugs")
    counts = {
        arm: replies.frame[column].drop_nulls().to_list()
        for arm, column in (("control", "short"), ("treatment", "long"))
    }
    assert sum(map(len, counts.values())) == 400
    plain = designs.item_count(items=4)
    tally = plain.tally(
        [*counts["control"], *counts["treatment"]], sample=[arm for arm, said in counts.items() for _ in said]
    )
    fit = of_database(replies, names=True, language=None).estimates("drugs")[None]
    assert fit.proportions == pytest.approx(estimate.maximum_likelihood(plain, tally).proportions)
    assert abs(fit.proportions[0] - 0.3) < 4 * fit.standard_errors[0]
    store.dispose()


@pytest.mark.parametrize("seed", range(3))
def test_intervals_of_fielded_lists_hold_the_share_in_random_cells(tmp_path, seed):
    """Random numbers of statements and shares; harmless answers are binomial."""
    rng = np.random.default_rng(seed)
    items, share, chance, people = (
        int(rng.integers(2, 6)),
        *rng.uniform((0.1, 0.3), (0.5, 0.6)),
        int(rng.integers(600, 1500)),
    )
    design = f"item_count(items={items})"
    [measured] = measurements(
        fielded(tmp_path, item_count(design, f"0..{items}", f"0..{items + 1}"), "control, treatment")
    ).values()
    hits, surveys = 0, 100
    for _ in range(surveys):
        arm, others, carrier = (
            rng.integers(2, size=people),
            rng.binomial(items, chance, people),
            rng.random(people) < share,
        )
        tally = measured.design.tally(
            (others + carrier * arm).tolist(), sample=np.array(["control", "treatment"])[arm].tolist()
        )
        low, high = estimate.moments(measured.design, tally).intervals(0.95).bounds[0]
        hits += low <= share <= high
    assert hits / surveys > 0.95 - 4 * (0.95 * 0.05 / surveys) ** 0.5


def test_two_lists_that_count_to_the_same_number_are_told_in_their_order(tmp_path):
    """With 4 and 3 statements both lists of the second arm reach 4; with 4 and 4 the ranges show which is which."""
    order = "'a', 'b_all' count to the same number and are read in this order"
    assert [order in str(problem) for problem in check(fielded(tmp_path, *SURVEYS[DOUBLE]))].count(True) == 1
    design = "double_list(items=(4, 4))"
    rows = [("a_all", "0..5", "one", f"drugs = {design}"), ("b", "0..4", "one", "drugs"),
            ("a", "0..4", "two", "drugs"), ("b_all", "0..5", "two", "drugs")]  # fmt: skip
    assert not any("count to the same number" in str(problem) for problem in check(fielded(tmp_path, rows, "one, two")))


TWO = "control, treatment"


@pytest.mark.parametrize(
    ("what", "rows", "arms", "told"),
    [
        ("no arms in the settings", [("n", "0..4", "", "drugs = item_count(items=4)")], "",
         "item_count(items=4) must have one sample for each arm that measures 'drugs'; samples are 'control', "
         "'treatment', and arms none: name as many in naysay_arms of the settings, and write one into "
         "bind::naysay_arms of a row for each, and drugs into its bind::naysay_measures"),
        ("the list of one arm is missing", item_count()[:1], TWO, "and arms 'control': name as many in"),
        ("no range", item_count(low=""), TWO,
         "'short' must count from 0 to 4, as item_count(items=4) in arm 'control' does: write 0..4 into bind::"),
        ("the range of the other arm", item_count(high="0..4"), TWO,
         "'long' must count from 0 to 5, as item_count(items=4) in arm 'treatment' does: write 0..5"),
        ("counting from 1", item_count(low="1..5"), TWO, "'short' must count from 0 to 4"),
        ("the lists stand in each other's arm",
         [("short", "0..4", "treatment", "drugs = item_count(items=4)"), ("long", "0..5", "control", "drugs")], TWO,
         "'long' must count from 0 to 4, as item_count(items=4) in arm 'control' does"),
        ("arms count alike and are called otherwise", [*SURVEYS[PLACEBO][0][1:], ("more", "0..5", "other", "drugs")],
         "control, treatment, other",
         "must be called 'control', 'treatment', 'placebo', since two of them count to the same"),
        ("one list of two", SURVEYS[DOUBLE][0][:3], "one, two",
         "double_list(items=(4, 3)) in arm 'two' takes 2 answers of a person, and 'drugs' is measured by 'a'"),
        ("two lists of one", [*item_count(), ("again", "0..4", "control", "drugs")], TWO,
         "in arm 'control' takes 1 answer of a person, and 'drugs' is measured by 'short', 'again'"),
        ("a row without its arm", [item_count()[0], ("long", "0..5", "", "drugs")], TWO,
         "write one row for each answer, and its arm into bind::naysay_arms"),
        ("the measure is called as the arm", [(*row[:3], row[3].replace("drugs", "arm")) for row in item_count()], TWO,
         "nothing measured must be called 'arm': a column of the replies is, with the arm that lot has drawn"),
        ("a list for some people only",
         [item_count()[0], ("long", "0..5", "treatment", "drugs", "", "", "", "${region} = 'north'")], TWO,
         "'long' and 'short' measure 'drugs' and must be asked under one condition"),
        ("lists in the other order", [SURVEYS[DOUBLE][0][place] for place in (1, 0, 2, 3)], "one, two",
         "'b' must count from 0 to 5, as double_list(items=(4, 3)) in arm 'one' does"),
        ("one list for two arms", [*item_count(PLACEBO)[:1], ("long", "0..5", "treatment, placebo", "drugs")],
         "control, treatment, placebo", "'long' is asked in arms 'treatment', 'placebo', which count different lists"),
        ("two designs", [item_count()[0], ("long", "0..5", "treatment", "drugs = item_count(items=5)")], TWO,
         "'drugs' has another design in a row before: write it into one of them"),
        ("no design", [("n", "0..4", "control", "drugs"), ("m", "0..5", "treatment", "drugs")], TWO,
         "'n' is answered with a number, and no row says by which design that is 'drugs': write drugs = item_count("),
        ("a choice in place of a number", [item_count()[0], ("select_one yes_no/long", "", "treatment", "drugs")], TWO,
         "'long' must be a direct number, since item_count(items=4) in arm 'treatment' counts: ask with integer"),
        ("a number in place of a choice",
         [("n", "0..1", "control", "drugs = cheating_detection(p=(1/4, 3/4))"), ("m", "0..1", "treatment", "drugs")],
         TWO, "'n' is answered with a number, and cheating_detection(p=(1/4, 3/4)) in arm 'control' with 'yes', 'no'"),
        ("the measure is called as the list",
         [("drugs", "0..5", "", "drugs = single_sample_count()")], "", "'drugs' is what 'drugs' counts, and the name"),
        ("a design without a name", [("all", "0..5", "", "single_sample_count(items=4)")], "",
         "a design stands after the name of what is measured; got 'single_sample_count(items=4)': write drugs = item_"),
        ("an empty name", [("all", "0..5", "", "= single_sample_count()")], "",
         "a design stands after the name of what is measured; got '= single_sample_count()'"),
        ("the design of a list as that of a number", [("n", "0..4", "control", "", "item_count(items=4)")], TWO,
         "a private number needs bins"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_list_is_one_sentence_at_its_row(tmp_path, what, rows, arms, told):
    with pytest.raises(QuestionnaireError) as refusal:
        fielded(tmp_path, rows, arms)
    [error] = [problem for problem in refusal.value.problems if problem.severity == "error"]
    assert told in str(error), what
    assert "survey, row " in str(error), what


def test_a_measure_that_no_arm_asks_is_told(tmp_path):
    form = fielded(tmp_path, [("select_one yes_no/m", "", "", "drugs", "crosswise(prevalence=1/4)")], "")
    told = "'m' measures 'drugs' in no arm, so nothing is compared"
    assert told in [problem.message for problem in check(form) if problem.severity == "warning"]
    assert not measurements(form)
    assert not any("in no arm" in problem.message for problem in check(fielded(tmp_path, *SURVEYS[DOUBLE])))


def in_words(shown):
    return " ".join(
        html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", " ", shown, flags=re.DOTALL))).split()
    )


def test_nothing_says_that_a_count_is_protected(tmp_path, client):
    form = fielded(tmp_path, *SURVEYS["item_count(items=4)"])
    [warning] = [problem for problem in check(form) if problem.rule == "reveals"]
    assert warning.severity == "warning"
    assert "a count of none or of all statements in 'short', 'long' tells each of them" in str(warning)
    statement = Statement(Published.of(form, client=client)).to_markdown()
    assert "Lists, which ask how many statements are true, among the direct questions: 2." in statement
    assert "where none or all are, and to whoever knows the others of that person" in statement
    assert "No question is private" in statement
    rows, _ = answered(form, "item_count(items=4)", 200, seed=2)
    store = stored(tmp_path, client, form, rows)
    shown = in_words(page(store, "drugs"))
    store.dispose()
    assert "Private" not in shown
    assert "People sent their counts as they are" in shown
    assert "could move by up to" not in shown  # how far depends on the sizes of the arms
    assert re.search(r"left the sensitive one out: “yes” from [\d.]+ % to", shown)  # in percent, as all on the page


def test_lists_of_all_arms_may_be_asked_under_one_condition(tmp_path):
    rows = [(*row, "", "", "", "${region} = 'north'") for row in item_count()]
    assert not [problem for problem in check(fielded(tmp_path, rows, TWO)) if problem.severity == "error"]


def test_how_far_dishonest_answers_move_a_share_counts_what_rows_measure_together(tmp_path, client):
    """One in a hundred moves the negative survey by 2 points, and a long list as far as the sizes of the arms allow."""
    negative = ("select_one place/home", "", "", "", "negative")
    assert tallies.moved_points_text(fielded(tmp_path, [negative], "")).startswith("up to 2 percentage points")
    one_list = SURVEYS["single_sample_count(items=4)"][0]
    assert tallies.moved_points_text(fielded(tmp_path, [negative, *one_list], "")).startswith("up to 3 percentage")
    form = fielded(tmp_path, [negative, *item_count()], TWO)
    assert tallies.moved_points_text(form) == ""
    facts = Statement(Published.of(form, client=client)).facts
    assert [told for told, _ in facts] == ["1", "× 2"]


def test_groups_of_a_list_need_ten_people_in_each_arm(tmp_path, client):
    """In the south nine were asked the long list: no number of theirs is shown beside that of the whole."""
    form = fielded(tmp_path, *SURVEYS["item_count(items=4)"])
    sizes = {("north", "control"): 40, ("north", "treatment"): 40, ("south", "control"): 40, ("south", "treatment"): 9}
    rows = [
        {"region": region, "arm": arm, {"control": "short", "treatment": "long"}[arm]: place % 5}
        for (region, arm), people in sizes.items()
        for place in range(people)
    ]
    store = stored(tmp_path, client, form, rows)
    [result] = [each for each in aggregates(store, "drugs", by="region")["questions"] if each["column"] == "drugs"]
    assert [group["group"] for group in result["groups"]] == ["north"]
    store.dispose()


def test_a_shared_page_does_not_say_that_nobody_answered_whose_answers_it_hides(tmp_path, client):
    form = fielded(tmp_path, *SURVEYS["item_count(items=4)"])
    rows = [{"region": "north", "arm": "control", "short": place % 5} for place in range(20)]
    rows += [{"region": "north", "arm": "treatment", "long": 5} for _ in range(9)]
    store = stored(tmp_path, client, form, rows)
    share(store, "drugs", least=10)
    shown = in_words(shared_page(store, "drugs"))
    store.dispose()
    assert "nobody answered in sample" not in shown
    assert "Shown from 10 answers in each arm on." in shown


def test_a_shared_page_of_one_list_knows_no_arms(tmp_path, client):
    form = fielded(tmp_path, *SURVEYS["single_sample_count(items=4)"])
    rows = [{"region": "north"} for _ in range(20)] + [{"region": "north", "all": 1} for _ in range(9)]
    store = stored(tmp_path, client, form, rows)
    share(store, "drugs", least=10)
    shown = in_words(shared_page(store, "drugs"))
    store.dispose()
    assert "Shown from 10 answers on." in shown
    assert "in each arm" not in shown


def test_people_who_answered_one_of_two_lists_do_not_count(tmp_path, client, capsys):
    form = fielded(tmp_path, *SURVEYS[DOUBLE])
    rows, tally = answered(form, DOUBLE, 300, seed=6)
    half = [{"region": "north", "arm": "one", "a_all": 3, "b": None}, {"region": "north", "arm": "two", "b_all": 1}]
    store = stored(tmp_path, client, form, [*rows, *half], name="naysay.db")
    fit = of_database(store.replies("drugs"), names=True, language=None).estimates("drugs")[None]
    store.dispose()
    assert fit.tally.n == 300
    assert fit.proportions == pytest.approx(estimate.maximum_likelihood(designs.parse(DOUBLE), tally).proportions)
    data = ["--survey", "drugs", "--data", str(tmp_path), "--format", "json"]
    assert main(["crosstab", "--row", "drugs", "--column", "region", "--bootstrap", "0", *data]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 302  # all said where they live


@pytest.mark.parametrize("design", SURVEYS)
def test_a_survey_of_lists_is_written_as_a_sheet_and_read_again(tmp_path, design):
    form = fielded(tmp_path, *SURVEYS[design])
    write_xlsform(form, tmp_path / "again.xlsx")
    assert questionnaire.load(tmp_path / "again.xlsx") == form
    assert Questionnaire.model_validate_json(form.to_json()) == form


@pytest.mark.parametrize(
    "design", ["extended_crosswise(prevalence=1/4)", "samples(masked=warner(p=0.7), direct=direct())"]
)
def test_a_survey_in_arms_is_written_as_a_sheet_and_read_again(tmp_path, design):
    form = stacked(tmp_path, design)
    write_xlsform(form, tmp_path / "again.xlsx")
    assert questionnaire.load(tmp_path / "again.xlsx") == form


TWICE = "asked_twice(crosswise(prevalence=1/4))"


def twice(mode, other="Was your father born in January, February or March?"):
    first = ("select_one yes_no/first", "", "", f"drugs = {TWICE}", "crosswise(prevalence=1/4)", mode, "")
    return [first, ("select_one yes_no/again", "", "", "drugs", "crosswise(prevalence=1/4)", mode, other)]


def test_a_question_by_hand_is_asked_twice_of_the_same_people(tmp_path, client):
    form = fielded(tmp_path, twice("hand"), "")
    survey = designs.parse(TWICE)
    said = survey.randomize(
        np.random.default_rng(1).choice(survey.cells, 500, p=(0.2, 0.6, 0.2)), rng=np.random.default_rng(2)
    )
    rows = [dict(zip(("first", "again"), text.split(" × "), strict=True)) for text in said.texts()]
    store = stored(tmp_path, client, form, rows)
    fit = of_database(store.replies("drugs"), names=True, language=None).estimates("drugs")[None]
    shown = in_words(page(store, "drugs"))
    store.dispose()
    expected = estimate.maximum_likelihood(survey, survey.tally(said))
    assert fit.proportions == pytest.approx(expected.proportions)
    assert fit.nuisance["at random"].value == pytest.approx(expected.nuisance["at random"].value)
    assert "Private" in shown
    assert "The answers of each person are read together" in shown
    assert "arms" not in shown
    assert "drugs “Yes”: about" in shown  # not in the words of the first row, which has results of its own
    with pytest.raises(QuestionnaireError, match="the device draws once: write hand into bind::naysay_mode"):
        fielded(tmp_path, twice("hand, device"), "")
    with pytest.raises(QuestionnaireError, match="the same people must answer all that measures 'drugs'"):
        fielded(tmp_path, [twice("hand")[0], (*twice("hand")[1][:2], "one", *twice("hand")[1][3:])], "one, two")
    with pytest.raises(QuestionnaireError, match="innocuous"):
        fielded(tmp_path, twice("hand", other=""), "")
