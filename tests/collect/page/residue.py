"""What stands in the files of a browser's profile, also in what it has deleted and not yet overwritten."""

import json
import struct

import pyarrow

BLOCK = 32_768
MAGIC = bytes.fromhex("57fb808b247547db")


def contents(folder):
    """Every file as it is, and those of LevelDB once more as they are read: whole records, blocks without Snappy."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        raw = path.read_bytes()
        yield path, raw
        if path.suffix == ".log" and "leveldb" in str(path):
            yield path, joined(raw)
        if raw.endswith(MAGIC):
            yield path, b"".join(blocks(raw))


def found(folder, texts):
    """Which of these texts stand in the profile, in UTF-8 or UTF-16, also within JSON, and in which files."""
    kept = list(contents(folder))
    wanted = {
        text: [form.encode(code) for form in (text, json.dumps(text)[1:-1]) for code in ("utf-8", "utf-16-le")]
        for text in texts
    }
    return {
        (text, path.name) for text, forms in wanted.items() for path, raw in kept if any(form in raw for form in forms)
    }


def joined(raw):
    """A LevelDB log without the headers that stand within its records."""
    parts = []
    for start in range(0, len(raw), BLOCK):
        place, end = start, min(start + BLOCK, len(raw))
        while place + 7 <= end:
            length = struct.unpack_from("<H", raw, place + 4)[0]
            parts.append(raw[place + 7 : place + 7 + length])
            place += 7 + length
    return b"".join(parts)


def blocks(raw):
    """The blocks of a LevelDB table, decompressed."""
    place = len(raw) - 48
    for _ in range(2):  # the handle of the meta index, which is of no interest
        _, place = number(raw, place)
    for value in entries(block(raw, place)[0]):
        yield block(value, 0, raw)[0]


def block(handles, place, raw=None):
    """The block to which a handle points, and where the handle ends."""
    offset, place = number(handles, place)
    size, place = number(handles, place)
    raw = handles if raw is None else raw
    content, kind = raw[offset : offset + size], raw[offset + size]
    if kind == 1:
        content = pyarrow.decompress(content, decompressed_size=number(content, 0)[0], codec="snappy", asbytes=True)
    return content, place


def entries(content):
    """The values of a block."""
    end = len(content) - 4 - 4 * struct.unpack_from("<I", content, len(content) - 4)[0]
    place = 0
    while place < end:
        _, place = number(content, place)
        key, place = number(content, place)
        size, place = number(content, place)
        yield content[place + key : place + key + size]
        place += key + size


def number(raw, place):
    """A number of variable length, and where it ends."""
    value, shift = 0, 0
    while True:
        octet = raw[place]
        value |= (octet & 127) << shift
        place, shift = place + 1, shift + 7
        if octet < 128:
            return value, place
