"""What does a broker's `server.properties` ask for? Read as Java's Properties are, and sorted by who obeys it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from kmirror.errors import UsageError
from kmirror.spec.configs import Scope, known

_LISTENER = re.compile(r"(?P<name>[A-Za-z0-9_]+)://\[?(?P<host>[^\]/]*?)\]?:(?P<port>[0-9]{1,5})")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PAIR = re.compile(r"(?P<key>(?:\\.|[^\\=:\s])*)[ \t\f]*(?:[=:][ \t\f]*)?(?P<value>.*)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ROLES = ("process.roles", "node.id", "controller.quorum.voters", "controller.quorum.bootstrap.servers")
"""How a cluster of Kafka's is put together; `serve` has a controller of its own in the process."""
_NAMES = ("inter.broker.listener.name", "controller.listener.names", "listener.security.protocol.map")


class Properties(NamedTuple):
    """A file's settings."""

    configs: Mapping[str, str]
    """Static configs of the broker."""
    listener: tuple[str, int] | None
    """Host and port of the plaintext listener."""
    advertised_host: str | None
    log_dirs: str | None
    passed_over: tuple[str, ...]
    """Keys that kmirror does not know."""


def read_properties(path: Path) -> Properties:
    """Return what a file says; UsageError if it cannot be read, or has a listener that is none."""
    try:
        text = path.read_text("latin-1")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    pairs = parse(text)
    rows = known(Scope.BROKER)
    listener = _plaintext(path, "listeners", pairs)
    advertised = _plaintext(path, "advertised.listeners", pairs)
    own = {"listeners", "advertised.listeners", "log.dirs", "log.dir", *_ROLES, *_NAMES}
    return Properties(
        {key: value for key, value in pairs.items() if key in rows and key not in own},
        listener,
        None if advertised is None else advertised[0],
        pairs.get("log.dirs", pairs.get("log.dir")),
        tuple(key for key in pairs if key not in rows and key not in own),
    )


def parse(text: str) -> dict[str, str]:
    """Return the pairs of a properties file, as `java.util.Properties.load` reads them."""
    found = {}
    for line in _logical_lines(text):
        pair = _PAIR.match(line)
        assert pair is not None, "every part of it may be empty"
        found[_plain(pair["key"])] = _plain(pair["value"])
    return found


def _logical_lines(text: str) -> Iterator[str]:
    """Yield lines without comments, joined where a line ends with an odd number of backslashes."""
    begun = ""
    for raw in re.split(r"\r\n|\r|\n", text):
        line = raw.lstrip(" \t\f")
        if not begun and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            begun += line[:-1]
            continue
        yield begun + line
        begun = ""
    if begun:
        yield begun


def _plain(text: str) -> str:
    def letter(found: re.Match[str]) -> str:
        escape = found[1]
        return chr(int(escape[1:], 16)) if len(escape) > 1 else _LETTERS.get(escape, escape)

    return _ESCAPED.sub(letter, text)


def _plaintext(path: Path, key: str, pairs: Mapping[str, str]) -> tuple[str, int] | None:
    """Return the host and the port of the first listener that is not a controller's."""
    controllers = [name.strip() for name in pairs.get("controller.listener.names", "").split(",")]
    for entry in pairs.get(key, "").split(","):
        if not entry.strip():
            continue
        found = _LISTENER.fullmatch(entry.strip())
        if found is None:
            raise UsageError(f"{path}: {key}: {entry.strip()!r} is no listener, such as PLAINTEXT://localhost:9092")
        if found["name"] not in controllers:
            return found["host"], int(found["port"])
    return None
