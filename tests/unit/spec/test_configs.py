"""Configs are read often: parsed values are cached."""

from __future__ import annotations

import pytest

from kmirror.spec import configs
from kmirror.spec.configs import Configs, Scope, broker_configs


def test_a_number_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = broker_configs({"log.retention.minutes": "2"}, {"min.insync.replicas": "7"})
    topic = Configs(Scope.TOPIC, {"max.message.bytes": "5"}, broker)
    numbers = [
        (broker, "log.retention.ms", 120_000),
        (broker, "min.insync.replicas", 7),
        (broker, "replica.fetch.max.bytes", 1 << 20),
        (topic, "max.message.bytes", 5),
        (topic, "retention.ms", 120_000),
    ]
    assert [read.integer(name) for read, name, _ in numbers] == [number for _, _, number in numbers]

    def refuse(_: object, name: str) -> str:
        raise AssertionError(f"{name} was read again")

    monkeypatch.setattr(configs.Configs, "text", refuse)
    assert [read.integer(name) for read, name, _ in numbers] == [number for _, _, number in numbers]
