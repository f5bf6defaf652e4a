"""``naysay serve --phone``: HTTPS in the local network, a code to scan, and what the browser's warning means."""

from __future__ import annotations

import contextlib
import io
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import segno

from naysay.collect.server import keys as certificates
from naysay.collect.serving import for_others
from naysay.console import output
from naysay.errors import DataError

if TYPE_CHECKING:
    from naysay.collect.server.keys import Certificate


class Asked(Protocol):
    """What is read of the options of ``naysay serve``."""

    @property
    def host(self) -> str | None: ...
    @property
    def phone(self) -> bool: ...
    @property
    def certificate(self) -> Path | None: ...


@contextlib.contextmanager
def secured(certificate: Path | None, key: Path | None, *, phone: bool) -> Iterator[Certificate | None]:
    """The certificate to serve with: the one that is given, one made on the spot for phones, or none."""
    if (certificate is None) != (key is None):
        raise DataError("--certificate and --key belong together; give both, or neither")
    if certificate is not None and key is not None:
        yield certificates.certificate_of_files(certificate, key)
    elif phone:
        with certificates.temporary_certificate(
            ["127.0.0.1", *filter(None, [certificates.own_address()])]
        ) as fresh_certificate:
            yield fresh_certificate
    else:
        yield None


def host_of(options: Asked) -> str | None:
    """The host of links: with ``--phone`` the address of this computer, where it listens everywhere."""
    return certificates.own_address() if options.phone and options.host in (None, "0.0.0.0", "::") else None


def code(link: str) -> str:
    """A link as a code that phones scan, in lines of blocks.

    Examples
    --------
    >>> len(code("https://192.0.2.7:8000/s/sample").splitlines())
    19
    """
    blocks = io.StringIO()
    segno.make_qr(link, error="m").terminal(blocks, compact=True)
    return blocks.getvalue()


def show(link: str) -> None:
    """Show the code on stdout, where it can show blocks."""
    if "utf" in (getattr(sys.stdout, "encoding", None) or "").lower():
        output.say(code(link))
    else:
        output.note("this terminal shows no blocks, so no code to scan; type the link")


def serving_notes(options: Asked, certificate: Certificate, listening: socket.socket) -> Iterator[str]:
    """What those who serve must know."""
    if options.phone:
        if not for_others(listening):
            yield "this address is for this computer alone; leave --host out, so that phones reach it"
        elif host_of(options) is None and options.host in (None, "0.0.0.0", "::"):
            yield "this computer is in no network, so no phone reaches it"
        yield "a phone must be in the same network as this computer, and a firewall here must let it through"
    if options.certificate is None:
        yield (
            "the browser warns that the connection is not private: nobody vouches for a certificate that this computer "
            "made just now. What is sent is encrypted all the same. Choose the details, and go on. Whoever controls "
            "the network could show a page and a certificate of their own: compare the fingerprint, or collect real "
            "answers with --certificate and --key"
        )
        yield f"fingerprint of the certificate (SHA-256): {certificate.fingerprint}"
