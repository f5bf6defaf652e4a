import importlib
import io
import re

import numpy as np
import pytest
from rich.console import Console

from naysay import demo
from naysay.errors import DataError


def quiet():
    return Console(file=io.StringIO(), width=80)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    console = quiet()
    return demo.run(tmp_path_factory.mktemp("out") / "new", seed=2016, console=console), console.file.getvalue()


@pytest.fixture(scope="module")
def results():
    return demo.survey(demo.questions(), demo.simulated(2016), console=quiet())


@pytest.fixture(scope="module")
def text(ran):
    return ran[0].read_text(encoding="utf-8")


def test_the_report_is_the_only_file(ran):
    path, _ = ran
    assert path.name == "report.html"
    assert list(path.parent.iterdir()) == [path]


def test_a_seed_repeats_the_report(ran, results):
    assert ran[0].read_text(encoding="utf-8") == demo.page(results, seed=2016)


def test_another_seed_gives_other_answers(results):
    race = demo.questions()[1]
    again = demo.survey([race], demo.simulated(2017), console=quiet()).each[0]
    assert not np.array_equal(again.fit.proportions, results.each[1].fit.proportions)


def test_without_a_seed_every_run_differs():
    race = demo.questions()[1]
    one, other = (np.asarray(demo.simulated()(race)) for _ in range(2))
    assert not np.array_equal(one, other)


def test_the_intervals_hold_the_truth(results):
    assert results.intervals == 40
    assert results.holding >= 34


def test_the_estimates_are_of_the_file(results):
    for result in results.each:
        assert (result.fit.n, result.fit.missing, result.fit.target) == (10_108, 0, "file")
        errors = (result.fit.proportions - result.question.truth) / result.fit.standard_errors
        assert np.abs(errors).max() < 4


def test_the_report_says_what_was_found(text, results):
    assert f"{results.holding} of {results.intervals}" in text
    assert "10,108" in text
    for result in results.each:
        assert f"{100 * result.fit.proportions[0]:.2f}" in text
        assert str(result.fit.comparison.test)[1:] in text


def test_the_report_counts_the_answers_that_reveal(text, results):
    revealing, answers = results.revealing
    assert answers == 5 * 10_108
    assert f"{revealing:,} of the {answers:,} answers" in text


def test_the_terminal_shows_truth_beside_estimate(ran, results):
    path, told = ran
    lines = told.splitlines()
    prose = ("independence", "privacy", "The report")
    assert max(len(line) for line in lines if not line.startswith(prose)) <= 120
    for result in results.each:
        assert any(line.startswith(result.question.title) for line in lines)
        for category, truth, share in zip(
            result.fit.categories, result.question.truth, result.fit.proportions, strict=True
        ):
            assert re.search(rf"^{re.escape(category)} +{100 * truth:.2f} +{100 * share:.2f} ", told, re.MULTILINE)
    assert f"{results.holding} of {results.intervals} intervals hold the truth" in told
    assert told.count("privacy by level") == len(results.each)
    assert str(path) in told
    assert "seconds" in told


def test_labels_with_brackets_are_not_markup(ran):
    assert "[72, 80]" in ran[1]


@pytest.fixture
def one_question(monkeypatch):
    """A shorter survey, where any will do."""
    asked = demo.questions()[2:3]
    monkeypatch.setattr(demo, "questions", lambda: asked)
    return asked


def test_answers_may_come_from_elsewhere(tmp_path, one_question):
    asked = []

    def collect(question):
        asked.append(question.name)
        return demo.simulated(1)(question)

    path = demo.run(tmp_path, console=quiet(), collect=collect)
    assert asked == ["sexual_preference"]
    assert "randomized where they were given" in path.read_text(encoding="utf-8")


def test_an_interruption_leaves_nothing(tmp_path):
    def interrupted(question):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        demo.run(tmp_path / "out", console=quiet(), collect=interrupted)
    assert not (tmp_path / "out").exists()


def test_an_interruption_while_writing_keeps_the_old_report(tmp_path, monkeypatch):
    (tmp_path / "report.html").write_text("old", encoding="utf-8")

    def interrupted(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        demo._written("new", tmp_path)
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["old"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="folder"):
        demo.run(tmp_path / "out", console=quiet())


def test_without_the_extra_the_tables_still_come(tmp_path, one_question, monkeypatch):
    found = importlib.import_module

    def missing(name, package=None):
        if name == "altair":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    console = quiet()
    assert demo.run(tmp_path / "out", seed=2016, console=console) is None
    told = console.file.getvalue()
    assert "Heterosexual" in told
    assert "No report was written: the report needs altair" in told
    assert "pip install 'naysay[plots]'" in told
    assert not (tmp_path / "out").exists()
