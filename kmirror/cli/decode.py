"""`kmirror decode`: decoding of a frame or a message.

Rule 1: readable fields are printed. The exit code is 1 if the bytes are malformed, if some are left after the message,
or if its records are damaged; stderr says which and where.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click

from kmirror.cli.commands import CONTEXT
from kmirror.cli.decoded_parts import Part, report_errors
from kmirror.cli.decoded_records import RecordsInJson
from kmirror.errors import ProtocolError, UsageError
from kmirror.protocol import careful, json_form
from kmirror.protocol.registry import Api, by_api_name, by_key, by_name
from kmirror.protocol.structs import Policy, Struct, check_version


@click.command("decode", context_settings=CONTEXT)
@click.argument("source", metavar="HEX|FILE|-")
@click.option(
    "--request", "is_request", is_flag=True, help="A request with its header, which contains API and version."
)
@click.option("--response", "is_response", is_flag=True, help="A response with its header; needs --api and --version.")
@click.option("--api", "api_name", help="The API, such as fetch. Without --response: the body of a request.")
@click.option("--message", "message_name", help="Any message by its name, such as MetadataResponse or TopicRecord.")
@click.option("--version", type=click.IntRange(0, 32767), help="The version of the message.")
@click.option("--lenient", is_flag=True, help="Accept nulls, tags and long strings that Kafka rejects.")
@click.option("--raw-records", is_flag=True, help="Leave records in base64, the form that Kafka's own converters read.")
@click.option("--bytes", "show_bytes", is_flag=True, help="Print one line per field: byte range, path, value.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: also for --bytes.")
def command(
    source: str,
    is_request: bool,
    is_response: bool,
    api_name: str | None,
    message_name: str | None,
    version: int | None,
    lenient: bool,
    raw_records: bool,
    show_bytes: bool,
    output: str,
) -> int:
    """Print a frame or a message as JSON, in the format of Kafka's own converters.

    Records in Produce and Fetch are decoded: a list of batches, each with its records. Keys, values and header values
    are text if they are UTF-8, otherwise base64 in keyBase64 and valueBase64. Batches of aborted transactions are
    marked if the response lists those transactions.

    The bytes are given in hex, as a file (raw or hex), or on standard input (-). They may start with the four bytes of
    the frame's length. Byte ranges include the first number and exclude the last; "~" marks a position in decompressed
    data. The exit code is 1 for malformed bytes, damaged records, and bytes left after the message.
    """
    data = without_length(read_source(source))
    options = DecodeOptions(is_request, is_response, api_name, message_name, version)
    parts = options.parts(data)
    policy = Policy.LENIENT if lenient else Policy.STRICT
    if show_bytes:
        from kmirror.cli.decoded_bytes import print_bytes  # Importing its second parser takes long.

        return print_bytes(data, parts, policy, as_json=output == "json", decodes_records=not raw_records)
    return print_json(data, parts, policy, decodes_records=not raw_records)


def print_json(data: bytes, parts: list[Part], policy: Policy, *, decodes_records: bool) -> int:
    """Print the parts as one JSON object and return the exit code; raise ProtocolError for malformed bytes."""
    found: dict[str, Any] = {}
    position, faults = 0, list[str]()
    for part in parts:
        check_version(part.cls, part.version, ProtocolError)
        message, position = careful.decode(part.cls, data, part.version, position, policy)
        found[part.name] = json_form.to_json(message, part.version, check=False)
        if decodes_records:
            records = RecordsInJson(may_end_inside=part.may_end_inside)
            records.replace_records(message, found[part.name], part.name if len(parts) > 1 else "")
            faults += records.faults
        if has_unknown_tags(message):
            click.echo(f"{part.name}: JSON does not contain unknown tagged fields; use --bytes to print them", err=True)
    selected = found if len(parts) > 1 else found[parts[0].name]
    click.echo(json.dumps(selected, indent=2))
    return report_errors(faults, len(data) - position, position)


class DecodeOptions(NamedTuple):
    """Options that describe the bytes."""

    is_request: bool
    is_response: bool
    api_name: str | None
    message_name: str | None
    version: int | None

    def parts(self, data: bytes) -> list[Part]:
        """Return the messages expected in `data`, header first; raise UsageError if options are missing."""
        if self.is_request and self.is_response:
            raise UsageError("--request and --response cannot be used together")
        if self.message_name is not None:
            return [Part("message", by_name(self.message_name), self.required_version())]
        if self.is_response:
            if self.api_name is None:
                raise UsageError("a response does not contain its API and version: give --api and --version")
            api, version = by_api_name(self.api_name), self.required_version()
            header = Part("header", by_name("ResponseHeader"), api.response_header_version(version))
            return [header, Part("body", api.response, version)]
        if self.api_name is not None and not self.is_request:
            return [Part("message", by_api_name(self.api_name).request, self.required_version())]
        return self.request_parts(data)

    def required_version(self) -> int:
        """Return the given version; raise UsageError if none was given."""
        if self.version is None:
            raise UsageError("the bytes do not contain the version of the message: give --version")
        return self.version

    def request_parts(self, data: bytes) -> list[Part]:
        """Return header and body of the request at the start of `data`; raise ProtocolError or UsageError."""
        if len(data) < 4:
            raise ProtocolError(
                f"a request starts with 4 bytes of key and version, but only {len(data)} are left", position=0
            )
        key, version = int.from_bytes(data[:2], "big", signed=True), int.from_bytes(data[2:4], "big", signed=True)
        api: Api = by_key(key)
        header = Part("header", by_name("RequestHeader"), api.request_header_version(version))
        return [header, Part("body", api.request, version)]


# -- the bytes --------------------------------------------------------------------------------


def read_source(source: str) -> bytes:
    """Return the bytes given by the argument: hex digits, a file, or standard input."""
    if source == "-":
        if sys.stdin is None:
            raise UsageError("stdin is closed")
        return decode_hex(sys.stdin.buffer.read())
    digits = hex_digits(source)
    # The name of a file may be hex, but no name is longer than 255 characters.
    if digits is not None and (len(source) > 255 or not Path(source).exists()):
        return bytes.fromhex(digits)
    try:
        return decode_hex(Path(source).read_bytes())
    except OSError as error:
        raise UsageError(f"{source[:60]!r} is neither hex nor a readable file: {error.strerror}") from None


def decode_hex(raw: bytes) -> bytes:
    """Return the bytes of hex digits; other bytes are returned unchanged."""
    try:
        digits = hex_digits(raw.decode("ascii"))
    except UnicodeDecodeError:
        return raw
    return raw if digits is None else bytes.fromhex(digits)


def hex_digits(text: str) -> str | None:
    """Return the hex digits in `text` without prefixes and separators, or None if it is not hex."""
    digits = re.sub(r"0x|[\s:,]", "", text)
    return digits if re.fullmatch(r"([0-9a-fA-F]{2})+", digits) else None


def without_length(data: bytes) -> bytes:
    """Return `data` without the length prefix of a frame, if it has one."""
    if len(data) >= 4 and int.from_bytes(data[:4], "big") == len(data) - 4:
        return data[4:]
    return data


def has_unknown_tags(part: Struct) -> bool:
    """Return whether the struct, or one inside it, has tags that are not in its schema."""
    if part.unknown_tags:
        return True
    for field in part.FIELDS:
        value = getattr(part, field.attribute)
        inner = value if isinstance(value, list) else [value]
        if field.type == "struct" and any(has_unknown_tags(item) for item in inner if item is not None):
            return True
    return False
