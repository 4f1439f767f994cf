"""What did clients and brokers say? A record: JSON lines, one for each request with its answer.

A line has the request's whole frame, so that it can be asked again, and both messages decoded. What proves an identity
or is the key to one (SASL tokens, SCRAM credentials, delegation tokens) is not written down.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from kmirror.errors import KmirrorError, UsageError
from kmirror.protocol.headers import decode_body
from kmirror.protocol.json_form import Records, to_json
from kmirror.proxy.traffic import TOKEN, Exchange

SECRET = frozenset(
    (
        TOKEN,
        "SaslAuthenticate",
        "AlterUserScramCredentials",
        "CreateDelegationToken",
        "RenewDelegationToken",
        "ExpireDelegationToken",
        "DescribeDelegationToken",
    )
)
"""APIs of which only is told that they were asked."""


class Recorded(NamedTuple):
    """A line of a record, as far as it is needed to ask again."""

    number: int
    """Line in the file, from 1 on."""
    port: str
    link: int
    api: str
    version: int
    frame: bytes
    """The whole request; empty for one that is not written down."""
    is_answered: bool
    is_cut: bool
    """The link was closed while an answer was owed."""
    errors: tuple[str, ...]


class RecordFile:
    """Writes exchanges to a file as they end; `close` at the end."""

    def __init__(self, path: Path) -> None:
        """Make the file; UsageError if that cannot be."""
        try:
            self._file: TextIO = path.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None

    def add(self, exchange: Exchange) -> None:
        """Write a line."""
        self._file.write(json.dumps(line_of(exchange), separators=(",", ":")) + "\n")

    def close(self) -> None:
        """Write out what is still held."""
        self._file.close()


def line_of(exchange: Exchange) -> dict[str, Any]:
    """Return what is written of an exchange. `at_us` is in microseconds since 1970, `latency_ms` in milliseconds."""
    head = exchange.head
    said = {
        "at_us": exchange.at,
        "port": exchange.port,
        "client": str(exchange.client),
        "link": exchange.link,
        "client_id": None if head is None else head.client_id,
        "api": exchange.api,
        "version": None if head is None else head.api_version,
        "correlation_id": None if head is None else head.correlation_id,
        "latency_ms": exchange.latency_ms,
        "errors": list(exchange.errors),
        "is_cut": exchange.is_cut,
    }
    if exchange.api in SECRET or head is None:
        return said
    said["request_bytes"] = base64.b64encode(exchange.frame).decode("ascii")
    try:
        said["request"] = to_json(decode_body(exchange.frame, head), head.api_version, Records.SIZE, check=False)
    except KmirrorError:
        said["request"] = None  # It cannot be decoded; its bytes are there.
    if exchange.body is not None:
        said["response"] = to_json(exchange.body, head.api_version, Records.SIZE, check=False)
    elif exchange.answered_at is not None:
        said["response_bytes"] = base64.b64encode(b"".join(exchange.answer)).decode("ascii")
    return said


def read_record(path: Path) -> Iterator[Recorded]:
    """Yield the lines of a record; UsageError says what is wrong in it, and in which line."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                yield _parsed(path, number, line)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None


def _parsed(path: Path, number: int, line: str) -> Recorded:
    try:
        said = json.loads(line)
        frame = base64.b64decode(said.get("request_bytes", ""), validate=True)
        return Recorded(
            number,
            str(said["port"]),
            int(said["link"]),
            str(said["api"]),
            -1 if said["version"] is None else int(said["version"]),
            frame,
            said["latency_ms"] is not None,
            bool(said["is_cut"]),
            tuple(said["errors"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}, line {number}: is no line of a record: {error!r}") from None
