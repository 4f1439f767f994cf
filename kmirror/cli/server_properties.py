"""Settings in a broker's `server.properties`, parsed like Java's Properties, and grouped by their use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from kmirror.cli.listeners import controller_listener_names, listeners_of
from kmirror.cli.output import write_stderr
from kmirror.errors import UsageError
from kmirror.kernel.names import counted, few
from kmirror.spec.configs import Scope, config_keys
from kmirror.spec.configs.effects import ineffective_keys, ineffective_security, security_error

_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PAIR = re.compile(r"(?P<key>(?:\\.|[^\\=:\s])*)[ \t\f]*(?:[=:][ \t\f]*)?(?P<value>.*)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_STRUCTURE_KEYS = (
    "process.roles",
    "node.id",
    "broker.id",
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
)
"""Keys for the structure of a cluster: `node_plan` reads them, and a whole cluster in one process ignores them."""
_LISTENER_KEYS = (
    "inter.broker.listener.name",
    "security.inter.broker.protocol",
    "controller.listener.names",
    "listener.security.protocol.map",
)


class Properties(NamedTuple):
    """Settings in a file."""

    configs: Mapping[str, str]
    """Static configs of the broker."""
    listener: tuple[str, int] | None
    """Host and port of the plaintext listener."""
    advertised_host: str | None
    log_dirs: str | None
    unknown_keys: tuple[str, ...]
    """Keys that kmirror does not know."""
    pairs: Mapping[str, str]
    """All pairs in the file."""

    @property
    def node_configs(self) -> dict[str, str]:
        """Return the static configs of a single node, including the keys for the structure of its cluster."""
        return {
            **self.configs,
            **{key: self.pairs[key] for key in (*_STRUCTURE_KEYS, *_LISTENER_KEYS) if self.pairs.get(key)},
        }


def read_properties(path: Path) -> Properties:
    """Return the settings in a file; raise UsageError if it cannot be read, or has an invalid listener."""
    try:
        text = path.read_text("latin-1")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    pairs = parse(text)
    rows = config_keys(Scope.BROKER)
    listener = _client_listener(path, "listeners", pairs)
    advertised = _client_listener(path, "advertised.listeners", pairs)
    separate_keys = {"listeners", "advertised.listeners", "log.dirs", "log.dir", *_STRUCTURE_KEYS, *_LISTENER_KEYS}
    return Properties(
        {key: value for key, value in pairs.items() if key in rows and key not in separate_keys},
        listener,
        None if advertised is None else advertised[0],
        pairs.get("log.dirs", pairs.get("log.dir")),
        tuple(key for key in pairs if key not in rows and key not in separate_keys),
        pairs,
    )


def report_ineffective_keys(path: Path, settings: Properties) -> None:
    """Print a line for the unknown keys, and one for each key without an effect that differs from its default.

    Raises UsageError for keys of security without an effect, also those of one listener.
    """
    if names := ineffective_security(settings.pairs):
        raise UsageError(f"{path}: {security_error(names)}")
    if settings.unknown_keys:
        ignored = f"{counted(len(settings.unknown_keys), 'key')} ignored because kmirror does not know them"
        write_stderr(f"kmirror: {path}: {ignored}: {few(settings.unknown_keys, 'keys')}\n")
    for key, reason in ineffective_keys(settings.configs).items():
        write_stderr(f"kmirror: {path}: {key}={settings.configs[key]} has no effect: {reason}\n")


def parse(text: str) -> dict[str, str]:
    """Return the pairs of a properties file, as `java.util.Properties.load` reads them."""
    found = {}
    for line in _logical_lines(text):
        pair = _PAIR.match(line)
        assert pair is not None, "every part of it may be empty"
        found[_unescape(pair["key"])] = _unescape(pair["value"])
    return found


def _logical_lines(text: str) -> Iterator[str]:
    """Yield lines without comments, joined where a line ends with an odd number of backslashes."""
    joined = ""
    for raw in re.split(r"\r\n|\r|\n", text):
        line = raw.lstrip(" \t\f")
        if not joined and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            joined += line[:-1]
            continue
        yield joined + line
        joined = ""
    if joined:
        yield joined


def _unescape(text: str) -> str:
    def unescape_letter(found: re.Match[str]) -> str:
        escape = found[1]
        return chr(int(escape[1:], 16)) if len(escape) > 1 else _LETTERS.get(escape, escape)

    return _ESCAPED.sub(unescape_letter, text)


def _client_listener(path: Path, key: str, pairs: Mapping[str, str]) -> tuple[str, int] | None:
    """Return the host and the port of the first listener that is not a controller's."""
    controllers = controller_listener_names(pairs)
    return next((each.endpoint for each in listeners_of(path, key, pairs) if each.name not in controllers), None)
