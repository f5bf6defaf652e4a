"""The page of a change between two waves."""

import numpy as np

from naysay import designs


def test_the_page_draws_each_change_around_zero(naysay, tmp_path):
    design, rng = designs.warner(p=0.9), np.random.default_rng(4)
    waves = [design.randomize(rng.choice(["yes", "no"], 400, p=p), rng=rng).texts() for p in ((0.1, 0.9), (0.5, 0.5))]
    rows = "\n".join(map(",".join, zip(*waves, strict=True)))
    (tmp_path / "panel.csv").write_text(f"one,two\n{rows}\n", encoding="utf-8")
    columns = ("--response", "one", "--response", "two")
    told = naysay("change", "panel.csv", *columns, "--design", "warner(p=0.9)", "--html", "change.html")
    assert (told.code, told.err) == (0, "")
    page = (tmp_path / "change.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2  # for wide and for narrow screens
    assert "400 people in both waves" in page
    assert "change, points" in page
