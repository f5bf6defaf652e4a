"""Commands print and write what they did before.

Every byte must be the same, except the last digits of decimal numbers: another processor adds in another order. To
compare those too, record again on one machine and look at ``git diff`` (see tests/reference/make_recorded.py).
"""

import re
import shutil

import pytest
from recording import HERE, cases, record

DECIMAL = re.compile(r"(-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+)")


@pytest.mark.parametrize("name", cases())
def test_a_command_prints_and_writes_what_is_recorded(naysay, tmp_path, name):
    shutil.copytree(HERE / "inputs", tmp_path, dirs_exist_ok=True)
    (tmp_path / "surveys.db").chmod(0o600)  # else commands warn that others could read it
    ran = naysay(*cases()[name])
    said = DECIMAL.split(record(ran.code, ran.out, tmp_path))
    before = DECIMAL.split(HERE.joinpath(f"{name}.txt").read_bytes().decode())
    assert said[::2] == before[::2]
    assert list(map(float, said[1::2])) == pytest.approx(list(map(float, before[1::2])), rel=1e-9, abs=1e-12)
