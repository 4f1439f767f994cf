"""A topic config, its line in `log_config` and its field in `LogConfig` agree."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import kmirror
from kmirror.cluster.replication.log_configs import log_config
from kmirror.log.config import LogConfig
from kmirror.records.codecs import Compression
from kmirror.records.layout import TimestampType
from kmirror.spec.configs import ConfigKey, Configs, Kind, Scope, config_keys

ELSEWHERE = {
    "min.insync.replicas": "cluster/replication/replicas.py",
    "unclean.leader.election.enable": "cluster/controller/elections.py",
    "mirror.name": "mirror/naming.py",
    "mirror.lineage": "mirror/naming.py",
    "mirror.replication.throttled.replicas": "mirror/replication_quota.py",
    "mirror.support.unclean.leader.election": "mirror/preparing.py",
}
"""Topic configs that the log does not use, to the file that reads each."""
WORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "cleanup.policy": ("compact", {"compact": True, "delete": False}),
    "compression.type": ("zstd", {"compression_type": Compression.ZSTD}),
    "message.timestamp.type": ("LogAppendTime", {"message_timestamp_type": TimestampType.LOG_APPEND_TIME}),
}
"""Configs that are no numbers, to a value that differs from the default, and the resulting change of the LogConfig."""
INSTEAD = {row.test_key: row.name for row in config_keys(Scope.TOPIC).values() if row.test_key is not None}
OF_A_LOG = [row for row in config_keys(Scope.TOPIC).values() if not row.no_effect and row.name not in ELSEWHERE]


def another(row: ConfigKey) -> tuple[str, dict[str, Any]]:
    """Return a value of `row` that differs from every default, and the fields of the LogConfig that it changes."""
    if row.name in WORDS:
        return WORDS[row.name]
    field = INSTEAD.get(row.name, row.name).replace(".", "_")
    return ("0.25", {field: 0.25}) if row.kind is Kind.DOUBLE else ("1234567", {field: 1_234_567})


def changed(topic: dict[str, str], broker: dict[str, str]) -> dict[str, Any]:
    """Return the fields that differ from the default LogConfig, with their values."""
    config, default = log_config(topic, Configs(Scope.BROKER, broker)), LogConfig()
    values = {field.name: getattr(config, field.name) for field in fields(LogConfig)}
    return {name: value for name, value in values.items() if value != getattr(default, name)}


def test_the_defaults_of_the_rows_are_those_of_a_log() -> None:
    assert log_config({}, Configs(Scope.BROKER, {})) == LogConfig()


@pytest.mark.parametrize("row", OF_A_LOG, ids=lambda row: row.name)
def test_each_config_of_a_log_changes_its_own_field(row: ConfigKey) -> None:
    value, expected = another(row)
    assert changed({row.name: value}, {}) == expected
    if row.broker_key is not None:
        assert changed({}, {row.broker_key: value}) == expected


def test_every_field_is_changed_by_some_config() -> None:
    found = {name for row in OF_A_LOG for name in changed({row.name: another(row)[0]}, {})}
    found |= changed({}, {"producer.id.expiration.ms": "5"}).keys()  # A config of brokers only, like in Kafka.
    assert found == {field.name for field in fields(LogConfig)}


def test_every_other_topic_config_is_used_as_in_this_table() -> None:
    folder = Path(kmirror.__file__).parent
    for name, path in ELSEWHERE.items():
        assert name in config_keys(Scope.TOPIC)
        assert f'"{name}"' in (folder / path).read_text("utf-8"), f"{path} does not read {name}"


def test_a_log_that_is_compacted_rolls_before_its_compaction_is_due() -> None:
    lag = {"max.compaction.lag.ms": "50"}
    assert changed({**lag, "cleanup.policy": "compact"}, {})["segment_ms"] == 50
    assert "segment_ms" not in changed(lag, {})


def test_logs_with_the_same_configs_share_one_object() -> None:
    broker = Configs(Scope.BROKER, {})
    assert log_config({"retention.ms": "5"}, broker) is log_config({"retention.ms": "5"}, broker)
    assert log_config({"retention.ms": "6"}, broker).retention_ms == 6
