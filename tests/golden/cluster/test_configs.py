"""The rows of config keys equal Kafka's: `configs.json` is the DescribeConfigs response of Kafka 4.3.1."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kmirror.cluster.config_entries import BrokerLayers, Entry, broker_entries, topic_entries
from kmirror.spec.configs import KEYS, Configs, Scope

RECORDED: dict[str, list[dict[str, Any]]] = json.loads((Path(__file__).parent / "configs.json").read_bytes())
READ_AT_THE_START = {"max.connections", "max.connections.per.ip", "max.connections.per.ip.overrides"}
"""Dynamic in Kafka; here the runner reads them once, so they are reported as read-only."""
NOTHING_SET = BrokerLayers({}, {}, {})


def described_entries(scope: str) -> dict[str, Entry]:
    if scope == "broker":
        entries = broker_entries(NOTHING_SET, mirror=False)
    else:
        entries = topic_entries({}, Configs(Scope.BROKER, {}), NOTHING_SET, mirror=False)
    return {entry.name: entry for entry in entries}


@pytest.mark.parametrize("scope", ["broker", "topic"])
def test_every_key_of_kafka_exists_and_no_other(scope: str) -> None:
    assert list(described_entries(scope)) == [row["name"] for row in RECORDED[scope]]


@pytest.mark.parametrize("scope", ["broker", "topic"])
def test_types_defaults_and_flags_are_those_of_a_real_broker(scope: str) -> None:
    entries = described_entries(scope)
    for row in RECORDED[scope]:
        entry = entries[row["name"]]
        found = (entry.config_type, entry.value, entry.read_only, entry.is_sensitive)
        read_only = row["readOnly"] or row["name"] in READ_AT_THE_START
        assert found == (row["type"], row["default"], read_only, row["sensitive"]), row["name"]
        if scope == "topic":
            assert [synonym.name for synonym in entry.synonyms] == row["synonyms"], row["name"]


def test_no_two_owners_have_a_row_for_one_key() -> None:
    twice = Counter((row.scope, row.name) for row in KEYS)
    assert [name for (_, name), count in twice.items() if count > 1] == []


def test_every_key_has_a_description() -> None:
    for scope in ("broker", "topic"):
        assert all(entry.documentation for entry in described_entries(scope).values())
