"""Requests of consumers, producers and administrators about committed offsets, in sequence.

The broker has the configs of the other conversation, and those below.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.describe_transactions_request import DescribeTransactionsRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.group_metadata_key import GroupMetadataKey
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.offset_commit_key import OffsetCommitKey
from kmirror.protocol.gen.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kmirror.protocol.gen.offset_commit_value import OffsetCommitValue
from kmirror.protocol.gen.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kmirror.protocol.gen.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kmirror.protocol.gen.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kmirror.protocol.json_form import to_json
from kmirror.protocol.keyed_records import decode_record
from kmirror.records.legacy import iter_any_batches
from tests.interop.groups import script
from tests.interop.groups.script import Member
from tests.interop.groups.talk import Talk

CONFIGS = {
    **script.CONFIGS,
    "offset.metadata.max.bytes": "10",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
EXPIRY_CONFIGS = {**CONFIGS, "offsets.retention.check.interval.ms": "1000"}
UNKNOWN_ID = Uuid.from_ints(77, 77)
TOPICS = {"orders": 2, "payments": 1, "a": 1, "b-topic": 1, "many": 9}
Offset = tuple[int, int, str | None]
"""Offset, leader epoch, metadata."""
PLAIN: Offset = (7, -1, "")
ENDED = ("CompleteCommit", "CompleteAbort")


def in_order(talk: Talk, label: str, answer: Any) -> None:
    """Record the order of topics and partitions in a response; `Talk` sorts rows with names."""
    rows = [(topic.name, [row.partition_index for row in topic.partitions]) for topic in answer.topics]
    talk.note(f"{label}, in order", rows)


class Administrator:
    """Knows the ids of topics."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.ids: dict[str, Uuid] = {"unknown": UNKNOWN_ID}

    def create_topics(self) -> None:
        for name, partitions in TOPICS.items():
            topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
            self.talk.ask_raw("admin", CreateTopicsRequest(topics=[topic], timeout_ms=5000), 7)
        self.learn()

    def learn(self) -> None:
        """Wait until the broker knows the topics, and store their ids."""
        while set(TOPICS) - set(self.ids):
            for topic in self.talk.ask_raw("admin", MetadataRequest(topics=None), 12).topics:
                self.ids[topic.name] = topic.topic_id
                self.talk.know(str(topic.topic_id), f"the id of {topic.name}")


class Consumer:
    """A client that commits and fetches offsets of a group, as a member or not."""

    def __init__(self, admin: Administrator, group: str) -> None:
        self.admin, self.talk, self.group = admin, admin.talk, group

    def commit(
        self,
        label: str,
        offsets: dict[tuple[str, int], Offset],
        version: int = 9,
        *,
        member: Member | None = None,
        retention_ms: int = -1,
        **wrong: Any,
    ) -> Any:
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for (name, partition), (offset, epoch, metadata) in offsets.items():
            topic = topics.setdefault(name, OffsetCommitRequestTopic(name, self.admin.ids[name], []))
            topic.partitions.append(OffsetCommitRequestPartition(partition, offset, epoch, metadata))
        fields: dict[str, Any] = {"group_id": self.group, "topics": list(topics.values())}
        if member is not None:
            fields["member_id"], fields["generation_id_or_member_epoch"] = member.member_id, member.generation
            fields["group_instance_id"] = member.instance if version >= 7 else None
        if version <= 4:
            fields["retention_time_ms"] = retention_ms
        answer = self.talk.ask("commits", label, OffsetCommitRequest(**{**fields, **wrong}), version)
        in_order(self.talk, label, answer)
        return answer

    def fetch(self, label: str, asked: dict[str, list[int]] | None, version: int = 9, *, stable: bool = False) -> Any:
        if version < 8:
            old = None if asked is None else [OffsetFetchRequestTopic(name, rows) for name, rows in asked.items()]
            request = OffsetFetchRequest(group_id=self.group, topics=old, require_stable=stable)
        else:
            request = OffsetFetchRequest(groups=[self._group(asked)], require_stable=stable)
        answer = self.talk.ask("fetches", label, request, version)
        in_order(self.talk, label, answer)
        return answer

    def _group(self, asked: dict[str, list[int]] | None) -> OffsetFetchRequestGroup:
        topics = None
        if asked is not None:
            topics = [OffsetFetchRequestTopics(name, self.admin.ids[name], rows) for name, rows in asked.items()]
        return OffsetFetchRequestGroup(group_id=self.group, topics=topics)

    def delete(self, label: str, asked: dict[str, list[int]]) -> Any:
        topics = [
            OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(row) for row in rows])
            for name, rows in asked.items()
        ]
        answer = self.talk.ask("admin", label, OffsetDeleteRequest(self.group, topics), 0)
        in_order(self.talk, label, answer)
        return answer


class Producer:
    """A transactional producer that commits offsets."""

    def __init__(self, talk: Talk, name: str) -> None:
        self.talk, self.name = talk, name
        self.id, self.epoch = -1, -1

    def begin(self) -> None:
        """Get a producer id; repeated while the coordinator is not available yet."""
        while True:
            request = InitProducerIdRequest(transactional_id=self.name, transaction_timeout_ms=60_000)
            answer = self.talk.ask_raw("produces", request, 3)
            if not answer.error_code:
                self.id, self.epoch = answer.producer_id, answer.producer_epoch
                return
            self.talk.peer.wait(0.05)

    def add(self, label: str, group: str, version: int = 3, **wrong: Any) -> Any:
        fields = {
            "transactional_id": self.name,
            "producer_id": self.id,
            "producer_epoch": self.epoch,
            "group_id": group,
            **wrong,
        }
        while True:  # The transaction before may not be over yet: CONCURRENT_TRANSACTIONS.
            answer = self.talk.ask("produces", label, AddOffsetsToTxnRequest(**fields), version)
            if answer.error_code != 51:
                return answer
            self.talk.forget_last()
            self.talk.peer.wait(0.1)

    def commit(
        self,
        label: str,
        group: str,
        offsets: dict[tuple[str, int], Offset],
        version: int = 3,
        *,
        member: Member | None = None,
        **wrong: Any,
    ) -> Any:
        topics: dict[str, TxnOffsetCommitRequestTopic] = {}
        for (name, partition), (offset, epoch, metadata) in offsets.items():
            topic = topics.setdefault(name, TxnOffsetCommitRequestTopic(name, []))
            topic.partitions.append(TxnOffsetCommitRequestPartition(partition, offset, epoch, metadata))
        fields: dict[str, Any] = {
            "transactional_id": self.name,
            "group_id": group,
            "producer_id": self.id,
            "producer_epoch": self.epoch,
            "topics": list(topics.values()),
        }
        if member is not None and version >= 3:
            fields["member_id"], fields["generation_id"] = member.member_id, member.generation
            fields["group_instance_id"] = member.instance
        answer = self.talk.ask("produces", label, TxnOffsetCommitRequest(**{**fields, **wrong}), version)
        in_order(self.talk, label, answer)
        return answer

    def end(self, label: str, *, commit: bool) -> None:
        """End the transaction, and wait until its markers are written."""
        self.talk.ask("produces", label, EndTxnRequest(self.name, self.id, self.epoch, commit), 3)
        self.talk.wait_until(f"the end of {self.name}'s transaction", lambda: self._state() in ENDED)

    def _state(self) -> str:
        answer = self.talk.ask_raw("produces", DescribeTransactionsRequest(transactional_ids=[self.name]), 0)
        return str(answer.transaction_states[0].transaction_state)


def every_version(admin: Administrator) -> None:
    """Commits and fetches in all versions, of existing and missing offsets."""
    for version in range(2, 11):
        consumer = Consumer(admin, f"version-{version}")
        epoch = 3 if version >= 6 else -1
        consumer.fetch("nothing yet", {"orders": [0, 1]}, max(1, version - 1))
        consumer.commit("first", {("orders", 1): (5, epoch, "note"), ("payments", 0): (6, -1, None)}, version)
        consumer.commit("again", {("orders", 0): PLAIN, ("orders", 1): (9, epoch, "")}, version)
        some_are_wrong = {("orders", 0): (8, -1, "x" * 11), ("orders", 5): PLAIN, ("payments", 0): (2, -1, "x" * 10)}
        consumer.commit("some are wrong", some_are_wrong, version)
        consumer.commit("unknown", {("unknown", 0): PLAIN, ("orders", 0): (4, -1, "ä" * 10)}, version)
        consumer.commit("only unknown", {("unknown", 0): PLAIN, ("unknown", 1): PLAIN}, version)
        consumer.commit("negative", {("orders", 0): (-1, -1, "")}, version)
        consumer.commit("nothing", {}, version)
        for asked in range(1, 11):
            consumer.fetch("some", {"orders": [1, 0, 7], "unknown": [0], "payments": [0]}, asked)
            consumer.fetch("no topics", {}, asked)
            if asked >= 2:
                consumer.fetch("all", None, asked)
            if asked >= 7:
                consumer.fetch("all stable", None, asked, stable=True)
    consumer = Consumer(admin, "in order")
    rows = {("many", index): (index, -1, "") for index in range(9)}
    consumer.commit("many", {**rows, **{(name, 0): PLAIN for name in TOPICS}})
    for version in range(2, 11):
        consumer.fetch("many", None, version)
    for version in (2, 3, 4):
        Consumer(admin, f"retention-{version}").commit(
            "retention", {("orders", 0): PLAIN}, version, retention_ms=60_000
        )


def many_groups(admin: Administrator) -> None:
    one, two = Consumer(admin, "many-1"), Consumer(admin, "many-2")
    one.commit("one", {("orders", 0): PLAIN})
    two.commit("two", {("orders", 1): PLAIN, ("payments", 0): PLAIN})
    rows = [Consumer(admin, name)._group({"orders": [0, 1]}) for name in ("many-1", "many-2", "none", "")]
    rows.append(OffsetFetchRequestGroup("many-2", topics=None))
    for version in (8, 9, 10):
        for stable in (False, True):
            admin.talk.ask("fetches", "groups", OffsetFetchRequest(groups=rows, require_stable=stable), version)
    admin.talk.ask("fetches", "no groups", OffsetFetchRequest(groups=[]), 8)


def refusals(admin: Administrator) -> None:
    """Clients that are no members, or of another generation."""
    talk, row = admin.talk, {("orders", 0): PLAIN}
    for version in range(2, 11):
        consumer = Consumer(admin, f"refusals-{version}")
        consumer.commit("no such group", row, version, member_id="m", generation_id_or_member_epoch=3)
        consumer.commit("member without generation", row, version, member_id="m")
        consumer.commit("generation of a simple group", row, version, member_id="m", generation_id_or_member_epoch=0)
        consumer.commit("generation, no member", row, version, generation_id_or_member_epoch=0)
        if version >= 7:
            consumer.commit("instance", row, version, group_instance_id="i")
            consumer.commit(
                "instance and generation", row, version, group_instance_id="i", generation_id_or_member_epoch=1
            )
        one = Member(talk, "one", f"members-{version}", instance="i" if version >= 7 else None)
        group = Consumer(admin, one.group)
        one.join("joins")
        group.commit("completing", row, version, member=one)
        group.commit("completing, nobody", row, version)
        one.sync("joins")
        group.commit("stable", row, version, member=one)
        group.commit("stable, nobody", row, version)
        group.commit("other generation", row, version, member=one, generation_id_or_member_epoch=7)
        group.commit("no generation", row, version, member=one, generation_id_or_member_epoch=-1)
        group.commit("other member", row, version, member=one, member_id="nobody")
        if version >= 7:
            group.commit("other instance", row, version, member=one, group_instance_id="j")
            group.commit("no instance", row, version, member=one, group_instance_id=None)
        two = Member(talk, "two", one.group)
        two.begin_join("joins too")
        group.commit("preparing", {("orders", 1): (99, -1, "")}, version, member=one)
        one.send_join("again")
        one.take_join()
        two.take_join()
        group.commit("completing two", row, version, member=one)
        one.sync("again", two) if one.joined.leader == one.member_id else two.sync("again", one)
        group.fetch("stable", None, stable=True)
        two.leave("leaves")
        one.leave("leaves")
        group.commit("empty, nobody", row, version)
        group.commit("empty, former member", row, version, member=one)
        group.fetch("empty", None)


def deletions(admin: Administrator) -> None:
    """OffsetDelete and DeleteGroups, with members and without."""
    consumer = Consumer(admin, "deletions")
    consumer.delete("no such group", {"orders": [0]})
    Consumer(admin, "").delete("no group", {"orders": [0]})
    consumer.commit("some", {("orders", 0): PLAIN, ("orders", 1): PLAIN, ("payments", 0): PLAIN})
    consumer.delete("one", {"orders": [0]})
    consumer.delete("again", {"orders": [0, 1, 7], "unknown": [3]})
    consumer.delete("nothing", {})
    consumer.fetch("left", None)
    consumer.delete("the rest", {"payments": [0]})
    consumer.delete("the group is there", {"payments": [0]})
    for topic in ("orders", "payments"):
        member = Member(admin.talk, "one", f"deletions-{topic}")
        group = Consumer(admin, member.group)
        member.join("joins")  # Its subscription names orders.
        group.delete("completing", {topic: [0]})
        member.sync("joins")
        group.commit("commits", {(topic, 0): PLAIN}, member=member)
        group.delete("of a member", {topic: [0], "unknown": [0]})
        group.fetch("left", None)
        member.leave("leaves")
        group.delete("none is left", {topic: [0]})
        group.fetch("left", None)
    consumer.commit("once more", {("orders", 0): PLAIN, ("payments", 0): PLAIN})
    admin.talk.ask("admin", "group", DeleteGroupsRequest(groups_names=["deletions", "in order"]), 2)
    consumer.fetch("deleted", None)
    consumer.delete("deleted", {"orders": [0]})


def transactions(admin: Administrator) -> None:
    """Offsets in transactions: committed, aborted, of two producers, refused."""
    talk, row = admin.talk, {("orders", 0): (20, 2, "in txn"), ("payments", 0): (21, -1, None)}
    for version in range(5):
        consumer = Consumer(admin, f"txn-{version}")
        consumer.commit("before", {("orders", 0): (3, -1, "before"), ("orders", 1): (4, -1, "")})
        for commit in (False, True):
            producer = Producer(talk, f"producer-{version}")
            producer.begin()
            producer.commit("not added", consumer.group, row, version)
            producer.add("adds", consumer.group, version)
            producer.add("adds again", consumer.group, version)
            producer.commit("commits", consumer.group, row, version)
            wrong = {("orders", 1): (1, -1, "x" * 11), ("orders", 9): PLAIN, ("unknown", 0): PLAIN}
            producer.commit("some are wrong", consumer.group, wrong, version)
            consumer.fetch("open", None)
            consumer.fetch("open", {"orders": [0, 1], "payments": [0]}, 7, stable=True)
            consumer.fetch("open", None, 10, stable=True)
            producer.end("ends", commit=commit)
            consumer.fetch("ended", None, stable=True)
            producer.commit("after the end", consumer.group, row, version)


def overlapping_transactions(admin: Administrator) -> None:
    talk = admin.talk
    for first, second in (("a", "b"), ("b", "a")):
        consumer = Consumer(admin, f"overlap-{first}")
        producers = {"a": Producer(talk, "overlap-1"), "b": Producer(talk, "overlap-2")}
        for offset, producer in enumerate(producers.values(), 50):
            producer.begin()
            producer.add("adds", consumer.group)
            producer.commit("commits", consumer.group, {("orders", 0): (offset, -1, producer.name)})
        consumer.commit("between", {("orders", 1): (60, -1, "plain")})
        producers["a"].commit("commits", consumer.group, {("orders", 1): (61, -1, "behind")})
        consumer.commit("last", {("payments", 0): (62, -1, "plain")})
        producers[first].end("first", commit=True)
        consumer.fetch("one ended", None, stable=True)
        producers[second].end("second", commit=True)
        consumer.fetch("both ended", None, stable=True)
    consumer = Consumer(admin, "overtaken")
    producer = Producer(talk, "overtaken")
    producer.begin()
    producer.add("adds", consumer.group)
    producer.commit("commits", consumer.group, {("orders", 0): (70, -1, "in txn"), ("orders", 1): (71, -1, "")})
    consumer.commit("overtakes", {("orders", 0): (69, -1, "plain")})
    consumer.delete("deletes", {"orders": [1]})
    consumer.fetch("open", None, stable=True)
    producer.end("ends", commit=True)
    consumer.fetch("ended", None, stable=True)


def refused_transactions(admin: Administrator) -> None:
    talk, row = admin.talk, {("orders", 0): PLAIN}
    group = "txn-refusals"
    for version in range(5):
        producer = Producer(talk, "refused")
        producer.begin()
        producer.add("other id", group, version, producer_id=producer.id + 4242)
        producer.add("other epoch", group, version, producer_epoch=producer.epoch + 1)
        producer.add("unknown id", group, version, transactional_id="nobody")
        producer.add("adds", group, version)
        producer.commit("no group", "", row, version)
        producer.commit("other epoch", group, row, version, producer_epoch=producer.epoch - 1)
        producer.commit("unknown id", group, row, version, transactional_id="nobody", producer_id=4242)
        producer.commit("another group", "txn-elsewhere", row, version)
        if version >= 3:
            producer.commit("no such group", "txn-nobody", row, version, member_id="m", generation_id=3)
            member = Member(talk, "one", f"txn-members-{version}")
            member.join("joins")
            producer.add("adds", member.group, version)
            producer.commit("completing", member.group, row, version, member=member)
            member.sync("joins")
            producer.commit("stable", member.group, row, version, member=member)
            producer.commit("nobody", member.group, row, version)
            producer.commit("other generation", member.group, row, version, member=member, generation_id=7)
            producer.commit("other member", member.group, row, version, member=member, member_id="nobody")
            producer.end("ends", commit=True)
            Consumer(admin, member.group).fetch("members", None, stable=True)
            member.leave("leaves")
        else:
            producer.end("ends", commit=False)


def expiry(talk: Talk) -> None:
    """Expired and remaining offsets, with retentions given by clients."""
    admin = prepare(talk)
    short = {"retention_ms": 1500}
    plain, gone = Consumer(admin, "expires"), Consumer(admin, "goes")
    plain.commit("short", {("orders", 0): PLAIN, ("payments", 0): PLAIN}, 4, **short)
    plain.commit("long", {("orders", 1): PLAIN}, 4)
    gone.commit("short", {("orders", 0): PLAIN, ("many", 3): PLAIN}, 3, **short)
    reader = Member(talk, "reader", "readers", instance="r")  # Joins at once: an empty group may expire any second.
    worker = Member(talk, "worker", "workers", instance="w", type="connect")
    for member in (reader, worker):
        member.join("joins")  # The reader's subscription names orders.
        member.sync("joins")
        consumer = Consumer(admin, member.group)
        consumer.commit("short", {("orders", 0): PLAIN, ("payments", 0): PLAIN}, 2, member=member, **short)
    producer = Producer(talk, "expiry")
    producer.begin()
    producer.add("adds", "pending")
    Consumer(admin, "pending").commit("short", {("orders", 0): PLAIN, ("orders", 1): PLAIN}, 4, **short)
    producer.commit("pending", "pending", {("orders", 0): (9, -1, "")})
    groups = ("expires", "goes", "readers", "workers", "pending")
    for label in ("expired", "members gone"):
        talk.peer.wait(4)
        for group in groups:
            Consumer(admin, group).fetch(label, None)
        talk.ask("admin", label, DescribeGroupsRequest(groups=list(groups)), 5)
        gone.delete(label, {"orders": [0]})
        for member in (reader, worker):
            member.leave(label)
        if label == "expired":
            producer.end("ends", commit=False)
    records(talk, by_group=True)


def records(talk: Talk, *, by_group: bool = False) -> None:
    """Records of all that in `__consumer_offsets`; the order of expired groups is arbitrary."""
    rows = list(rows_in_log(talk.offsets_log()))
    for _, label, value in sorted(rows, key=lambda row: row[0]) if by_group else rows:
        talk.note(label, value)


def rows_in_log(log: bytes) -> Iterable[tuple[str, str, Any]]:
    """Yield the group of each record, its name and its value; producers are known by their order."""
    producers: dict[int, int] = {-1: 0}
    for batch in iter_any_batches(log):
        producer = producers.setdefault(batch.producer_id, len(producers))
        for record in batch.records():
            assert record.key is not None
            if batch.is_control:
                yield "", "marker", (producer, record.key.hex())
                continue
            key, value, version = decode_record("__consumer_offsets", record.key, record.value)
            shown: Any = None
            if isinstance(key, OffsetCommitKey):
                if isinstance(value, OffsetCommitValue) and version is not None:
                    keeps_ms = value.expire_timestamp - value.commit_timestamp if value.expire_timestamp > 0 else -1
                    shown = {**to_json(value, version), "commitTimestamp": "a time", "expireTimestamp": keeps_ms}
                name = f"offset of {key.group}, {key.topic}-{key.partition}, producer {producer}, v{version}"
                yield key.group, name, shown
            elif isinstance(key, GroupMetadataKey):
                yield key.group, f"group {key.group}, producer {producer}", value is None


def prepare(talk: Talk) -> Administrator:
    """Wait until the coordinators are available, and create the topics."""
    talk.find_coordinator()
    talk.ask_raw("admin", FindCoordinatorRequest(key="t", key_type=1), 1)
    admin = Administrator(talk)
    admin.create_topics()
    return admin


def run(talk: Talk) -> None:
    """Run all conversations except the one about expiry."""
    admin = prepare(talk)
    every_version(admin)
    many_groups(admin)
    refusals(admin)
    deletions(admin)
    transactions(admin)
    overlapping_transactions(admin)
    refused_transactions(admin)
    talk.ask("admin", "simple", DescribeGroupsRequest(groups=["version-2", "txn-1"]), 5)
    records(talk)
