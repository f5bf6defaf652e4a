"""``naysay log``: a log of announced surveys, which a second party signs and others cosign."""

from __future__ import annotations

import datetime
import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from naysay._checks import several
from naysay.console import output
from naysay.console.options import Force
from naysay.console.output import takes
from naysay.errors import DataError

if TYPE_CHECKING:  # the extra `collect` is imported where it is used
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from naysay.collect import Published
    from naysay.collect.log import Entry, Head, Log

LogFile = Annotated[Path, typer.Argument(metavar="LOG", help="The log, a text file that anybody may have.")]
Public = Annotated[
    str, typer.Option(metavar="KEY", help="The public key of whoever signs the log, from another place than the log.")
]
Witnesses = Annotated[
    list[str] | None,
    typer.Option(
        "--witness", metavar="KEY", help="The public key of a witness, who must have cosigned the log. Repeat for more."
    ),
]
Within = Annotated[
    int | None,
    typer.Option(min=1, metavar="DAYS", help="How long ago a witness may have cosigned it. [default: any time]"),
]

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def group(context: typer.Context) -> None:
    """Announce surveys in a log that an ethics board signs.

    Whoever signs it must not run the server: then anybody who compares finds a survey that was not announced.

    \b
    Examples:
      naysay log add surveys.log survey.xlsx --key board.pem --name board.example.org
      naysay log cosign surveys.log --public board.example.org+… --key witness.pem --name witness.example.org
      naysay log check surveys.log --public board.example.org+… --witness witness.example.org+…
    """
    if context.invoked_subcommand is None:
        output.say(context.get_help())


@dataclass(frozen=True)
class AddOptions:
    """Which survey is announced, in which log, and by whom."""

    log: LogFile
    survey: Annotated[
        str, typer.Argument(metavar="SURVEY", help="A questionnaire's file; or a link, which is verified first.")
    ]
    key: Annotated[
        Path, typer.Option(metavar="FILE", help="Your private key, in PEM. It is made if there is no such file.")
    ]
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of a new log: yours, such as board.example.org.")
    ] = None
    hash: Annotated[str | None, typer.Option(metavar="HASH", help="Announce nothing but this hash.")] = None
    manifest: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the manifest of the page, too, as the drafts of WAICT have it."),
    ] = None
    force: Force = False


@app.command("add")
@takes(AddOptions)
def add(options: AddOptions) -> None:
    """Add a survey to the log, and sign it. Run this where the survey's server cannot reach.

    An entry is the day, the path, the hash of the survey and the hash of its page. A survey that invites has its key in
    its bytes: give its link. Publish the log and your public key in two places that others cannot change.

    \b
    Examples:
      naysay log add surveys.log survey.xlsx --key board.pem --name board.example.org
      naysay log add surveys.log https://survey.example.org/s/survey --hash 4f0c… --key board.pem
    """
    from naysay.collect import log

    if options.manifest is not None:
        output.check_free(options.manifest, force=options.force)
    published = _announced(options)
    if options.hash is not None and published.hash != options.hash.strip().lower():
        raise DataError(f"the survey's hash is {published.hash}, and not {options.hash}: nothing was announced")
    if options.log.exists() and not options.key.exists():
        raise DataError(f"there is no key {str(options.key)!r}; a log goes on with the key that has signed it")
    if not options.log.exists() and options.name is None:
        raise DataError(
            f"there is no log {str(options.log)!r}; to begin one, say whose it is: --name board.example.org"
        )
    earlier_log = log.Log(options.name or "new")
    private_key = _private_key(options.key)
    text = text_of(options.log) if options.log.exists() else None
    if text is not None:
        earlier_log = log.Log.read(text, log.public_key(text.partition("\n")[0], private_key))
        if options.name not in (None, earlier_log.name):
            raise DataError(f"{str(options.log)!r} is the log of {earlier_log.name!r}, and not of {options.name!r}")
    entry = log.Entry.of(published, datetime.datetime.now(datetime.UTC).date())
    later_log = earlier_log.with_entry(entry)
    if options.manifest is not None:
        options.manifest.write_text(log.manifest(published), encoding="utf-8")
    _replace(options.log, text, later_log.text(private_key))  # a cosignature was of the head before
    output.say(f"{options.log}: {several(len(later_log.entries), 'entry', 'entries')}, signed")
    output.say(f"hash: {entry.survey}\npage: {entry.page}")
    output.say(f"public key: {log.public_key(later_log.name, private_key)}")
    if text is not None and _signed_head(text).count("\n— ") > 1:
        output.note("the cosignatures were of the log before: have it cosigned again before you publish it")


@dataclass(frozen=True)
class CosignOptions:
    """Which log a witness cosigns, and with which key."""

    log: LogFile
    public: Public
    key: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Your private key, in PEM. It is made if there is no such file. FILE.seen keeps what it has cosigned.",
        ),
    ]
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="With a new key: yours, such as witness.example.org.")
    ] = None


@app.command("cosign")
@takes(CosignOptions)
def cosign(options: CosignOptions) -> None:
    """Cosign a log as its witness, if it begins with what you cosigned before.

    A witness runs neither the log nor the survey's server. Of two logs that contradict each other, it cosigns one: so
    all who demand its cosignature see the same log, or an older one. Send the log back to the board; an entry that is
    added needs a new cosignature. The first time, the log is taken as it is. Keep FILE.seen beside the key, and never
    put an older copy in its place.

    \b
    Examples:
      naysay log cosign surveys.log --public board.example.org+… --key witness.pem --name witness.example.org
    """
    from naysay.collect import log

    text = text_of(options.log)
    witnessed_log = log.Log.read(text, options.public)
    record_path = options.key.with_name(f"{options.key.name}.seen")
    if options.key.exists() != record_path.exists():
        missing_path, other_path = sorted([options.key, record_path], key=Path.exists)
        raise DataError(
            f"{str(other_path)!r} is here without {str(missing_path)!r}, so nobody knows what this key has cosigned: "
            "find it (no older copy), or make a new key, in another file"
        )
    record_text = text_of(record_path) if record_path.exists() else None
    if record_text is None and options.name is None:
        raise DataError(
            f"there is no key {str(options.key)!r}; to make it, say whose it is: --name witness.example.org"
        )
    record = _Record(log.Log(str(options.name)).name, {}) if record_text is None else _Record.read(record_text)
    name = record.key.partition("+")[0]
    if options.name not in (None, name):
        raise DataError(f"{str(options.key)!r} is the key of {name!r}, and not of {options.name!r}")
    private_key = _private_key(options.key)
    public = log.public_key(name, private_key, witness=True)
    if record_text is not None and record.key != public:
        raise DataError(
            f"{str(record_path)!r} tells what another key has cosigned: find the one of {str(options.key)!r} "
            "(no older copy), or make a new key, in another file"
        )
    earlier_text = record.heads.get(witnessed_log.name)
    if earlier_text is not None:
        _check_grown(earlier_text, witnessed_log, options.public, record_path)
    cosigned_text = log.cosigned(text, options.public, private_key, name=name, second=int(time.time()))
    heads = {**record.heads, witnessed_log.name: _signed_head(text)}
    _replace(record_path, record_text, json.dumps({"key": public, "heads": heads}, indent=1) + "\n")
    _replace(options.log, text, cosigned_text)
    output.say(f"{options.log}: {several(len(witnessed_log.entries), 'entry', 'entries')}, cosigned by {name}")
    output.say(f"public key: {public}")
    if earlier_text is None:
        output.note(
            f"this is the first log of {witnessed_log.name} that this key cosigns: nothing before it was compared"
        )


def _check_grown(earlier_text: str, witnessed_log: Log, public: str, record_path: Path) -> None:
    """Raise unless a log begins with the head that was cosigned before."""
    from naysay.collect import log

    try:
        earlier_head = log.head_of(earlier_text, public)
    except DataError:
        raise DataError(
            f"the log of {witnessed_log.name} that you have cosigned was signed with another key. Nothing was "
            "cosigned; ask whoever signs it: with another key, anybody can begin a log of the same name"
        ) from None
    _check_not_older(witnessed_log, earlier_head, "the one that you have cosigned")
    if not log.consistent(earlier_head, witnessed_log.head, log.consistency(witnessed_log.entries, earlier_head.size)):
        raise DataError(
            f"this log does not begin with the {several(earlier_head.size, 'entry', 'entries')} that you have "
            f"cosigned. Nothing was cosigned; {witnessed_log.name} has signed both: "
            f"publish this log and {str(record_path)!r}"
        )


def _check_not_older(later_log: Log, earlier_head: Head, name: str) -> None:
    """Raise if a log is shorter than one before it: then it may be that one's beginning, and nobody has lied."""
    if len(later_log.entries) < earlier_head.size:
        raise DataError(
            f"this log has {several(len(later_log.entries), 'entry', 'entries')}, and {name} has {earlier_head.size}: "
            "it is an older one, or entries were taken out; ask for the newest"
        )


class _Record(NamedTuple):
    """The public key of a witness (of a new one, the name), and the last signed head of each log that it cosigned."""

    key: str
    heads: dict[str, str]

    @classmethod
    def read(cls, text: str) -> _Record:
        """The record that a file holds."""
        try:
            record = cls(**json.loads(text))
            if not all(isinstance(each, str) for each in (record.key, *record.heads, *record.heads.values())):
                raise TypeError
        except (ValueError, TypeError, AttributeError):
            raise DataError("what this key has cosigned cannot be read: make a new key, in another file") from None
        return record


@dataclass(frozen=True)
class CheckOptions:
    """Which log or proof is checked, and against what."""

    log: LogFile
    public: Public
    hash: Annotated[
        str | None, typer.Option(metavar="HASH", help="The survey must be in it; its first 16 digits are enough.")
    ] = None
    earlier: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An earlier log, or its signed head: this one must begin with it."),
    ] = None
    prove: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --hash: write the proof that it is in the log.")
    ] = None
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page to host: is this the survey and the page that was announced?"),
    ] = None
    witness: Witnesses = None
    within: Within = None
    force: Force = False


@app.command("check")
@takes(CheckOptions)
def check(options: CheckOptions) -> None:
    """Check a log, or the proof that a survey is in one. Ends with 0 if all holds, and with 2 if anything does not.

    Whoever signs a log can show different people different ones. A witness cosigns one of them alone: name those whom
    you trust with --witness. An older log stays cosigned; --within refuses it.

    Keep what you have checked: --earlier then shows that nothing was changed or taken out since. With --prove it writes
    a proof, which somebody can check without the log. With --page it writes a page for people without naysay.

    \b
    Examples:
      naysay log check surveys.log --public board.example.org+… --hash 4f0c… --earlier surveys-2026.log
      naysay log check surveys.log --public board.example.org+… --page check.html
    """
    from naysay.collect import log

    text = text_of(options.log)
    wanted_hash = "".join((options.hash or "").split()).lower()
    if options.hash is not None and not re.fullmatch("[0-9a-f]{16,64}", wanted_hash):
        raise DataError(
            "a hash has 64 digits, each one of 0–9 and a–f, and its first 16 are enough; "
            f"got {options.hash!r}, with {len(wanted_hash)}"
        )
    for path in (options.prove, options.page):
        if path is not None:
            output.check_free(path, force=options.force)
    if text.startswith("c2sp.org/"):
        if options.earlier or options.prove or options.page:
            raise DataError("a proof is of one entry; --earlier, --prove and --page need the log")
        entry = log.proved(text, options.public)
        if options.hash is not None and not entry.survey.startswith(wanted_hash):
            raise DataError(f"the proof is of the survey {entry.survey}, and not of {options.hash}")
        output.say(witnesses_text(text.partition("\n\n")[2], options.public, options.witness, options.within))
        _say_entry(entry)
        return
    checked_log = log.Log.read(text, options.public)
    entries = list(checked_log.announced(wanted_hash))
    if options.hash is not None and not entries:
        raise DataError(f"no survey with the hash {options.hash} was announced in this log")
    if options.earlier is not None:
        earlier_head = log.head_of(text_of(options.earlier), options.public)
        _check_not_older(checked_log, earlier_head, repr(str(options.earlier)))
        shown_hashes = log.consistency(checked_log.entries, earlier_head.size)
        if not log.consistent(earlier_head, checked_log.head, shown_hashes):
            raise DataError(
                f"this log does not begin with the {several(earlier_head.size, 'entry', 'entries')} of "
                f"{str(options.earlier)!r}. Both are signed: {checked_log.name} shows different people different logs"
            )
    cosigned_text = witnesses_text(text, options.public, options.witness, options.within)
    if options.prove is not None:
        if len({entry.survey for _, entry in entries}) != 1:
            raise DataError("a proof is of one survey; say which with --hash HASH")
        options.prove.write_text(checked_log.proof(entries[-1][0], _signed_head(text)), encoding="utf-8")
        output.say(f"{options.prove}: written")
    if options.page is not None:
        output.write(options.page, lambda: log.page(text, options.public, options.witness or []))
        output.say(f"{options.page}: written; host it where the survey's server cannot change it")
    grown_text = "" if options.earlier is None else f", and nothing of {str(options.earlier)!r} changed"
    output.say(f"{checked_log.name}: {several(len(checked_log.entries), 'entry', 'entries')}, signed{grown_text}")
    output.say(cosigned_text)
    days = [log.Entry.read(line).day for line in checked_log.entries]
    if days != sorted(days):
        output.note("an entry has an earlier day than one before it: ask whoever signs when it was announced")
    for place, entry in entries:
        _say_entry(entry)
        say_later(checked_log, place)


def say_later(announced_log: Log, place: int) -> None:
    """Say which other survey was announced later at the path of an entry, if one was."""
    if (later := announced_log.later(place)) is not None:
        output.say(f"later, on {later.day}, another survey was announced at {later.path}: {later.survey}")


def witnesses_text(text: str, public: str, witnesses: Sequence[str] | None, within: int | None) -> str:
    """How many of the named witnesses have cosigned a log, which is all of them; see `naysay.collect.log`."""
    from naysay.collect.log import cosignatures, day_of

    if within is not None and not witnesses:
        raise DataError("--within is of witnesses; name them with --witness KEY")
    latest = cosignatures(text, public, witnesses or [], now=int(time.time()), within=within)
    if not latest:
        return "witnesses: none was named with --witness, so others may be shown another log"
    names_text = ", ".join(f"{name} on {day_of(second)}" for name, second in latest)
    return f"witnesses: {len(latest)} of {len(latest)} that you named have cosigned it ({names_text})"


def _signed_head(text: str) -> str:
    """What a log begins with: its head and all signatures."""
    return "\n\n".join(text.split("\n\n", 2)[:2]) + "\n"


def _say_entry(entry: Entry) -> None:
    output.say(f"announced on {entry.day}: {entry.path}\nhash: {entry.survey}\npage: {entry.page}")


def text_of(path: Path) -> str:
    """The text of a log's file."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or 'it is no text'}") from None


def _replace(path: Path, earlier_text: str | None, text: str) -> None:
    """Write a log in one step, unless somebody else has written it since: two logs of one size must not be signed."""
    if path.is_symlink():
        path = path.resolve()  # else the link would become a file, and two names of one log two locks
    part_path = path.with_name(f"{path.name}.part")  # of one name, unlike that of `files.whole`: it is a lock, too
    try:
        with part_path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # a witness must remember what it has cosigned
        if (text_of(path) if path.exists() else None) != earlier_text:
            part_path.unlink()
            raise DataError(f"{str(path)!r} has changed meanwhile: nothing was signed; do it again")
        part_path.replace(path)
    except FileExistsError:
        raise DataError(
            f"{str(path)!r} is being written, or was not finished; if nobody else does so, delete {str(part_path)!r}"
        ) from None
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def _announced(options: AddOptions) -> Published:
    from naysay.collect import Published
    from naysay.collect.questionnaire import load
    from naysay.collect.verify import verify

    if not options.survey.startswith(("http://", "https://")):
        return Published.of(load(Path(options.survey)))
    verdict = verify(options.survey, hash=options.hash)
    if verdict.differences:
        output.complain(*verdict.differences)
        raise DataError("the server does not serve what was published; nothing was announced")
    return verdict.published


def _private_key(path: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )

    if not path.exists():
        new_key = Ed25519PrivateKey.generate()
        try:
            path.touch(mode=0o600, exist_ok=False)
            path.write_bytes(new_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        except OSError as error:
            raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
        output.note(f"{path}: a new private key; whoever has it signs in your name")
        return new_key
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (ValueError, TypeError, OSError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise DataError(f"{str(path)!r} holds no private key of Ed25519 in PEM without a password")
    return key
