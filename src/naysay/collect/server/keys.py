"""The key of the day. Devices seal with it; the server can open what they sealed until the day is over.

HTTPS without a proxy: a certificate made on the spot, or one that an authority gave.
"""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import os
import secrets
import socket
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from naysay.errors import DataError

DAY = 86_400
GRACE = 7_200
"""Seconds for which yesterday's key is kept, for respondents who began before midnight (UTC)."""

_CURVE = ec.SECP256R1()
_POINT = serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
_IN_MEMORY = ("tmpfs", "ramfs")


class Keys:
    """One key a day: drawn when it is first needed, held in memory, deleted two hours after the day has ended.

    A device seals a box with the public half, which is the same for everyone, and with a random number of its own. It
    forgets the number and keeps the point of that number (ECDH on P-256). From the point, the private half finds the
    key of that one box again (HKDF-SHA256). The server keeps nothing about the device that asks.

    Parameters
    ----------
    folder : Path, optional
        A folder in memory in which several servers share their keys, such as one in ``/dev/shm``. Without it, a box
        that was sealed with one server's key cannot be opened by another server, or after a restart.
    clock : callable
        Seconds since 1970.

    Raises
    ------
    DataError
        The folder is on a disk, where deleted keys could still be found.

    Examples
    --------
    >>> today = [43_200.0]
    >>> keys = Keys(clock=lambda: today[0])
    >>> point = bytes.fromhex(Keys().public)  # as a device would draw one
    >>> [key] = keys.of(point)
    >>> today[0] = 86_400 + 3_600
    >>> key in keys.of(point), len(keys.of(point))
    (True, 2)
    >>> today[0] = 86_400 + 7_200
    >>> key in keys.of(point)
    False
    """

    def __init__(self, folder: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        if folder is not None:
            _check_in_memory(folder)
        self._folder = folder
        self._clock = clock
        self._held: dict[int, ec.EllipticCurvePrivateKey] = {}

    @property
    def public(self) -> str:
        """Today's public key, an uncompressed point in hexadecimal."""
        return self._living()[0].public_key().public_bytes(*_POINT).hex()

    def of(self, point: bytes) -> list[str]:
        """The keys of a box, in hexadecimal, one for each day that is not over; at most one of them opens it.

        Raises
        ------
        ValueError
            These bytes are no point of the curve.
        """
        device_key = ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, point)
        shared_secrets = [private_key.exchange(ec.ECDH(), device_key) for private_key in self._living()]
        return [
            HKDF(SHA256(), 32, salt=point, info=b"naysay box").derive(shared_secret).hex()
            for shared_secret in shared_secrets
        ]

    def forget(self) -> None:
        """Delete the keys of days that are over. Call it once in a while, even if no device asks for a key."""
        kept_days = self._days()
        self._held = {day: day_key for day, day_key in self._held.items() if day in kept_days}
        for key_path in () if self._folder is None else self._folder.glob("[0-9]*"):
            if not key_path.stem.isdigit() or int(key_path.stem) not in kept_days:
                key_path.unlink(missing_ok=True)

    def _days(self) -> list[int]:
        """Today, and yesterday while its key is kept."""
        now = self._clock()
        return list(dict.fromkeys((int(now // DAY), int((now - GRACE) // DAY))))

    def _living(self) -> list[ec.EllipticCurvePrivateKey]:
        self.forget()
        today, *earlier_days = self._days()
        for day in (today, *earlier_days):
            key_path = self._folder and self._folder / str(day)
            if day not in self._held and (day == today or (key_path and key_path.exists())):
                self._held[day] = _shared_key(key_path) if key_path else ec.generate_private_key(_CURVE)
        return [self._held[day] for day in (today, *earlier_days) if day in self._held]


def _shared_key(path: Path) -> ec.EllipticCurvePrivateKey:
    """The key in a file. The first server writes the file as a whole or not at all; the others read it."""
    draft_path = path.with_suffix(f".{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft_path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as key_file:
        key_file.write(ec.generate_private_key(_CURVE).private_numbers().private_value.to_bytes(32))
    try:
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft_path)  # atomic, and fails if another server was first: nobody reads half a key
    finally:
        draft_path.unlink(missing_ok=True)
    return ec.derive_private_key(int.from_bytes(path.read_bytes()), _CURVE)


def _check_in_memory(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mounts_path = Path("/proc/self/mounts")
    mount_entries = [line.split() for line in mounts_path.read_text().splitlines()] if mounts_path.exists() else []
    mount_kinds = [
        (len(mount_path), mount_kind)
        for _, mount_path, mount_kind, *_ in mount_entries
        if folder.resolve().is_relative_to(mount_path)
    ]
    if max(mount_kinds, default=(0, "unknown"))[1] not in _IN_MEMORY:
        raise DataError(f"keys are shared in memory only; {str(folder)!r} is on a disk: name a folder in /dev/shm")


DAYS = 7  # that a certificate made here is good for
_ELSEWHERE = ("192.0.2.1", 9)  # an address for examples, which nobody has; nothing is sent there


class Certificate(NamedTuple):
    """The files of a certificate and of its key, and the SHA-256 by which a browser shows it, as ``AB:CD:…``."""

    certificate: Path
    key: Path
    fingerprint: str


def own_address() -> str | None:
    """The address of this computer in the local network; None where there is no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe_socket:
        try:
            probe_socket.connect(_ELSEWHERE)  # chooses the way, and sends nothing
            address = str(probe_socket.getsockname()[0])
        except OSError:
            return None
    return None if ipaddress.ip_address(address).is_loopback else address


@contextlib.contextmanager
def temporary_certificate(addresses: Sequence[str]) -> Iterator[Certificate]:
    """A certificate for these addresses that nobody vouches for; its key is deleted when the context ends.

    Examples
    --------
    >>> with temporary_certificate(["127.0.0.1"]) as own:
    ...     len(own.fingerprint.split(":")), own.key.stat().st_mode & 0o077
    (32, 0)
    """
    private_key = ec.generate_private_key(ec.SECP256R1())
    certificate_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "naysay, made on the spot")])
    now = datetime.datetime.now(datetime.UTC)
    subject_names = [
        x509.DNSName("localhost"),
        *(x509.IPAddress(ipaddress.ip_address(address)) for address in addresses),
    ]
    signed_certificate = (
        x509.CertificateBuilder(
            issuer_name=certificate_name, subject_name=certificate_name, public_key=private_key.public_key()
        )
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))  # clocks of phones may be behind
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName(subject_names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(private_key, hashes.SHA256())
    )
    pem_encoding = serialization.Encoding.PEM
    with tempfile.TemporaryDirectory(prefix="naysay-") as folder:  # for its owner alone
        certificate_path, key_path = Path(folder) / "certificate.pem", Path(folder) / "key.pem"
        certificate_path.write_bytes(signed_certificate.public_bytes(pem_encoding))
        key_path.touch(mode=0o600)
        no_encryption = serialization.NoEncryption()
        key_path.write_bytes(private_key.private_bytes(pem_encoding, serialization.PrivateFormat.PKCS8, no_encryption))
        yield Certificate(certificate_path, key_path, _fingerprint(signed_certificate))


def certificate_of_files(certificate: Path, key: Path) -> Certificate:
    """A certificate and its key, after checking that they belong together and can be used.

    Raises
    ------
    DataError
        Files that are not there, are no certificate and key in PEM, or do not belong together.
    """
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password=b"")
        own_certificate = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = error.strerror if isinstance(error, FileNotFoundError) else str(error)
        advice = "give the chain and the key of one certificate, in PEM and without a password"
        raise DataError(f"cannot serve with {str(certificate)!r} and {str(key)!r}: {reason}; {advice}") from None
    if own_certificate.not_valid_after_utc < datetime.datetime.now(datetime.UTC):
        raise DataError(
            f"the certificate {str(certificate)!r} ended on {own_certificate.not_valid_after_utc:%Y-%m-%d}; renew it"
        )
    return Certificate(certificate, key, _fingerprint(own_certificate))


def _fingerprint(certificate: x509.Certificate) -> str:
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()
