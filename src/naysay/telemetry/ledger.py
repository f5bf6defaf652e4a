"""A ledger for one device: what its answers have cost, what it may still say, and the answers that it keeps.

It needs the standard library, `naysay.telemetry.client` and `naysay.telemetry.prices`; the three files may be copied
onto a device. One file holds a key, and for each question the hash of its design, the rule of asking again and the
waves in which it was answered. It never holds a value, an answer, or whether a value changed: whoever reads the file
learns none of them. Kept answers are drawn from bytes that the key, the question, the design and the value give, so
that nothing is stored.

Because changes are not written down, the ledger charges the worst that they can cost, and tells three lines: what the
answers have cost if the value never changed, what each change adds, and the most that they can have cost.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import math
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

try:
    from naysay.telemetry import client, prices
except ImportError:  # on a device without naysay, beside client.py and prices.py
    import client  # type: ignore[no-redef, import-not-found]
    import prices  # type: ignore[no-redef, import-not-found]

__all__ = ["Ledger", "LedgerError", "Spent"]

Node = Mapping[str, Any]
Body = dict[str, Any]
"""What the file holds, or the price of one answer, as JSON."""

VERSION = 2
_DAY = 86_400
_WAIT = 5.0  # seconds that another process may hold the file
_ROUNDING = 1e-9
RULES = ("fresh", "kept", "memory")


class LedgerError(ValueError):
    """The ledger refuses: nothing was drawn, nothing was charged, and the file is as it was."""


class Spent(NamedTuple):
    """ε of all answers in the period, in nats."""

    unchanged: float
    """If no value ever changed."""
    per_change: float
    """What each change of a value adds at most."""
    at_most: float
    """The most about the values. Where an answer or a memo is kept, showing that a value changed comes besides."""

    def __str__(self) -> str:
        # per_change is 0 where every answer was drawn anew: then no answer shows a change.
        most_text = "at most, besides showing that it changed" if self.per_change else "at most"
        line_names = ("if your answer never changed", "per change", most_text)
        return "\n".join(
            f"{line_name}: ε = {_epsilon_text(line_epsilon)}"
            for line_name, line_epsilon in zip(line_names, self, strict=True)
        )


def _epsilon_text(epsilon: float) -> str:
    return "∞" if math.isinf(epsilon) else f"{epsilon:.4g}"


class Ledger:
    r"""The ledger in a file.

    Parameters
    ----------
    path : str or Path
        It is made with the first answer, readable by its owner only.
    cap : float, optional
        The most ε that may be spent within `days`; an answer that would cost more is refused.
    days : int
        The length of the period.
    of : {"at_most", "unchanged"}
        Which line the cap holds: the most about the values, or if they never changed.
    clock : callable
        Seconds since 1970.
    read : callable
        Takes a number and gives that many random bytes.

    Raises
    ------
    LedgerError
        A cap that is not positive, or another than the file's.

    Examples
    --------
    >>> import tempfile
    >>> from naysay import designs
    >>> survey = designs.k_ary(("a", "b", "c"), epsilon=1).to_json()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder, "ledger"), cap=4)
    ...     same = {ledger.answer(survey, "a", question="crash", wave=week, rule="kept") for week in range(9)}
    ...     print(len(same), ledger.spent(), sep="\n")
    1
    if your answer never changed: ε = 1
    per change: ε = 1
    at most, besides showing that it changed: ε = 3
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        cap: float | None = None,
        days: int = 365,
        of: str = "at_most",
        clock: Callable[[], float] = time.time,
        read: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        if (cap is not None and not 0 < cap < math.inf) or days < 1 or of not in Spent._fields:
            raise LedgerError(f"a cap must be positive, over one day or more; got {cap!r}, {days!r} and {of!r}")
        self.path, self._clock, self._read = Path(path), clock, read
        self._cap: Body | None = None if cap is None else {"epsilon": cap, "days": days, "of": of}

    def answer(
        self,
        design: str | Node,
        truth: object,
        *,
        question: str,
        wave: object,
        rule: str | None = None,
        part: object = None,
    ) -> str:
        """The answer for a wave, as text, after it was charged and the file was written.

        Parameters
        ----------
        design : str or object
            A design's JSON.
        truth : label
            The true category. It does not leave this function.
        question : str
            The question's name.
        wave : str or int
            The wave's name. A wave is answered once: if a message is lost, send the same answer again.
        rule : {"fresh", "kept", "memory"}, optional
            A new draw; an answer that is kept for each value; a kept report with new noise. By default "memory" for
            designs that remember, otherwise "fresh".
        part : label, optional
            The level or sample.

        Raises
        ------
        LedgerError
            The cap is reached, the wave was answered, the file is damaged or in use, or the clock goes back.
        ValueError
            JSON that is no design, or a truth that is outside its categories.
        """
        node = client.channel(design, part)
        client.position(node, truth, client.Bytes(self._read))  # refuses a truth that the design does not know
        applied_rule = rule or ("memory" if node["kind"] == "remembered" else "fresh")
        if applied_rule not in RULES or (applied_rule == "memory") != (node["kind"] == "remembered"):
            fitting_rules = "'memory' fits" if node["kind"] == "remembered" else "'fresh' and 'kept' fit"
            raise LedgerError(f"rule {rule!r} does not fit a design of kind {node['kind']!r}; {fitting_rules}")
        if applied_rule != "memory":
            _check_parts(node)
        if applied_rule == "kept" and client.holds(node, "window"):
            raise LedgerError(
                f"{question!r} asks for a number, which cannot be kept: a number that moves a little would be drawn "
                "anew each time, and the draws would show it; use rule 'fresh', or ask for one of some ranges"
            )
        ledger_key = self._charge(question, digest(node), applied_rule, prices.cost(node, applied_rule), wave)
        fresh_source = client.Bytes(self._read)
        if applied_rule == "fresh":
            return client.response_text(
                node, client.draw_response(node, client.position(node, truth, fresh_source), fresh_source)
            )
        memo_or_response = kept_response(
            node, truth, lambda stream_label: stream(ledger_key, question, digest(node), stream_label)
        )
        return client.response_text(
            node,
            client.redraw_response(node, memo_or_response, fresh_source)
            if applied_rule == "memory"
            else memo_or_response,
        )

    def one_of(self, asked: Mapping[str, tuple[str | Node, object]], *, wave: object) -> tuple[str, str]:
        """One question by lot, and its answer, drawn anew: {question: (design, truth)}. It costs the largest ε.

        The lot is drawn here, and depends on no answer.
        """
        if not asked:
            raise LedgerError("one question or more is needed to draw one by lot")
        nodes = {question_name: client.channel(design) for question_name, (design, _) in asked.items()}
        for design_node in nodes.values():
            _check_parts(design_node)
        source = client.Bytes(self._read)
        true_places = {
            question_name: client.position(nodes[question_name], truth, source)
            for question_name, (_, truth) in asked.items()
        }
        largest_epsilon = max(prices.cost(design_node, "fresh")["epsilon"] for design_node in nodes.values())
        lot_price = {"epsilon": largest_epsilon, "values": 0, "memo": None}
        joint_digest = hashlib.sha256(
            "".join(digest(design_node) for design_node in nodes.values()).encode()
        ).hexdigest()
        self._charge(" | ".join(nodes), joint_digest, "fresh", lot_price, wave)
        question_name = list(nodes)[source.integer(len(nodes))]
        return question_name, client.response_text(
            nodes[question_name], client.draw_response(nodes[question_name], true_places[question_name], source)
        )

    def spent(self) -> Spent:
        """What the answers of the period have cost."""
        with self._locked():
            return self._sum(self._load())

    def _charge(self, question: str, design: str, rule: str, price: Body, wave: object) -> bytes:
        """Write the answer down, unless it is refused; the ledger's key."""
        with self._locked():
            body = self._load()
            own_entries = [entry for entry in body["questions"] if entry["question"] == question]
            if any(str(wave) == used_wave for entry in own_entries for used_wave, _ in entry["waves"]):
                raise LedgerError(f"wave {wave!r} of {question!r} was answered; send that answer again")
            matching_entries = [entry for entry in own_entries if (entry["design"], entry["rule"]) == (design, rule)]
            charged_entry = matching_entries[0] if matching_entries else None
            if charged_entry is None:
                entry_price = price | {"epsilon": None if math.isinf(price["epsilon"]) else price["epsilon"]}
                charged_entry = {"question": question, "design": design, "rule": rule, **entry_price, "waves": []}
                body["questions"].append(charged_entry)
            charged_entry["values"] = price["values"]
            charged_entry.pop("uncertain", None)
            charged_entry["waves"].append([str(wave), body["day"]])
            spent_after = self._sum(body)
            if self._cap is not None and getattr(spent_after, self._cap["of"]) > self._cap["epsilon"] + _ROUNDING:
                may_share_hash = rule == "kept" and price["values"] is None and len(charged_entry["waves"]) > 1
                uncertain_names = [repr(entry["question"]) for entry in body["questions"] if "uncertain" in entry]
                raise LedgerError(
                    f"{question!r} is refused: ε would be {_epsilon_text(getattr(spent_after, self._cap['of']))} "
                    f"within {self._cap['days']} days, and at most {self._cap['epsilon']:g} is allowed"
                    + "; kept answers of an affine design show which values share a hash (k_ary has no hash)"
                    * may_share_hash
                    + f"; an older ledger did not write whether values of {', '.join(uncertain_names)} can share a "
                    "hash, so that they are charged as if they did until the question is answered again"
                    * bool(uncertain_names)
                )
            self._save(body)
            return bytes.fromhex(body["key"])

    def _sum(self, body: Body) -> Spent:
        """The three lines, of the waves that lie within the period."""
        period_start = -math.inf if self._cap is None else body["day"] - self._cap["days"]
        counts = [
            (entry, sum(wave_day > period_start for _, wave_day in entry["waves"])) for entry in body["questions"]
        ]
        return Spent(
            math.fsum(prices.after(entry, n) for entry, n in counts),
            max((prices.further(entry, n) for entry, n in counts), default=0.0),
            math.fsum(prices.most(entry, n) for entry, n in counts),
        )

    def _load(self) -> Body:
        """What the file holds, with today's date."""
        today = int(self._clock() // _DAY)
        try:
            file_octets = self.path.read_bytes()
        except FileNotFoundError:
            new_body = {"naysay": "ledger", "version": VERSION, "key": self._read(32).hex(), "cap": self._cap}
            return new_body | {"day": today, "questions": []}
        body = opened(file_octets, str(self.path))
        if body["cap"] != self._cap:
            raise LedgerError(f"{str(self.path)!r} was made with the cap {body['cap']}, not {self._cap}")
        if today < body["day"]:
            raise LedgerError(
                f"the clock goes back: it says {_date(today)}, and the ledger was used on {_date(body['day'])}; set "
                "the clock right (nothing was drawn, nothing is lost)"
            )
        return body | {"day": today}

    def _save(self, body: Body) -> None:
        """Write the whole file beside the old one, then put it in its place."""
        temporary_path = self.path.with_name(self.path.name + ".new")
        descriptor = os.open(temporary_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(sealed(body))
            file.flush()
            os.fsync(file.fileno())
        temporary_path.replace(self.path)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone with the file; another process is waited for, but not for long."""
        wait_end = time.monotonic() + _WAIT
        try:
            lock_file = self.path.with_name(self.path.name + ".lock").open("ab")
        except OSError as error:
            raise LedgerError(f"cannot use {str(self.path)!r}: {error.strerror or error}") from None
        with lock_file as lock:
            while not _take_lock(lock.fileno()):
                if time.monotonic() > wait_end:
                    raise LedgerError(f"another process uses {str(self.path)!r}; try again")
                time.sleep(0.01)
            yield  # closing the file gives the lock back


def _take_lock(descriptor: int) -> bool:
    """Whether the lock was taken."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def sealed(body: Node) -> bytes:
    """A line of JSON, and a line that shows whether it was cut short or changed: HMAC-SHA256 of it under the key."""
    line = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return line + b"\n" + hmac.new(bytes.fromhex(body["key"]), line, hashlib.sha256).hexdigest().encode() + b"\n"


def opened(octets: bytes, name: str) -> Body:
    """What `sealed` wrote."""
    try:
        body_line, check_line, line_after = octets.split(b"\n")
        body: Body = json.loads(body_line)
        expected_check = hmac.new(bytes.fromhex(body["key"]), body_line, hashlib.sha256).hexdigest().encode()
        if line_after or not hmac.compare_digest(check_line, expected_check):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LedgerError(
            f"the ledger {name!r} is damaged: cut short or changed. It was left as it is: put a copy back, or move it "
            "away (answers are then drawn anew, and charged from zero)"
        ) from None
    if body.get("naysay") != "ledger" or body.get("version") not in (1, VERSION):
        raise LedgerError(f"{name!r} is no ledger of version 1 or {VERSION}")
    return _upgraded_body(body) if body["version"] == 1 else body


def _upgraded_body(body: Body) -> Body:
    """A ledger of version 1 as one of this version.

    It held the size of the hash where values share one, and cannot be told from a number of categories. So the worst is
    taken, until the question is answered again and the design says which it is.
    """
    upgraded_entries = [
        entry if entry["rule"] == "fresh" else entry | {"values": None, "uncertain": True}
        for entry in body["questions"]
    ]
    return body | {"version": VERSION, "questions": upgraded_entries}


def _check_parts(node: Node) -> None:
    """Refuse a design that remembers where its memo would not be kept."""
    if client.holds(node, "remembered"):
        raise LedgerError("a design that remembers is asked by itself, with rule 'memory': its memo is kept")


def _date(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()


def digest(node: Node) -> str:
    """SHA-256 of what draws: the design's JSON without names and notes, keys in order, no spaces.

    A pattern of at most 256 categories is hashed as its table, except as a memo: kept answers outlive the shorter form.
    """
    text = json.dumps(_bare(node), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _bare(node: Any, *, memo: bool = False) -> Any:
    if isinstance(node, dict):
        if node.get("kind") == "pattern" and client.size(node) <= 256 and not memo:
            node = client.table_of_pattern(node)
        memo, dropped_keys = node.get("kind") == "remembered", ("name", "notes", "protocol", "alternatives")
        return {k: _bare(v, memo=memo) for k, v in node.items() if k not in dropped_keys}
    if isinstance(node, list):
        return [_bare(element) for element in node]
    return int(node) if isinstance(node, float) and node.is_integer() else node


def stream(key: bytes, question: str, design: str, label: str) -> Callable[[int], bytes]:
    """Bytes that only this key gives: block i is HMAC-SHA256(key, JSON of [question, design, label, i])."""
    buffer, block = b"", 0

    def next_bytes(size: int) -> bytes:
        nonlocal buffer, block
        while len(buffer) < size:
            block_text = json.dumps([question, design, label, block], ensure_ascii=False, separators=(",", ":"))
            buffer += hmac.new(key, block_text.encode(), hashlib.sha256).digest()
            block += 1
        next_octets, buffer = buffer[:size], buffer[size:]
        return next_octets

    return next_bytes


def kept_response(design: Node, truth: object, of: Callable[[str], Callable[[int], bytes]]) -> Any:
    """The response that is kept for a value; of a design that remembers, its memo.

    Of an affine design the hash is kept for all values, and its values have draws of their own: two categories that
    share a value of the hash share its draw, so that answers also tell which categories do.
    """
    memo_node = design["first"] if design["kind"] == "remembered" else design
    category_place = client.position(memo_node, truth, client.Bytes(bytes))  # of a category: no byte is read
    if memo_node["kind"] != "affine":
        return client.draw_response(memo_node, category_place, client.Bytes(of(f"value {category_place}")))
    s = client.Bytes(of("hash")).integer(client.hashes(memo_node))
    h = client.hash_value(memo_node, s, category_place)
    return client.affine_response(memo_node, s, h, client.Bytes(of(f"value {h}")))
