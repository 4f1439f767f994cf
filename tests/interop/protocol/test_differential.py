"""The same bytes through Kafka's own readers and kmirror's: they agree, except for known reasons.

tests/interop/conftest.py describes the source of Kafka's jars.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from kmirror.errors import ProtocolError
from kmirror.fuzz.batches import BatchStream
from kmirror.fuzz.campaign import Campaign, Tally
from kmirror.fuzz.differential.kafka_reader import KafkaReader
from kmirror.fuzz.differential.our_reader import OurReader
from kmirror.fuzz.differential.readers import Reader
from kmirror.fuzz.differential.verdicts import Verdict, refusal
from kmirror.fuzz.stream import Frame, Source, Stream
from kmirror.fuzz.targets.differential import DifferentialTarget
from kmirror.protocol.registry import by_name, names

FRAMES = int(os.environ.get("KMIRROR_DIFFERENTIAL_FRAMES", "3000"))


@pytest.fixture(scope="module")
def kafka(kafka_class_path: str) -> Iterator[KafkaReader]:
    reader = KafkaReader(kafka_class_path)
    yield reader
    reader.close()


def run(kafka: KafkaReader, other: Reader, source: Source, frames: int) -> Tally:
    campaign = Campaign(DifferentialTarget([other, kafka]), source)
    for _ in campaign.run(frames=frames):
        pass
    return campaign.tally


@pytest.mark.parametrize(
    "source", [Stream(41, tuple(by_name(name) for name in names())), BatchStream(41)], ids=["messages", "batches"]
)
def test_kafka_reads_as_we_do(kafka: KafkaReader, source: Source) -> None:
    tally = run(kafka, OurReader(), source, FRAMES)
    assert tally.frames == FRAMES
    assert FRAMES * 0.1 < tally.taken < FRAMES * 0.9
    # Messages within a compressed one determine how much memory Kafka allocates for them (docs/findings.md).
    found = [finding.line for cause, finding in tally.findings.items() if not cause.startswith("memory kafka")]
    assert not found


class NullsRefused(OurReader):
    """A reader with a fault: it refuses null texts."""

    def read(self, frame: Frame) -> Verdict:
        verdict = super().read(frame)
        if ": None" in str(verdict.value):
            return refusal(ProtocolError("null"), is_typed=True)
        return verdict


def test_a_reader_with_a_fault_is_found(kafka: KafkaReader) -> None:
    tally = run(kafka, NullsRefused(), Stream(1, (by_name("JoinGroupRequest"), by_name("MetadataRequest"))), 2_000)
    finding = tally.findings["differs kafka accepts, ours refuses: ProtocolError: null"]
    assert len(finding.frame) < 100


def test_records_in_messages_are_compared_by_their_encoding(kafka: KafkaReader) -> None:
    produce = by_name("ProduceRequest")
    data = produce.from_json({"transactionalId": None, "acks": 1, "timeoutMs": 1, "topicData": [
        {"name": "t", "partitionData": [{"index": 0, "records": "AAEC"}]}]}, 9).encode(9)  # fmt: skip
    frame = Frame(0, "ProduceRequest", 9, data, (), True, produce)
    ours, theirs = OurReader().read(frame), kafka.read(frame)
    assert theirs is not None
    assert theirs.rewritten == ours.rewritten == data
