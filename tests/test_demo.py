import importlib
import io
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from naysay import collect, demo
from naysay.collect import respond
from naysay.collect.questionnaire import rules
from naysay.design import drawing
from naysay.errors import DataError


def quiet():
    return Console(file=io.StringIO(), width=80)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One run of the whole demonstration: its folder, and what the terminal showed.

    The devices' randomness comes from a generator here, in place of the operating system's, so that intervals hold
    what they hold in every run of this test.
    """
    console, chance = quiet(), np.random.default_rng(2016)
    out = tmp_path_factory.mktemp("out") / "new"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "system", drawing.ByteSource(chance.bytes))
        demo.run(out, seed=2016, console=console)
    return out, console.file.getvalue()


@pytest.fixture(scope="module")
def replies(ran):
    return collect.replies(ran[0] / "demo.db", "demo")


@pytest.fixture(scope="module")
def results(replies):
    from naysay.demo import estimated_result

    return demo.Results(tuple(estimated_result(question, replies) for question in demo.questions()))


@pytest.fixture(scope="module")
def text(ran):
    return (ran[0] / "report.html").read_text(encoding="utf-8")


def test_the_report_and_the_answers_are_all_that_is_left(ran):
    assert sorted(path.name for path in ran[0].iterdir()) == ["demo.db", "report.html"]


def test_everybodys_answers_are_in_the_database_as_devices_sent_them(replies):
    asked = demo.people(demo.questions(), seed=2016)
    frame = replies.frame
    assert frame.height == demo.PEOPLE
    for name, levels in asked.levels.items():
        assert sorted(frame[f"{name}_level"]) == sorted(levels)
        discarded = [len(said.split(";")) for said in frame[name]]
        assert discarded == [int(level) for level in frame[f"{name}_level"]]


def test_a_seed_asks_the_same_people_again():
    asked = demo.questions()
    assert demo.people(asked, size=50, seed=3).columns == demo.people(asked, size=50, seed=3).columns
    assert demo.people(asked, size=50, seed=4).columns != demo.people(asked, size=50, seed=3).columns
    assert demo.people(asked, size=50).columns != demo.people(asked, size=50).columns


def test_people_are_drawn_from_the_published_shares():
    asked = demo.questions()
    drawn = demo.people(asked, size=20_000, seed=1)
    for question in asked:
        shares = [drawn.answers[question.name].count(name) / 20_000 for name in question.names]
        errors = np.sqrt(question.truth * (1 - question.truth) / 20_000)
        assert (np.abs(shares - question.truth) < 4.5 * errors).all()


def test_the_questionnaire_passes_the_checker():
    asked = demo.questionnaire(demo.questions())
    problems = rules.check(asked)
    assert not [each for each in problems if each.severity == "error"]
    for question, item in zip(demo.questions(), asked.questions, strict=True):
        assert [choice.label["en"] for choice in item.choices] == list(question.counts)
        assert item.private.offer.categories == tuple(question.names)


def test_the_intervals_hold_the_truth(results):
    assert results.intervals == 40
    assert results.holding >= 34


def test_the_estimates_are_of_the_population(results):
    for result in results.each:
        assert (result.fit.n, result.fit.missing, result.fit.target) == (2_000, 0, "population")
        errors = (result.fit.proportions - result.question.truth) / result.fit.standard_errors
        assert np.abs(errors).max() < 4


def test_the_report_says_what_was_found(text, results):
    assert f"{results.holding} of {results.intervals}" in text
    assert "2,000" in text
    assert "10,108" in text
    for result in results.each:
        assert f"{100 * result.fit.proportions[0]:.2f}" in text
        assert str(result.fit.comparison.test)[1:] in text


def test_the_report_counts_the_answers_that_reveal(text, results):
    revealing, answers = results.revealing
    assert answers == 5 * 2_000
    assert f"{revealing:,} of the {answers:,} answers" in text


def test_the_report_says_what_the_seed_did(text, results):
    assert "Seed 2016 says who was asked" in text
    assert "never seeded. Another run asks other people" in demo.page(results)


def test_the_terminal_shows_truth_beside_estimate(ran, results):
    out, told = ran
    lines = told.splitlines()
    prose = ("independence", "privacy", "The report", "The answers", "Estimate from", "A survey is up")
    assert max(len(line) for line in lines if not line.startswith(prose)) <= 120
    for result in results.each:
        assert any(line.startswith(result.question.title) for line in lines)
        for category, truth, share in zip(
            result.fit.categories, result.question.truth, result.fit.proportions, strict=True
        ):
            assert re.search(rf"^{re.escape(category)} +{100 * truth:.2f} +{100 * share:.2f} ", told, re.MULTILINE)
    assert f"{results.holding} of {results.intervals} intervals hold the truth" in told
    assert told.count("privacy by level") == len(results.each)
    assert "2,000 answers were randomized, sent and stored" in told
    assert str(out / "report.html") in told
    assert str(out / "demo.db") in told
    assert "seconds" in told


def test_categories_are_in_words(ran, text):
    for shown in (ran[1], text):
        assert "56 to 63" in shown
        assert "Under_25" not in shown


@pytest.fixture
def one_question(monkeypatch):
    """A shorter survey, where any will do."""
    asked = demo.questions()[2:3]
    monkeypatch.setattr("naysay.demo.questions", lambda: asked)
    return asked


def run(out, *, console=None, **options):
    return demo.run(out, seed=1, size=40, console=console or quiet(), **options)


def test_labels_with_brackets_are_not_markup(tmp_path, monkeypatch):
    asked = [replace(question, counts={"[red]": 700, "b": 200, "c": 100}) for question in demo.questions()[2:3]]
    monkeypatch.setattr("naysay.demo.questions", lambda: asked)
    console = quiet()
    run(tmp_path / "out", console=console)
    assert "[red]" in console.file.getvalue()


def test_a_second_run_takes_the_place_of_the_first(tmp_path, one_question):
    (tmp_path / "mine.txt").write_text("kept", encoding="utf-8")
    for _ in range(2):
        run(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo.db", "mine.txt", "report.html"]
    assert collect.replies(tmp_path / "demo.db", "demo").frame.height == 40


def test_it_stays_open_to_be_answered(tmp_path, one_question):
    console, links = quiet(), []

    def stay():
        links.extend(re.findall(r"Answer it yourself: (\S+)", console.file.getvalue()))
        survey = respond.fetch(links[0])
        respond.one(survey, {"sexual_preference": "Lesbian"})
        raise KeyboardInterrupt

    run(tmp_path, console=console, stay=stay)
    assert collect.replies(tmp_path / "demo.db", "demo").frame.height == 41
    with pytest.raises(DataError, match="cannot be reached"):
        respond.fetch(links[0])


def test_an_interruption_leaves_nothing(tmp_path, one_question, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("naysay.collect.respond.many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_interruption_while_writing_keeps_the_old_report(tmp_path, monkeypatch):
    from naysay.demo import write_report

    (tmp_path / "report.html").write_text("old", encoding="utf-8")

    def interrupted(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report("new", tmp_path)
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["old"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="folder"):
        run(tmp_path / "out")


def test_without_plots_the_tables_still_come(tmp_path, one_question, monkeypatch):
    found = importlib.import_module

    def missing(name, package=None):
        if name == "altair":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    console = quiet()
    assert run(tmp_path / "out", console=console) is None
    told = console.file.getvalue()
    assert "Heterosexual" in told
    assert "No report was written: the report needs altair" in told
    assert "pip install 'naysay[plots]'" in told
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["demo.db"]


def test_without_collect_it_says_what_to_install(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("naysay.collect.app", "naysay.collect.serving"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(DataError, match=r"pip install 'naysay\[collect,plots\]'"):
        run(tmp_path / "out")
