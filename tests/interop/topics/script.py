"""Common requests of clients about topics, valid and invalid, in every served version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kmirror.protocol.gen.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kmirror.protocol.gen.describe_cluster_request import DescribeClusterRequest
from kmirror.protocol.gen.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.interop.topics.session import Session

CREATE = range(2, 8)
DELETE = range(1, 7)
PARTITIONS = range(4)
METADATA = range(14)
NOBODY = Uuid.from_ints(4, 5)


def topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    *,
    configs: Mapping[str, str | None] | None = None,
    replicas: Mapping[int, Sequence[int]] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
            for index, brokers in (replicas or {}).items()
        ],
    )


def placed(name: str, *replicas: Sequence[int]) -> CreatableTopic:
    return topic(name, -1, -1, replicas=dict(enumerate(replicas)))


def create(*topics: CreatableTopic, only_try: bool = False) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), timeout_ms=30_000, validate_only=only_try)


def delete(*names: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topic_names=list(names), timeout_ms=30_000)


def delete_states(*states: DeleteTopicState) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=list(states), timeout_ms=30_000)


def delete_names(*names: str) -> DeleteTopicsRequest:
    return delete_states(*(DeleteTopicState(name=name) for name in names))


def grow(*topics: CreatePartitionsTopic, only_try: bool = False) -> CreatePartitionsRequest:
    return CreatePartitionsRequest(topics=list(topics), timeout_ms=30_000, validate_only=only_try)


def to(name: str, count: int, *replicas: Sequence[int]) -> CreatePartitionsTopic:
    rows = [CreatePartitionsAssignment(broker_ids=list(brokers)) for brokers in replicas]
    return CreatePartitionsTopic(name=name, count=count, assignments=rows or None)


def metadata(*names: str, create: bool = False) -> MetadataRequest:
    rows = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=rows, allow_auto_topic_creation=create)


def of_ids(*ids: Uuid) -> MetadataRequest:
    rows = [MetadataRequestTopic(name=None, topic_id=one) for one in ids]
    return MetadataRequest(topics=rows, allow_auto_topic_creation=False)


def partitions_of(*names: str, limit: int = 2000, cursor: Cursor | None = None) -> DescribeTopicPartitionsRequest:
    rows = [TopicRequest(name=name) for name in names]
    return DescribeTopicPartitionsRequest(topics=rows, response_partition_limit=limit, cursor=cursor)


def creating(session: Session) -> None:
    """CreateTopics: responses to valid requests, and to common mistakes."""
    for version in CREATE:
        session.ask("plain", create(topic(f"plain-{version}", 3)), version)
        session.ask("only tried", create(topic(f"tried-{version}", 3), only_try=True), version)
        session.ask("exists", create(topic(f"plain-{version}", 3)), version)
    session.wait_for("plain-7")
    session.ask("nothing", create(), 2, 7)
    configured = {"cleanup.policy": "compact", "retention.ms": "1000", "min.insync.replicas": "1"}
    session.ask("with configs", create(topic("configured", configs=configured)), 7)
    session.ask("placed", create(placed("placed", [1], [1])), 7)
    session.ask("by defaults", create(topic("by-defaults", -1, -1)), 4, 7)
    for label, name in {
        "empty": "",
        "dot": ".",
        "dots": "..",
        "long": "x" * 250,
        "longest": "x" * 249,
        "blank": "a b",
        "umlaut": "gr\u00fcn",
        "slash": "a/b",
        "newline": "a\nb",
        "metadata": "__cluster_metadata",
    }.items():
        session.ask(f"name: {label}", create(topic(name), only_try=True), 2, 7)
    session.ask("dotted", create(topic("a.b_c")), 7)
    session.wait_for("a.b_c")
    session.ask("collides", create(topic("a_b_c"), topic("a.b.c"), topic("a_b.c"), topic("a.b_c")), 7)
    session.ask("in one request", create(topic("p.q"), topic("p_q"), only_try=True), 7)
    session.ask("twice", create(topic("twice"), topic("twice"), topic("once"), only_try=True), 2, 7)
    session.ask("no partitions", create(topic("t", 0)), 2, 7)
    session.ask("negative partitions", create(topic("t", -2)), 7)
    session.ask("no replicas", create(topic("t", 1, 0)), 7)
    session.ask("negative replicas", create(topic("t", 1, -2)), 7)
    session.ask("both wrong", create(topic("t", 0, 0)), 7)
    session.ask("too many replicas", create(topic("t", 1, 9)), 2, 7)
    session.ask("too many partitions", create(topic("t", 10_001), topic("u")), 7)
    session.ask("too many in all", create(topic("t", 6_000), topic("u", 6_000)), 7)
    session.ask("some wrong", create(topic("good"), topic("b d"), topic("plain-7"), topic("t", 0)), 7)
    session.wait_for("good")
    session.ask("internal", create(topic("__consumer_offsets"), only_try=True), 7)


def configuring(session: Session) -> None:
    """CreateTopics with configs and assignments: errors for mistakes in them."""
    session.ask("prepare", create(topic("there")), 7)
    session.wait_for("there")
    for label, configs in {
        "unknown": {"no.such.config": "1"},
        "not a number": {"retention.ms": "soon"},
        "too small": {"segment.bytes": "1"},
        "no choice": {"cleanup.policy": "shred"},
        "no list": {"cleanup.policy": ""},
        "no boolean": {"preallocate": "perhaps"},
        "null": {"retention.ms": None},
        "nulls": {"retention.ms": None, "segment.ms": None},
        "empty": {"retention.ms": ""},
        # Kafka checks configs in the order of their definition, kmirror in that of the request.
        "two": {"segment.ms": "later", "retention.ms": "soon"},
        "min above max": {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
        "codec": {"compression.type": "brotli"},
        "remote": {"remote.storage.enable": "true"},
        "local": {"local.retention.ms": "10", "retention.ms": "5"},
        "ratio": {"min.cleanable.dirty.ratio": "1.5"},
    }.items():
        session.ask(f"config: {label}", create(topic("t", configs=configs), only_try=True), 7)
    session.ask("config of what exists", create(topic("there", configs={"no.such.config": "1"})), 7)
    for label, wanted in {
        "and a count": topic("t", 1, -1, replicas={0: [1]}),
        "and a factor": topic("t", -1, 1, replicas={0: [1]}),
        "and both": topic("t", 1, 1, replicas={0: [1]}),
        "unknown broker": placed("t", [7]),
        "negative broker": placed("t", [-1]),
        "broker twice": placed("t", [1, 1]),
        "nobody": placed("t", []),
        "gap": topic("t", -1, -1, replicas={0: [1], 2: [1]}),
        "not from zero": topic("t", -1, -1, replicas={1: [1]}),
        "negative index": topic("t", -1, -1, replicas={-1: [1]}),
    }.items():
        session.ask(f"assigned: {label}", create(wanted, only_try=True), 7)
    again = topic("t", -1, -1)
    again.assignments = [CreatableReplicaAssignment(partition_index=0, broker_ids=[1]) for _ in range(2)]
    session.ask("assigned: index twice", create(again, only_try=True), 7)


def describing(session: Session) -> None:
    """Metadata, DescribeTopicPartitions and DescribeCluster."""
    session.ask("prepare", create(placed("m", [1], [1]), placed("n", [1])), 7)
    session.wait_for("m", "n")
    ids = [session.topic_id("m"), session.topic_id("n")]
    for version in METADATA:
        session.ask("one", metadata("m", create=True), version)
        if version >= 4:
            session.ask("mistakes", metadata("nowhere", "m", "b d", "", "x" * 250, "__consumer_offsets"), version)
            session.ask("twice", metadata("m", "m", "nowhere", "nowhere"), version)
        if version >= 1:
            session.ask("none", MetadataRequest(topics=[]), version)
        if version >= 8:
            asked = metadata("m", "nowhere")
            asked.include_topic_authorized_operations = True
            asked.include_cluster_authorized_operations = version <= 10
            session.ask("with operations", asked, version)
    for version in (10, 11, 12, 13):
        session.ask("ids", of_ids(*ids, NOBODY), version)
        session.ask("zero id", of_ids(Uuid.ZERO), version)
        both = [MetadataRequestTopic(name="m", topic_id=ids[0]), MetadataRequestTopic(name="nowhere")]
        session.ask("id and name", MetadataRequest(topics=both, allow_auto_topic_creation=False), version)
    session.ask("partitions", partitions_of("n", "m", "nowhere", "b d", "m"), 0)
    session.ask("some partitions", partitions_of("n", "m", limit=1), 0)
    session.ask("from the cursor", partitions_of("n", "m", cursor=Cursor(topic_name="m", partition_index=1)), 0)
    session.ask("behind the last", partitions_of("m", cursor=Cursor(topic_name="m", partition_index=9)), 0)
    session.ask("no limit", partitions_of("n", "m", limit=0), 0)
    session.ask("negative limit", partitions_of("n", "m", limit=-1), 0)
    session.ask("cursor elsewhere", partitions_of("m", cursor=Cursor(topic_name="n", partition_index=0)), 0)
    session.ask("cursor nowhere", partitions_of(cursor=Cursor(topic_name="mm", partition_index=0), limit=1), 0)
    session.ask("cursor below zero", partitions_of("m", cursor=Cursor(topic_name="m", partition_index=-1)), 0)
    for version in range(3):
        session.ask("cluster", DescribeClusterRequest(), version)
        session.ask("operations", DescribeClusterRequest(include_cluster_authorized_operations=True), version)
        if version:
            session.ask("controllers", DescribeClusterRequest(endpoint_type=2), version)
            session.ask("of no type", DescribeClusterRequest(endpoint_type=3), version)
    session.ask("fenced too", DescribeClusterRequest(include_fenced_brokers=True), 2)


def growing(session: Session) -> None:
    """CreatePartitions."""
    for version in PARTITIONS:
        name = f"grows-{version}"
        session.ask(f"prepare for {version}", create(topic(name, 2), topic(f"other-{name}")), 7)
        session.wait_for(name, f"other-{name}")
        session.ask("only tried", grow(to(name, 4), only_try=True), version)
        session.ask("to three", grow(to(name, 3)), version)
        session.wait("three partitions", lambda name=name: len(session.topic(name).partitions) == 3)  # type: ignore[misc]
        session.ask("same", grow(to(name, 3)), version)
        session.ask("fewer", grow(to(name, 1)), version)
        session.ask("none", grow(to(name, 0)), version)
        session.ask("negative", grow(to(name, -1)), version)
        session.ask("nowhere", grow(to("nowhere", 5)), version)
        session.ask("bad name", grow(to("b d", 5), to("", 5)), version)
        session.ask("twice", grow(to(name, 5), to(name, 6), to(f"other-{name}", 2)), version)
        session.ask("too few assigned", grow(to(name, 5, [1])), version)
        session.ask("too many assigned", grow(to(name, 4, [1], [1])), version)
        session.ask("no replica", grow(to(name, 4, [])), version)
        session.ask("unknown broker", grow(to(name, 4, [7])), version)
        session.ask("broker twice", grow(to(name, 4, [1, 1])), version)
        session.ask("other factor", grow(to(name, 4, [1, 2])), version)
        session.ask("assigned", grow(to(name, 4, [1])), version)
        session.ask("nothing", grow(), version)


def deleting(session: Session) -> None:
    """DeleteTopics, by name and by id."""
    for version in DELETE:
        names = [f"gone-{version}", f"gone-too-{version}", f"stays-{version}"]
        session.ask(f"prepare for {version}", create(*map(topic, names)), 7)
        session.wait_for(*names)
        request = delete_names if version >= 6 else delete
        session.ask("mistakes", request("nowhere", "b d", "", names[2], names[2]), version)
        session.ask("two", request(*names[:2]), version)
        session.wait_until_gone(*names[:2])
        session.ask("again", request(*names[:2]), version)
        session.ask("nothing", request(), version)
    session.ask("prepare ids", create(topic("d"), topic("e"), topic("f"), topic("g")), 7)
    session.wait_for("d", "e", "f", "g")
    d, e, f, g = (session.topic_id(name) for name in "defg")
    session.ask("id", delete_states(DeleteTopicState(name=None, topic_id=d)), 6)
    session.ask("unknown id", delete_states(DeleteTopicState(name=None, topic_id=NOBODY)), 6)
    twice = [DeleteTopicState(name=None, topic_id=e)] * 2
    session.ask("id twice", delete_states(*twice), 6)
    session.ask("id three times", delete_states(*twice, twice[0]), 6)
    session.ask("name three times", delete_names("e", "e", "e"), 6)
    session.ask("neither", delete_states(DeleteTopicState(name=None)), 6)
    session.ask("both", delete_states(DeleteTopicState(name="e", topic_id=e)), 6)
    same = [DeleteTopicState(name="f"), DeleteTopicState(name=None, topic_id=f)]
    session.ask("the same by name and id", delete_states(*same, DeleteTopicState(name="g")), 6)
    session.wait_until_gone("d", "g")
    session.ask("deleted id", delete_states(DeleteTopicState(name=None, topic_id=g)), 6)
    session.ask("anew", create(topic("g", 2)), 7)
    session.wait_for("g")
    session.ask("old id in Metadata", of_ids(g), 12)
    session.ask("old id", delete_states(DeleteTopicState(name=None, topic_id=g)), 6)
    assert session.topic_id("g") != g


def creating_by_asking(session: Session) -> None:
    """Topics that are created by a Metadata request."""
    for version in METADATA:
        name = f"auto-{version}"
        session.ask("first", metadata(name, create=True), version)
        session.wait_for(name)
        session.ask("then", metadata(name, create=True), version)
    session.ask("mistakes", metadata("b d", ".", "", "auto_0", "auto.13", create=True), 12)
    session.ask("many", metadata("auto-13", "auto-14", "nowhere", create=True), 13)
    session.wait_for("auto-14", "nowhere")
    session.ask("by id", of_ids(NOBODY), 12)
    session.ask("of several replicas", metadata("auto-14"), 12)


def over_three(session: Session) -> None:
    """Results that need three brokers."""
    session.ask("placed", create(placed("r", [1, 2], [3, 1]), placed("s", [2])), 7)
    session.wait_for("r", "s")
    session.ask("placed", metadata("r", "s", create=True), 0, 4, 12)
    session.ask("placed", partitions_of("r", "s"), 0)
    session.ask("cluster", DescribeClusterRequest(), 0, 1, 2)
    session.ask("too many replicas", create(topic("t", 1, 4)), 2, 7)
    session.ask("uneven", create(placed("t", [1, 2], [3]), only_try=True), 7)
    session.ask("default factor", create(topic("t", 2, -1), only_try=True), 7)
    session.ask("placed more", grow(to("r", 3, [2, 3])), 3)
    session.wait("three partitions", lambda: len(session.topic("r").partitions) == 3)
    session.ask("grown", metadata("r"), 12)
    session.ask("grow unevenly", grow(to("r", 5, [1, 2], [1])), 3)
    session.ask("grow with fewer", grow(to("r", 4, [1])), 3)
    session.ask("grow with more", grow(to("r", 4, [1, 2, 3])), 3)
    session.ask("of default factor", metadata("auto", create=True), 12)
    session.wait_for("auto")
    assert len(session.topic("auto").partitions[0].replica_nodes) == 3
    session.ask("gone", delete_names("r"), 6)
    session.wait_until_gone("r")
    session.ask("anew", create(placed("r", [3, 2, 1])), 7)
    session.wait_for("r")
    session.ask("anew", metadata("r"), 12)


ON_ONE = (creating, configuring, describing, growing, deleting, creating_by_asking)
ON_THREE = (over_three,)
