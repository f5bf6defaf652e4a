"""A log of announced surveys: entries are only ever added, and a second party signs how many there are.

The tree is that of RFC 9162, section 2.1, with SHA-256. Its head is a C2SP checkpoint, signed by Ed25519 as a C2SP
note; witnesses cosign it as C2SP tlog-cosignatures (v1) have it; proofs are C2SP tlog-proofs. So whoever has a program
for such logs needs none of ours.

First the tree; then the head and its signatures; then the log, as one text file.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from naysay.errors import DataError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from naysay.collect.survey.published import Published

_PROOF = "c2sp.org/tlog-proof@v1"
_ED25519, _COSIGNATURE = b"\x01", b"\x04"
"""What a key signs: the heads of its own log, or as a witness those of others."""
_DAY = 86_400


def _is_name(name: str) -> bool:
    return bool(name) and name.isprintable() and not {" ", "+"} & {*name}


def _leaf_hash(entry: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + entry).digest()


def _node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _split(size: int) -> int:
    """The largest power of two below a size."""
    return 1 << (size - 1).bit_length() - 1


def root(entries: Sequence[bytes]) -> bytes:
    """The root of the tree over these entries (RFC 9162, 2.1.1).

    Examples
    --------
    >>> root([]).hex()[:8], root([b""]).hex()[:8]
    ('e3b0c442', '6e340b9c')
    """
    if not entries:
        return hashlib.sha256().digest()
    if len(entries) == 1:
        return _leaf_hash(entries[0])
    left_size = _split(len(entries))
    return _node_hash(root(entries[:left_size]), root(entries[left_size:]))


def inclusion(entries: Sequence[bytes], place: int) -> list[bytes]:
    """The hashes that lead from an entry to the root (RFC 9162, 2.1.3.1)."""
    if len(entries) == 1:
        return []
    left_size = _split(len(entries))
    if place < left_size:
        return [*inclusion(entries[:left_size], place), root(entries[left_size:])]
    return [*inclusion(entries[left_size:], place - left_size), root(entries[:left_size])]


def included(entry: bytes, place: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root to which an entry at a place of a tree of this size leads (RFC 9162, 2.1.3.2); None if to none.

    Examples
    --------
    >>> entries = [b"a", b"b", b"c"]
    >>> included(b"c", 2, 3, inclusion(entries, 2)) == root(entries), included(b"c", 1, 3, inclusion(entries, 2))
    (True, None)
    """
    if not 0 <= place < size:
        return None
    node, last, left = _leaf_hash(entry), size - 1, list(path)
    while last and left:
        if place % 2 or place == last:
            node = _node_hash(left.pop(0), node)
            while not place % 2 and place:
                place, last = place >> 1, last >> 1
        else:
            node = _node_hash(node, left.pop(0))
        place, last = place >> 1, last >> 1
    return None if last or left else node


def consistency(entries: Sequence[bytes], earlier_size: int) -> list[bytes]:
    """The hashes that show that a tree begins with one of an earlier size (RFC 9162, 2.1.4.1)."""

    def subproof(part: Sequence[bytes], size: int, *, whole: bool) -> list[bytes]:
        if size == len(part):
            return [] if whole else [root(part)]
        left_size = _split(len(part))
        if size <= left_size:
            return [*subproof(part[:left_size], size, whole=whole), root(part[left_size:])]
        return [*subproof(part[left_size:], size - left_size, whole=False), root(part[:left_size])]

    return subproof(entries, earlier_size, whole=True) if 0 < earlier_size < len(entries) else []


def consistent(earlier: Head, later: Head, path: Sequence[bytes]) -> bool:
    """Whether a path shows that the later tree begins with the earlier one (RFC 9162, 2.1.4.2).

    Examples
    --------
    >>> entries = [b"a", b"b", b"c"]
    >>> heads = [Head("board.example", size, root(entries[:size])) for size in range(4)]
    >>> consistent(heads[2], heads[3], consistency(entries, 2)), consistent(heads[1], heads[3], consistency(entries, 2))
    (True, False)
    """
    if earlier.size in (0, later.size):
        return not path and (earlier.size == 0 or earlier.root == later.root)
    if earlier.size > later.size or not path:
        return False
    left = list(path) if earlier.size & earlier.size - 1 else [earlier.root, *path]
    place, last = earlier.size - 1, later.size - 1
    while place % 2:
        place, last = place >> 1, last >> 1
    first = second = left.pop(0)
    for node in left:
        if not last:
            return False
        if place % 2 or place == last:
            first, second = _node_hash(node, first), _node_hash(node, second)
            while not place % 2 and place:
                place, last = place >> 1, last >> 1
        else:
            second = _node_hash(second, node)
        place, last = place >> 1, last >> 1
    return (first, second, last) == (earlier.root, later.root, 0)


class Head(NamedTuple):
    """What is signed: whose log it is, how many entries it has, and the root of the tree over them."""

    name: str
    size: int
    root: bytes

    def __str__(self) -> str:
        return f"{self.name}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def public_key(name: str, key: Ed25519PrivateKey, *, witness: bool = False) -> str:
    """The key as others need it to check what is signed: name, key number and key, in the form of a C2SP note.

    Examples
    --------
    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> public_key("board.example", Ed25519PrivateKey.from_private_bytes(bytes(32)))[:22]
    'board.example+c848e360'
    """
    public = (_COSIGNATURE if witness else _ED25519) + key.public_key().public_bytes_raw()
    return f"{name}+{_key_number(name, public).hex()}+{base64.b64encode(public).decode()}"


def _key_number(name: str, public: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + public).digest()[:4]


class _PublicKey(NamedTuple):
    """Who signs, and the key without its kind."""

    name: str
    number: bytes
    key: bytes

    @classmethod
    def read(cls, public: str, *, kind: bytes) -> _PublicKey:
        """The key in a text, if it is of this kind."""
        name, _, number_and_key = public.strip().partition("+")
        number, _, key_text = number_and_key.partition("+")
        with contextlib.suppress(ValueError):
            key = base64.b64decode(key_text, validate=True)
            is_named = _is_name(name) and _key_number(name, key).hex() == number
            if is_named and len(key) == 33 and key[:1] == kind:
                return cls(name, bytes.fromhex(number), key[1:])
        example = "witness.example.org+0a1b2c3d+BbCd…" if kind == _COSIGNATURE else "board.example.org+0a1b2c3d+AbCd…"
        whose = "witness" if kind == _COSIGNATURE else "log"
        raise DataError(f"a public key of a {whose} looks like {example}, of one piece; got {public!r}")

    def signatures(self, text: str) -> Iterator[bytes]:
        """What a text says that this key has signed at its beginning; whether it has is not checked."""
        for line in text.split("\n")[4:]:
            dash, _, rest = line.partition(" ")
            signer, _, signature_text = rest.partition(" ")
            if dash != "—":
                return
            with contextlib.suppress(ValueError):
                signature = base64.b64decode(signature_text, validate=True)
                if (signer, signature[:4]) == (self.name, self.number):
                    yield signature[4:]

    def has_signed(self, content: bytes, signature: bytes) -> bool:
        """Whether this key has signed a content."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.key).verify(signature, content)
        except InvalidSignature:
            return False
        return True


def signed(head: Head, key: Ed25519PrivateKey) -> str:
    """A head with its signature, as text."""
    public = _ED25519 + key.public_key().public_bytes_raw()
    signature = _key_number(head.name, public) + key.sign(str(head).encode())
    return f"{head}\n— {head.name} {base64.b64encode(signature).decode()}\n"


def head_of(text: str, public: str) -> Head:
    """The head at the beginning of a text, once its signature is checked.

    Parameters
    ----------
    text : str
        A log, a proof's last part, or a signed head alone.
    public : str
        The key of whoever signs the log, from a place that the log does not come from.

    Raises
    ------
    DataError
        The text holds no head, or one that this key has not signed.
    """
    lines, key = text.split("\n"), _PublicKey.read(public, kind=_ED25519)
    try:
        head = Head(lines[0], int(lines[1]), base64.b64decode(lines[2], validate=True))
        if lines[3] or str(head) != "\n".join(lines[:3]) + "\n" or len(head.root) != 32:
            raise ValueError
    except (ValueError, IndexError):
        raise DataError(
            "this is no log: it must begin with a name, a number and a hash, then their signature"
        ) from None
    signatures = list(key.signatures(text))
    if head.name == key.name and signatures and all(key.has_signed(str(head).encode(), each) for each in signatures):
        return head
    raise DataError(f"this log of {lines[0]!r} is not signed with the key {public!r}: believe nothing in it")


def _statement(head: Head, second: int) -> bytes:
    """What a witness signs: at this second, it had seen no longer log of this name."""
    return f"cosignature/v1\ntime {second}\n{head}".encode()


def cosigned(text: str, public: str, key: Ed25519PrivateKey, *, name: str, second: int) -> str:
    """A log with a cosignature of its head, in place of the earlier ones of the same witness.

    Whoever cosigns must have shown first that the log begins with the last head that this key has cosigned.

    Parameters
    ----------
    text, public : str
        The log, and the key of whoever signs it.
    key : Ed25519PrivateKey
    name : str
        Of the witness.
    second : int
        Now, since 1970 in UTC.
    """
    head, witness = head_of(text, public), _PublicKey.read(public_key(name, key, witness=True), kind=_COSIGNATURE)
    payload = witness.number + second.to_bytes(8) + key.sign(_statement(head, second))
    head_text, signature_text, entry_text = [*text.split("\n\n", 2), ""][:3]  # an empty log may end with a signature
    lines = [line for line in signature_text.split("\n") if next(witness.signatures("\n" * 4 + line), None) is None]
    lines += [f"— {name} {base64.b64encode(payload).decode()}"]
    return "\n\n".join([head_text, "\n".join(line for line in lines if line.startswith("— ")), entry_text])


def cosignatures(
    text: str, public: str, witnesses: Sequence[str], *, now: int, within: int | None = None
) -> list[tuple[str, int]]:
    """Each witness with the second at which it last cosigned the head of a log.

    Parameters
    ----------
    text, public : str
        A log, a proof's last part, or a signed head alone; and the key of whoever signs the log.
    witnesses : sequence of str
        The public keys of those who must have cosigned it, from places that the log does not come from.
    now : int
        The second that it is, since 1970 in UTC.
    within : int, optional
        The most days ago that a witness may have cosigned it.

    Raises
    ------
    DataError
        A witness has not cosigned this head, has done so longer ago or in the future, or is no second party.
    """
    head, signer = head_of(text, public), _PublicKey.read(public, kind=_ED25519)
    keys = [_PublicKey.read(witness, kind=_COSIGNATURE) for witness in witnesses]
    if len({signer.key, *(key.key for key in keys)}) <= len(keys):  # a cosignature does not say the name of its witness
        raise DataError("the log and its witnesses must have different keys; one key under two names is one party")
    latest = []
    for key in keys:
        seconds = []
        for signature in key.signatures(text):
            seconds.append(int.from_bytes(signature[:8]))
            if not key.has_signed(_statement(head, seconds[-1]), signature[8:]):
                raise DataError(f"the cosignature of {key.name} is not of this head of {head.name}: do not believe it")
        if not seconds:
            raise DataError(f"{key.name} has not cosigned this log of {head.name}: others may be shown another one")
        if max(seconds) > now + _DAY:
            raise DataError(f"the cosignature of {key.name} is of a day to come: its clock or yours is wrong")
        if within is not None and max(seconds) < now - within * _DAY:
            raise DataError(
                f"{key.name} last cosigned this log on {day_of(max(seconds))}, more than {within} days ago: "
                "a newer log may be withheld from you"
            )
        latest.append((key.name, max(seconds)))
    return latest


def day_of(second: int) -> str:
    """The day of a cosignature, in UTC."""
    return datetime.datetime.fromtimestamp(second, datetime.UTC).date().isoformat()


class Entry(NamedTuple):
    """An announced survey."""

    day: str
    """When it was entered, in UTC."""
    path: str
    """Where the server has it, such as ``/s/sample``."""
    survey: str
    """The SHA-256 of ``survey.json``, which names the questions, the designs, and the hash of each file of the page."""
    page: str
    """The SHA-256 of the page at this path, which names all modules that it loads with their hashes."""

    @classmethod
    def of(cls, published: Published, day: datetime.date) -> Entry:
        """The entry of a survey, with the page as every server of this version of naysay serves it."""
        path = f"/s/{published.name}"
        return cls(day.isoformat(), path, published.hash, hashlib.sha256(_contents(published)[path]).hexdigest())

    @classmethod
    def read(cls, line: bytes) -> Entry:
        """The entry that a line of a log holds: whoever signs can sign anything, and a screen obeys some letters."""
        with contextlib.suppress(ValueError, TypeError, AttributeError, RecursionError):
            fields = json.loads(line)
            if all(isinstance(field, str) and field.isprintable() for field in fields.values()):
                return cls(**fields)
        raise DataError(f"what is signed is no entry of a survey: {line[:60]!r}")

    def __bytes__(self) -> bytes:
        return json.dumps(self._asdict(), separators=(",", ":")).encode()


@dataclass(frozen=True)
class Log:
    """A log, as one text: its signed head, an empty line, and an entry on each line.

    Parameters
    ----------
    name : str
        Whose log it is: a host and a path without spaces, such as ``board.example.org``.
    entries : tuple of bytes
    """

    name: str
    entries: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        if not _is_name(self.name):
            raise DataError(f"the name of a log has neither spaces nor +, such as board.example.org; got {self.name!r}")

    @property
    def head(self) -> Head:
        """What is to be signed."""
        return Head(self.name, len(self.entries), root(self.entries))

    def with_entry(self, entry: Entry) -> Log:
        """The log with one entry more.

        Raises
        ------
        DataError
            The same survey and page are in it already.
        """
        for _, earlier in self.announced(entry.survey):
            if earlier[1:] == entry[1:]:
                raise DataError(f"{entry.path} with this hash and this page was announced on {earlier.day} already")
        return Log(self.name, (*self.entries, bytes(entry)))

    def text(self, key: Ed25519PrivateKey) -> str:
        """The log as it is published, signed."""
        lines = (entry.decode() + "\n" for entry in self.entries)
        return signed(self.head, key) + "\n" + "".join(lines)

    @classmethod
    def read(cls, text: str, public: str) -> Log:
        """The log in a text, once its signature and all its entries are checked.

        Raises
        ------
        DataError
            The key has not signed the head, the entries are not those of which the head is, or one is none.
        """
        head = head_of(text, public)
        _, _, entry_text = text.partition("\n\n")[2].partition("\n\n")
        log = cls(
            head.name, tuple(line.encode() for line in entry_text.removesuffix("\n").split("\n")) if entry_text else ()
        )
        if log.head != head:
            raise DataError(
                f"the head that {head.name} has signed is not that of the {len(log.entries)} entries behind it: "
                "something was changed, added or taken out"
            )
        for line in log.entries:
            Entry.read(line)
        return log

    def announced(self, survey: str) -> Iterator[tuple[int, Entry]]:
        """The entries of a survey's hash, or of its first digits, with their places."""
        for place, entry in enumerate(map(Entry.read, self.entries)):
            if survey and entry.survey.startswith(survey):
                yield place, entry

    def entry_of(self, published: Published) -> tuple[int, Entry]:
        """The entry that announces a survey with its page, and its place.

        Raises
        ------
        DataError
            There is none.
        """
        wanted = Entry.of(published, datetime.date.min)
        for place, entry in self.announced(published.hash):
            if entry[1:] == wanted[1:]:
                return place, entry
        raise DataError(f"{self.name} has not announced {wanted.path} with this hash and this page: {published.hash}")

    def later(self, place: int) -> Entry | None:
        """The last entry after this one that announces another survey at the same path."""
        here, *others = map(Entry.read, self.entries[place:])
        return next(
            (entry for entry in reversed(others) if entry.path == here.path and entry.survey != here.survey), None
        )

    def proof(self, place: int, signed_head: str) -> str:
        """That an entry is in the log, for somebody who has the public key and not the log."""
        hashes = "".join(f"{base64.b64encode(node).decode()}\n" for node in inclusion(self.entries, place))
        entry_text = base64.b64encode(self.entries[place]).decode()
        return f"{_PROOF}\nextra {entry_text}\nindex {place}\n{hashes}\n{signed_head}"


def proved(text: str, public: str) -> Entry:
    """The entry that a proof proves to be in the log whose key this is.

    Raises
    ------
    DataError
        It proves nothing, or the key has not signed the head to which it leads.
    """
    proof_text, _, signed_head = text.partition("\n\n")
    head = head_of(signed_head, public)
    try:
        first_line, extra_line, index_line, *hash_lines = proof_text.split("\n")
        if first_line != _PROOF or not extra_line.startswith("extra ") or not index_line.startswith("index "):
            raise ValueError
        entry_bytes, *path = (
            base64.b64decode(line, validate=True) for line in (extra_line.removeprefix("extra "), *hash_lines)
        )
        reached = included(entry_bytes, int(index_line.removeprefix("index ")), head.size, path)
    except ValueError:
        raise DataError(f"this is no proof: it begins with {_PROOF}, then extra, index and hashes") from None
    if reached != head.root:
        raise DataError(f"the proof does not lead to the head that {head.name} has signed: the entry is not in the log")
    return Entry.read(entry_bytes)


def _contents(published: Published) -> dict[str, bytes]:
    """What a server serves of a survey, by path, without the headers."""
    from naysay.collect.server.documents import Catalog

    catalog, path = Catalog([published], store=None, client=published.client), f"/s/{published.name}"
    folder = published.client.hash
    files = {f"/client/{folder}/{name}": document.content for name, document in catalog.clients[folder].items()}
    return {path: catalog.surveys[published.name].page.content, f"{path}/survey.json": published.bytes, **files}


def manifest(published: Published) -> str:
    """The integrity manifest of a survey's page, as the draft of WAICT has it: each path with the hash of its bytes.

    A browser that enforces it fetches it from ``/.well-known/waict/v1/manifest/``, under its own hash.
    """
    hashes = {
        path: f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}"
        for path, content in sorted(_contents(published).items())
    }
    return json.dumps({"hashes": hashes}, indent=1) + "\n"


def page(text: str, public: str, witnesses: Sequence[str] = ()) -> str:
    """A page for a board's own website, on which respondents compare what they were given with this log.

    It loads nothing. Its reader types the digits that the survey shows, or gives it what their browser has saved. It
    shows nothing unless all of these witnesses have cosigned the log.
    """
    keys = [witness.strip() for witness in witnesses]
    data = json.dumps({"log": text, "key": public.strip(), "witnesses": keys}).replace("<", "\\u003c")
    return Path(__file__).with_name("log.html").read_text(encoding="utf-8").replace("{{data}}", data)
