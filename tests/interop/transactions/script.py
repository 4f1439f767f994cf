"""Requests of transactional producers of both protocols, valid and invalid, and the resulting logs of a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kmirror.protocol.gen.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kmirror.protocol.gen.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.describe_producers_request import DescribeProducersRequest, TopicRequest
from kmirror.protocol.gen.describe_transactions_request import DescribeTransactionsRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kmirror.protocol.gen.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kmirror.protocol.json_form import to_json
from kmirror.protocol.keyed_records import decode_record
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.legacy import iter_any_batches
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.interop.groups.talk import Talk

CONFIGS = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "300",
}
TOPIC = "tx"
COMMIT, ABORT = True, False
NOT_YET = (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NOT_ENOUGH_REPLICAS)
NOT_THERE = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
)


class Client:
    """One transactional id; it continues with its last response, unless a step overrides that."""

    def __init__(self, talk: Talk, name: str) -> None:
        self.talk, self.name = talk, name
        self.id = self.epoch = -1
        self._ids: dict[int, str] = {-1: "none"}

    def ask(self, body: Message, version: int) -> Any:
        return self.talk.ask_raw(self.name, body, version)

    def until(self, ask: Callable[[], tuple[ErrorCode, Any]]) -> tuple[str, Any]:
        """Repeat the request while the error says that it is too early; return the error's name and the rest."""
        while True:
            error, rest = ask()
            if error not in (*NOT_YET, *NOT_THERE):
                return error.name, rest
            self.talk.peer.wait(0.05)

    def shown(self, producer_id: int) -> str:
        return self._ids.setdefault(producer_id, f"id {len(self._ids)}")

    def init(
        self, label: str, version: int = 5, *, timeout_ms: int = 60_000, named: tuple[int, int] = (-1, -1)
    ) -> None:
        def ask() -> tuple[ErrorCode, Any]:
            request = InitProducerIdRequest(self.name, timeout_ms, *(named if version >= 3 else (-1, -1)))
            answer = self.ask(request, version)
            if not answer.error_code:
                self.id, self.epoch = answer.producer_id, answer.producer_epoch
            return ErrorCode(answer.error_code), (self.shown(answer.producer_id), answer.producer_epoch)

        self.talk.note(f"{self.name}: {label}: InitProducerId {version}", self.until(ask))

    def produce(
        self, label: str, version: int = 12, *, partition: int = 0, epoch: int | None = None, sequence: int = 0
    ) -> None:
        batch = build_batch(
            [RecordData(value=label.encode())],
            producer_id=self.id,
            producer_epoch=self.epoch if epoch is None else epoch,
            base_sequence=sequence,
            is_transactional=True,
            timestamp_ms=1_700_000_000_000,
        )
        data = TopicProduceData(name=TOPIC, partition_data=[PartitionProduceData(partition, batch)])
        request = ProduceRequest(transactional_id=self.name, acks=-1, timeout_ms=5_000, topic_data=[data])

        def ask() -> tuple[ErrorCode, Any]:
            row = self.ask(request, version).responses[0].partition_responses[0]
            return ErrorCode(row.error_code), row.base_offset

        self.talk.note(f"{self.name}: {label}: Produce {version} to {partition}", self.until(ask))

    def add(self, label: str, version: int = 3, *partitions: int, verify: bool = False) -> None:
        topics = [AddPartitionsToTxnTopic(TOPIC, list(partitions or (0,)))]
        if version < 4:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.name,
                v3_and_below_producer_id=self.id,
                v3_and_below_producer_epoch=self.epoch,
                v3_and_below_topics=topics,
            )
        else:
            one = AddPartitionsToTxnTransaction(self.name, self.id, self.epoch, verify, topics)
            request = AddPartitionsToTxnRequest(transactions=[one])

        def ask() -> tuple[ErrorCode, Any]:
            answer = self.ask(request, version)
            rows = (
                answer.results_by_topic_v3_and_below if version < 4 else answer.results_by_transaction[0].topic_results
            )
            codes = [ErrorCode(row.partition_error_code) for row in rows[0].results_by_partition]
            return codes[0], [code.name for code in codes]

        self.talk.note(f"{self.name}: {label}: AddPartitionsToTxn {version}", self.until(ask))

    def offsets(self, label: str, version: int = 5, *, epoch: int | None = None) -> None:
        epoch = self.epoch if epoch is None else epoch
        if version < 5:

            def add() -> tuple[ErrorCode, Any]:
                answer = self.ask(AddOffsetsToTxnRequest(self.name, self.id, epoch, "g"), 4)
                return ErrorCode(answer.error_code), None

            self.talk.note(f"{self.name}: {label}: AddOffsetsToTxn 4", self.until(add))
        rows = [TxnOffsetCommitRequestPartition(0, 5, -1, "")]
        request = TxnOffsetCommitRequest(
            self.name, "g", self.id, epoch, topics=[TxnOffsetCommitRequestTopic(TOPIC, rows)]
        )

        def ask() -> tuple[ErrorCode, Any]:
            return ErrorCode(self.ask(request, version).topics[0].partitions[0].error_code), None

        self.talk.note(f"{self.name}: {label}: TxnOffsetCommit {version}", self.until(ask))

    def end(self, label: str, *, commit: bool, version: int = 5, epoch: int | None = None, waits: bool = True) -> None:
        """End the transaction; with `waits` its markers are written when this returns."""
        request = EndTxnRequest(self.name, self.id, self.epoch if epoch is None else epoch, commit)

        def ask() -> tuple[ErrorCode, Any]:
            answer = self.ask(request, version)
            if not answer.error_code and answer.producer_id >= 0 and epoch is None:
                self.id, self.epoch = answer.producer_id, answer.producer_epoch
            return ErrorCode(answer.error_code), (self.shown(answer.producer_id), answer.producer_epoch)

        verb = "commit" if commit else "abort"
        self.talk.note(f"{self.name}: {label}: EndTxn {version}, {verb}", self.until(ask))
        if waits:
            self.settle()

    def mark(self, label: str, epoch: int, version: int = 2, transaction_version: int = 2) -> None:
        marker = WritableTxnMarker(self.id, epoch, COMMIT, [WritableTxnMarkerTopic(TOPIC, [0])], 0, transaction_version)
        row = self.ask(WriteTxnMarkersRequest([marker]), version).markers[0].topics[0].partitions[0]
        self.talk.note(f"{self.name}: {label}: WriteTxnMarkers {version}", ErrorCode(row.error_code).name)

    def _described(self) -> Any:
        return self.ask(DescribeTransactionsRequest([self.name]), 0).transaction_states[0]

    def settle(self) -> None:
        """Wait until the transaction is not ending any more."""
        while self._described().transaction_state.startswith("Prepare"):
            self.talk.peer.wait(0.05)

    def look(self, label: str) -> None:
        """Record the descriptions by coordinator and leader."""
        row = self._described()
        partitions = sorted((topic.topic, sorted(topic.partitions)) for topic in row.topics)
        told = row.transaction_state, row.producer_epoch, self.shown(row.producer_id), row.transaction_timeout_ms
        self.talk.note(f"{self.name}: {label}: DescribeTransactions", (*told, partitions))
        topic = self.ask(DescribeProducersRequest([TopicRequest(TOPIC, [0, 1])]), 0).topics[0]
        rows = [
            (part.partition_index, one.producer_epoch, one.last_sequence, one.coordinator_epoch >= 0)
            for part in topic.partitions
            for one in part.active_producers
            if one.producer_id == self.id
        ]
        self.talk.note(f"{self.name}: {label}: DescribeProducers", rows)


def run(talk: Talk) -> None:
    """Run all conversations, then read the logs."""
    _features(talk)
    _begin(talk)
    _second_version(talk)
    _first_version(talk)
    _between_versions(talk)
    _out_of_order(talk)
    _timed_out(talk)
    _inits(talk)
    _logs(talk)


def _features(talk: Talk) -> None:
    answer = talk.ask_raw("admin", ApiVersionsRequest("script", "1"), 4)
    levels = {row.name: (row.min_version_level, row.max_version_level) for row in answer.finalized_features}
    supported = {row.name: (row.min_version, row.max_version) for row in answer.supported_features}
    talk.note("transaction.version", (levels["transaction.version"], supported["transaction.version"]))


def _begin(talk: Talk) -> None:
    topic = CreatableTopic(name=TOPIC, num_partitions=2, replication_factor=1)
    talk.ask_raw("admin", CreateTopicsRequest(topics=[topic], timeout_ms=5_000), 7)
    while True:  # The topics of both coordinators.
        rows = []
        for kind, key in ((0, "g"), (1, "two")):
            rows.append(talk.ask_raw("admin", FindCoordinatorRequest(key, kind), 3).error_code)
        if not any(rows):
            return
        talk.peer.wait(0.2)


def _second_version(talk: Talk) -> None:
    client = Client(talk, "two")
    client.init("new")
    client.look("new")
    client.end("nothing written", commit=COMMIT)
    client.end("nothing written", commit=ABORT)
    client.look("an abort of nothing")
    client.produce("first")
    client.produce("first of another", partition=1)
    client.offsets("offsets")
    client.look("open")
    old = client.epoch
    client.end("whole", commit=COMMIT)
    client.look("committed")
    for commit in (COMMIT, ABORT):
        client.end("once more", commit=commit, epoch=old)
        client.end("too old", commit=commit, epoch=old - 1)
        client.end("from the future", commit=commit, epoch=old + 2)
    client.produce("late", epoch=old, sequence=1)
    client.offsets("late", epoch=old)
    client.end("nothing written", commit=COMMIT)
    client.produce("second")
    client.produce("second, again", sequence=1)
    old = client.epoch
    client.end("half", commit=ABORT)
    for commit in (COMMIT, ABORT):
        client.end("once more", commit=commit, epoch=old)
    client.mark("of the one before", old + 1)
    client.produce("third")
    client.mark("of the one before", client.epoch)
    client.mark("with an old epoch", client.epoch - 1)
    client.look("open")
    client.end("third", commit=COMMIT)
    other = Client(talk, "nobody")
    other.id, other.epoch = client.id, client.epoch
    other.end("unknown", commit=COMMIT, waits=False)
    client.id += 1_000_000
    client.end("of another", commit=COMMIT)
    client.produce("of another")


def _first_version(talk: Talk) -> None:
    client = Client(talk, "one")
    client.init("new", 3)
    for commit in (COMMIT, ABORT):
        client.end("nothing written", commit=commit, version=3)
    client.produce("not added", 11)
    client.produce("not added", 10)
    client.add("first")
    client.add("and another", 3, 0, 1)
    client.produce("first", 11)
    client.offsets("offsets", 4)
    client.add("verified", 4, 0, 1, verify=True)
    client.end("whole", commit=COMMIT, version=4)
    client.look("committed")
    client.end("once more", commit=COMMIT, version=4)
    client.end("the other way", commit=ABORT, version=3)
    client.end("fenced", commit=ABORT, version=4, epoch=client.epoch + 1)
    client.end("fenced", commit=ABORT, version=1, epoch=client.epoch + 1)
    client.add("verified", 4, verify=True)
    client.add("second", 3)
    client.produce("second", 9, sequence=1)
    client.end("half", commit=ABORT, version=2)
    client.look("aborted")


def _between_versions(talk: Talk) -> None:
    """A client that is upgraded, and one that ends with another protocol than it began."""
    client = Client(talk, "both")
    client.init("new")
    client.add("old", 3)
    client.produce("old", 11)
    client.end("new", commit=COMMIT)
    client.produce("new")
    client.end("old", commit=COMMIT, version=4)
    client.look("ended by the old rules")
    client.end("once more, new", commit=COMMIT, version=5)
    client.produce("in the same epoch", sequence=1)
    client.end("new", commit=ABORT)
    client.look("ended by the new rules")


def _out_of_order(talk: Talk) -> None:
    client = Client(talk, "order")
    client.init("new")
    client.produce("second", sequence=1)
    client.produce("first")
    client.produce("second", sequence=1)
    client.produce("second", sequence=1)
    client.end("both", commit=COMMIT)
    client.produce("second of the next", sequence=2)
    client.produce("first of the next")
    client.end("both", commit=COMMIT)


def _timed_out(talk: Talk) -> None:
    for version in (12, 11):
        client = Client(talk, f"slow {version}")
        client.init("new", timeout_ms=1_000)
        if version == 11:
            client.add("slow")
        client.produce("slow", version)
        while client._described().transaction_state != "CompleteAbort":
            talk.peer.wait(0.1)
        client.look("timed out")
        old = client.epoch
        client.produce("late", version, sequence=1)
        last = 5 if version == 12 else 4
        client.end("late", commit=COMMIT, version=last, epoch=old)
        client.end("late", commit=ABORT, version=last)
        client.look("aborted by itself")


def _inits(talk: Talk) -> None:
    client = Client(talk, "again")
    client.init("new")
    first = client.id, client.epoch
    client.init("named", named=first)
    client.init("named, once more", named=first)
    client.produce("open")
    client.init("while open", named=(client.id, client.epoch))
    client.look("aborted for it")
    client.produce("next")
    before = client.id, client.epoch
    client.end("next", commit=COMMIT)
    client.init("has not heard of the end", named=before)
    client.init("unnamed")
    client.init("named, of long ago", named=before)
    client.init("named, of long ago", 3, named=before)
    client.init("of another", named=(client.id + 1_000_000, 0))


def _logs(talk: Talk) -> None:
    for topic, partition in ((TOPIC, 0), (TOPIC, 1), ("__transaction_state", 0)):
        rows = [_shown(batch, topic) for batch in _fetched(talk, topic, partition)]
        talk.note(f"log of {topic}-{partition}", [row for group in rows for row in group])


def _fetched(talk: Talk, topic: str, partition: int) -> Iterator[Any]:
    """Yield all batches of a partition; a response has those of one segment."""
    offset = 0
    while True:
        asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20)
        rows = [FetchTopic(topic=topic, partitions=[asked])]
        request = FetchRequest(max_wait_ms=100, min_bytes=0, max_bytes=1 << 20, topics=rows)
        answer = talk.ask_raw("admin", request, 11).responses[0].partitions[0]
        for batch in iter_any_batches(answer.records or b""):
            yield batch
            offset = batch.last_offset + 1
        if offset >= answer.high_watermark:
            return


def _shown(batch: Any, topic: str) -> list[Any]:
    if batch.is_control:
        return [("marker", batch.control().type.name, batch.producer_epoch)]
    rows: list[Any] = []
    for record in batch.records():
        if topic == TOPIC:
            rows.append((record.value, batch.producer_epoch, batch.base_sequence, batch.is_transactional))
            continue
        key, value, version = _decode(topic, record)
        rows.append((key, version, value))
    return rows


def _decode(topic: str, record: Any) -> tuple[Any, Any, int]:
    key, value, version = decode_record(topic, record.key, record.value)
    told = to_json(value, version)
    own = told["producerId"]
    for name in list(told):
        if name.endswith("TimestampMs"):
            told[name] = told[name] >= 0
        elif name.endswith("ProducerId") or name == "producerId":
            told[name] = {-1: "none", own: "its own"}.get(told[name], "another")
    for row in told.get("transactionPartitions") or ():
        row["partitionIds"].sort()
    if told.get("transactionPartitions"):
        told["transactionPartitions"].sort(key=lambda row: row["topic"])
    return key.transactional_id, told, version
