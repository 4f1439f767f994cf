"""Recordings of traffic: JSON lines, one for each request with its response.

A line has the whole frame of the request, for a replay, and both messages decoded. Credentials and their proofs (SASL
tokens, SCRAM credentials, delegation tokens) are not written.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from kmirror.errors import KmirrorError, UsageError
from kmirror.protocol.headers import decode_request_body
from kmirror.protocol.json_form import Records, to_json
from kmirror.proxy.traffic import TOKEN, Exchange

SECRET_APIS = frozenset(
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
"""APIs recorded without the content of their messages."""


class RecordedRequest(NamedTuple):
    """The fields of a line that a replay needs."""

    number: int
    """Line number in the file, from 1 on."""
    port: str
    link: int
    api: str
    version: int
    frame: bytes
    """The whole request; empty if it was not written."""
    is_answered: bool
    is_cut: bool
    """Whether the link was closed before an expected response."""
    errors: tuple[str, ...]


class TrafficRecorder:
    """Writes exchanges to a file as they end; call `close` at the end."""

    def __init__(self, path: Path) -> None:
        """Create the file; raises UsageError if that fails."""
        try:
            self._file: TextIO = path.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None

    def add(self, exchange: Exchange) -> None:
        """Write a line."""
        self._file.write(json.dumps(line_of(exchange), separators=(",", ":")) + "\n")

    def close(self) -> None:
        """Flush and close the file."""
        self._file.close()


def line_of(exchange: Exchange) -> dict[str, Any]:
    """Return the JSON of an exchange. `at_us` is in microseconds since 1970, `latency_ms` in milliseconds."""
    head = exchange.head
    fields = {
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
    if exchange.api in SECRET_APIS or head is None:
        return fields
    fields["request_bytes"] = base64.b64encode(exchange.frame).decode("ascii")
    try:
        fields["request"] = to_json(
            decode_request_body(exchange.frame, head), head.api_version, Records.SIZE, check=False
        )
    except KmirrorError:
        fields["request"] = None  # It cannot be decoded; its bytes are in request_bytes.
    if exchange.body is not None:
        fields["response"] = to_json(exchange.body, head.api_version, Records.SIZE, check=False)
    elif exchange.responded_at is not None:
        fields["response_bytes"] = base64.b64encode(b"".join(exchange.response_chunks)).decode("ascii")
    return fields


def read_recording(path: Path) -> Iterator[RecordedRequest]:
    """Yield the lines of a recording; raises UsageError with the line number and the error."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                yield _parse_line(path, number, line)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None


def _parse_line(path: Path, number: int, line: str) -> RecordedRequest:
    try:
        fields = json.loads(line)
        frame = base64.b64decode(fields.get("request_bytes", ""), validate=True)
        return RecordedRequest(
            number,
            str(fields["port"]),
            int(fields["link"]),
            str(fields["api"]),
            -1 if fields["version"] is None else int(fields["version"]),
            frame,
            fields["latency_ms"] is not None,
            bool(fields["is_cut"]),
            tuple(fields["errors"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}, line {number}: is not a line of a recording: {error!r}") from None
