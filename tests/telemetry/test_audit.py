"""Clients that break their promise are found by what they let out; clients that keep it are seldom accused."""

import contextlib
import hashlib
import hmac
import json
import math
import sys
import threading
import zlib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from naysay import DataError, DesignError, designs
from naysay.design import AffineHash, SubsetSelection
from naysay.design.drawing import ByteSource
from naysay.telemetry.audit import (
    Audit,
    Callee,
    Command,
    Endpoint,
    Finding,
    Observed,
    audit,
    detectable,
    lower_bound,
    of_design,
    walked,
)
from naysay.telemetry.audit.features import HASHES, features, pairs
from tests.telemetry import clients

PAIR = ("0", "1")
SIXTEEN = tuple(map(str, range(16)))
PROGRAM = [sys.executable, str(Path(clients.__file__))]


@pytest.mark.parametrize(
    ("client", "runs", "least", "seen"),
    [
        (clients.too_loud, 20_000, 1.0, "the bytes|the value"),
        (clients.subset, 2_000, 1.5, "item 1"),
        (clients.float_laplace, 4_000, 3.0, "the low bits"),
        (clients.padded_lie, 2_000, 2.0, "the length|the bytes"),
        (clients.half_silent, 2_000, 3.0, "an error|the bytes|the length|the value|the time"),
        (clients.even_nonce, 1_000, 3.0, "the lowest bits of item 2"),
        (clients.telling_letter, 1_000, 3.0, "byte 7"),
    ],
)
def test_a_client_that_tells_too_much_is_refuted_by_what_gives_it_away(client, runs, least, seen):
    found = audit(client, PAIR, 1.0, runs=runs)
    assert found.refuted
    assert found.shown > least
    assert any(word in found.findings[0].event for word in seen.split("|"))


@pytest.mark.parametrize(
    "design",
    [
        designs.k_ary(SIXTEEN, epsilon=1),
        designs.warner(p=math.e / (1 + math.e) - 1e-3),
        designs.k_ary(("0", "1", "2"), epsilon=0.5).then(designs.k_ary(("0", "1", "2"), epsilon=3)),
    ],
    ids=["k_ary", "warner", "then"],
)
def test_our_own_sampler_is_not_refuted(design):
    truths = list(map(str, design.categories))[:2]
    found = audit(of_design(design), truths, 1.0, runs=8_000, alpha=1e-4)
    assert not found.refuted
    assert 0 < found.shown < 1
    assert found.detectable is None or found.detectable > 1


def test_a_sampler_whose_epsilon_is_infinite_is_found_out():
    found = audit(of_design(designs.negative(("a", "b", "c"))), ("a", "b"), 3.0, runs=2_000)
    assert found.refuted
    assert found.findings[0].other_count == 0


def test_random_bytes_that_depend_on_the_answer_are_seen():
    """A client that draws once more for the lie tells by its reading what its report hides."""

    def once_more(truth):
        said = clients.k_ary(truth, 1.0)
        return Observed(said.encode(), drawn=8 if said == truth else 16)

    found = audit(once_more, PAIR, 1.0, runs=2_000)
    assert found.shown > 2
    assert "random bytes read" in found.findings[0].event


@pytest.mark.slow
def test_clients_that_keep_their_promise_are_accused_as_seldom_as_alpha_says():
    """At α = .1, in 200 audits of random designs whose reports are values, numbers, sets and bits."""
    rng, accused = np.random.default_rng(9), 0
    families = (designs.k_ary, designs.affine, designs.subset_selection, designs.unary)
    shapes = (lambda said: said, lambda said: [int(rng.integers(2**32)), said], lambda said: {"a": said, "b": "x"})
    for number in range(200):
        labels, epsilon = tuple(map(str, range(int(rng.integers(3, 9))))), float(rng.uniform(0.3, 2.5))
        design = families[number % 4](labels, epsilon=epsilon)
        drawn = {truth: iter(design.randomize([truth] * 600, rng=rng).texts()) for truth in PAIR}
        shape = shapes[number % 3]
        said = audit(
            lambda truth, drawn=drawn, shape=shape: shape(next(drawn[truth])),
            PAIR,
            epsilon,
            runs=400,
            alpha=0.1,
            rng=rng,
        )
        accused += said.refuted
    assert accused <= stats.binom.ppf(0.999, 200, 0.1)


def test_what_was_shown_at_least_is_rounded_down():
    """1.23456 was shown, and the sentence said 1.235."""
    found = Finding("a", "b", "an event", 9, 1, 1.23456)
    for claimed, words in ((1.0, "ε is above 1.234 ("), (2.0, "at least 1.234 was shown")):
        assert words in str(Audit("a client", claimed, (found,), 10, None, 0.05))


def test_the_bound_is_that_of_clopper_and_pearson():
    low = stats.binomtest(1534, 10_000).proportion_ci(0.99).low
    high = stats.binomtest(564, 10_000).proportion_ci(0.99).high
    assert lower_bound(1534, 564, 10_000, 0.01) == pytest.approx(math.log(low / high))
    assert lower_bound(0, 0, 100, 0.01) == -math.inf
    assert lower_bound(1000, 0, 1000, 0.01) == pytest.approx(math.log(1000 / 5.3), abs=0.02)


@pytest.mark.parametrize(
    ("t", "claimed", "true", "runs"),
    [(16, 1, 1.1, 50_100), (16, 1, 1.3, 5_380), (2, 1, 1.1, 6_880), (16, 4, 4.3, 15_500)],
)
def test_the_detectable_epsilon_is_that_of_the_reference(t, claimed, true, runs):
    share = 1 / (math.exp(true) + t - 1)
    assert detectable(claimed, share, runs, 0.01) == pytest.approx(true, abs=0.003)


@pytest.mark.parametrize(
    ("client", "truths", "seen", "replay"),
    [
        (clients.nonce_and_xor, ("3", "9"), "nonce xor said|nonce - said", None),
        (clients.nonce_and_sum, ("3", "9"), "item 1 - item 2", None),
        (clients.two_tokens, PAIR, "whether item 1 is item 2", None),
        (clients.salted, PAIR, "the truth for which id is sha256(salt + truth)", None),
        (clients.seeded, PAIR, "the report replayed for each truth", clients.replay),
        (clients.local_hashing, PAIR, "the report replayed for each truth", clients.replay),
    ],
)
def test_what_two_fields_tell_together_is_found(client, truths, seen, replay):
    found = audit(client, truths, 1.0, runs=1_000, replay=replay)
    assert found.refuted
    assert found.shown > 2
    assert found.findings[0].event.startswith(tuple(seen.split("|")))


def test_relations_of_two_fields_are_computed_as_they_are_named():
    seen = [Observed(b'{"a": 5, "b": {"c": 3}}'), Observed(b'{"b": {"c": 6}, "a": 6}')]
    known = {each.name: [each.values[code] for code in each.codes] for each in features(seen)}
    assert known["whether a is b.c"] == [False, True]
    assert known["a - b.c"] == [2, 0]
    assert known["a xor b.c"] == [6, 0]


@pytest.mark.parametrize(("salt_name", "digest_name"), [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("words", ["{} + truth", "truth + {}", "{}:truth", "truth:{}", "hmac"])
@pytest.mark.parametrize("name", HASHES)
def test_each_hash_of_a_salt_and_a_truth_is_known_by_its_name(name, words, salt_name, digest_name):
    """Wherever the digest stands; written here a second time, with hashlib alone."""
    if (name, words) == ("crc32", "hmac"):
        return
    reports = []
    for salt, truth in (("x1", "0"), ("x2", "1"), ("x3", "1")):
        if words == "hmac":
            digest = hmac.new(salt.encode(), truth.encode(), name).hexdigest()
        else:
            text = words.replace("truth", truth).replace("{}", salt).replace(" + ", "").encode()
            digest = f"{zlib.crc32(text):08x}" if name == "crc32" else hashlib.new(name, text).hexdigest()
        reports.append({salt_name: salt, digest_name: digest})
    called = f"hmac_{name}({salt_name}, truth)" if words == "hmac" else f"{name}({words.format(salt_name)})"
    assert dict(pairs(reports, PAIR))[f"the truth for which {digest_name} is {called}"] == ["0", "1", "1"]


def test_random_bytes_are_looked_at_beside_the_value_and_beside_each_member_of_a_set():
    seen = [Observed(b"[1, 2]", drawn=2), Observed(b"[1, 3]", drawn=4), Observed(b"[2, 3]", drawn=2)]
    known = {each.name: [each.values[code] for code in each.codes] for each in features(seen)}
    assert known["whether it holds 1 × random bytes read"] == ["1 with 2", "1 with 4", "0 with 2"]
    assert len(set(known["the value × random bytes read"])) == 3


def test_an_event_that_nobody_was_in_has_no_more_power_than_one_in_two_audits_would_see_once():
    assert detectable(1.0, 0.0, 1_000, 0.01) == detectable(1.0, 1 / 2_000, 1_000, 0.01)


def test_a_hash_that_was_not_declared_is_not_run_again_and_the_verdict_says_so():
    said = str(audit(clients.seeded, PAIR, 1.0, runs=500, alpha=1e-4))
    assert "not refuted" in said
    assert "other hashes with a seed were not run again (declare them: replay)" in " ".join(said.split())


def test_our_own_reports_are_read_as_a_reader_of_the_design_would():
    """1,000 categories at ε = 5 where 1 is promised: no report comes again, but each speaks for one half of them."""
    design = designs.affine(1_000, epsilon=5)
    found = audit(of_design(design), ("0", "999"), 1.0, runs=500)
    assert found.refuted
    assert found.findings[0].event.startswith("the report replayed")


def test_a_replay_that_fails_is_an_error_of_its_own():
    with pytest.raises(DataError, match=r"the replay of report 1, b'.*', failed: ZeroDivisionError"):
        audit(clients.right, PAIR, 1.0, runs=200, replay=lambda report, truth: 1 / 0)


def test_an_event_that_holds_all_reports_can_show_nothing():
    """A client that sends noise: "a true ε above 1.021 would have been found" was printed."""
    assert detectable(1.0, 1.0, 10_000, 0.01) is None
    assert detectable(1.0, math.exp(-1), 10**9, 0.01) is None
    rng = np.random.default_rng(3)
    found = audit(lambda _: [int(rng.integers(2**40)), "x"], PAIR, 1.0, runs=1_000, alpha=1e-4)
    assert found.detectable is None or found.findings[0].other_count / found.judged <= math.exp(-found.detectable)
    assert "no event in more than 0.37 of the other truth's reports can show an ε above 1" in " ".join(
        str(found).split()
    )


@pytest.mark.slow
def test_no_power_is_claimed_that_the_runs_do_not_have():
    """A true 1.3 where 1 is promised: what is claimed of events of their share is above it, or they are found."""
    design, drawn = designs.k_ary(SIXTEEN, epsilon=1.3), np.random.default_rng(60)
    for seed in range(30):
        reports = {truth: iter(design.randomize([truth] * 1_100, rng=drawn).texts()) for truth in PAIR}
        found = audit(
            lambda truth, reports=reports: next(reports[truth]), PAIR, 1.0, runs=1_000, rng=np.random.default_rng(seed)
        )
        claims = {share: true for share, true in found.powers if true is not None}
        assert all(true <= -math.log(share) for share, true in claims.items())
        assert found.refuted or claims.get(0.1, 9.0) > 1.3


def test_what_would_have_been_found_is_found_nine_times_in_ten():
    rng = np.random.default_rng(4)
    true, n = 1.3, 5_380
    share = 1 / (math.exp(true) + 15)
    here, there = rng.binomial(n, share * math.exp(true), 400), rng.binomial(n, share, 400)
    power = np.mean([lower_bound(k, other, n, 0.01) > 1 for k, other in zip(here, there, strict=True)])
    assert power == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("late", [[], ["--late"]], ids=["at once", "at the end"])
def test_a_program_is_audited_whether_it_waits_or_not(late, monkeypatch):
    monkeypatch.setattr("naysay.telemetry.audit.clients._QUIET", 1.5)
    found = audit(Command([*PROGRAM, "too_loud", *late]), PAIR, 0.5, runs=2_000)
    assert found.refuted
    told = Command([*PROGRAM, "right", *late]).observe(["1", "2"])
    assert [(each.seconds is None) for each in told] == [bool(late)] * 2


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # a reply in one piece

    def do_POST(self):
        truth = self.rfile.read(int(self.headers["Content-Length"])).decode()
        body = clients.too_loud(truth).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if self.path == "/tagged":
            self.send_header("ETag", truth)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_an_endpoint_on_this_computer_is_audited():
    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        assert audit(Endpoint(f"http://127.0.0.1:{server.server_port}/"), PAIR, 0.5, runs=2_000).refuted
        tagged = audit(Endpoint(f"http://127.0.0.1:{server.server_port}/tagged"), PAIR, 2.0, runs=300)
        assert tagged.findings[0].event.startswith("what stands beside it")
    finally:
        server.shutdown()
        server.server_close()


def test_the_numbers_are_data():
    found = audit(clients.right, PAIR, 1.0, runs=400)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["verdict"] == "not refuted"
    assert {each["truth"] for each in told["findings"]} == set(PAIR)
    assert told["powers"][0]["share"] == 0.1
    assert "this audit would have shown, with probability .9, a true ε by an event that the search picks" in " ".join(
        str(found).split()
    )


def test_events_are_judged_on_the_other_half_and_over_all_pairs():
    found = audit(lambda truth: truth, ("0", "1", "2"), 1.0, runs=401, alpha=0.03)
    best = found.findings[0]
    assert (best.count, best.other_count, found.judged, len(found.findings)) == (201, 0, 201, 6)
    assert found.shown == lower_bound(201, 0, 201, 0.03 / 6)


def test_order_shows_in_the_last_item_and_where_items_descend():
    seen = {each.name: each for each in features([Observed(b"[3, 1, 2]"), Observed(b"[1, 2, 3]")])}
    assert list(seen["where items descend"].values) == [1, None]
    assert list(seen["the last item"].values) == [2, 3]


def test_ctrl_c_judges_what_was_seen_until_then():
    count = 0

    def interrupted(truth):
        nonlocal count
        count += 1
        if count == 1_500:
            raise KeyboardInterrupt
        return clients.too_loud(truth)

    found = audit(interrupted, PAIR, 1.0, runs=20_000)
    assert found.stopped
    assert 300 < found.judged < 700


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"truths": ["a"]}, "needs two different truths"),
        ({"truths": ["a", "a"]}, "needs two different truths"),
        ({"truths": ["a", "b\n"]}, "a truth stands in one line"),
        ({"epsilon": 0}, "must be a number above 0; got 0"),
        ({"epsilon": math.nan}, "must be a number above 0; got nan"),
        ({"runs": 10}, "needs 100 runs of each truth at least; got 10"),
        ({"alpha": 1}, "alpha must lie between 0 and 1; got 1"),
        ({"client": lambda _: object()}, "a report must be text, bytes or what JSON can hold; got object"),
        ({"client": Command(["/no/such/program"])}, "cannot run '/no/such/program'"),
        (
            {"client": Command([sys.executable, "-c", "raise SystemExit('broken')"])},
            "ended after 0 of .* it said 'broken'",
        ),
        ({"client": Endpoint("http://127.0.0.1:9/")}, "does not answer"),
    ],
)
def test_bad_input(given, told):
    asked = {"client": clients.right, "truths": list(PAIR), "epsilon": 1.0, "runs": 200} | given
    with pytest.raises(DataError, match=told):
        audit(asked.pop("client"), asked.pop("truths"), asked.pop("epsilon"), **asked)


@pytest.mark.parametrize("url", ["http://example.org/", "http://192.0.2.1/", "ftp://127.0.0.1/", "127.0.0.1"])
def test_truths_do_not_leave_this_computer(url):
    with pytest.raises(DataError, match=r"on this computer|an endpoint is an address"):
        Endpoint(url)


ABC = ("a", "b", "c")
SMALL = [
    designs.warner(p=0.7),
    designs.two_coins(),
    designs.negative((*ABC, "d"), discards=2),
    designs.negative(ABC, weights=(1, 2, 5)),
    designs.mix((3, designs.negative((*ABC, "d"), discards=2)), (1, designs.uniform((*ABC, "d"), discards=2))),
    designs.two_coins() * designs.warner(p=0.75),
    SubsetSelection.of((*ABC, "d", "e"), 2, inside=3, outside=1, name="two of five"),
    AffineHash.of((*ABC, "d", "e"), 2, inside=3, outside=1, name="affine, base 2"),
    AffineHash.of((*ABC, "d"), 3, inside=4, outside=1, name="affine, base 3"),
]


@pytest.mark.parametrize("design", SMALL, ids=lambda each: each.name)
def test_every_path_through_the_sampler_adds_up_to_the_published_matrix(design):
    found = walked(design)
    texts = design.responses.texts()
    for place, category in enumerate(design.categories):
        assert sum(found.chances[category].values()) == 1
        assert found.bounds[category] == found.bounds[design.categories[0]] or not design.structure.pure
        exact = [float(found.chances[category].get(text, 0)) for text in texts]
        np.testing.assert_allclose(exact, design.matrix[:, place], atol=1e-9 if design.kind == "table" else 1e-12)


@pytest.mark.parametrize("bound", [2, 3, 5, 6, 7, 100, 255, 256, 257, 300])
def test_every_byte_string_gives_each_integer_equally_often(bound):
    """With this the walk over integers is a walk over all bytes that could be read."""
    width = -(-(bound - 1).bit_length() // 8)
    counts = np.zeros(bound, dtype=int)
    for number in range(256**width):
        given = [number.to_bytes(width, "big")]

        def read(size, given=given):
            if not given:
                raise StopIteration
            return given.pop() if size == width else b""

        with contextlib.suppress(StopIteration):  # a rejected number reads on
            counts[ByteSource(read).below(bound, 1)[0]] += 1
    assert len(set(counts.tolist())) == 1
    assert counts[0] > 0


def test_a_design_with_too_many_paths_is_not_walked():
    with pytest.raises(DesignError, match="more than 20,000 paths"):
        walked(designs.k_ary(SIXTEEN, epsilon=1) * designs.k_ary(SIXTEEN, epsilon=1))


BIG = 1 << 2_048


@pytest.mark.parametrize(
    "report",
    [
        lambda n: [BIG + n, BIG - n * n],
        lambda n: [f"{BIG + n:x}", f"{3 * BIG - n:x}"],
        lambda n: [BIG + n, 1 / n],
        lambda n: [math.nan, 1 / n],
        lambda n: [math.inf, math.inf],
    ],
    ids=["whole", "hexadecimal", "beside a float", "nan", "infinite"],
)
@pytest.mark.filterwarnings("error")
def test_numbers_too_large_for_a_float_are_audited(report):
    """A pair of ciphertexts ended in an OverflowError."""
    counter = iter(range(1, 10_000))
    assert audit(lambda _: report(next(counter)), ("a", "b"), 1.0, runs=150).verdict == "not refuted"


def test_a_callee_keeps_every_bit_of_a_float():
    (seen,) = Callee(lambda _: [0.1 + 0.2, 1e-300]).observe(["x"])
    assert json.loads(seen.report) == [0.1 + 0.2, 1e-300]
