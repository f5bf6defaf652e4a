"""Attacks: by brute force, at rates that are known, and beside a control."""

import itertools
import json

import numpy as np
import polars as pl
import pytest
import scipy

from naysay import microdata
from naysay.errors import DataError, NaysayError
from naysay.microdata import attack
from naysay.microdata.attack.inference import attack_html
from naysay.microdata.attack.linkage import candidates
from naysay.microdata.attack.register import Register

NAMES = ("a", "b", "c")


def cell(rng, *, sets):
    draw = rng.random()
    if draw < 0.25:
        return None
    if sets and draw < 0.4:
        return rng.choice(list("xyz"), 2, replace=False).tolist()
    return str(rng.choice(list("xyz")))


def table(rng, n, *, sets=False):
    return {name: [cell(rng, sets=sets) for _ in range(n)] for name in NAMES}


def agree(one, other):
    one, other = ({each} if isinstance(each, str) else None if each is None else set(each) for each in (one, other))
    return one is None or other is None or bool(one & other)


def by_brute_force(people, release, own):
    """Candidates with fewest gaps among what is known of a person, and whether theirs is one."""
    number, hit = [], []
    rows = list(zip(*release.values(), strict=True))
    for person, record in zip(zip(*people.values(), strict=True), own, strict=True):
        known = [place for place, each in enumerate(person) if each is not None]
        fits = {
            place: sum(row[key] is None for key in known)
            for place, row in enumerate(rows)
            if all(agree(person[key], row[key]) for key in known) and any(row[key] is not None for key in known)
        }
        best = [place for place, gaps in fits.items() if gaps == min(fits.values())]
        number.append(len(best))
        hit.append(record in best)
    return number, hit


@pytest.mark.parametrize("sets", [False, True])
def test_candidates_are_those_of_brute_force(sets):
    rng = np.random.default_rng(1)
    for _ in range(25):
        people, release = table(rng, 12, sets=sets), table(rng, 20, sets=sets)
        own = rng.integers(-1, 20, 12)
        frames = [pl.DataFrame(each, strict=False) if not sets else lists(each) for each in (people, release)]
        counts, own_is_among = candidates(Register(NAMES, frames[0], frames[1], own))
        number, hit = by_brute_force(people, release, own.tolist())
        assert counts.tolist() == number
        assert own_is_among.tolist() == hit


def lists(columns):
    """Every cell as a list, which is a set of candidates."""
    cells = {
        name: [None if each is None else [each] if isinstance(each, str) else each for each in own]
        for name, own in columns.items()
    }
    return pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.List(pl.String)))


def test_a_release_without_gaps_is_linked_with_the_mean_of_1_over_k():
    rng = np.random.default_rng(2)
    people = {"a": rng.integers(0, 9, 300), "b": rng.integers(0, 9, 300)}
    k = microdata.anonymity(microdata.Keys(people, ["a", "b"]))
    every, single, nearest = attack.link(people, people, ["a", "b"]).attacks
    assert every.of_all.value == nearest.of_all.value == pytest.approx((1 / k).mean())
    assert single.of_all.value == pytest.approx((k == 1).mean())
    assert single.of_links.value == 1


def test_no_attack_beats_a_class_of_k_records_that_look_the_same():
    rng = np.random.default_rng(3)
    for k in (2, 3, 5):
        n = 60 * k
        original = {"a": rng.integers(0, 50, n), "b": rng.integers(0, 50, n)}
        release = {"a": np.repeat(rng.integers(0, 50, 60), k), "b": np.repeat([None, *range(59)], k)}
        found = attack.link(release, original, ["a", "b"])
        assert all(each.of_all.value <= 1 / k + 1e-12 for each in found.attacks)


def test_two_emptied_records_protect_nobody():
    rng = np.random.default_rng(4)
    original = pl.DataFrame({"a": rng.integers(0, 30, 500), "b": rng.integers(0, 30, 500)})
    emptied = original.with_columns(
        pl.when(pl.int_range(500) >= 2).then(pl.col(name)).alias(name) for name in ("a", "b")
    )
    m = microdata.matches(microdata.Keys(emptied, ["a", "b"]))
    assert m.min() >= 3  # everybody matches three, and is found as often as before
    before, after = (
        attack.link(each, original, ["a", "b"], attacks=["exact"]).attacks[0] for each in (original, emptied)
    )
    assert after.of_all.value == pytest.approx(before.of_all.value, abs=4 / 500)


def test_links_to_people_who_are_not_there_are_the_control():
    rng = np.random.default_rng(5)
    population = pl.DataFrame(
        {"name": np.arange(4_000), "a": rng.integers(0, 40, 4_000), "b": rng.integers(0, 40, 4_000)}
    )
    release = population.sample(1_000, seed=1)
    found = attack.link(release, population, ["a", "b"], id="name", attacks=["exact"], most=None)
    single = found.attacks[1]
    assert (found.people, found.control) == (1_000, 3_000)
    # who does not know who is in the file is right about as often as the sampling fraction says: θ
    k = microdata.anonymity(microdata.Keys(release, ["a", "b"]))
    theta = microdata.theta((k == 1).sum(), (k == 2).sum() / 2, fraction=0.25)
    assert single.of_links.value == 1
    assert single.believed == pytest.approx(theta.estimate, abs=0.1)
    assert single.control.value == pytest.approx(np.mean(single.control.interval), abs=0.01)


def test_noise_is_undone_by_the_nearest_record_until_it_is_as_large_as_the_data():
    rng = np.random.default_rng(6)
    original = {name: rng.normal(size=400) for name in "abcd"}
    shares = []
    for noise in (0.01, 0.3, 30):
        release = {name: cells + noise * rng.normal(size=400) for name, cells in original.items()}
        found = attack.link(release, original, list("abcd"), attacks=["nearest"])
        shares.append(found.attacks[0].of_all.value)
    assert shares[0] > 0.98
    assert shares[0] > shares[1] > 0.3
    assert shares[2] < 0.02


def test_after_noise_a_record_with_a_gap_is_not_nearer_than_the_right_one():
    rng = np.random.default_rng(13)
    original = pl.DataFrame({name: rng.normal(size=500) for name in "abcd"})
    noisy = original.with_columns(pl.all() + pl.Series(rng.normal(size=500) * 0.05))
    gaps = noisy.with_columns(pl.when(pl.int_range(500) >= 100).then(pl.col("a")), pl.col("b"))
    found = attack.ATTACKS["nearest"](Register(tuple("abcd"), original, gaps, np.arange(500)))["nearest"]
    assert found.right[100:].mean() > 0.95  # were a gap agreement, it would be below a third


def test_a_gap_is_no_evidence_for_the_nearest_record():
    release = {"a": [1.0, None, 5.0], "b": [2.0, 2.0, 9.0], "c": [None, None, 3.0]}
    register = {"a": [1.0], "b": [2.0], "c": [3.0]}
    for own, right in ((0, 1.0), (1, 0.0)):
        known = Register(NAMES, pl.DataFrame(register), pl.DataFrame(release), np.array([own]))
        assert attack.ATTACKS["nearest"](known)["nearest"].right.tolist() == [right]  # equally near, but shows more


def test_wilson_is_that_of_the_literature():
    # Newcombe (1998), Statistics in Medicine 17, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29
    for right, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        share = attack.share_of([1.0] * right + [0.0] * (n - right))
        assert share.interval == pytest.approx((low, high), abs=5e-5)


def test_intervals_by_household_hold_where_members_are_alike():
    rng = np.random.default_rng(7)
    covered = {True: 0, False: 0}
    for _ in range(150):
        households = np.repeat(np.arange(80), 4)
        right = np.repeat(rng.random(80) < 0.4, 4).astype(float)
        for clustered in covered:
            low, high = attack.share_of(right, households if clustered else None).interval
            covered[clustered] += low <= 0.4 <= high
    assert covered[True] / 150 > 0.88
    assert covered[False] / 150 < 0.8


def household_by_brute_force(known, released):
    fits = [
        any(
            all(agree(a, b) for one, other in zip(known, order, strict=True) for a, b in zip(one, other, strict=True))
            for order in itertools.permutations(each)
        )
        if len(each) == len(known)
        else False
        for each in released
    ]
    gaps = [sum(value is None for member in each for value in member) for each in released]
    least = min((own for own, fit in zip(gaps, fits, strict=True) if fit), default=None)
    return [place for place, (own, fit) in enumerate(zip(gaps, fits, strict=True)) if fit and own == least]


def test_households_are_linked_by_all_of_their_members():
    rng = np.random.default_rng(8)
    for sizes in ((1, 2, 3), (5, 2)):
        number = rng.choice(sizes, 30)
        home = np.repeat(np.arange(30), number)
        n = len(home)
        people = pl.DataFrame({"id": np.arange(n), "home": home, **{name: rng.choice(["x", "y"], n) for name in "ab"}})
        gaps = people.with_columns(
            pl.when(pl.Series(rng.random(n) < 0.85)).then(pl.col(name)).alias(name) for name in "ab"
        )
        release = gaps.sample(n, shuffle=True, seed=1)  # members stand in another order
        found = attack.link(release, people, ["a", "b"], id="id", household="home", attacks=["exact"], most=None)
        whole = found.attacks[-1]
        members = [
            list(zip(*(people.filter(pl.col("home") == each)[name] for name in "ab"), strict=True))
            for each in range(30)
        ]
        shown = [
            list(zip(*(release.filter(pl.col("home") == each)[name] for name in "ab"), strict=True))
            for each in range(30)
        ]
        chance = []
        for place, each in enumerate(members):
            picked = household_by_brute_force(each, shown)
            chance.append((place in picked) / max(1, len(picked)))
        assert (whole.name, whole.of_all.n) == ("exact, whole households", 30)
        assert whole.of_all.value == pytest.approx(np.mean(chance))
        assert found.attacks[0].of_all.method == "cluster bootstrap"


def test_persons_of_a_panel_are_tuples_over_its_waves():
    rows = [("p", 1, "x"), ("p", 2, "y"), ("q", 1, "x"), ("q", 2, "x"), ("r", 1, "x")]
    register = pl.DataFrame(rows, schema=["id", "wave", "job"], orient="row")
    release = register.with_columns(pl.col("id").replace({"p": "p"})).sample(5, shuffle=True, seed=2)
    found = attack.link(release, register, ["job"], id="id", wave="wave", attacks=["exact"])
    assert found.keys == ("job in 1", "job in 2")
    # p is alone with x and y, q with x and x; r may be any of the three in wave 1
    assert found.attacks[0].of_all.value == pytest.approx((1 + 1 + 1 / 3) / 3)
    with pytest.raises(DataError, match="name it"):
        attack.link(release, register, ["job"], wave="wave")
    with pytest.raises(DataError, match="one row a wave; row 2 of the register"):
        attack.link(release, pl.concat([register[:1], register]), ["job"], id="id", wave="wave")


def test_an_intruder_knows_how_values_were_recoded():
    register = {"age": [21, 25, 34, 38, 52], "sex": ["f", "m", "f", "f", "m"]}
    release = {"age": ["20s", "20s", "30s", "30s", "50s"], "sex": register["sex"]}
    found = attack.link(release, register, ["age", "sex"])
    given = attack.link(
        release, register, ["age", "sex"], recodings={"age": {21: "20s", 25: "20s", 34: "30s", 38: "30s", 52: "50s"}}
    )
    assert found.recoded == given.recoded == ("age",)
    assert [each.of_all.value for each in found.attacks] == [each.of_all.value for each in given.attacks]
    assert found.attacks[0].of_all.value == pytest.approx(4 / 5)
    with pytest.raises(DataError, match="every value of the register; '52' is not in it"):
        attack.link(release, register, ["age"], recodings={"age": {21: "20s", 25: "20s", 34: "30s", 38: "30s"}})


@pytest.mark.slow
def test_probabilistic_links_are_right_about_as_often_as_it_says():
    pytest.importorskip("splink")
    rng = np.random.default_rng(9)
    n = 900
    people = pl.DataFrame({"id": np.arange(n)} | {f"k{place}": rng.integers(0, 12, n) for place in range(4)}).cast(
        {f"k{p}": pl.String for p in range(4)}
    )
    wrong = people.with_columns(
        pl.when(pl.Series(rng.random(n) < 0.9))
        .then(pl.col(f"k{place}"))
        .otherwise(None if place % 2 else pl.lit("0"))
        .alias(f"k{place}")
        for place in range(4)
    )
    release, keys = wrong[:600], [f"k{place}" for place in range(4)]
    found = attack.link(release, people, keys, id="id", attacks=["exact", "probabilistic"], most=300)
    told = {each.name: each for each in found.attacks}
    best, exact = told["probabilistic"], told["exact, any candidate"]
    assert best.of_all.value > exact.of_all.value  # values that are wrong are evidence against, not proof
    assert best.of_all.value > 0.85
    assert told["probabilistic, at least even"].of_links.value >= best.of_links.value
    assert told["probabilistic, at least even"].control.value < 0.5


def test_probabilistic_linkage_needs_two_keys():
    pytest.importorskip("splink")
    with pytest.raises(DataError, match="two keys"):
        attack.link({"a": [1, 2]}, {"a": [1, 2]}, ["a"], attacks=["probabilistic"])


def test_what_a_file_teaches_of_everybody_is_no_risk_of_its_people():
    rng = np.random.default_rng(10)

    def draw(n):
        age = rng.integers(0, 40, n)
        return pl.DataFrame(
            {
                "age": age,
                "town": rng.integers(0, 40, n),
                "ill": np.where((age > 20) ^ (rng.random(n) < 0.15), "yes", "no"),
            }
        )

    original, others = draw(800), draw(800)
    honest, copied = draw(800), original
    keys = ["age", "town"]
    found = attack.infer(honest, original, keys, "ill", control=others)
    assert found.inside.value > 0.7 > found.baseline  # it looks like a breach, and is none
    low, high = found.excess_interval
    assert low < 0 < high
    assert abs(found.excess) < 0.15
    noisy = original.with_columns(pl.Series("ill", rng.choice(["yes", "no"], 800)))
    leaked = attack.infer(
        noisy, noisy, keys, "ill", control=draw(800).with_columns(pl.Series("ill", rng.choice(["yes", "no"], 800)))
    )
    assert leaked.excess_interval[0] > 0.4
    assert attack.infer(copied, original, keys, "ill").control.n == 0


def test_copies_of_unique_people_stand_beside_a_fresh_sample():
    rng = np.random.default_rng(11)

    def draw(n):
        return pl.DataFrame({"a": rng.geometric(0.08, n), "b": rng.geometric(0.2, n)})

    original, control = draw(600), draw(600)
    copied = attack.replicated(original, original, ["a", "b"], control=control)
    assert copied.found == copied.unique > 2 * copied.fresh
    honest = attack.replicated(draw(600), original, ["a", "b"], control=control)
    error = np.sqrt(honest.found + honest.fresh)
    assert abs(honest.found - honest.fresh) < 4 * error
    counted = [attack.replicated(draw(600), original, ["a", "b"], control=draw(600)).fresh for _ in range(20)]
    expected = attack.replicated(original, original, ["a", "b"]).fresh
    assert expected == pytest.approx(np.mean(counted), rel=0.1)
    with pytest.raises(DataError, match="as many people"):
        attack.replicated(original, original, ["a"], control=control[:10])


def test_shares_of_some_people_are_near_those_of_all():
    rng = np.random.default_rng(12)
    people = {"a": rng.integers(0, 30, 3_000), "b": rng.integers(0, 30, 3_000)}
    every, some = (
        attack.link(people, people, ["a", "b"], attacks=["exact"], most=most).attacks[0].of_all for most in (None, 500)
    )
    assert (every.n, some.n) == (3_000, 500)
    z = (some.value - every.value) / np.sqrt(every.value * (1 - every.value) / 500)
    assert abs(z) < scipy.special.ndtri(0.9999)


def test_the_page_tells_the_numbers_and_no_value():
    people = {"job": ["vuurtorenwachter", "klokkenluider", None] * 20, "age": list(range(60))}
    found = attack.link(people, people, ["job", "age"])
    page = attack_html(
        [found, attack.infer(people, people, ["age"], "job"), attack.replicated(people, people, ["age"])]
    )
    assert f"{100 * found.strongest.of_all.value:.1f} %" in page
    assert "unique people stand again" in page
    assert "vuurtoren" not in page + str(found) + json.dumps(found.to_dict())


TABLE = {"id": [1, 2, 3], "a": ["x", "y", "z"]}
REFUSED = {
    "another length": (TABLE, {"a": ["x"]}, ["a"], {}, "1 rows and the release 3.*--id"),
    "no key": (TABLE, TABLE, [], {}, "at least one"),
    "a key in one text": (TABLE, TABLE, "a", {}, "list of column names"),
    "an unknown key": (TABLE, TABLE, ["b"], {}, "no column of the register 'b'"),
    "a person twice": (TABLE, TABLE | {"id": [1, 1, 2]}, ["a"], {"id": "id"}, "'1' in column 'id' of the register"),
    "an unknown attack": (TABLE, TABLE, ["a"], {"attacks": ["magic"]}, "exact.*got 'magic'"),
    "nobody to attack": (TABLE, TABLE, ["a"], {"most": 0}, "at least one person"),
    "a level of confidence": (TABLE, TABLE, ["a"], {"confidence": 95}, "between 0 and 1"),
    "a recoding of no key": (TABLE, TABLE, ["a"], {"recodings": {"b": {}}}, "no key 'b'"),
    "no rows": (TABLE, {"a": []}, ["a"], {}, "register has no rows"),
}


@pytest.mark.parametrize(("release", "register", "keys", "asked", "told"), REFUSED.values(), ids=REFUSED)
def test_bad_files_are_refused_with_the_way_out(release, register, keys, asked, told):
    with pytest.raises(DataError, match=told):
        attack.link(release, register, keys, **asked)


def test_a_register_of_strangers_says_that_nobody_is_found():
    found = attack.link(TABLE, TABLE | {"id": [7, 8, 9]}, ["a"], id="id")
    assert (found.people, found.control) == (0, 3)
    assert "nobody of the register" in str(found)
    assert found.to_dict()["attacks"][0]["right_of_all"]["share"] is None


def test_a_missing_extra_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "splink", None)
    with pytest.raises(NaysayError, match=r"naysay\[linkage\]"):
        attack.link(TABLE, TABLE, ["a", "id"], attacks=["probabilistic"])
