"""Bytes, JSON and refusals equal those of Kafka 4.3.1's own classes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.protocol import careful, headers
from kmirror.protocol import keyed_records as records
from kmirror.protocol.json_form import Records, to_json
from kmirror.protocol.registry import by_key, by_name

DATA = Path(__file__).parents[2] / "data" / "messages"


def rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.ndjson.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def by_message(name: str) -> list[Any]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows(name):
        found.setdefault(row["m"], []).append(row)
    return [pytest.param(group, id=key) for key, group in found.items()]


@pytest.mark.parametrize("group", by_message("messages"))
def test_bytes_and_json_of_every_version(group: list[dict[str, Any]]) -> None:
    for row in group:
        cls, version, data = by_name(row["m"]), row["v"], bytes.fromhex(row["hex"])
        message, end = cls.decode_prefix(data, version)
        assert end == len(data)
        assert message.encode(version) == data
        assert b"".join(message.encode_chunks(version)) == data
        full = row.get("full", row["json"])
        # Text is compared, so that the order of fields and the form of numbers count.
        assert json.dumps(to_json(message, version, Records.EMPTY)) == json.dumps(row["json"])
        assert json.dumps(message.to_json(version)) == json.dumps(full)
        again = cls.from_json(full, version)
        if not row.get("unknown"):
            assert again == message
            assert again.encode(version) == data


@pytest.mark.parametrize("group", by_message("messages"))
def test_the_generated_code_and_the_field_tables_agree(group: list[dict[str, Any]]) -> None:
    for row in group:
        cls, version, data = by_name(row["m"]), row["v"], bytes.fromhex(row["hex"])
        message, end = cls._read(data, 0, version)
        assert careful.decode(cls, data, version) == (message, end)
        assert b"".join(careful.encode(message, version)) == data


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_every_kind_of_buffer_is_read(form: Any) -> None:
    for row in rows("messages"):
        data = bytes.fromhex(row["hex"])
        cls = by_name(row["m"])
        assert cls.decode(form(data), row["v"]).encode(row["v"]) == data


def test_the_vectors_cover_every_live_message_version_of_the_release() -> None:
    assert len({(row["m"], row["v"]) for row in rows("messages")}) == 728


def test_headers() -> None:
    for row in rows("headers"):
        api, data = by_key(row["api"]), bytes.fromhex(row["hex"])
        assert api.name == row["name"]
        is_request = row["kind"] == "request"
        chosen = api.request_header_version if is_request else api.response_header_version
        assert chosen(row["api_version"]) == row["v"]
        header = by_name(row["m"]).decode(data, row["v"])
        assert header.encode(row["v"]) == data
        assert header.to_json(row["v"]) == row["json"]
        if is_request:
            said = row["json"]
            assert headers.peek_request(data) == headers.RequestHead(
                said["requestApiKey"],
                said["requestApiVersion"],
                said["correlationId"],
                said["clientId"],
                len(data),
            )


def test_records_are_framed_as_in_a_log() -> None:
    for row in rows("frames"):
        framed, kind = bytes.fromhex(row["framed"]), row["kind"]
        message = by_name(row["m"]).decode(bytes.fromhex(row["hex"]), row["v"])
        if kind == "coordinator-key":
            assert records.encode_key(message) == framed
            assert any(_reads_key(topic, framed, row["m"]) for topic in records.COORDINATOR_RECORDS)
        elif kind == "coordinator-value":
            assert records.encode_value(message, row["v"]) == framed
        else:
            is_remote = kind == "remote-log-frame"
            table = records.REMOTE_LOG_RECORDS if is_remote else records.METADATA_RECORDS
            assert records.encode_metadata_record(message, row["v"]) == framed
            assert records.decode_metadata_record(framed, table=table) == (message, row["v"])


def _reads_key(topic: str, framed: bytes, name: str) -> bool:
    try:
        return name == records.decode_key(topic, framed).NAME
    except ProtocolError:
        return False


def test_json_of_one_version_written_in_another() -> None:
    for row in rows("cross"):
        message = by_name(row["m"]).from_json(row["json"], row["v"])
        if "error" in row:
            with pytest.raises(LocalProtocolError):
                message.encode(row["to"])
        else:
            assert message.encode(row["to"]).hex() == row["hex"]


def test_bytes_refused_by_kafka_are_refused_with_position_and_field() -> None:
    for row in rows("errors"):
        if "error" not in row:
            continue
        data = bytes.fromhex(row["hex"])
        with pytest.raises(ProtocolError) as caught:
            by_name(row["m"]).decode(data, row["v"])
        assert caught.value.position is not None
        assert 0 <= caught.value.position <= len(data)
        assert caught.value.field


def test_bytes_accepted_by_kafka_are_read_and_written_back_identically() -> None:
    for row in rows("errors"):
        if "accepted" not in row:
            continue
        cls, version, data = by_name(row["m"]), row["v"], bytes.fromhex(row["hex"])
        message, end = cls.decode_prefix(data, version)
        assert len(data) - end == row["rest"]
        assert to_json(message, version, Records.EMPTY) == row["json"]
        if "out_error" in row:
            with pytest.raises(LocalProtocolError):
                message.encode(version)
        else:
            assert message.encode(version).hex() == row.get("out", data[:end].hex())
