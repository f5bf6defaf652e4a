"""HTTPS without a proxy: a certificate made on the spot, or one that an authority gave."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import socket
import ssl
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from naysay.errors import DataError

__all__ = ["Certificate", "given", "made", "own_address"]

DAYS = 7  # that a certificate made here is good for
_ELSEWHERE = ("192.0.2.1", 9)  # an address for examples, which nobody has; nothing is sent there


class Certificate(NamedTuple):
    """The files of a certificate and of its key, and the SHA-256 by which a browser shows it, as ``AB:CD:…``."""

    certificate: Path
    key: Path
    fingerprint: str


def own_address() -> str | None:
    """The address of this computer in the local network; None where there is no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ELSEWHERE)  # chooses the way, and sends nothing
            found = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if ipaddress.ip_address(found).is_loopback else found


@contextlib.contextmanager
def made(addresses: Sequence[str]) -> Iterator[Certificate]:
    """A certificate for these addresses that nobody vouches for; its key is deleted when the context ends.

    Examples
    --------
    >>> with made(["127.0.0.1"]) as own:
    ...     len(own.fingerprint.split(":")), own.key.stat().st_mode & 0o077
    (32, 0)
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "naysay, made on the spot")])
    now = datetime.datetime.now(datetime.UTC)
    subjects = [x509.DNSName("localhost"), *(x509.IPAddress(ipaddress.ip_address(each)) for each in addresses)]
    built = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))  # clocks of phones may be behind
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName(subjects), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    with tempfile.TemporaryDirectory(prefix="naysay-") as folder:  # for its owner alone
        certificate, secret = Path(folder) / "certificate.pem", Path(folder) / "key.pem"
        certificate.write_bytes(built.public_bytes(pem))
        secret.touch(mode=0o600)
        bare = serialization.NoEncryption()
        secret.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, bare))
        yield Certificate(certificate, secret, _shown(built))


def given(certificate: Path, key: Path) -> Certificate:
    """A certificate and its key, after checking that they belong together and can be used.

    Raises
    ------
    DataError
        Files that are not there, are no certificate and key in PEM, or do not belong together.
    """
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password=b"")
        own = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        told = error.strerror if isinstance(error, FileNotFoundError) else str(error)
        advice = "give the chain and the key of one certificate, in PEM and without a password"
        raise DataError(f"cannot serve with {str(certificate)!r} and {str(key)!r}: {told}; {advice}") from None
    if own.not_valid_after_utc < datetime.datetime.now(datetime.UTC):
        raise DataError(f"the certificate {str(certificate)!r} ended on {own.not_valid_after_utc:%Y-%m-%d}; renew it")
    return Certificate(certificate, key, _shown(own))


def _shown(certificate: x509.Certificate) -> str:
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()
