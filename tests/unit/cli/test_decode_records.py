"""`kmirror decode` decodes the records in Produce, Fetch and ShareFetch."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kmirror.cli.decode import command
from kmirror.protocol import FetchResponse, ProduceRequest, headers
from kmirror.protocol.gen.fetch_response import AbortedTransaction, FetchableTopicResponse, PartitionData
from kmirror.protocol.gen.fetch_snapshot_response import FetchSnapshotResponse, PartitionSnapshot, TopicSnapshot
from kmirror.protocol.gen.produce_request import PartitionProduceData, TopicProduceData
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.crc32c import crc32c
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from tests.builders import batch_of, idempotent, marker, reset

PRODUCE, FETCH = 12, 17
CRC_AT, RECORDS_COUNT_AT = 17, 57


def produce(records: bytes | None) -> ProduceRequest:
    partition = PartitionProduceData(index=3, records=records)
    return ProduceRequest(acks=-1, timeout_ms=1, topic_data=[TopicProduceData(name="t", partition_data=[partition])])


def fetched(records: bytes | None, aborted: list[tuple[int, int]] | None = None) -> FetchResponse:
    rows = None if aborted is None else [AbortedTransaction(producer_id=pid, first_offset=at) for pid, at in aborted]
    partition = PartitionData(records=records, aborted_transactions=rows)
    return FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])])


def decode(message: Message, version: int, *options: str) -> Result:
    words = ["--message", type(message).__name__, "--version", str(version), message.encode(version).hex(), *options]
    return CliRunner().invoke(command, words, standalone_mode=False)


def batches(message: Message, version: int, *, code: int = 0) -> tuple[list[dict[str, Any]], str]:
    result = decode(message, version)
    assert (result.exception, result.return_value) == (None, code)
    shown = json.loads(result.stdout)
    (topic,) = shown["topicData" if version == PRODUCE else "responses"]
    (partition,) = topic["partitionData" if version == PRODUCE else "partitions"]
    found: list[dict[str, Any]] = partition["records"]
    return found, result.stderr


def test_a_produced_batch_is_shown_with_its_header_and_its_records() -> None:
    headers = [("h", b"\xff"), ("n", None)]
    raw = build_batch(
        [RecordData(b"k", "Zoë".encode(), headers, 1_700_000_000_123), RecordData(None, b"\xff", (), -1)],
        compression=Compression.ZSTD, base_offset=0, producer_id=7, producer_epoch=1, base_sequence=4,
    )  # fmt: skip
    ((batch,), err) = batches(produce(raw), PRODUCE)
    assert err == ""
    records = batch.pop("records")
    crc = batch.pop("crc")
    assert isinstance(crc, int)
    assert batch == {
        "baseOffset": 0, "lastOffset": 1, "count": 2, "baseSequence": 4, "lastSequence": 5, "producerId": 7,
        "producerEpoch": 1, "partitionLeaderEpoch": -1, "isTransactional": False, "isControl": False,
        "deleteHorizonMs": None, "timestampType": "CreateTime", "maxTimestamp": 1_700_000_000_123, "size": len(raw),
        "magic": 2, "compression": "zstd", "isValid": True,
    }  # fmt: skip
    assert records == [
        {
            "offset": 0, "timestamp": 1_700_000_000_123, "timestampUtc": "2023-11-14T22:13:20.123Z", "key": "k",
            "value": "Zoë", "headers": [{"key": "h", "valueBase64": "/w=="}, {"key": "n", "value": None}],
        },
        {"offset": 1, "timestamp": -1, "timestampUtc": None, "key": None, "valueBase64": "/w==", "headers": []},
    ]  # fmt: skip


def test_batches_of_aborted_transactions_are_marked() -> None:
    raw = b"".join(
        (
            idempotent(0, pid=1, txn=True, offset=0),
            idempotent(0, pid=2, txn=True, offset=1),
            marker(offset=2, pid=1, commit=False),
            idempotent(1, pid=1, txn=True, offset=3),
            marker(offset=4, pid=2, commit=True),
        )
    )
    found, _ = batches(fetched(raw, [(1, 0)]), FETCH)
    assert [batch["isAborted"] for batch in found] == [True, False, False, False, False]
    assert [batch["records"][0].get("control") for batch in found] == [
        None, None, {"type": "ABORT", "coordinatorEpoch": 0}, None, {"type": "COMMIT", "coordinatorEpoch": 0},
    ]  # fmt: skip
    assert all("isAborted" not in batch for batch in batches(fetched(raw), FETCH)[0])
    ((batch,), _) = batches(fetched(reset(offset=9)), FETCH)
    assert batch["records"][0]["control"]["type"] == "MIRROR_PID_RESET"


def test_old_messages_are_opened_too() -> None:
    raw = build_message_set([RecordData(b"k", b"v", (), 5)] * 2, magic=1, base_offset=7, compression=Compression.GZIP)
    ((batch,), _) = batches(fetched(raw), FETCH)
    assert (batch["magic"], batch["compression"], batch["lastOffset"]) == (1, "gzip", 8)
    assert [record["offset"] for record in batch["records"]] == [7, 8]


def test_no_records_are_null_or_an_empty_list() -> None:
    assert batches(fetched(None), FETCH) == (None, "")
    assert batches(fetched(b""), FETCH) == ([], "")


def test_a_response_may_end_inside_a_batch_and_a_request_must_not() -> None:
    whole = batch_of(b"v")
    (first, rest), err = batches(fetched(whole + whole[:-1]), FETCH)
    assert (first["isValid"], rest["position"], len(rest["base64"]) > 50, err) == (True, len(whole), True, "")
    assert "incomplete" in rest
    (_, rest), err = batches(produce(whole + whole[:-1]), PRODUCE, code=1)
    assert "fault" in rest
    assert err.startswith(f"topicData[0].partitionData[0].records, byte {len(whole)} of the records: ")


def test_damage_is_reported_and_the_readable_part_is_shown() -> None:
    wrong = bytearray(batch_of(b"value"))
    wrong[-2] ^= 1
    (first, second), err = batches(fetched(bytes(wrong) + batch_of(b"next", offset=1)), FETCH, code=1)
    assert (first["isValid"], second["isValid"]) == (False, True)
    assert first["records"][0]["value"] != "value"
    assert err.startswith("responses[0].partitions[0].records[0]: checksum mismatch: stored ")
    (only,), err = batches(fetched(b"\x00" * 100), FETCH, code=1)
    assert ("fault" in only, only["position"]) == (True, 0)
    assert err != ""
    broken = bytearray(batch_of(b"v"))
    broken[RECORDS_COUNT_AT + 3] = 9
    broken[CRC_AT : CRC_AT + 4] = crc32c(memoryview(broken)[CRC_AT + 4 :]).to_bytes(4, "big")
    (batch,), err = batches(fetched(bytes(broken)), FETCH, code=1)
    assert (batch["isValid"], batch["records"]) == (True, None)
    assert batch["fault"] in err


def test_records_stay_base64_on_request_and_in_snapshots() -> None:
    result = decode(produce(batch_of(b"v")), PRODUCE, "--raw-records")
    assert ProduceRequest.from_json(json.loads(result.stdout), PRODUCE) == produce(batch_of(b"v"))
    snapshot = FetchSnapshotResponse(
        topics=[TopicSnapshot(name="t", partitions=[PartitionSnapshot(unaligned_records=batch_of(b"v")[7:])])]
    )
    for options in ((), ("--bytes",)):
        result = decode(snapshot, 1, *options)
        assert (result.exception, result.return_value, result.stderr) == (None, 0, "")


def rows(message: Message, version: int, *, code: int = 0) -> list[dict[str, Any]]:
    result = decode(message, version, "--bytes", "-o", "json")
    assert (result.exception, result.return_value) == (None, code)
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("compression", Compression)
def test_byte_ranges_lead_into_the_batches(compression: Compression) -> None:
    message = produce(build_batch([RecordData(b"the key", b"v")] * 2, compression=compression))
    raw = message.encode(PRODUCE)
    prefix = "topic_data[0].partition_data[0].records"
    by_path = {row["path"]: row for row in rows(message, PRODUCE)}
    magic = by_path[f"{prefix}.batch[0].magic"]
    assert raw[magic["start"] : magic["end"]] == b"\x02"
    is_plain = compression is Compression.NONE
    (key,) = (row for path, row in by_path.items() if path.endswith("record[1].key"))
    assert key["within"] == (None if is_plain else f"{prefix}.batch[0].payload")
    if is_plain:
        assert raw[key["start"] : key["end"]] == b"the key"
    text = decode(message, PRODUCE, "--bytes").stdout
    assert ("~" in text) != is_plain
    assert decode(message, PRODUCE, "--bytes", "--raw-records").stdout.count("batch[0]") == 0


def test_byte_ranges_report_damage_like_json() -> None:
    wrong = bytearray(batch_of(b"value"))
    wrong[-2] ^= 1
    result = decode(fetched(bytes(wrong)), FETCH, "--bytes")
    assert result.return_value == 1
    assert "responses[0].partitions[0].records.batch[0].crc: " in result.stderr
    torn = batch_of(b"v")[:-1]
    assert any(row["path"].endswith("records.(incomplete)") for row in rows(fetched(torn), FETCH))
    assert any(row["path"].endswith("records.(fault)") for row in rows(produce(torn), PRODUCE, code=1))


def test_a_damaged_frame_names_the_damaged_part() -> None:
    frame = headers.encode_request(produce(batch_of(b"v")[:-1]), PRODUCE, correlation_id=1, client_id="c")
    for options, path in (((), "topicData[0].partitionData[0]"), (("--bytes",), "topic_data[0].partition_data[0]")):
        result = CliRunner().invoke(command, [frame.hex(), *options], standalone_mode=False)
        assert result.return_value == 1
        assert result.stderr.startswith(f"body.{path}.records, byte 0 of the records: ")
