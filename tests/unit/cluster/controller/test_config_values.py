"""Valid config values and error messages: those of Kafka 4.3.1's LogConfig, and those of a mirror."""

from __future__ import annotations

import pytest

from kmirror.spec.configs import KEYS, ConfigKey, Configs, Kind, Scope, broker_configs, default_of, problem_with

INVALID = "Invalid value {} for configuration {}: {}"
REPLICAS = (
    "mirror.replication.throttled.replicas must be the literal '*' or a list of replicas in the following format: "
    "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
)
CODECS = "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer"

LOG_CONFIG = [
    ("retention.ms", "-1", None),
    ("retention.ms", "-5", INVALID.format("-5", "retention.ms", "Value must be at least -1")),
    ("retention.ms", " -5 ", INVALID.format("-5", "retention.ms", "Value must be at least -1")),
    ("retention.ms", "x", INVALID.format("x", "retention.ms", "Not a number of type LONG")),
    ("segment.bytes", "1048575", INVALID.format("1048575", "segment.bytes", "Value must be at least 1048576")),
    ("segment.bytes", " 1048576 ", None),
    ("internal.segment.bytes", "100", None),
    ("retention.bytes", "-7", None),
    ("min.cleanable.dirty.ratio", " .5e0d ", None),
    ("min.cleanable.dirty.ratio", "1", None),
    (
        "min.cleanable.dirty.ratio",
        "1.5",
        INVALID.format("1.5", "min.cleanable.dirty.ratio", "Value must be no more than 1"),
    ),
    (
        "min.cleanable.dirty.ratio",
        "-0.5",
        INVALID.format("-0.5", "min.cleanable.dirty.ratio", "Value must be at least 0"),
    ),
    (
        "min.cleanable.dirty.ratio",
        "half",
        INVALID.format("half", "min.cleanable.dirty.ratio", "Not a number of type DOUBLE"),
    ),
    ("max.compaction.lag.ms", "0", INVALID.format("0", "max.compaction.lag.ms", "Value must be at least 1")),
    ("flush.messages", "0", INVALID.format("0", "flush.messages", "Value must be at least 1")),
    ("file.delete.delay.ms", "-1", INVALID.format("-1", "file.delete.delay.ms", "Value must be at least 0")),
    ("retention.bytes", "-9223372036854775808", None),
    ("cleanup.policy", "", None),
    ("cleanup.policy", "compact , delete", None),
    ("cleanup.policy", "delete,", "Configuration 'cleanup.policy' values must not be empty."),
    (
        "cleanup.policy",
        "delete,Compact",
        INVALID.format("Compact", "cleanup.policy", "String must be one of: compact, delete"),
    ),
    ("compression.type", "zip", INVALID.format("zip", "compression.type", CODECS)),
    ("compression.type", " gzip ", None),
    (
        "message.timestamp.type",
        "x",
        INVALID.format("x", "message.timestamp.type", "String must be one of: CreateTime, LogAppendTime"),
    ),
    (
        "unclean.leader.election.enable",
        "yes",
        INVALID.format("yes", "unclean.leader.election.enable", "Expected value to be either true or false"),
    ),
    ("unclean.leader.election.enable", " TRUE ", None),
    ("min.insync.replicas", "0", INVALID.format("0", "min.insync.replicas", "Value must be at least 1")),
    ("max.message.bytes", "-1", INVALID.format("-1", "max.message.bytes", "Value must be at least 0")),
    ("max.message.bytes", "2147483648", INVALID.format("2147483648", "max.message.bytes", "Not a number of type INT")),
    ("max.message.bytes", "", INVALID.format("", "max.message.bytes", "Not a number of type INT")),
    ("max.message.bytes", "1_0", INVALID.format("1_0", "max.message.bytes", "Not a number of type INT")),
    ("max.message.bytes", "+5", None),
    ("max.message.bytes", "\u0663", None),
    ("index.interval.bytes", "-1", INVALID.format("-1", "index.interval.bytes", "Value must be at least 0")),
    ("segment.index.bytes", "4", None),
    ("segment.index.bytes", "3", INVALID.format("3", "segment.index.bytes", "Value must be at least 4")),
    (
        "segment.index.bytes",
        "2147483648",
        INVALID.format("2147483648", "segment.index.bytes", "Not a number of type INT"),
    ),
    ("message.timestamp.before.max.ms", "9223372036854775807", None),
    (
        "message.timestamp.before.max.ms",
        "-1",
        INVALID.format("-1", "message.timestamp.before.max.ms", "Value must be at least 0"),
    ),
    ("message.timestamp.after.max.ms", "0", None),
    (
        "message.timestamp.after.max.ms",
        "-1",
        INVALID.format("-1", "message.timestamp.after.max.ms", "Value must be at least 0"),
    ),
    ("no.such.key", "1", "Unknown topic config name: no.such.key"),
    ("mirror.replication.throttled.replicas", "*", None),
    ("mirror.replication.throttled.replicas", "0:1, 1:2", None),
    ("mirror.replication.throttled.replicas", "", None),
    (
        "mirror.replication.throttled.replicas",
        "foo",
        INVALID.format("[foo]", "mirror.replication.throttled.replicas", REPLICAS),
    ),
    (
        "mirror.replication.throttled.replicas",
        "*,*",
        INVALID.format("[*, *]", "mirror.replication.throttled.replicas", REPLICAS),
    ),
]
"""Errors of LogConfig.validate in kafka-storage 4.3.1; the throttled replicas as its own two keys of that kind."""


@pytest.mark.parametrize(("name", "value", "problem"), LOG_CONFIG)
def test_topic_values_have_kafkas_bounds_and_words(name: str, value: str, problem: str | None) -> None:
    assert problem_with(Scope.TOPIC, name, value) == problem


@pytest.mark.parametrize(
    ("name", "fine", "broken"),
    [
        (
            "bootstrap.servers",
            ("a:1", "a:9092, b-1.c_d:65535", "[::1]:9092"),
            ("", " ", "a:1,nowhere", "a:1,", "a:0", "a:65536", "a:99999999999", "a:x", ":1", "h:\u00b2", "a b:1"),
        ),
        ("mirror.groups.include", (".*", "", "a|b, c.+", r"g\d+"), ("(", "a,(b", "[", "a,", "*", "a{99999999999}")),
        ("mirror.topic.properties.exclude", ("a.b,c.*", ""), ("(", "a,,b")),
        (
            "mirror.acl.include",
            (
                "*",
                "TOPIC;orders.*",
                "*;*;*;*;User:alice",
                "TOPIC;*;READ;ALLOW",
                "",
                "topic;a;read;allow",
                "GROUP;consumer-.*;READ;ALLOW;User:bob",
                "TOPIC;orders.*,*;*;*;*;User:app-.*",
            ),
            (
                "a;b;c",
                "TOPIC;a;READ;ALLOW;User:a;x;y",
                "TOPIC;(;READ",
                "TOPIC;a;LOOK",
                "TOPIC;a;READ;MAYBE",
                "TOPIC;;READ",
                "*;*;*;*;User:[",
                "TOPIC;a,",
                "CLUSTER_MIRROR;m",
                ";",
            ),
        ),
        ("mirror.groups.clamp", ("true", "FALSE"), ("", "1")),
        ("security.protocol", ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", "ssl"), ("", "TLS")),
        ("request.timeout.ms", ("1", "30000"), ("0", "-1", "1.5")),
        ("sasl.mechanism", ("PLAIN",), ()),
        ("no.such.key", (), ("1",)),
        ("source.cluster.id", (), ("x",)),
    ],
)
def test_mirror_values(name: str, fine: tuple[str, ...], broken: tuple[str, ...]) -> None:
    for value in fine:
        assert problem_with(Scope.MIRROR, name, value) is None, value
    for value in broken:
        assert problem_with(Scope.MIRROR, name, value) is not None, value


def test_a_bad_server_is_named() -> None:
    assert problem_with(Scope.MIRROR, "bootstrap.servers", "a:1,nowhere") == "Invalid url in bootstrap.servers: nowhere"


def test_a_value_has_the_maximum_length_of_a_record() -> None:
    assert problem_with(Scope.MIRROR, "mirror.groups.include", "a" * 32767) is None
    assert "maximum value size of 32767" in (problem_with(Scope.MIRROR, "mirror.groups.include", "a" * 32768) or "")


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row.scope.value}-{row.name}") for row in KEYS if not row.no_effect]
)
def test_every_default_is_a_valid_value(row: ConfigKey) -> None:
    assert row.required == (row.name == "bootstrap.servers")
    text = default_of(row)
    if not row.hidden and not row.required and not row.name.startswith("internal."):
        assert problem_with(row.scope, row.name, text) is None
        configs = Configs(row.scope, {})
        assert configs.text(row.name) == text
        if row.kind in (Kind.INT, Kind.LONG):
            assert configs.integer(row.name) == int(text)


def test_only_keys_that_are_dynamic_in_kafka_take_effect_dynamically() -> None:
    """DynamicBrokerConfig.ALL_DYNAMIC_CONFIGS has the first; the KIP's keys are those that are read when used."""
    assert {row.name for row in KEYS if row.dynamic and not row.no_effect} == {
        "min.insync.replicas",
        "unclean.leader.election.enable",
        "log.segment.bytes",
        "log.index.interval.bytes",
        "log.index.size.max.bytes",
        "message.max.bytes",
        "log.message.timestamp.type",
        "log.message.timestamp.before.max.ms",
        "log.message.timestamp.after.max.ms",
        "compression.type",
        "log.cleanup.policy",
        "log.retention.ms",
        "log.retention.bytes",
        "log.segment.delete.delay.ms",
        "log.roll.ms",
        "log.flush.interval.messages",
        "log.flush.interval.ms",
        "log.cleaner.backoff.ms",
        "log.cleaner.dedupe.buffer.size",
        "log.cleaner.io.buffer.load.factor",
        "log.cleaner.min.cleanable.ratio",
        "log.cleaner.delete.retention.ms",
        "log.cleaner.min.compaction.lag.ms",
        "log.cleaner.max.compaction.lag.ms",
        "producer.id.expiration.ms",
        "transaction.partition.verification.enable",
        "mirror.num.replica.fetchers",
        "mirror.replica.fetch.max.bytes",
        "mirror.metadata.refresh.interval.ms",
        "mirror.replication.throttled.rate",
    }
    configs = broker_configs(
        {"min.insync.replicas": "2", "request.timeout.ms": "7"},
        {"min.insync.replicas": "3", "request.timeout.ms": "8", "no.such.key": "9"},
    )
    assert configs.integer("min.insync.replicas") == 3
    assert configs.integer("request.timeout.ms") == 7, "what is stored of other keys is passed over"


def test_a_topics_value_takes_precedence_over_its_brokers() -> None:
    broker = Configs(Scope.BROKER, {"message.max.bytes": " 11 "})
    assert Configs(Scope.TOPIC, {}, broker).integer("max.message.bytes") == 11
    assert Configs(Scope.TOPIC, {"max.message.bytes": "12"}, broker).integer("max.message.bytes") == 12
    assert Configs(Scope.TOPIC, {}).integer("max.message.bytes") == 1048588
    small = {"segment.bytes": "2000000", "internal.segment.bytes": "5"}
    assert Configs(Scope.TOPIC, small, broker).integer("segment.bytes") == 5


@pytest.mark.parametrize(
    ("static", "retention_ms"),
    [
        ({}, 168 * 3_600_000),
        ({"log.retention.hours": "2"}, 2 * 3_600_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "5"}, 5 * 60_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "5", "log.retention.ms": "7"}, 7),
        ({"log.retention.ms": "-1"}, -1),
    ],
)
def test_the_finest_unit_that_is_set_counts(static: dict[str, str], retention_ms: int) -> None:
    brokers = broker_configs(static, {})
    assert Configs(Scope.TOPIC, {}, brokers).integer("retention.ms") == retention_ms
    assert Configs(Scope.TOPIC, {"retention.ms": "3"}, brokers).integer("retention.ms") == 3


def test_a_ratio_is_read_as_java_reads_it() -> None:
    assert Configs(Scope.TOPIC, {"min.cleanable.dirty.ratio": " .25f "}).double("min.cleanable.dirty.ratio") == 0.25
    assert Configs(Scope.TOPIC, {}).double("min.cleanable.dirty.ratio") == 0.5
