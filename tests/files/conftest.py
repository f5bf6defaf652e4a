from pathlib import Path

import polars as pl
import pyreadstat
import pytest

WRITERS = {".sav": pyreadstat.write_sav, ".zsav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}


@pytest.fixture
def survey(tmp_path):
    """Write a file of SPSS or Stata: ``survey("x.sav", {"q": [1.0]}, labels={"q": {1.0: "yes"}})``."""

    def written(name, columns, *, labels=None, **more):
        path = tmp_path / name
        if path.suffix == ".zsav":
            more["compress"] = True
        WRITERS[path.suffix](pl.DataFrame(columns, strict=False), path, variable_value_labels=labels or {}, **more)
        return path

    return written


@pytest.fixture
def portable(tmp_path):
    """Write a .por file of one variable Q with user-missing 9 and the labels 1 yes, 2 no."""

    def written(name, cells):
        path: Path = tmp_path / name
        pyreadstat.write_por(pl.DataFrame({"Q": cells}), path)
        text = "".join(path.read_text(encoding="ascii").split("\n")).rstrip("Z")
        variable, data = "1/Q5/8/2/5/8/2/", "F"
        assert text.count(variable + data) == 1
        text = text.replace(variable + data, variable + "89/" + "D1/1/Q2/1/3/yes2/2/no" + data)
        text += "Z" * (80 - len(text) % 80)
        path.write_text("\n".join(text[at : at + 80] for at in range(0, len(text), 80)) + "\n", encoding="ascii")
        return path

    return written
