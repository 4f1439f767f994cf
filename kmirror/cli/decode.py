"""`kmirror decode`: what does a frame or a message say?"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from kmirror.errors import ProtocolError, UsageError
from kmirror.kernel.uuid import Uuid
from kmirror.protocol import careful, json_form
from kmirror.protocol.message import Message
from kmirror.protocol.registry import Api, by_api_name, by_key, by_name
from kmirror.protocol.structs import Policy, Struct, check_version

SHOWN_BYTES_MAX = 24


class Part(NamedTuple):
    """A header or a body: what to call it, and how to read it."""

    name: str
    cls: type[Message]
    version: int


class FieldRow(NamedTuple):
    start: int
    end: int
    path: str
    value: object


@click.command("decode")
@click.argument("source", metavar="HEX|FILE|-")
@click.option("--request", "is_request", is_flag=True, help="A request with its header, which names API and version.")
@click.option("--response", "is_response", is_flag=True, help="A response with its header; say --api and --version.")
@click.option("--api", "api_name", help="The API, as in fetch. Without --response: the request's body alone.")
@click.option("--message", "message_name", help="Any message by its name, as in MetadataResponse or TopicRecord.")
@click.option("--version", type=click.IntRange(0, 32767), help="The version of the message.")
@click.option("--lenient", is_flag=True, help="Take nulls, tags and long strings that Kafka refuses.")
@click.option("--bytes", "show_bytes", is_flag=True, help="A line for each field: byte range, path, value.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: with --bytes, too.")
def command(
    source: str,
    is_request: bool,
    is_response: bool,
    api_name: str | None,
    message_name: str | None,
    version: int | None,
    lenient: bool,
    show_bytes: bool,
    output: str,
) -> int:
    """Print a frame or a message as JSON, in the form of Kafka's own converters.

    The bytes are given in hex, as a file (raw or hex), or on standard input (-). The four bytes of a frame's length may
    lead them. Byte ranges begin with the first byte and end before the last number.
    """
    data = without_length(read_source(source))
    wanted = DecodeOptions(is_request, is_response, api_name, message_name, version)
    parts = wanted.parts(data)
    policy = Policy.LENIENT if lenient else Policy.STRICT
    if show_bytes:
        return print_bytes(data, parts, policy, as_json=output == "json")
    found: dict[str, Any] = {}
    position = 0
    for part in parts:
        check_version(part.cls, part.version, ProtocolError)
        message, position = careful.decode(part.cls, data, part.version, position, policy)
        found[part.name] = json_form.to_json(message, part.version, check=False)
        if has_unknown_tags(message):
            click.echo(f"{part.name}: JSON does not show unknown tagged fields; --bytes does", err=True)
    shown = found if len(parts) > 1 else found[parts[0].name]
    click.echo(json.dumps(shown, indent=2))
    if position < len(data):
        click.echo(f"{len(data) - position} bytes after the message, from byte {position} on", err=True)
    return 0


class DecodeOptions(NamedTuple):
    """What the options say of the bytes."""

    is_request: bool
    is_response: bool
    api_name: str | None
    message_name: str | None
    version: int | None

    def parts(self, data: bytes) -> list[Part]:
        """Return the messages that `data` should be, header first; raises `UsageError` where options are missing."""
        if self.is_request and self.is_response:
            raise UsageError("a frame is a request or a response: --request and --response exclude each other")
        if self.message_name is not None:
            return [Part("message", by_name(self.message_name), self.need_version())]
        if self.is_response:
            if self.api_name is None:
                raise UsageError("a response does not tell what it answers: say --api and --version")
            api, version = by_api_name(self.api_name), self.need_version()
            header = Part("header", by_name("ResponseHeader"), api.response_header_version(version))
            return [header, Part("body", api.response, version)]
        if self.api_name is not None and not self.is_request:
            return [Part("message", by_api_name(self.api_name).request, self.need_version())]
        return self.request_parts(data)

    def need_version(self) -> int:
        """Return the version that was given; raises `UsageError` if none was."""
        if self.version is None:
            raise UsageError("the bytes do not tell the version of the message: say --version")
        return self.version

    def request_parts(self, data: bytes) -> list[Part]:
        """Return header and body of the request that `data` begins to be; raises `ProtocolError`, `UsageError`."""
        if len(data) < 4:
            raise ProtocolError(f"a request begins with 4 bytes of key and version, {len(data)} are left", position=0)
        key, version = int.from_bytes(data[:2], "big", signed=True), int.from_bytes(data[2:4], "big", signed=True)
        api: Api = by_key(key)
        header = Part("header", by_name("RequestHeader"), api.request_header_version(version))
        return [header, Part("body", api.request, version)]


# -- the bytes --------------------------------------------------------------------------------


def read_source(source: str) -> bytes:
    """Return the bytes that the argument gives, names or sends."""
    if source == "-":
        if sys.stdin is None:
            raise UsageError("stdin is closed")
        return from_text(sys.stdin.buffer.read())
    bare = bare_hex(source)
    # The name of a file may be hex, but no name is longer than 255 characters.
    if bare is not None and (len(source) > 255 or not Path(source).exists()):
        return bytes.fromhex(bare)
    try:
        return from_text(Path(source).read_bytes())
    except OSError as error:
        raise UsageError(f"{source[:60]!r} is neither hex nor a file that can be read: {error.strerror}") from None


def from_text(raw: bytes) -> bytes:
    """Return the bytes that hex digits stand for; other bytes come back as they are."""
    try:
        bare = bare_hex(raw.decode("ascii"))
    except UnicodeDecodeError:
        return raw
    return raw if bare is None else bytes.fromhex(bare)


def bare_hex(text: str) -> str | None:
    """Return the hex digits in `text` without prefixes and separators, None if it is no hex."""
    bare = re.sub(r"0x|[\s:,]", "", text)
    return bare if re.fullmatch(r"([0-9a-fA-F]{2})+", bare) else None


def without_length(data: bytes) -> bytes:
    """Return `data` without the length that leads a frame, if it has one."""
    if len(data) >= 4 and int.from_bytes(data[:4], "big") == len(data) - 4:
        return data[4:]
    return data


def has_unknown_tags(part: Struct) -> bool:
    """Return whether the struct, or one inside it, has tags that its schema does not name."""
    if part.unknown_tags:
        return True
    for field in part.FIELDS:
        value = getattr(part, field.attribute)
        inner = value if isinstance(value, list) else [value]
        if field.type == "struct" and any(has_unknown_tags(item) for item in inner if item is not None):
            return True
    return False


# -- the annotated form -----------------------------------------------------------------------


def print_bytes(data: bytes, parts: list[Part], policy: Policy, *, as_json: bool) -> int:
    """Print one line for each field, up to malformed bytes, and return the exit code."""
    position = 0
    for part in parts:
        check_version(part.cls, part.version, ProtocolError)
        rows: list[FieldRow] = []
        prefix = part.name if len(parts) > 1 else ""

        def note(
            start: int, end: int, path: str, value: object, prefix: str = prefix, rows: list[FieldRow] = rows
        ) -> None:
            rows.append(FieldRow(start, end, ".".join(p for p in (prefix, path) if p), value))

        try:
            _, position = careful.decode(part.cls, data, part.version, position, policy, note)
        finally:
            for line in lines(rows, as_json=as_json):
                click.echo(line)
    if position < len(data):
        rest = FieldRow(position, len(data), "(after the message)", data[position:])
        click.echo(next(lines([rest], as_json=as_json)))
    return 0


def lines(rows: list[FieldRow], *, as_json: bool) -> Iterator[str]:
    """Yield the fields in the order of their first bytes; one that holds others comes before them."""
    width = max((len(row.path) for row in rows), default=0)
    for row in sorted(rows, key=lambda r: (r.start, -r.end, len(r.path))):
        if as_json:
            shown = {"start": row.start, "end": row.end, "path": row.path, "value": shown_value(row.value)}
            yield json.dumps(shown)
        else:
            yield f"{row.start:>8} {row.end:>8}  {row.path or '(message)':<{width}}  {shown_value(row.value)}"


def shown_value(value: object) -> str:
    """Return a field's value as one short line; long bytes are cut."""
    if isinstance(value, Struct):
        return type(value).__name__
    if isinstance(value, (list, tuple)):
        return f"{len(value)} element{'' if len(value) == 1 else 's'}"
    if isinstance(value, (bytes, bytearray, memoryview)) and not isinstance(value, Uuid):
        more = "..." if len(value) > SHOWN_BYTES_MAX else ""
        return f"{len(value)} bytes: {bytes(value[:SHOWN_BYTES_MAX]).hex(' ')}{more}" if len(value) else "0 bytes"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return json.dumps(value) if isinstance(value, str) else str(value)
