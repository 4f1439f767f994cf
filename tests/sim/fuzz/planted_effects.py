"""Faults planted in a broker that responds with NONE and does nothing, or something else; one function each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.server import Inbound
from kmirror.fuzz.findings import FaultKind
from kmirror.fuzz.requests import TOPIC
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.delete_records_response import DeleteRecordsResponse
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.offset_commit_response import OffsetCommitResponse
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.message import Message

Patch = AbstractContextManager[object]


def _not_persisted(is_lost: Callable[[Sequence[Message]], bool]) -> Patch:
    """Return a patch: the controller responds, but does not persist the records for which `is_lost` is true."""
    commit = Controller.commit

    def commit_others(self: Controller, now: Instant, records: Sequence[Message], *, atomic: bool = False) -> None:
        commit(self, now, () if is_lost(records) else records, atomic=atomic)

    return patch.object(Controller, "commit", commit_others)


def _change_responses(response: type[Message], change: Callable[[Any], object]) -> Patch:
    """Return a patch that changes responses of this class before they are sent."""
    reply = Inbound.reply

    def reply_changed(self: Inbound, body: Message) -> None:
        if isinstance(body, response):
            change(body)
        reply(self, body)

    return patch.object(Inbound, "reply", reply_changed)


def _is_new_topic(records: Sequence[Message]) -> bool:
    return any(isinstance(row, TopicRecord) and row.name != TOPIC and row.name[:2] != "__" for row in records)


def topic_not_created() -> Patch:
    """A topic that is created is not in the metadata log."""
    return _not_persisted(_is_new_topic)


def topic_not_deleted() -> Patch:
    """A topic that is deleted stays."""
    return _not_persisted(lambda records: any(isinstance(row, RemoveTopicRecord) for row in records))


def partitions_not_added() -> Patch:
    """The response says that a topic has more partitions, but none are added."""
    return _not_persisted(lambda records: bool(records) and all(isinstance(row, PartitionRecord) for row in records))


def configs_not_set() -> Patch:
    """Configs that are set are not in the metadata log."""
    return _not_persisted(lambda records: bool(records) and all(isinstance(row, ConfigRecord) for row in records))


def refused_commit_without_error() -> Patch:
    """Offsets that are refused are answered with NONE."""

    def change(body: OffsetCommitResponse) -> None:
        for topic in body.topics:
            for row in topic.partitions:
                row.error_code = 0

    return _change_responses(OffsetCommitResponse, change)


def offset_above_the_batch() -> Patch:
    """The response to a Produce has an offset above its batch."""

    def change(body: ProduceResponse) -> None:
        for topic in body.responses:
            for row in topic.partition_responses:
                row.base_offset += 100 if row.base_offset >= 0 else 0

    return _change_responses(ProduceResponse, change)


def log_start_as_requested() -> Patch:
    """The response to a refused DeleteRecords says that the log begins at offset 5."""

    def change(body: DeleteRecordsResponse) -> None:
        for topic in body.topics:
            for row in topic.partitions:
                row.error_code, row.low_watermark = 0, 5

    return _change_responses(DeleteRecordsResponse, change)


def producer_of_another_epoch() -> Patch:
    """A transactional producer gets the epoch before its own."""

    def change(body: InitProducerIdResponse) -> None:
        body.producer_epoch -= body.producer_epoch > 0

    return _change_responses(InitProducerIdResponse, change)


EFFECTS: tuple[tuple[Callable[[], Patch], tuple[FaultKind, ...], tuple[str, ...]], ...] = (
    (topic_not_created, (FaultKind.STATE,), ("CreateTopicsRequest",)),
    (topic_not_deleted, (FaultKind.STATE,), ("DeleteTopicsRequest",)),
    (partitions_not_added, (FaultKind.STATE,), ("CreatePartitionsRequest",)),
    (configs_not_set, (FaultKind.STATE,), ("AlterConfigsRequest",)),
    (refused_commit_without_error, (FaultKind.STATE,), ("OffsetCommitRequest",)),
    (offset_above_the_batch, (FaultKind.STATE,), ("ProduceRequest",)),
    (log_start_as_requested, (FaultKind.STATE,), ("DeleteRecordsRequest",)),
    (producer_of_another_epoch, (FaultKind.STATE,), ("InitProducerIdRequest",)),
)
