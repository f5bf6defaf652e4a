"""What leaves the server of controls: enough for an estimate, and of nobody that they failed."""

import csv
import datetime
import html
import json
import re
import secrets

import numpy as np
import polars as pl
import pytest

from naysay import questionnaire
from naysay.cli import main
from naysay.collect import Published
from naysay.collect.admin.plans import Plan, schedule
from naysay.collect.device.people import checked, draw_replies
from naysay.collect.ethics import Statement
from naysay.collect.export import export
from naysay.collect.invitations import invite
from naysay.collect.questionnaire import check, sample
from naysay.collect.questionnaire.arms import sights
from naysay.collect.questionnaire.questionnaire import Walk
from naysay.collect.questionnaire.questions import QuestionnaireError
from naysay.collect.results import aggregates, page
from naysay.collect.results.answered import of_database, of_export
from naysay.collect.results.counting import current_counts
from naysay.collect.results.sharing import share, shared_page
from naysay.collect.storage import Reply, Store, today
from naysay.errors import DataError

PARTIES = ("red", "green", "blue")
DAY = datetime.date(2026, 11, 28)
SHEET = """
| survey | | | | | | |
| | type | name | label::English (en) | bind::naysay_design | bind::naysay_control | relevant |
| | select_one party | home | Which party does your town vote for? | | | |
| | select_one party | vote | Whom do you vote for? | {design} | | |
| | select_one party | vote_control | {label} | | vote: {truth} | |
| | text | why | Why? | | | {relevant} |
| choices | | | |
| | list_name | name | label::English (en) |
| | party | red | The Reds |
| | party | green | The Greens |
| | party | blue | The Blues |
| settings | | | |
| | form_id | form_title | |
| | club | Club | |
"""


def club(tmp_path, *, truth="lot", label="", relevant="", design="negative()"):
    sheet = tmp_path / "club.md"
    sheet.write_text(
        SHEET.format(truth=truth, label=label, relevant=relevant, design=design).lstrip(), encoding="utf-8"
    )
    return questionnaire.load(sheet)


def test_a_control_is_told_by_the_level_that_sees_least(tmp_path):
    """Of three parties, one or two are ruled out: who answers at random breaks the rule once or twice in three."""
    form = club(tmp_path, design="negative_levels()")
    [seen] = sights(Walk(form))
    assert (seen.control, seen.of, seen.caught) == ("vote_control", "vote", pytest.approx(1 / 3))


def reply(published, **answers):
    """A reply: plain answers as they are, private ones as what is sent."""
    content = {}
    for question in published.questionnaire.questions:
        said = answers.get(question.name)
        level, response = said if isinstance(said, tuple) else (None, said)
        content[question.name] = (
            said if said is None or not question.privacy else {"level": level, "response": response}
        )
    return Reply(published.name, published.hash, secrets.token_hex(16), json.dumps(content), DAY)


def stored(tmp_path, client, form, rows, *, name="club.db"):
    """A store with these rows."""
    store = Store(tmp_path / name)
    published = Published.of(form, client=client)
    store.open(published)
    store.add([reply(published, **row) for row in rows])
    return store


def told(folder):
    """Of whom an export tells that they failed, by the columns of its rows: {cell: [failed, all]}; None: no table."""
    if not (table := folder / "club.csv.vote.controls.csv").exists():
        return None
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    shown = [column for column in rows[0] if column in pl.read_csv(folder / "club.csv").columns]
    cells = {}
    for row in rows:
        truth = row.get("vote_control_truth") or row.get("home")
        cell = cells.setdefault(tuple(row[column] for column in shown), [0, 0])
        cell[0] += int(row["people"]) * (row["vote_control"] == truth != "")
        cell[1] += int(row["people"])
    return cells


PASSED = {"vote": "blue", "vote_control": "red", "vote_control_truth": "green"}
FAILED = {**PASSED, "vote_control": "green"}
RED = {**PASSED, "vote": "red"}
TEN = [PASSED] * 10


@pytest.mark.parametrize(
    ("what", "rows", "written"),
    [
        ("all who ruled out blue have failed", [FAILED] * 12 + [RED] * 12, False),
        ("one of them has passed, and knows it", [FAILED] * 12 + [PASSED], False),
        ("two have passed", [FAILED] * 8 + [PASSED] * 2, True),
        ("one alone ruled out blue, and has failed", [FAILED] + [RED] * 50, False),
        ("one alone ruled out blue, and has passed: else the missing table tells", [PASSED] + [RED] * 50, False),
        ("only who left the question out has failed, and is not in the table", [{**FAILED, "vote": None}, *TEN], True),
        ("who left the control out is not in the table", [{"vote": "blue"}] * 9 + [PASSED] * 9, False),
        ("nobody has failed", TEN, True),
    ],
)
def test_counts_of_controls_are_written_where_no_row_tells_who_failed(tmp_path, client, what, rows, written):
    store = stored(tmp_path, client, club(tmp_path), rows)
    store.close("club")
    exported = export(store, "club", tmp_path / "club.csv")
    assert (told(tmp_path) is not None) == written, what
    assert exported.withheld == (() if written else ("vote",))
    store.dispose()


def test_an_intruder_with_rows_and_counts_and_one_row_of_their_own_finds_nobody_who_failed(tmp_path, client):
    """Random small surveys, whose truth comes from the file in every second: its column is in the rows."""
    rng = np.random.default_rng(30)
    forms = [club(tmp_path), club(tmp_path, truth="file home", label="Rule out one that your town does not vote for.")]
    written = 0
    for survey in range(24):
        people = int(rng.integers(60, 160))
        column = "home" if survey % 2 else "vote_control_truth"
        rows = [
            dict(zip(("vote", "vote_control", column), rng.choice(PARTIES, 3).tolist(), strict=True))
            for _ in range(people)
        ]
        for row in rows:  # most do as they are told
            if rng.random() < 0.8 and row["vote_control"] == row[column]:
                row["vote_control"] = next(party for party in PARTIES if party != row[column])
        (folder := tmp_path / str(survey)).mkdir()
        store = stored(folder, client, forms[survey % 2], rows)
        store.close("club")
        export(store, "club", folder / "club.csv")
        store.dispose()
        cells = told(folder) or {}
        written += bool(cells)
        assert all(everybody >= 10 and everybody - failed >= 2 for failed, everybody in cells.values())
    assert 6 < written < 24


def test_whoever_sent_ten_replies_of_their_own_finds_whether_the_eleventh_has_failed(tmp_path, client):
    """The limit: an open link takes ten replies of one person, who then knows all but one of a cell."""
    for number, last in enumerate((PASSED, FAILED)):
        (folder := tmp_path / str(number)).mkdir()
        store = stored(folder, client, club(tmp_path), [*TEN, last])
        store.close("club")
        export(store, "club", folder / "club.csv")
        store.dispose()
        assert told(folder) == {("blue",): [number, 11]}


@pytest.mark.parametrize(("epsilon", "written"), [(1, True), (8, False)])
def test_who_has_as_good_as_certainly_failed_is_as_well_hidden_as_who_has_for_certain(
    tmp_path, client, epsilon, written
):
    """At ε = 8 one in 3,000 of those who comply says red where it is green, of those at random one in three."""
    rows = [{**RED, "vote_control": "green"}] * 20 + [PASSED]
    store = stored(tmp_path, client, club(tmp_path, design=f"k_ary(epsilon={epsilon})"), rows)
    store.close("club")
    export(store, "club", tmp_path / "club.csv")
    assert (told(tmp_path) is not None) == written
    store.dispose()


@pytest.mark.parametrize(
    ("what", "same", "different", "mode", "written"),
    [
        ("one alone said same to the question", (20, 10), (0, 1), "hand", False),
        ("ten did, and all or all but one said different to the control", (20, 10), (1, 9), "hand", False),
        ("two others have said same to it", (20, 10), (2, 8), "hand", True),
        ("the device drew, and nobody knows an innocuous answer", (20, 10), (0, 1), "device", True),
    ],
)
def test_whoever_knows_a_fathers_birthday_does_not_find_what_its_child_said_to_the_control(
    tmp_path, client, what, same, different, mode, written
):
    """No answer of a crosswise control is a failure by itself, but it is one beside a birthday that somebody knows."""
    sheet = STACKED.format(design="crosswise(prevalence=1/4)").lstrip().splitlines()
    sheet[1] = f"{sheet[1]} bind::naysay_control | bind::naysay_mode |"
    sheet[2] = f"{sheet[2]} | {mode} |"
    sheet[3:3] = ["| | select_one yes_no | moon | Were you on the moon? | | drugs: no | |"]
    (tmp_path / "drugs.md").write_text("\n".join(sheet), encoding="utf-8")
    form = questionnaire.load(tmp_path / "drugs.md")
    assert bool(form.asked[1].privacy.innocuous) == (mode == "hand")
    cells = zip(("same", "different"), (same, different), strict=True)
    rows = [
        {"drugs": drugs, "moon": moon}
        for drugs, numbers in cells
        for moon, number in zip(("same", "different"), numbers, strict=True)
        for _ in range(number)
    ]
    store = stored(tmp_path, client, form, rows)
    store.close("drugs")
    exported = export(store, "drugs", tmp_path / "drugs.csv")
    assert exported.withheld == (() if written else ("drugs",)), what
    assert bool(aggregates(store, "drugs")["notes"]) != written
    store.dispose()


@pytest.mark.parametrize(
    ("design", "truth", "said", "written"),
    [
        ("crosswise(prevalence=1/4)", "lot", {"no same": 6, "yes different": 6}, False),  # nobody born in the months
        ("crosswise(prevalence=1/4)", "lot", {"no same": 10, "yes same": 2}, True),
        ("triangular(prevalence=1/4)", "lot", {"no neither": 12}, False),
        ("triangular(prevalence=1/4)", "lot", {"no neither": 10, "yes at least one": 2}, True),
        ("unrelated_question(p=1/2, prevalence=1/4)", "no", {"no no": 12}, True),  # whoever is born in them may say no
        ("unrelated_question(p=1/2, prevalence=1/4)", "no", {"no yes": 12}, False),
    ],
)
def test_of_everybody_with_either_innocuous_answer_two_could_have_complied(
    tmp_path, client, design, truth, said, written
):
    """Whoever knows a birthday knows that its child failed where no answer of the table is one that it asks for."""
    sheet = STACKED.format(design=design).lstrip().splitlines()
    label = "" if truth == "lot" else "Were you on the moon?"
    sheet[1] = f"{sheet[1]} bind::naysay_control | bind::naysay_mode |"
    sheet[2] = f"{sheet[2]} | hand |"
    sheet[3:3] = [f"| | select_one yes_no | moon | {label} | | drugs: {truth} | |"]
    (tmp_path / "drugs.md").write_text("\n".join(sheet), encoding="utf-8")
    form = questionnaire.load(tmp_path / "drugs.md")
    response = str(form.asked[0].privacy.channels[0][1].space.labels[0])
    rows = [
        {"drugs": response, "moon": text.partition(" ")[2], "moon_truth": text.partition(" ")[0]}
        for text, number in said.items()
        for _ in range(number)
    ]
    store = stored(tmp_path, client, form, rows)
    store.close("drugs")
    exported = export(store, "drugs", tmp_path / "drugs.csv")
    store.dispose()
    assert exported.withheld == (() if written else ("drugs",))


def test_a_survey_with_controls_stays_closed_so_that_no_two_exports_differ_by_one_reply(tmp_path, client):
    store = stored(tmp_path, client, club(tmp_path), [PASSED] * 3)
    store.reopen("club")  # it is open
    store.close("club")
    with pytest.raises(DataError, match="has controls and stays closed"):
        store.reopen("club")
    with pytest.raises(DataError, match="is closed; with controls it stays so"):
        invite(store, "club", 1)
    with pytest.raises(DataError, match="has controls and stays closed"):
        schedule(store, "club", Plan(opens=today()))
    schedule(store, "club", Plan(keeps=today()))
    store.dispose()


@pytest.mark.parametrize("last", [PASSED, FAILED])
def test_results_read_while_the_survey_is_closed_count_no_control(tmp_path, client, monkeypatch, last):
    """The last reply comes, and the survey is closed, after replies were counted: the next look has one more."""
    store = stored(tmp_path, client, club(tmp_path), TEN)

    def counted_before_the_last(*words, **more):
        counts = current_counts(*words, **more)
        store.add([reply(store.published("club"), **last)])
        store.close("club")
        return counts

    monkeypatch.setattr("naysay.collect.results.fragments.current_counts", counted_before_the_last)
    assert aggregates(store, "club")["notes"]
    monkeypatch.undo()
    assert not aggregates(store, "club")["notes"]
    store.dispose()


def test_no_page_of_an_open_survey_and_no_group_depends_on_who_failed(tmp_path, client):
    """Else two looks, one reply apart, would tell of its person."""
    rng = np.random.default_rng(5)
    votes = rng.choice(PARTIES, 60).tolist()
    seen = []
    for number, failed in enumerate((0, 9)):
        rows = [
            {**(FAILED if place < failed else PASSED), "vote": vote, "home": PARTIES[place % 2]}
            for place, vote in enumerate(votes)
        ]
        store = stored(tmp_path, client, club(tmp_path), rows, name=f"{number}.db")
        looks = [page(store, "club"), aggregates(store, "club")]
        store.close("club")
        looks += [page(store, "club", by="home"), aggregates(store, "club", by="home")]
        share(store, "club")
        looks.append(shared_page(store, "club"))
        seen.append((looks, aggregates(store, "club")))
        store.dispose()
    assert seen[0][0] == seen[1][0]
    assert "Answers to controls do not count here" in seen[0][0][0]
    whole = [next(each for each in end["questions"] if each["column"] == "vote")["result"] for _, end in seen]
    assert whole[0]["compliance"] != whole[1]["compliance"]
    assert not seen[0][1]["notes"]


def test_the_counts_of_a_closed_survey_give_the_estimate_of_its_database(tmp_path, client):
    rows = [{**PASSED, "vote": PARTIES[place % 3]} for place in range(90)] + [FAILED] * 6
    rows += [{**PASSED, "vote": None}] * 3 + [{"vote": "red"}]  # nor do these hide the estimate of all others
    store = stored(tmp_path, client, club(tmp_path), rows)
    store.close("club")
    export(store, "club", tmp_path / "club.csv")
    expected = aggregates(store, "club")
    store.dispose()
    table = of_export(tmp_path / "club.csv.vote.controls.csv", names=True, separator=",", encoding=None, columns=())
    fit = table.estimates("vote")[None]
    result = next(each for each in expected["questions"] if each["column"] == "vote")["result"]
    assert fit.proportions.tolist() == pytest.approx(result["proportions"])
    assert fit.nuisance["at random"].value == pytest.approx(6 / 96 * 3)


def test_nobody_is_asked_something_because_they_failed(tmp_path):
    with pytest.raises(QuestionnaireError, match="must not depend on the control"):
        club(tmp_path, relevant="selected(sent(${vote_control}), 'red')")


def test_scripted_respondents_are_in_arms_by_their_shares_and_suppose_each_category_equally_often(tmp_path):
    people = 1_200
    (tmp_path / "drugs.md").write_text(STRATA.lstrip(), encoding="utf-8")
    for form, column, expected in (
        (club(tmp_path), "vote_control_truth", dict.fromkeys(PARTIES, 1 / 3)),
        (questionnaire.load(tmp_path / "drugs.md"), "arm", {"masked": 2 / 3, "direct": 1 / 3}),
    ):
        first = form.asked[0]
        answers = draw_replies(form, checked(form, {first.name: [first.names[0]] * people})).answers
        for name, chance in expected.items():
            count = sum(answer[column] == name for answer in answers)
            assert abs(count - people * chance) < 5 * (people * chance * (1 - chance)) ** 0.5


def test_nothing_between_a_question_and_its_control_refers_to_it_for_lot_may_ask_it_last(tmp_path):
    """Else half of the respondents pass what they would be asked, and are stopped before they can send."""
    lines = SHEET.format(truth="lot", label="", relevant="", design="negative()").lstrip().splitlines()
    for place, is_refused in ((4, True), (5, False)):
        rows = [*lines[:place], "| | text | more | Why not? | | | sent(${vote}) = 'red' |", *lines[place:]]
        (tmp_path / "q.md").write_text("\n".join(rows), encoding="utf-8")
        told = [problem.message for problem in questionnaire.examine(tmp_path / "q.md").problems]
        assert ("${vote} must be asked before; lot may put it later" in told) == is_refused


@pytest.mark.parametrize(
    ("design", "is_shuffled"),
    [
        ("negative()", True),
        ("gaussian_negative(sigma=1.5)", True),
        ("negative(weights=(1, 2, 3))", True),
        ("two_option(shown=2)", True),
        ("k_ary(epsilon=1)", False),
    ],
)
def test_choices_of_every_negative_question_with_a_control_are_shuffled(tmp_path, design, is_shuffled):
    """Else the correction would hold for people who tick at random, and not for those who tick the first box."""
    form = club(tmp_path, design=design)
    orders = {question.name: getattr(question, "order", None) for question in form.asked}
    assert (orders["vote"], orders["vote_control"]) == (("shuffled",) * 2 if is_shuffled else (None,) * 2)
    form = club(tmp_path, design=design, truth="red", label="Suppose that your answer is The Reds.")
    warnings = [problem.message for problem in check(form)]
    assert ("the truth of the control 'vote_control' is one category for all" in warnings) == is_shuffled


STACKED = """
| survey | | | |
| | type | name | label::English (en) | bind::naysay_design |
| | select_one yes_no | drugs | Have you taken drugs? | {design} |
| choices | | | |
| | list_name | name | label::English (en) |
| | yes_no | yes | Yes |
| | yes_no | no | No |
| settings | | | |
| | form_id | form_title | |
| | drugs | Drugs | |
"""


def stacked(tmp_path, design):
    sheet = tmp_path / "drugs.md"
    sheet.write_text(STACKED.format(design=design).lstrip(), encoding="utf-8")
    return questionnaire.load(sheet)


@pytest.mark.parametrize(
    ("design", "asked"),
    [
        ("extended_crosswise(prevalence=1/4)", 2),
        ("cheating_detection(p=(1/4, 3/4))", 2),
        ("cheating_detection_symmetric(forced_yes=(1/6, 1/2), forced_no=(1/6, 1/6))", 2),
        ("stochastic_lie_detector(p=(1/6, 5/6))", 2),
        ("unrelated_question_unknown(p=(0.7, 0.3))", 2),
        ("one_saying(prevalence=1/4)", 2),
        ("samples(masked=crosswise(prevalence=1/4), direct=direct())", 2),
        ("samples(masked=warner(p=0.7), direct=direct())", 2),  # its responses are called as the categories are
        ("anchored_crosswise(prevalence=1/4, anchor=1/6)", 2),
        ("single_sample_count(items=4)", 1),
    ],
)
def test_a_design_of_several_samples_goes_from_one_row_to_its_estimate(tmp_path, client, design, asked):
    """3,000 people do as they are told, three in ten have taken drugs, and one in four was born early in the year."""
    form = stacked(tmp_path, design)
    assert len(form.asked) == asked
    rng = np.random.default_rng(7)
    people, arms = 3_000, [arm.name for arm in form.arms] or [""]
    truth = np.where(rng.random(people) < 0.3, "yes", "no")
    arm = rng.choice(arms, people)
    answers = {}
    for question in form.asked:
        true = np.full(people, "no") if question.control else truth
        said = true.tolist() if question.privacy is None else question.privacy.offer.randomize(true, rng=rng).texts()
        answers[question.name] = [
            text if not question.arms or place in question.arms else None for text, place in zip(said, arm, strict=True)
        ]
    columns = {**({"arm": arm.tolist()} if form.arms else {}), **answers}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    store = stored(tmp_path, client, form, rows)
    fit = of_database(store.replies("drugs"), names=True, language=None).estimates("drugs")[None]
    store.dispose()
    assert abs(fit.proportions[0] - 0.3) < 4 * max(fit.standard_errors[0], 0.01)


@pytest.mark.parametrize(
    ("design", "told"),
    [
        ("asked_twice(crosswise(prevalence=1/4))", "asks one question twice, and the page sends one draw"),
        ("double_list(items=4)", "items are the lengths of two lists, such as (4, 4); got 4"),
        (
            "double_list(items=(4, 4))",
            "double_list(items=(4, 4)) takes two numbers of each person: write 1, 2 into naysay_arms of the settings, "
            "and each list into a row of type integer with a name of its own, with drugs = double_list(items=(4, 4)) "
            "in bind::naysay_measures, its arm in bind::naysay_arms, and in bind::naysay_range what it counts (arm 1: "
            "0..5 and 0..4; arm 2: 0..4 and 0..5)",
        ),
        ("controlled(warner(p=0.7), truth='lot')", "with drugs: lot, or drugs: and the category"),
        (
            "one_saying(prevalence=1/4, types=('random',))",
            "a sample of one_saying(prevalence=1/4, types=('random',)) is of",
        ),
        (
            "one_saying(prevalence=1/4, types=('one-sayers', 'random'))",
            "name the arms '1', '2', 'control' in the settings",
        ),
        (
            "item_count(items=4)",
            "item_count(items=4) takes a number of each person: write control, treatment into naysay_arms of the "
            "settings, and each list into a row of type integer with a name of its own, with drugs = "
            "item_count(items=4) in bind::naysay_measures, its arm in bind::naysay_arms, and in bind::naysay_range "
            "what it counts (arm control: 0..4; arm treatment: 0..5)",
        ),
        (
            "single_sample_count(types=('zero',))",
            "takes a number of each person: write the list into a row of type integer with a name of its own, with "
            "drugs = single_sample_count(types=('zero',)) in bind::naysay_measures, and 0..5 in bind::naysay_range",
        ),
        (
            "one_saying(prevalence=1/4, types=3)",
            "an argument is of the wrong kind: one_saying(prevalence=1/4, types=3)",
        ),
        ("extended_crosswise(prevalence=1/2)", "not be 1/2; got 1/2"),
        ("cheating_detection(p=(1/6, 1/6))", "must carry different p; got 1/6 twice"),
        ("cheating_detection(p=(1/6, 1/4, 1/3))", "p must be two probabilities; got (1/6, 1/4, 1/3)"),
    ],
)
def test_a_design_that_one_row_cannot_ask_is_refused_at_its_row(tmp_path, design, told):
    with pytest.raises(QuestionnaireError) as refusal:
        stacked(tmp_path, design)
    assert told in str(refusal.value)
    assert "survey, row 2, column 'bind::naysay_design'" in str(refusal.value)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("text | more | Why? | | drugs: lot | |", "'bind::naysay_control': text has no categories"),
        ("text | more | Why? | | | | m", "'bind::naysay_measures': text has no categories"),
        (
            "integer | more | How many? | | | masked | m = item_count(items=3)",
            "'bind::naysay_measures': item_count(items=3) must have one sample for each arm that measures 'm'",
        ),
        ("select_one yes_no | more | You? | | | masked | m = ", "'bind::naysay_measures': cannot read the design ''"),
        (
            "select_one yes_no | more | You? | | | masked | m = one_saying(prevalence=1/4)",
            "row 4, column 'bind::naysay_m",
        ),
        (
            "select_one yes_no | more | You? | | | masked | m |\n| | select_one yes_no | less | I? | | | masked | m",
            "'less' and 'more' measure 'm' in the same arm",
        ),
        ("select_one yes_no | more | You? | | check: lot | |", "got 'check': known are 'drugs'"),
    ],
)
def test_a_cell_about_controls_or_arms_that_cannot_be_read_is_refused_at_its_place(tmp_path, row, told):
    columns = "type | name | label::English (en) | bind::naysay_design | bind::naysay_control | bind::naysay_arms"
    asked = "| | select_one yes_no | drugs | Have you? | crosswise(prevalence=1/4) | | |"
    sheet = STACKED.lstrip().splitlines()
    sheet[1:3] = [
        f"| | {columns} | bind::naysay_measures |",
        asked,
        f"{asked[:23]} check | | | drugs: no | |",
        f"| | {row} |",
    ]
    sheet[-2:] = ["| | form_id | naysay_arms |", "| | drugs | masked, direct |"]
    (tmp_path / "q.md").write_text("\n".join(sheet), encoding="utf-8")
    with pytest.raises(QuestionnaireError) as refusal:
        questionnaire.load(tmp_path / "q.md")
    assert f"row 4, column {told}" in str(refusal.value) or told in str(refusal.value)


ANCHORED = "| | select_one yes_no | drugs | Have you? | anchored_crosswise(prevalence=1/4, anchor=1/6) |"


@pytest.mark.parametrize(
    ("rows", "settings", "told"),
    [
        ([ANCHORED, "| | select_one yes_no | drugs_control | On the moon? | | drugs: no |"], "",
         ["the design of 'drugs' brings this control along"]),
        ([f"| | select_one yes_no | {name} | Have you? | | | {name} |" for name in "ab"], "a x, b",
         ["arms are written with whole shares", "'a' is asked in arm 'a', which is none"]),
    ],
)  # fmt: skip
def test_one_mistake_about_arms_or_controls_is_told_once(tmp_path, rows, settings, told):
    sheet = STACKED.lstrip().splitlines()
    sheet[1:3] = [f"{sheet[1]} bind::naysay_control | bind::naysay_arms |", *rows]
    sheet[-2:] = ["| | form_id | naysay_arms |", f"| | drugs | {settings} |"]
    (tmp_path / "q.md").write_text("\n".join(sheet), encoding="utf-8")
    with pytest.raises(QuestionnaireError) as refusal:
        questionnaire.load(tmp_path / "q.md")
    problems = [problem.message for problem in refusal.value.problems if problem.severity == "error"]
    assert len(problems) == len(told)
    for problem, words in zip(problems, told, strict=True):
        assert words in problem


def test_a_column_called_control_is_named_and_makes_pyxform_fail_at_nothing(tmp_path, capsys):
    sheet = STACKED.format(design="crosswise(prevalence=1/4)").lstrip().splitlines()
    sheet[1:3] = [f"{sheet[1]} control |", f"{sheet[2]} x |"]
    (tmp_path / "q.md").write_text("\n".join(sheet), encoding="utf-8")
    assert main(["questionnaire", "check", str(tmp_path / "q.md")]) == 0
    told = capsys.readouterr().out
    assert "column 'control' is not used: did you mean 'naysay_control'?" in told
    assert "pyxform" not in told


def test_the_statement_for_an_ethics_board_names_arms_and_controls(tmp_path, client):
    plain = Statement(Published.of(sample(), client=client)).to_markdown()
    controlled = Statement(Published.of(club(tmp_path), client=client)).to_markdown()
    in_arms = Statement(
        Published.of(stacked(tmp_path, "extended_crosswise(prevalence=1/4)"), client=client)
    ).to_markdown()
    assert "Controls among the private questions: 1." in controlled
    assert "puts respondents into 2 arms" in in_arms
    assert "ontrols among" not in plain + in_arms
    assert "arms" not in plain + controlled


LEVELED = """
| survey | | | | | |
| | type | name | label::English (en) | bind::naysay_levels | bind::naysay_control |
| | select_one party | home | Which party does your town vote for? | | |
| | select_one party | vote | Whom do you vote for? | 1..2 | |
| | select_one party | vote_control | {label} | | vote: {truth} |
| choices | | | |
| | list_name | name | label::English (en) |
| | party | red | The Reds |
| | party | green | The Greens |
| | party | blue | The Blues |
| | party | gold | The Golds |
| settings | | | |
| | form_id | form_title | |
| | club | Club | |
"""


@pytest.mark.parametrize("truth", ["lot", "file home", "red 0.7, green 0.1, blue 0.1, gold 0.1 of 300"])
def test_people_choose_their_privacy_and_a_control_of_each_kind_corrects_what_they_said(tmp_path, client, truth):
    """2,000 people, of whom a fifth tick anything, at two levels; their votes are .45, .3, .15 and .1."""
    (tmp_path / "club.md").write_text(
        LEVELED.format(truth=truth, label="" if truth == "lot" else "Whom did you vote for last time?").lstrip()
    )
    form = questionnaire.load(tmp_path / "club.md")
    rng, people, names = np.random.default_rng(3), 2_000, ("red", "green", "blue", "gold")
    careless = rng.random(people) < 0.2
    known = rng.choice(names, people, p=(0.7, 0.1, 0.1, 0.1) if "0.7" in truth else None)
    votes, columns = rng.choice(names, people, p=(0.45, 0.3, 0.15, 0.1)), {"home": known.tolist()}
    by_name = {question.name: question for question in form.asked}
    for name, true in (("vote", votes), ("vote_control", known)):
        meant = np.where(careless, rng.choice(names, people), true)
        said = by_name[name].privacy.offer.randomize(meant, level=rng.choice([1, 2], people), rng=rng)
        columns[name] = list(zip(map(str, said.level), said.texts(), strict=True))
    if truth == "lot":
        columns["vote_control_truth"] = known.tolist()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    store = stored(tmp_path, client, form, rows)
    fit = of_database(store.replies("club"), names=True, language=None).estimates("vote")[None]
    store.dispose()
    assert (np.abs(fit.proportions - (0.45, 0.3, 0.15, 0.1)) < 4 * fit.standard_errors).all()
    assert abs(fit.nuisance["at random"].value - 0.2) < 4 * fit.nuisance["at random"].standard_error
    assert bool(fit.design.uncertain) == ("300" in truth)  # the error of known shares is passed on


def fielded(tmp_path, client, *, people, misread):
    """A data folder with a closed survey: whoever comes from a blue town votes blue; some answer at random."""
    rng = np.random.default_rng(11)
    rows = []
    for home, lot in rng.choice(PARTIES, (people, 2)).tolist():
        vote = home if rng.random() < 0.7 else str(rng.choice(PARTIES))
        away = rng.random() < misread
        said = [str(rng.choice([party for party in PARTIES if away or party != true])) for true in (vote, lot)]
        rows.append({"home": home, "vote": said[0], "vote_control": said[1], "vote_control_truth": lot})
    store = stored(tmp_path, client, club(tmp_path), rows, name="naysay.db")
    store.close("club")
    store.dispose()
    return ["--survey", "club", "--data", str(tmp_path), "--format", "json"]


def test_a_crosstab_and_a_regression_of_a_survey_count_its_controls(tmp_path, client, capsys):
    survey = fielded(tmp_path, client, people=3_000, misread=0.3)
    assert main(["crosstab", "--row", "vote", "--column", "home", "--bootstrap", "0", *survey]) == 0
    table = json.loads(capsys.readouterr().out)
    assert table["compliance"][0]["interval"][0] < 0.3 < table["compliance"][0]["interval"][1]
    order = [PARTIES.index(label) for label in table["variables"][1]["categories"]]
    rows = [PARTIES.index(label) for label in table["variables"][0]["categories"]]
    truth = (np.eye(3) * 0.7 + 0.1)[np.ix_(rows, order)] / 3
    assert (np.abs(np.array(table["proportions"]) - truth) < 4 * np.array(table["standard_errors"])).all()
    assert np.abs(np.array(table["without_control"]["proportions"]) - truth).max() > 0.05
    assert main(["regress", "vote ~ home", *survey]) == 0
    both = json.loads(capsys.readouterr().out)
    sizes = [max(abs(row["estimate"]) for row in fit["coefficients"]) for fit in (both, both["without_control"])]
    assert sizes[1] < sizes[0] - 0.5  # random answers hide how towns differ
    assert main(["regress", "vote ~ 1", "--compliance", "home", *survey]) == 0
    both = json.loads(capsys.readouterr().out)
    assert both["compliance_test"]["p_value"] > 0.001  # people of all towns misread alike
    assert both["coefficients"][2]["estimate"] == pytest.approx(np.log(0.3 / 0.7), abs=0.5)


def test_the_column_that_tells_the_truth_of_a_control_stands_beside_the_question_also_where_some_left_it_out(
    tmp_path, client, capsys
):
    rng = np.random.default_rng(12)
    rows = [
        {"home": home, "vote": party, "vote_control": said}
        for home, party in rng.choice(PARTIES, (600, 2)).tolist()
        for said in [str(rng.choice([other for other in PARTIES if other != home]))]
    ]
    rows += [{**row, "home": None} for row in rows[:9]]
    form = club(tmp_path, truth="file home", label="Rule out one that your town does not vote for.")
    store = stored(tmp_path, client, form, rows, name="naysay.db")
    store.close("club")
    store.dispose()
    for words in (
        ["crosstab", "--row", "vote", "--column", "home", "--bootstrap", "0"],
        ["regress", "vote ~ home", "--missing", "drop", "--penalty", "1"],
        ["estimate", "--response", "vote", "--by", "home"],
    ):
        assert main([*words, "--survey", "club", "--data", str(tmp_path), "--format", "json"]) == 0
        assert "do not count here" not in capsys.readouterr().err


def test_who_complies_by_a_column_is_refused_where_it_would_tell_who_failed(tmp_path, client, capsys):
    survey = fielded(tmp_path, client, people=60, misread=0.5)
    assert main(["regress", "vote ~ 1", "--compliance", "home", *survey]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "who complies is not told: answers to the controls of 'vote' do not count here" in told.err
    assert main(["regress", "vote ~ 1", "--compliance", "vote_control", *survey]) == 2
    assert "covariates come from plain questions" in capsys.readouterr().err


def test_an_offset_withholds_controls_where_few_people_have_it(tmp_path, client, capsys):
    """Whoever has none is left out: two prints, with it and without, would say whether this person failed."""
    sheet = tmp_path / "club.md"
    text_row = "| | text | why | Why? | | | {relevant} |"
    assert text_row in SHEET
    number_row = "| | integer | years | For how many years? | | | |"
    sheet.write_text(
        SHEET.replace(text_row, number_row).format(truth="lot", label="", design="negative()").lstrip(),
        encoding="utf-8",
    )
    rng = np.random.default_rng(11)
    rows = [
        {
            "home": "red",
            "vote": str(rng.choice(PARTIES)),
            "vote_control": str(rng.choice(PARTIES, p=(0.1, 0.4, 0.5))),
            "vote_control_truth": "red",
            "years": min(place, 1) or None,
        }
        for place in range(300)
    ]
    store = stored(tmp_path, client, questionnaire.load(sheet), rows, name="naysay.db")
    store.close("club")
    store.dispose()
    survey = ["--survey", "club", "--data", str(tmp_path), "--format", "json", "--penalty", "1"]
    for words, withheld in (([], False), (["--offset", "years", "--missing", "drop"], True)):
        assert main(["regress", "vote ~ 1", *words, *survey]) == 0
        out, err = capsys.readouterr()
        assert ("answers to the controls of 'vote' do not count here" in err) == withheld
        assert ("compliance" in json.loads(out)) == (not withheld)


def test_a_crosstab_and_a_regression_never_say_who_failed(tmp_path, client, capsys):
    """In cells of few people the numbers are those without controls, whoever failed."""
    seen = []
    for folder, misread in (("a", 0.0), ("b", 0.5)):
        (tmp_path / folder).mkdir()
        survey = fielded(tmp_path / folder, client, people=60, misread=misread)
        for words in (
            ["crosstab", "--row", "vote", "--column", "home", "--bootstrap", "0"],
            ["regress", "vote ~ home", "--penalty", "1"],
        ):
            assert main([*words, *survey]) == 0
            out, err = capsys.readouterr()
            assert "answers to the controls of 'vote' do not count here" in err
            seen.append(json.loads(out).get("compliance", []))
    assert seen == [[]] * 4


def test_what_arms_measure_is_crossed_and_regressed_as_one_question(tmp_path, client, capsys):
    form = stacked(tmp_path, "cheating_detection(p=(1/4, 3/4))")
    rng = np.random.default_rng(3)
    people, arms = 3_000, [arm.name for arm in form.arms]
    truth, arm = np.where(rng.random(people) < 0.3, "yes", "no"), rng.choice(arms, people)
    rows = []
    said = {
        question.name: question.privacy.offer.randomize(truth, rng=rng).texts()
        for question in form.asked
        if question.privacy is not None
    }
    for place in range(people):
        row = {"arm": arm[place]}
        row |= {
            question.name: str(said[question.name][place])
            for question in form.asked
            if question.name in said and arm[place] in question.arms and place >= 10
        }
        rows.append(row)
    store = stored(tmp_path, client, form, rows, name="naysay.db")
    store.close("drugs")
    store.dispose()
    survey = ["--survey", "drugs", "--data", str(tmp_path), "--format", "json"]
    assert main(["regress", "drugs ~ 1", *survey]) == 0
    regressed = json.loads(capsys.readouterr().out)
    assert (regressed["n"], regressed["missing"]) == (people - 10, 10)
    [row] = regressed["coefficients"]
    assert abs(1 / (1 + np.exp(-row["estimate"])) - 0.3) < 0.08
    assert main(["crosstab", "--row", "drugs", "--column", "day", "--bootstrap", "0", *survey]) == 2
    assert "a variable needs two categories at least; column 'day'" in capsys.readouterr().err
    assert main(["crosstab", "--row", "drugs", "--column", "arm", *survey]) == 2
    assert "'arm' is what lot has drawn, and 'drugs' is read from all arms" in capsys.readouterr().err


def test_arms_are_held_against_the_lot_within_strata_in_results_export_and_command(tmp_path, client, capsys):
    """In the north two of three are masked, as the lot says; in the south the masked arm lost people. Ten are shown."""
    sheet = tmp_path / "drugs.md"
    sheet.write_text(STRATA.lstrip(), encoding="utf-8")
    form = questionnaire.load(sheet)
    sizes = {("east", "masked"): 10, ("north", "masked"): 200, ("north", "direct"): 100, ("south", "masked"): 90,
             ("south", "direct"): 110, ("west", "direct"): 9}  # fmt: skip
    rows = [
        {"region": region, "arm": arm, arm: "yes"} for (region, arm), people in sizes.items() for _ in range(people)
    ]
    store = stored(tmp_path, client, form, rows, name="naysay.db")
    answered = of_database(store.replies("drugs"), names=True, language=None)
    lot = answered.plain_summaries("arm", None, 0.95)[None].lot
    assert {region: test.counts for region, test in lot.within.items()} == {
        "east": (10, 0), "north": (200, 100), "south": (90, 110),
    }  # fmt: skip
    assert lot.within["north"].p_value == pytest.approx(1)
    in_words = "North: masked 200, direct 100, p = 1; South: masked 90, direct 110, p = "
    shown = page(store, "drugs")
    assert in_words in shown
    assert "9 people are in none of these" in shown
    share(store, "drugs", by="region", least=5)
    in_steps = shared_page(store, "drugs")
    assert "exact binomial test" in in_steps
    assert "people are in none of these" not in in_steps
    assert in_words not in in_steps  # a page that moves in steps tells no counts of several people at once
    path = tmp_path / "drugs.csv"
    export(store, "drugs", path)
    again = of_export(path, names=True, separator=",", encoding=None, columns=("arm",))
    assert again.plain_summaries("arm", None, 0.95)[None].lot == lot
    store.dispose()
    assert main(["estimate", "--survey", "drugs", "--data", str(tmp_path), "--response", "arm"]) == 0
    assert in_words in " ".join(capsys.readouterr().out.split())


def test_the_difference_of_arms_is_corrected_where_the_masked_question_has_a_control(tmp_path, client, capsys):
    """One in ten have taken drugs and nobody denies; three in ten of the masked arm answer at random."""
    sheet = tmp_path / "drugs.md"
    control = "| | select_one yes_no | masked_control | Have you ever been on the moon? | | | masked | | masked: no |"
    rows = STRATA.lstrip().replace(
        "bind::naysay_arms |", "bind::naysay_arms | bind::naysay_measures | bind::naysay_control |"
    )
    rows = rows.replace("| masked |\n", "| masked | drugs | |\n" + control + "\n").replace(
        "| direct |\n", "| direct | drugs | |\n"
    )
    sheet.write_text(rows, encoding="utf-8")
    form = questionnaire.load(sheet)
    masked = np.array([[0.1 * 0.25 + 0.9 * 0.75], [0.1 * 0.75 + 0.9 * 0.25]])  # same, different
    joint = 3_000 * (0.7 * masked @ np.array([[0.75, 0.25]]) + 0.3 / 4)
    answers = ("same", "different")
    replies = [
        {"region": "north", "arm": "masked", "masked": answers[i], "masked_control": answers[j]}
        for i in range(2) for j in range(2) for _ in range(round(joint[i, j]))
    ]  # fmt: skip
    replies += [{"region": "south", "arm": "direct", "direct": "yes" if i < 120 else "no"} for i in range(1_200)]
    store = stored(tmp_path, client, form, replies, name="naysay.db")
    store.close("drugs")
    answered = of_database(store.replies("drugs"), names=True, language=None)
    fit = answered.estimates("drugs")[None]
    alone = answered.estimates("masked", estimator="moments")[None]
    [apart] = fit.to_dict()["differences"]
    assert apart["difference"] == pytest.approx(0.3 * 0.4, abs=0.002)  # random answers look like half of people
    corrected = apart["corrected"]
    assert corrected["difference"] == pytest.approx(0, abs=0.002)
    assert corrected["shares"] == pytest.approx({"masked": 0.1, "direct": 0.1}, abs=0.002)
    assert corrected["standard_error"] == pytest.approx(
        np.hypot(alone.standard_errors[0], (0.09 / 1_199) ** 0.5), rel=1e-3
    )
    assert "corrected for people who fail the control it is masked 0.1" in str(fit)
    store.dispose()
    assert main(["estimate", "--survey", "drugs", "--data", str(tmp_path), "--response", "drugs"]) == 0
    assert "masked less direct" in " ".join(capsys.readouterr().out.split())


def in_words(page):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


SLIPS = re.compile(r"\b(?:inf|nan)\b|(?<![\w–])-\d|_|[?:] ?:|\b1 (?:answers|people)\b|\d%")


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"direct": 12}, ["masked over direct at most 0.18 (nobody completed masked)", "nobody answered in sample"]),
        ({"masked": 12}, ["masked over direct at least 1.39 (nobody completed direct)"]),
        ({"masked": 1}, ["masked over direct at least 0.01 (nobody completed direct)", "1 answer, none missing"]),
        ({"masked": 5, "direct": 7}, ["(no interval: the answers of one of them are too few or all alike)",
                                      "even if all others named it falsely in direct only, a difference would be"]),
    ],
)  # fmt: skip
def test_results_of_arms_stand_and_read_well_while_few_have_answered(tmp_path, client, sizes, told):
    """All answers of an arm are alike here, so that moments leave [0, 1] and have no error."""
    sheet = tmp_path / "drugs.md"
    rows = STRATA.lstrip().replace("bind::naysay_arms |", "bind::naysay_arms | bind::naysay_measures |", 1)
    sheet.write_text(
        rows.replace("| masked |\n", "| masked | drugs |\n").replace("| direct |\n", "| direct | drugs |\n"),
        encoding="utf-8",
    )
    form = questionnaire.load(sheet)
    answers = {"masked": "same", "direct": "yes"}
    rows = [{"region": "north", "arm": arm, arm: answers[arm]} for arm, people in sizes.items() for _ in range(people)]
    store = stored(tmp_path, client, form, rows)
    shown = in_words(page(store, "drugs", by="region"))
    store.dispose()
    for words in told:
        assert words in shown
    assert not SLIPS.search(shown), SLIPS.search(shown)


def test_groups_and_arms_are_headed_by_what_was_asked_and_questions_alike_are_told_apart(tmp_path, client):
    rows = STRATA.lstrip().replace("region |\n", "home_region |\n").replace("| region | Where", "| home_region | Where")
    rows = rows.replace("| masked |\n", "| long_form |\n").replace("masked 2", "long_form 2")
    again = (
        "| | select_one region | work_region | Where do you live? | | |\n| | select_one region | birth | Born: | | |\n"
    )
    (tmp_path / "drugs.md").write_text(rows.replace("| choices |", f"{again}| choices |"), encoding="utf-8")
    form = questionnaire.load(tmp_path / "drugs.md")
    people = [
        {"home_region": "north", "work_region": "south", "birth": "west", "arm": arm, **answer}
        for arm, answer in (("long_form", {"masked": "same"}), ("direct", {"direct": "no"}))
        for _ in range(20)
    ]  # fmt: skip
    store = stored(tmp_path, client, form, people)
    for by, heading in (
        ("home_region", "Where do you live? (question 3 of 6): North"),
        ("work_region", "Where do you live? (question 5 of 6): South"),
        ("birth", "Born: West"),
        ("arm", "Group, drawn by lot on the device: long form"),
    ):
        shown = page(store, "drugs", by=by)
        assert heading in re.findall(r"<h3><bdi>(.*?)</bdi></h3>", shown), by
        assert not re.search("_|[?:] ?:", in_words(shown))
    store.dispose()


STRATA = """
| survey | | | | | |
| | type | name | label::English (en) | required | bind::naysay_design | bind::naysay_arms |
| | select_one region | region | Where do you live? | yes | | |
| | select_one yes_no | masked | Have you taken drugs? | | crosswise(prevalence=1/4) | masked |
| | select_one yes_no | direct | Have you taken drugs? | | | direct |
| choices | | | |
| | list_name | name | label::English (en) |
| | yes_no | yes | Yes |
| | yes_no | no | No |
| | region | east | East |
| | region | north | North |
| | region | south | South |
| | region | west | West |
| settings | | | | |
| | form_id | form_title | naysay_arms | naysay_strata |
| | drugs | Drugs | masked 2, direct 1 | region |
"""


AREA = ("select_one region", "area", "yes", "", "", "")
MASKED = ("select_one yes_no", "masked", "", "", "crosswise(prevalence=1/4)", "masked")
DIRECT = ("select_one yes_no", "direct", "", "", "", "direct")


def with_strata(tmp_path, rows, *, strata="area", arms="masked 2, direct 1"):
    """A survey of these rows: type, name, required, relevant, design, arms."""
    lines = STRATA.lstrip().splitlines()
    head = "| | type | name | label::English (en) | required | relevant | bind::naysay_design | bind::naysay_arms |"
    asked = [f"| | {kind} | {name} | {name and 'Say'} | {' | '.join(rest)} |" for kind, name, *rest in rows]
    lines[:5] = ["| survey | | | | | | | |", head, *asked]
    lines[-1] = f"| | drugs | Drugs | {arms} | {strata} |"
    (tmp_path / "q.md").write_text("\n".join(lines), encoding="utf-8")
    return questionnaire.load(tmp_path / "q.md")


def around(row, *, relevant="", arms="", name="g"):
    return [("begin group", name, "", relevant, "", arms), row, ("end group", "", "", "", "", "")]


@pytest.mark.parametrize(
    ("rows", "settings", "told"),
    [
        ([MASKED, DIRECT, AREA], {}, "'area' is asked after 'masked', where they differ"),
        ([("note", "n", "", "", "", "masked"), AREA, DIRECT], {}, "'area' is asked after 'n', where they differ"),
        ([*around(MASKED, arms="masked"), AREA, DIRECT], {}, "'area' is asked after 'g', where they differ"),
        ([*around(MASKED), *around(AREA, name="h"), DIRECT], {}, "'area' is asked after 'masked'"),
        ([(*AREA[:5], "masked"), MASKED, DIRECT], {}, "'area' is asked in some arms only"),
        ([*around(AREA, arms="direct"), MASKED, DIRECT], {}, "'area' is asked in some arms only"),
        ([(*DIRECT[:5], ""), (*AREA[:3], "${direct} = 'yes'", *AREA[4:]), MASKED], {}, "is asked under a condition"),
        ([(*DIRECT[:5], ""), *around(AREA, relevant="${direct} = 'yes'"), MASKED], {}, "is asked under a condition"),
        ([(*AREA[:2], "", *AREA[3:]), MASKED, DIRECT], {}, "'area' may be left empty"),
        ([("select_one yes_no", *AREA[1:4], "warner(p=0.7)", ""), MASKED, DIRECT], {}, "'area' is private"),
        ([(*AREA[:4], "k_ary(epsilon=1)", ""), MASKED, DIRECT], {}, "'area' is private"),
        ([AREA, MASKED, DIRECT], {"strata": "masked"}, "'masked' is private"),
        ([AREA, MASKED, DIRECT], {"strata": "direct"}, "'direct' is asked in some arms only"),
        ([("select_multiple region", *AREA[1:]), MASKED, DIRECT], {}, "'area' is of another kind"),
        ([("integer", *AREA[1:]), MASKED, DIRECT], {}, "'area' is of another kind"),
        ([*around(AREA), MASKED, DIRECT], {"strata": "g"}, "'g' is of another kind"),
        ([AREA, MASKED, DIRECT], {"strata": "arm"}, "'arm' is no question"),
        ([AREA, (*DIRECT[:5], "")], {"arms": ""}, "the survey has no arms"),
    ],
)
def test_a_stratum_that_may_come_from_the_arm_is_refused_in_one_sentence(tmp_path, rows, settings, told):
    with pytest.raises(QuestionnaireError) as refusal:
        with_strata(tmp_path, rows, **settings)
    problems = [problem for problem in refusal.value.problems if problem.path == "strata"]
    assert [told in problem.message for problem in problems] == [True]
    assert problems[0].message.startswith("strata must name a direct, required select_one that all answer before")


@pytest.mark.parametrize(
    "rows",
    [
        [AREA, MASKED, DIRECT],
        [*around(AREA), MASKED, DIRECT],
        [("note", "n", "", "", "", "masked, direct"), (*AREA[:5], "direct, masked"), MASKED, DIRECT],
    ],
)
def test_a_stratum_that_all_answer_first_passes_and_is_refused_alike_in_json(tmp_path, rows):
    form = with_strata(tmp_path, rows)
    draft = json.loads(form.to_json())
    assert draft["strata"] == "area"
    draft["items"].reverse()
    (tmp_path / "q.json").write_text(json.dumps(draft), encoding="utf-8")
    with pytest.raises(QuestionnaireError, match="strata must name"):
        questionnaire.load(tmp_path / "q.json")


ALONE = ["crosstab", "--row", "vote", "--column", "home", "--bootstrap", "0"]


def one_reply_more(tmp_path, client, form, more, words, *, closed):
    """Exit codes of a command after a last reply that passed its control, and after one that failed it."""
    rng, prints = np.random.default_rng(1), []
    rows = [
        {**PASSED, "home": PARTIES[home], "vote": PARTIES[vote], "age": int(age)} | (FAILED if age < 3 else {})
        for home, vote, age in zip(
            rng.integers(0, 2, 600), rng.integers(0, 3, 600), rng.integers(0, 30, 600), strict=True
        )
    ]
    for number, last in enumerate((PASSED, FAILED)):
        (folder := tmp_path / str(number)).mkdir()
        store = stored(folder, client, form, [*rows, {**last, **more}], name="naysay.db")
        if closed:
            store.close("club")
        store.dispose()
        prints.append(main([*words, "--survey", "club", "--data", str(folder), "--format", "json"]))
    return prints


@pytest.mark.parametrize("words", [["estimate", "--response", "vote"], ALONE, ["regress", "vote ~ home"]])
def test_whoever_prints_an_open_survey_with_controls_reads_what_two_prints_tell(tmp_path, client, capsys, words):
    for name, closes in (("open", False), ("closed", True)):
        (tmp_path / name).mkdir()
        one_reply_more(tmp_path / name, client, club(tmp_path), {"home": "red"}, words, closed=closes)
        assert ("two prints, one reply apart, tell whether this person failed" in capsys.readouterr().err) != closes


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["estimate", "--response", "vote", "--by", "home"], {"home": "blue"}),
        (["estimate", "--response", "vote", "--by", "home"], {}),
        (["regress", "vote ~ C(age)", "--penalty", "1"], {"age": 99}),
    ],
)
def test_no_group_and_no_number_of_one_person_says_that_they_failed(tmp_path, client, capsys, words, more):
    """One person alone in a group, without a group, or with an age that nobody else has: no control counts."""
    sheet = SHEET.replace("| choices | | | |", "| | integer | age | How old are you? | | | |\n| choices | | | |")
    (tmp_path / "club.md").write_text(
        sheet.format(truth="lot", label="", relevant="", design="negative()").lstrip(), encoding="utf-8"
    )
    form = questionnaire.load(tmp_path / "club.md")
    codes = one_reply_more(tmp_path, client, form, more, words, closed=True)
    told = capsys.readouterr()
    assert codes == [0, 0]
    assert told.err.count("answers to the controls of 'vote' do not count here") == 2
    assert not [word for word in ("compliance", "violations", "at random", "without_control") if word in told.out]


def test_the_control_of_who_left_the_question_out_counts_nowhere(tmp_path, client, capsys):
    """Else the print would say whether one person alone failed."""
    one_reply_more(tmp_path, client, club(tmp_path), {"home": "red", "vote": None}, ALONE, closed=True)
    one, other = capsys.readouterr().out.rstrip().split("\n}\n")
    passed, failed = (json.loads(text)["compliance"] for text in (f"{one}}}", other))
    assert passed == failed


CROSSED = """
| survey | | | | | | |
| | type | name | label::English (en) | naysay_design | naysay_control | naysay_arms | naysay_measures |
| | select_one party | vote | Whom do you vote for? | negative() | | | |
| | select_one party | vote_control | | | vote: lot | | |
| | select_one yes_no | masked | Do you cheat? | warner(p=0.7) | | masked | cheats |
| | select_one yes_no | open | Do you cheat? | | | open | cheats |
| choices | | | |
| | list_name | name | label::English (en) |
| | party | red | The Reds |
| | party | green | The Greens |
| | party | blue | The Blues |
| | yes_no | yes | Yes |
| | yes_no | no | No |
| settings | | | |
| | form_id | form_title | naysay_arms |
| | club | Club | masked, open |
"""


@pytest.mark.parametrize("variables", [("vote", "cheats"), ("cheats", "vote")])
def test_what_arms_measure_makes_cells_of_people_who_may_have_failed(tmp_path, client, capsys, variables):
    """One person alone says yes when asked openly: their answer is known, and so would be that they failed."""
    (tmp_path / "club.md").write_text(CROSSED.lstrip(), encoding="utf-8")
    form, rng = questionnaire.load(tmp_path / "club.md"), np.random.default_rng(2)
    rows = [
        {**(FAILED if rng.random() < 0.1 else PASSED), "vote": str(rng.choice(PARTIES)), "arm": arm} | answer
        for arm, answer in [("open", {"open": "no"})] * 200 + [("masked", {"masked": "yes"})] * 100
        + [("masked", {"masked": "no"})] * 200
    ]  # fmt: skip
    prints = []
    for number, last in enumerate((PASSED, FAILED)):
        (folder := tmp_path / str(number)).mkdir()
        store = stored(folder, client, form, [*rows, {**last, "arm": "open", "open": "yes"}], name="naysay.db")
        store.close("club")
        store.dispose()
        words = ["crosstab", "--row", variables[0], "--column", variables[1], "--bootstrap", "0"]
        assert main([*words, "--survey", "club", "--data", str(folder), "--format", "json"]) == 0
        prints.append(capsys.readouterr())
    assert prints[0] == prints[1]
    assert "answers to the controls of 'vote' do not count here" in prints[0].err


@pytest.mark.parametrize(("alone", "written"), [("open", False), ("masked", True)])
def test_counts_of_controls_need_ten_people_in_each_arm(tmp_path, client, alone, written):
    """A row of the export says in which arm its person was."""
    (tmp_path / "club.md").write_text(CROSSED.lstrip(), encoding="utf-8")
    rows = [PASSED | {"arm": "masked"}] * 20 + [FAILED | {"arm": alone}]
    store = stored(tmp_path, client, questionnaire.load(tmp_path / "club.md"), rows)
    store.close("club")
    export(store, "club", tmp_path / "club.csv")
    store.dispose()
    assert (tmp_path / "club.csv.vote.controls.csv").exists() == written


SHARED = """
| survey | | | | | |
| | type | name | label::English (en) | bind::naysay_design | bind::naysay_arms | bind::naysay_measures |
| | select_one yes_no | masked | Have you taken drugs? | warner(p=0.8) | long, short | drugs |
| | select_one yes_no | open | Have you taken drugs? | direct() | open | drugs |
| choices | | | |
| | list_name | name | label::English (en) |
| | yes_no | yes | Yes |
| | yes_no | no | No |
| settings | | | |
| | form_id | form_title | naysay_arms |
| | drugs | Drugs | long 1, short 1, open 1 |
"""


def test_a_question_that_two_arms_share_is_counted_once(tmp_path, client):
    """90 people answer in three arms, 60 of them the question that two arms ask."""
    (tmp_path / "drugs.md").write_text(SHARED.lstrip(), encoding="utf-8")
    form = questionnaire.load(tmp_path / "drugs.md")
    rows = [
        {"arm": arm, "open" if arm == "open" else "masked": "yes" if place % 3 else "no"}
        for arm in ("long", "short", "open")
        for place in range(30)
    ]
    store = stored(tmp_path, client, form, rows)
    answered = of_database(store.replies("drugs"), names=True, language=None)
    store.dispose()
    assert answered.answers("drugs") == 90
    assert answered.estimates("drugs")[None].n == 90
