import json
import math

import numpy as np
import pytest

from naysay.errors import DataError
from naysay.simulate import result as running
from reproductions import SOURCES, Check, Measured, Picture, Reproduction, Table, reproduce, to_html, write
from reproductions.setting import largest, ratio_of_spreads

TABLE = Table("one", "A | table", ("", "n", "s.d."), (("a|b", 1_000, Measured(0.5, 0.01)), ("none", None, math.nan)))


def made(**changes):
    fields = {"name": "made", "title": "Made up", "source": "Nobody (2026)", "runs": 10, "seed": 1, "tables": (TABLE,)}
    checks = (Check("right", 1.0, 1.01, error=0.01), Check("wrong", 1.0, 2.0))
    return Reproduction(**(fields | {"checks": checks} | changes))


@pytest.mark.parametrize(
    ("relation", "below", "above"), [("is", False, False), ("at least", False, True), ("at most", True, False)]
)
def test_a_check_agrees_as_far_as_its_errors_reach(relation, below, above):
    assert Check("", 1.0, 1.0, relation=relation).agrees
    assert Check("", 1.0, 1.039, error=0.01, relation=relation).agrees
    assert Check("", 1.0, 0.961, error=0.01, relation=relation).agrees
    assert Check("", 1.0, 0.95, error=0.01, relation=relation).agrees == below
    assert Check("", 1.0, 1.05, error=0.01, relation=relation).agrees == above
    assert Check("", 0.066, 0.0664, rounding=0.0005, relation=relation).agrees


def test_what_is_not_a_number_agrees_with_nothing():
    assert not any(Check("", 1.0, math.nan, relation=relation).agrees for relation in ("is", "at least", "at most"))


def test_text_says_what_disagrees():
    told = str(made(notes=("made up",)))
    assert told.startswith("Made up\nNobody (2026)\n10 surveys in each simulation, seed 1\n\nA | table\n")
    assert "1,000  0.500 ±.010" in told
    assert "none      –" in told
    assert [line.split()[-1] for line in told.splitlines() if line.startswith(("right", "wrong"))] == ["yes", "NO"]
    assert told.endswith("made up\n1 of 2 agree")


def test_markdown_escapes_what_would_end_a_cell():
    told = made().to_markdown()
    assert "| a\\|b | 1,000 | 0.500 ±.010 |" in told
    rows = [line for line in told.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {4, 6}


def test_json_has_all_digits_and_no_nan():
    told = json.loads(json.dumps(made(seconds=1.5).to_dict(), allow_nan=False))
    assert told["tables"][0]["rows"] == [["a|b", 1_000, {"value": 0.5, "error": 0.01}], ["none", None, None]]
    assert (told["agreeing"], [check["agrees"] for check in told["checks"]]) == (1, [True, False])
    assert told["seconds"] == 1.5


def test_infinity_is_named():
    infinite = made(
        tables=(Table("e", "ε", ("", "ε"), (("negative", math.inf),)),), checks=(Check("ε", 1.0, math.inf),)
    )
    assert infinite.to_dict()["tables"][0]["rows"] == [["negative", "inf"]]
    assert str(infinite).count("∞") == 2


def test_a_table_is_found_by_its_name():
    assert made().table("one") is TABLE
    with pytest.raises(DataError, match="no table is called 'onne'; did you mean 'one'"):
        made().table("onne")


def test_it_says_what_it_is():
    assert repr(made()) == "<made: 1 of 2 agree (runs 10, seed 1)>"


def test_a_folder_holds_all_of_it(tmp_path):
    square = Picture(
        "square", "A <square>", lambda size: f'<svg style="fill:var(--chart-text,#1c2024)" width="{size}"/>'
    )
    folder = write(made(pictures=(square,)), tmp_path / "new")
    assert folder == tmp_path / "new" / "made"
    names = {"results.md", "results.json", "report.html", "square.svg", "square-dark.svg"}
    assert {path.name for path in folder.iterdir()} == names
    assert "#1c2024" in (folder / "square.svg").read_text()
    assert "#e8eaed" in (folder / "square-dark.svg").read_text()
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "1 of 2" in page
    assert "A &lt;square&gt;" in page


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "made").write_text("taken")
    with pytest.raises(DataError, match=r"cannot write to '.*made'"):
        write(made(), tmp_path)


def test_the_page_escapes_what_it_shows():
    assert "<b>" not in to_html(made(title="<b>", source="<b>", notes=("<b>",)))


@pytest.mark.parametrize("runs", [1, 0, -5, 2.5, True])
def test_too_few_runs_are_refused(runs):
    with pytest.raises(DataError, match="runs must be at least 2, as the spread of one survey is not known; got"):
        reproduce("two_coins", runs=runs)


def test_an_unknown_name_is_told_the_nearest():
    with pytest.raises(DataError, match="is called 'esponda2061'; did you mean 'esponda20"):
        reproduce("esponda2061")


def test_a_seed_repeats_it_on_any_number_of_workers():
    one, again, other = (reproduce("two_coins", runs=50, seed=seed).to_dict() for seed in (3, 3, 4))
    assert one["tables"] == again["tables"]
    assert one["tables"] != other["tables"]
    assert reproduce("two_coins", runs=50, seed=3, workers=2).to_dict()["tables"] == one["tables"]


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "mulder"])  # which repeats no survey
def test_ctrl_c_ends_it(name, monkeypatch):
    class Interrupted(running.Progress):
        def update(self, *given, **named):
            raise KeyboardInterrupt

    monkeypatch.setattr(running, "Progress", Interrupted)
    monkeypatch.setattr(running, "_BATCH", 0.0)
    with pytest.raises(KeyboardInterrupt):
        reproduce(name, runs=6)


def test_the_error_of_a_ratio_of_spreads_is_how_far_it_moves():
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(4, 4))
    pairs = [
        ratio_of_spreads(0.5 * rng.normal(size=(80, 4)) @ mixing, rng.normal(size=(80, 4)) @ mixing) for _ in range(500)
    ]
    ratios, errors = np.array(pairs).T
    assert ratios.mean() == pytest.approx(0.5, rel=0.02)
    assert errors.mean() == pytest.approx(ratios.std(), rel=0.15)


def test_the_largest_of_zeros_is_in_errors():
    assert largest(np.array([0.1, -0.3, 5.0]), np.array([0.1, 0.1, 0.0])) == pytest.approx(3)
