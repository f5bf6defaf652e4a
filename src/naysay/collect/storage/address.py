"""The address of a database."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from naysay.collect.storage.postgresql import PostgreSQL
from naysay.collect.storage.sqlite import SQLite
from naysay.errors import DataError

__all__ = ["BACKENDS", "address_of"]

BACKENDS: dict[str, type[SQLite] | type[PostgreSQL]] = {"sqlite": SQLite, "postgresql": PostgreSQL}


def address_of(url: str | Path) -> URL:
    """The address that a text or a path stands for, checked."""
    text = str(url) if "://" in str(url) else f"sqlite:///{url}"
    if text.startswith("postgres://"):  # many hosts write the address so
        text = f"postgresql://{text.removeprefix('postgres://')}"
    if not text.startswith("sqlite") and text.count("@") > 1:  # else a part of the password would be taken for the host
        raise DataError("the address of the database has several @; write each @ of a password as %40")
    try:
        address = make_url(text)
        known = address.get_backend_name() in BACKENDS
    except (ArgumentError, ValueError):
        known = False
    if not known:
        raise DataError("a database is sqlite:///FILE or postgresql://USER@HOST/DATABASE; the address is neither")
    return address
