"""Misuse of producers, consumers and mirrors raises an error immediately; errors of a cluster have a Kafka code."""

from __future__ import annotations

import pytest

from kmirror import Compression, Consumer, KafkaError, Mirror, MirrorState, Producer, UsageError
from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.kernel.ids import TopicPartition
from kmirror.records import RecordData
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec
from tests.unit.sim.misuse import ANY, NOPE, ONE, T0, T9, UNKNOWN, Misuse, Stage, check_told

ROWS: dict[str, tuple[Misuse, str]] = {
    # producers
    "a producer of a name": (lambda s: Producer(ANY or "a"), "a client needs a Cluster, not 'a'"),
    "a number for a transactional id": (
        lambda s: Producer(s.a, transactional_id=ANY or 5),
        "transactional_id must be a string, not 5",
    ),
    "a codec in quotes": (
        lambda s: Producer(s.a, compression=ANY or "gzip"),
        r"compression must be one of Compression\.NONE.*not 'gzip'",
    ),
    "records without partitions": (
        lambda s: Producer(s.a).send(ANY or [ONE]),
        "records are a mapping of TopicPartition to lists",
    ),
    "a tuple for a partition": (lambda s: s.send(ONE, to=("t", 0)), r"TopicPartition\('orders', 0\), not \('t', 0\)"),
    "a topic for a partition": (lambda s: s.send(ONE, to="t"), "a partition must be a TopicPartition"),
    "values for records": (lambda s: s.send(b"x"), "t-0: record 0: expected a RecordData, not b'x'"),
    "one record": (
        lambda s: Producer(s.a).send({T0: ANY or ONE}),
        "records must be a list of RecordData, not RecordData",
    ),
    "text for a key": (
        lambda s: s.send(ONE, RecordData(key=ANY or "k")),
        "t-0: record 1: the key must be bytes or None, not 'k'",
    ),
    "text for a header": (
        lambda s: s.send(RecordData(headers=[("h", ANY or "v")])),
        "record 0: the value of header 'h' must be bytes",
    ),
    "a timestamp below 0": (
        lambda s: s.send(RecordData(timestamp=-5)),
        "record 0: a timestamp must not be negative, as -5 is",
    ),
    "no records": (lambda s: s.send(), "t-0: a batch without records cannot be sent"),
    "text for a batch": (
        lambda s: Producer(s.a).try_send({T0: ANY or "x"}),
        "the batch for t-0 is read from bytes, not from 'x'",
    ),
    "begin without an id": (
        lambda s: Producer(s.a).begin_transaction(),
        "without a transactional_id has no transactions",
    ),
    "begin twice": (lambda s: s.begun().begin_transaction(), "is in a transaction: commit or abort it first"),
    "commit before begin": (
        lambda s: s.transactional().commit_transaction(),
        "is not in a transaction: call begin_transaction",
    ),
    "abort before begin": (
        lambda s: s.transactional().abort_transaction(),
        "is not in a transaction: call begin_transaction",
    ),
    "send before begin": (
        lambda s: s.transactional().send({T0: [ONE]}),
        "is not in a transaction: call begin_transaction",
    ),
    "add a topic": (
        lambda s: s.begun().add_partitions(ANY or "t"),
        "partitions must be a list of TopicPartition, not 't'",
    ),
    **{
        f"{what} after close": (misuse, "is closed: create a new one")
        for what, misuse in {
            "send": lambda s: s.closed().send({T0: [ONE]}),
            "try_send": lambda s: s.closed().try_send({T0: b"x"}),
            "begin": lambda s: s.closed(s.transactional()).begin_transaction(),
            "commit": lambda s: s.closed(s.begun()).commit_transaction(),
        }.items()
    },
    # consumers
    "a consumer of nothing": (lambda s: list(Consumer(s.a)), "reads nothing: name a topic when it is made, or assign"),
    "poll of nothing": (lambda s: s.assigned().poll(), "reads nothing"),
    "topics as a list": (lambda s: Consumer(s.a, ANY or ["t"]), r"a topic must be a string, not \['t'\]"),
    "bytes for a consumer's topic": (
        lambda s: Consumer(s.a, ANY or b"t"),
        "a topic must be a string, not b't'; 't' is text",
    ),
    "a consumer's isolation": (
        lambda s: Consumer(s.a, "t", isolation=ANY or 1),
        r"IsolationLevel\.READ_COMMITTED, not 1",
    ),
    "a reset in quotes": (
        lambda s: Consumer(s.a, "t", auto_offset_reset=ANY or "latest"),
        r"OffsetSpec\.LATEST, not 'latest'",
    ),
    "a reset to a time": (
        lambda s: Consumer(s.a, "t", auto_offset_reset=OffsetSpec.MAX_TIMESTAMP),
        "auto_offset_reset is",
    ),
    "a timeout below 0": (
        lambda s: Consumer(s.a, "t", consumer_timeout_ms=-5),
        "consumer_timeout_ms must be an integer from 0",
    ),
    "a rack as a number": (lambda s: Consumer(s.a, "t", client_rack=ANY or 1), "client_rack must be a string, not 1"),
    "assign one": (
        lambda s: Consumer(s.a).assign(ANY or T0),
        "partitions must be a list of TopicPartition, not TopicPartition",
    ),
    "assign a topic": (
        lambda s: Consumer(s.a).assign(ANY or "t"),
        "partitions must be a list of TopicPartition, not 't'",
    ),
    "assign topics": (lambda s: Consumer(s.a).assign(ANY or ["t"]), "a partition must be a TopicPartition, .*not 't'"),
    "seek before the start": (
        lambda s: Consumer(s.a, "t").seek(T0, -1),
        "offset must be an integer from 0 to .*, not -1",
    ),
    "seek above all": (lambda s: Consumer(s.a, "t").seek(T0, 1 << 63), "offset must be an integer"),
    "seek in quotes": (
        lambda s: Consumer(s.a, "t").seek(T0, ANY or "5"),
        "offset must be an integer from 0 to .*, not '5'",
    ),
    "seek elsewhere": (lambda s: Consumer(s.a, "t").seek(NOPE, 0), "nope-0 is not read by this consumer"),
    "seek a topic": (
        lambda s: Consumer(s.a, "t").seek_to_beginning(ANY or "t"),
        "a partition must be a TopicPartition",
    ),
    "seek to an end elsewhere": (lambda s: Consumer(s.a, "t").seek_to_end(NOPE), "nope-0 is not read by this consumer"),
    "seek a list": (lambda s: Consumer(s.a, "t").seek_to_end(ANY or [T0]), "a partition must be a TopicPartition"),
    "the position of a topic": (
        lambda s: Consumer(s.a, "t").position(ANY or "t"),
        "a partition must be a TopicPartition",
    ),
    "the ends of one": (
        lambda s: Consumer(s.a, "t").end_offsets(ANY or T0),
        "partitions must be a list of TopicPartition",
    ),
    "poll back in time": (lambda s: Consumer(s.a, "t").poll(timeout_ms=-1), "timeout_ms must be an integer from 0 on"),
    "poll for less than one": (
        lambda s: Consumer(s.a, "t").poll(max_records=0),
        "max_records must be an integer from 1 on",
    ),
    # mirrors
    "a mirror of one": (lambda s: Mirror("m", source=s.a, destination=s.a), "a is both source and destination"),
    "a mirror across worlds": (
        lambda s: Mirror("m", source=s.a, destination=Stage().b),
        "clusters of two simulations: create both",
    ),
    "a mirror of a name": (
        lambda s: Mirror("m", source=ANY or "a", destination=s.b),
        "source must be a Cluster, not 'a'",
    ),
    "a number for a mirror": (lambda s: Mirror(ANY or 5, source=s.a, destination=s.b), "name must be a string, not 5"),
    "a mirror config's number": (
        lambda s: s.mirror(create=False).create({"request.timeout.ms": ANY or 5}),
        "must be a string, not 5",
    ),
    "bytes for a password": (
        lambda s: s.mirror(create=False).create({"ssl.key.password": ANY or b"hush"}),
        r"configs\['ssl\.key\.password'\] must be a string, not bytes$",
    ),
    "a list for a mirror's new config": (
        lambda s: s.mirror().alter({"sasl.jaas.config": ANY or ["hush"]}),
        r"configs\['sasl\.jaas\.config'\] must be a string, not list$",
    ),
    "catch up with nothing": (
        lambda s: s.mirror(topics=()).catch_up(),
        r"mirror m of cluster b has no topics: call add_topics\(\) first",
    ),
    "catch up with a mistyped topic": (
        lambda s: s.mirror(topics=("nope",)).catch_up(),
        "nope",
    ),
    "fail over nothing": (
        lambda s: s.mirror(topics=()).fail_over(),
        r"mirror m of cluster b has no topics: call add_topics\(\) first",
    ),
    "a state in quotes": (
        lambda s: s.mirror().wait_for_state(ANY or "STOPPED", [T0]),
        r"one of MirrorState\..*not 'STOPPED'",
    ),
    "wait for a topic": (
        lambda s: s.mirror().wait_for_state(MirrorState.MIRRORING, ANY or "t"),
        "partitions must be a list",
    ),
    "wait back in time": (
        lambda s: s.mirror().catch_up(within_s=-1),
        "within_s must be a number of seconds, 0 or more, not -1",
    ),
    "a watch that is none": (
        lambda s: s.mirror().wait_for_state(MirrorState.MIRRORING, [T0], watch=ANY or 5),
        "watch must be call",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_misuse_raises_an_error(row: str) -> None:
    check_told(*ROWS[row])


CODES: dict[str, tuple[Misuse, ErrorCode, str]] = {
    "produce to no topic": (lambda s: s.a.produce("nope", 0, [b"x"]), UNKNOWN, "cluster a has no topic 'nope'"),
    "produce to a mistyped topic": (lambda s: s.a.produce("tt", 0, [b"x"]), UNKNOWN, "no topic 'tt'"),
    "produce to no partition": (
        lambda s: s.a.produce("t", 9, [b"x"]),
        UNKNOWN,
        "topic t of cluster a has the partitions 0, 1",
    ),
    "produce below 0": (lambda s: s.a.produce("t", -1, [b"x"]), UNKNOWN, "has the partitions 0, 1"),
    "send a batch nowhere": (lambda s: Producer(s.a).try_send({NOPE: b"x"}), UNKNOWN, "no topic 'nope'"),
    "a transaction nowhere": (lambda s: s.begun().add_partitions([NOPE]), UNKNOWN, "no topic 'nope'"),
    "read no topic": (lambda s: s.a.read(NOPE), UNKNOWN, "cannot read nope"),
    "read no partition": (lambda s: s.a.read(T9), UNKNOWN, "cannot read t-9"),
    "a consumer of no topic": (lambda s: list(Consumer(s.a, "nope")), UNKNOWN, "cannot read nope"),
    "poll of no partition": (lambda s: s.assigned(T0, T9).poll(), UNKNOWN, "cannot read t-9"),
    "the position in no partition": (lambda s: s.assigned(T9).position(T9), UNKNOWN, "cannot read t-9"),
    "the end of no partition": (lambda s: Consumer(s.a, "t").end_offsets([T9]), UNKNOWN, "cannot read t-9"),
    "replicas of no topic": (lambda s: s.a.replicas(NOPE), UNKNOWN, "no topic 'nope'"),
    "replicas of no partition": (lambda s: s.a.replicas(T9), UNKNOWN, "has the partitions 0, 1"),
    "an unknown topic config": (
        lambda s: s.a.create_topic("u", configs={"nope": "1"}),
        ErrorCode.INVALID_CONFIG,
        "Unknown topic config name: nope",
    ),
    "no partitions": (lambda s: s.a.create_topic("u", 0), ErrorCode.INVALID_PARTITIONS, "non-positive value"),
    "fewer than no partitions": (
        lambda s: s.a.create_topic("u", -5),
        ErrorCode.INVALID_PARTITIONS,
        "non-positive value",
    ),
    "an order without a controller": (
        lambda s: (s.a.kill(CONTROLLER_ID), s.a.create_topic("u")),
        ErrorCode.REQUEST_TIMED_OUT,
        "CreateTopicsRequest was not",
    ),
    "a write without brokers": (
        lambda s: (s.a.kill(1), s.a.produce("t", 0, [b"x"])),
        ErrorCode.REQUEST_TIMED_OUT,
        "no broker took.*brokers 1, running none",
    ),
    "a producer id without brokers": (
        lambda s: (s.a.kill(1), s.transactional()),
        ErrorCode.REQUEST_TIMED_OUT,
        "InitProducerId: REQUEST_TIMED_OUT.*running none",
    ),
    "a mirror that is not there": (
        lambda s: s.mirror(create=False).remove_topics(["t"]),
        ErrorCode.UNKNOWN_MIRROR,
        "Mirror 'm' does not exist",
    ),
}


@pytest.mark.parametrize("row", CODES)
def test_errors_of_a_cluster_have_kafkas_code(row: str) -> None:
    misuse, code, told = CODES[row]
    with pytest.raises(KafkaError, match=told) as caught:
        misuse(Stage())
    assert caught.value.code is code
    assert "seed 1, after" in str(caught.value)


def test_a_send_is_validated_completely_before_any_write() -> None:
    a = Stage().a
    for wrong in ({T0: [ONE], TopicPartition("t", 1): [RecordData(value=ANY or "x")]}, {T0: [ONE], T9: [ONE]}):
        with pytest.raises((UsageError, KafkaError)):
            Producer(a).send(wrong)
    assert a.read(T0) == []


def test_a_fenced_producer_raises_the_same_error_every_time() -> None:
    stage = Stage()
    fenced, _ = stage.begun(), stage.transactional()
    with pytest.raises(KafkaError, match="INVALID_PRODUCER_EPOCH"):  # It may be only a timeout: try, and abort.
        fenced.send({T0: [ONE]})
    for call in (fenced.abort_transaction, lambda: fenced.send({T0: [ONE]}), fenced.begin_transaction):
        with pytest.raises(KafkaError, match="PRODUCER_FENCED") as caught:
            call()
        assert caught.value.code is ErrorCode.PRODUCER_FENCED


def test_records_may_come_from_a_generator() -> None:
    a = Stage().a
    assert a.produce("t", 0, ANY or (value for value in (b"one", b"two"))) == 0
    assert len(a.read(T0, isolation=IsolationLevel.READ_COMMITTED)) == 2
    assert Producer(a, compression=Compression.GZIP).send({T0: ANY or (ONE for _ in "ab")}) == {T0: 2}
