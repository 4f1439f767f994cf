"""A kmirror broker and Kafka give the same responses to some drawn requests of all APIs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from tests.interop.clients.real import real_clusters

FRAMES = 128
CONFIGS = {"offsets.retention.check.interval.ms": "3000000"}  # No group expires during a round.


def test_kmirror_and_kafka_respond_alike(kafka_class_path: str, tmp_path: Path) -> None:
    with real_clusters(kafka_class_path, tmp_path, (1,), CONFIGS) as addresses:
        target, source = open_target(
            "brokers", TargetOptions(seed=7, profile="realistic", bootstrap_server=addresses[1])
        )
        with closing(target):
            campaign = Campaign(target, source, shrinks=False)
            for _ in campaign.run(frames=FRAMES):
                pass
    tally = campaign.tally
    assert not tally.findings, [
        f"{each.cause}\n{each.description}\n{each.frame.hex()}" for each in tally.findings.values()
    ]
    assert tally.taken > FRAMES // 5
