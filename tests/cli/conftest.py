import shutil
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from naysay import batches, designs, files
from naysay.cli import main
from naysay.collect.questionnaire import sample, write_xlsform
from naysay.microdata.panel import merge_waves
from reproductions.panel import BACKGROUND, generate

CATEGORIES = ("low", "middle", "high", "none")


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def naysay(capsys, tmp_path, monkeypatch):
    """Run one command in an empty folder: ``naysay("estimate", "answers.csv", …)``."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def refused(naysay):
    """The one line that a command with bad input gives."""

    def run(*arguments):
        code, out, err = naysay(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("naysay: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        return err.removeprefix("naysay: ").removesuffix("\n")

    return run


@pytest.fixture
def write(tmp_path):
    """Write a small file: ``write("answers.csv", "income", "low", …)``, one line each."""

    def text(name, *lines, encoding="utf-8"):
        (tmp_path / name).write_bytes("".join(line + "\n" for line in lines).encode(encoding))
        return name

    return text


@pytest.fixture(scope="session")
def questionnaires(tmp_path_factory):
    """The sample questionnaire as a workbook and as JSON."""
    folder = tmp_path_factory.mktemp("questionnaires")
    write_xlsform(sample(), folder / "survey.xlsx")
    (folder / "survey.json").write_bytes(sample().to_json())
    return sorted(folder.iterdir())


@pytest.fixture
def survey(tmp_path, questionnaires):
    """The files that the help's examples read."""
    rng = np.random.default_rng(8)
    truth = rng.choice(CATEGORIES, 400, p=(0.4, 0.3, 0.2, 0.1))
    smoker = np.where(np.arange(400) % 3, "no", "yes")
    people = pl.DataFrame({"id": np.arange(400), "income": truth, "smoker": smoker, "age": np.arange(400) % 60 + 18})
    people.write_csv(tmp_path / "truth.csv")
    pairs = designs.negative(CATEGORIES, discards=2).randomize(truth, rng=rng)
    warner = designs.warner(p=0.7).randomize(np.where(truth == "none", "yes", "no"), rng=rng)
    answers = {
        "income": pairs.texts(),
        "doping": warner.texts(),
        "check": designs.warner(p=0.7).randomize(["no"] * 400, rng=np.random.default_rng(9)).texts(),
        "sport": rng.choice(["cycling", "judo"], 400),
        "weight": rng.uniform(0.5, 2, 400).round(2),
        "age": 18 + np.arange(400) % 60,
    }
    pl.DataFrame(answers).write_csv(tmp_path / "answers.csv")
    known = ["yes"] * 60 + ["no"] * 60
    said = designs.warner(p=0.7).randomize(known, rng=np.random.default_rng(10))
    pl.DataFrame({"truth": known, "doping": said.texts()}).write_csv(tmp_path / "known.csv")
    chosen = designs.negative_levels(CATEGORIES).randomize(truth, rng=rng)
    pl.DataFrame({"income": chosen.texts(), "level": chosen.level, "age": answers["age"]}).write_csv(
        tmp_path / "levels.csv"
    )
    design = designs.negative(CATEGORIES)
    counts = design.tally(design.randomize(truth, rng=rng)).counts
    pl.DataFrame({"income": CATEGORIES, "n": counts}).write_csv(tmp_path / "counts.csv")
    (tmp_path / "design.json").write_text(design.to_json(), encoding="utf-8")
    named = np.asarray(design.randomize(truth, rng=rng))
    pl.DataFrame({label: named == label for label in CATEGORIES}).write_parquet(tmp_path / "sets.parquet")
    cheating = designs.cheating_detection(p=("1/4", "3/4"))
    said = cheating.randomize(rng.choice(cheating.cells, 400, p=(0.2, 0.7, 0.1)), rng=rng)
    sampled = {"doping": said.texts(), "sample": said.level, "age": answers["age"]}
    pl.DataFrame(sampled, strict=False).write_csv(tmp_path / "samples.csv")
    schools = {"school": np.arange(400) // 20, "region": np.repeat(["north", "south"], 200), "schools": 60}
    pl.DataFrame(answers | schools).write_csv(tmp_path / "school.csv")
    own = np.random.default_rng(16)  # what follows draws from the other one
    study = {"cheated": own.choice(["yes", "no"], len(truth)), "sex": own.choice(["f", "m"], len(truth))}
    study |= {"region": own.choice(["north", "south"], len(truth)), "income": chosen.texts(), "level": chosen.level}
    pl.DataFrame(study).write_csv(tmp_path / "study.csv")
    panel(rng).write_csv(tmp_path / "panel.csv")
    waves(tmp_path)
    people = {"age": 18 + np.arange(400) % 60, "gender": own.choice(["f", "m"], 400), "occupation": np.arange(400) % 4}
    files.write(pl.DataFrame(people), tmp_path / "survey.sav")
    arm = own.choice(["treatment", "control"], 400)
    counts = own.binomial(4, 0.5, 400) + (arm == "treatment") * own.binomial(1, 0.5, 400)
    pl.DataFrame({"count": counts, "arm": arm, "age": answers["age"]}).write_csv(tmp_path / "list.csv")
    reports(tmp_path)

    plan = 'naysay = "plan"\nversion = 1\nkeys = ["age"]\n[[step]]\nmethod = "suppress"\nkeys = ["age"]\n'
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    for path in questionnaires:
        shutil.copy(path, tmp_path)
    return tmp_path


def reports(folder):
    """Batches of reports, their design and their tally under several names."""
    crash = designs.k_ary(("list", "map"), epsilon=1)
    (folder / "crash.json").write_text(crash.to_json(), encoding="utf-8")
    batches.write(folder / "reports.nsrb", crash, ["list"] * 30 + ["map"] * 10, question="crash")
    for name in ("crash", "monday", "tuesday", "week", "deleted"):
        batches.tally(folder / "reports.nsrb", crash).save(folder / f"{name}.tally")


def waves(folder):
    """Two years of a small panel: its background, a module, its members, and two waves without their months."""
    made = generate(respondents=30, background_only=20, population=10_000, waves=24)
    made.background.write_csv(folder / "background.csv")
    made.modules["work"].write_csv(folder / "work.csv")
    merge_waves(made.waves, background=BACKGROUND).table.write_csv(folder / "members.csv")
    for month, name in (("2009-03", "march.csv"), ("2009-04", "april.csv")):
        made.background.filter(wave=month).drop("wave").write_csv(folder / name)


def panel(rng, n=300):
    """Respondents whose months of birth are uncertain and whose incomes are negative answers."""
    month = rng.integers(1, 12, n)
    either = np.where(rng.random(n) < 0.7, [f"{one};{one + 1}" for one in month], month.astype(str))
    columns = {
        "age": rng.choice([*map(str, range(18, 80)), "refused", "-9"], n),
        "gender": rng.choice(["f", "m", None], n, p=(0.5, 0.45, 0.05)),
        "job": rng.choice(["clerk", "nurse", "teacher", "none", None], n),
        "month": np.where(rng.random(n) < 0.1, None, either),
        "income": rng.choice(["low", "middle", "high", None], n),
        "illness": rng.choice(["none", "flu", "asthma"], n),
        "weight": rng.uniform(30_000, 80_000, n).round(1),
    }
    return pl.DataFrame({name: values.tolist() for name, values in columns.items()})
