"""Kafka's responses agree with the models of sessions: the same sessions as for kmirror, over TCP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.sessions.rows import MACHINES
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from tests.interop.clients.real import real_clusters

SESSIONS = 16
KNOWN = {
    # An EndTxn that comes while InitProducerId fences its producer (docs/findings.md).
    "differs transactions: EndTxn: error UNKNOWN_SERVER_ERROR",
}
CONFIGS = {"offsets.retention.check.interval.ms": "3000000"}  # No group expires during a session.


@pytest.fixture(scope="module")
def server(kafka_class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_clusters(kafka_class_path, tmp_path_factory.mktemp("kafka"), (1,), CONFIGS) as addresses:
        yield addresses[1]


@pytest.mark.parametrize("name", [row.name for row in MACHINES if row.is_for_kafka])
def test_kafka_agrees_with_the_model(name: str, server: str) -> None:
    target, source = open_target("sessions", TargetOptions(seed=5, machines=(name,), bootstrap_server=server))
    with closing(target):
        campaign = Campaign(target, source, shrinks=False)
        for frame in source.block(0)[:SESSIONS]:
            campaign.put(frame)
    findings = {cause: each for cause, each in campaign.tally.findings.items() if cause not in KNOWN}
    assert not findings, [f"{each.line}\n" + "\n".join(each.story) for each in findings.values()]
    assert campaign.tally.taken > SESSIONS // 2
