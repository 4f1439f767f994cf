"""DescribeConfigs entries of a key: its value, its source, and hidden values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kmirror.cluster.config_entries import (
    BrokerLayers,
    Entry,
    broker_entries,
    cluster_entries,
    mirror_entries,
    topic_entries,
)
from kmirror.spec.configs import broker_configs
from kmirror.spec.wire_values import ConfigSource as Source
from kmirror.spec.wire_values import ConfigType

NONE: Mapping[str, str] = {}


def by_name(entries: Sequence[Entry]) -> dict[str, Entry]:
    return {entry.name: entry for entry in entries}


def synonyms_of(entry: Entry) -> list[tuple[str, str | None, int]]:
    return [(synonym.name, synonym.value, synonym.source) for synonym in entry.synonyms]


def of_topic(topic: Mapping[str, str], layers: BrokerLayers, *, mirror: bool = False) -> dict[str, Entry]:
    broker = broker_configs(layers.static, {**layers.dynamic_default, **layers.dynamic})
    return by_name(topic_entries(topic, broker, layers, mirror=mirror))


def test_dynamic_broker_configs_precede_defaults_and_the_file() -> None:
    name = "min.insync.replicas"
    layers = BrokerLayers({name: "4"}, {name: "3"}, {name: "2"})
    entry = by_name(broker_entries(layers, mirror=False))[name]
    assert (entry.value, entry.config_source) == ("4", Source.BROKER)
    expected = [(name, "4", 2), (name, "3", 3), (name, "2", 4), (name, "1", 5)]
    assert synonyms_of(entry) == expected
    topic = of_topic({name: "5"}, layers)[name]
    assert (topic.value, topic.config_source, synonyms_of(topic)) == ("5", Source.TOPIC, [(name, "5", 1), *expected])
    [row] = cluster_entries(layers)
    assert (row.value, synonyms_of(row)) == ("3", [(name, "3", 3)])


def test_a_fallback_of_a_topic_config_is_listed_after_its_key() -> None:
    hours = BrokerLayers(NONE, NONE, {"log.retention.hours": "2", "log.retention.minutes": "3"})
    entry = of_topic(NONE, hours)["retention.ms"]
    assert (entry.value, entry.config_source, synonyms_of(entry)) == ("180000", Source.DEFAULT, [])
    both = BrokerLayers({"log.retention.ms": "7"}, NONE, {"log.retention.hours": "2"})
    assert synonyms_of(of_topic(NONE, both)["retention.ms"]) == [
        ("log.retention.ms", "7", Source.BROKER),
        ("log.retention.hours", "2", Source.STATIC),
        ("log.retention.hours", "168", Source.DEFAULT),
    ]
    described = by_name(broker_entries(hours, mirror=False))
    assert described["log.retention.ms"].value is None
    assert [row[:2] for row in synonyms_of(described["log.retention.minutes"])] == [
        ("log.retention.minutes", "3"),
        ("log.retention.hours", "2"),
        ("log.retention.hours", "168"),
    ]


@pytest.mark.parametrize("name", ["ssl.keystore.password", "a.plugins.own"])
def test_a_secret_has_no_value_anywhere(name: str) -> None:
    entry = by_name(broker_entries(BrokerLayers(NONE, NONE, {name: "secret"}), mirror=False))[name]
    assert (entry.value, entry.is_sensitive, synonyms_of(entry)) == (None, True, [(name, None, Source.STATIC)])
    assert entry.config_type == (ConfigType.PASSWORD if name.startswith("ssl") else ConfigType.UNKNOWN)


def test_values_are_returned_as_parsed_by_kafka() -> None:
    rows = of_topic(
        {"retention.ms": " +5 ", "preallocate": "TRUE", "cleanup.policy": "compact, delete", "segment.ms": "07"},
        BrokerLayers(NONE, NONE, NONE),
    )
    found = [rows[name].value for name in ("retention.ms", "preallocate", "cleanup.policy", "segment.ms")]
    assert found == ["5", "true", "compact,delete", "7"]
    ratio = of_topic({"min.cleanable.dirty.ratio": ".0001"}, BrokerLayers(NONE, NONE, NONE))
    assert ratio["min.cleanable.dirty.ratio"].value == "1.0E-4"


@pytest.mark.decision("D1")
@pytest.mark.decision("D7")
def test_configs_of_the_kip_exist_only_with_the_feature() -> None:
    nothing = BrokerLayers(NONE, NONE, NONE)
    for mirror in (False, True):
        topic = of_topic({"mirror.name": "m"}, nothing, mirror=mirror)
        assert "mirror.name" not in topic
        assert ("mirror.support.unclean.leader.election" in topic) is mirror
        assert ("mirror.num.replica.fetchers" in by_name(broker_entries(nothing, mirror=mirror))) is mirror


def test_a_test_only_key_is_returned_if_set() -> None:
    nothing, key = BrokerLayers(NONE, NONE, NONE), "internal.segment.bytes"
    assert key not in of_topic(NONE, nothing)
    assert of_topic({key: "+900"}, nothing)[key].value == "+900"
    key = "log.initial.task.delay.ms"
    assert key not in by_name(broker_entries(nothing, mirror=False))
    assert by_name(broker_entries(BrokerLayers(NONE, NONE, {key: "1"}), mirror=False))[key].value == "1"


def test_a_mirrors_configs_are_returned_without_secrets() -> None:
    rows = by_name(mirror_entries({"bootstrap.servers": "a:1", "sasl.jaas.config": "secret", "source.cluster.id": "x"}))
    assert rows["bootstrap.servers"].value == "a:1"
    assert (rows["sasl.jaas.config"].value, rows["sasl.jaas.config"].is_sensitive) == (None, True)
    assert rows["mirror.groups.include"].config_source == Source.DEFAULT
    assert "source.cluster.id" not in rows
