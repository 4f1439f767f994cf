"""Kafka's own `kafka-features.sh` against a kmirror cluster, which has a feature that Kafka lacks."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse
from tests.interop.clients.real import real_clusters
from tests.interop.jvm import java

LEFT_OUT = {
    "group.version",
    "kraft.version",
    "share.version",
    "streams.version",
}
"""Features of a fresh Kafka 4.3.1 that are missing here; docs/apis.md gives the reasons."""


def run(class_path: str, bootstrap_servers: str, *words: str) -> tuple[int, str]:
    """Return the exit code and the output of Kafka's tool for features."""
    command = java(class_path, "org.apache.kafka.tools.FeatureCommand", "-Xmx256m")
    done = subprocess.run(
        [*command, "--bootstrap-server", bootstrap_servers, *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


def describe_features(class_path: str, bootstrap_servers: str) -> dict[str, str]:
    """Return the tool's output for each feature, except for the epoch of the metadata."""
    status, text = run(class_path, bootstrap_servers, "describe")
    assert status == 0
    rows = [line.split() for line in text.splitlines() if line.startswith("Feature: ")]
    return {row[1]: " ".join(row[2 : row.index("Epoch:")]) for row in rows}


def test_a_cluster_has_the_levels_of_a_fresh_kafka(kafka_class_path: str, tmp_path: Path) -> None:
    with real_clusters(kafka_class_path, tmp_path, (1,)) as addresses:
        expected = describe_features(kafka_class_path, addresses[1])
    with TcpCluster(brokers=1, mirror_version=0) as cluster:
        found = describe_features(kafka_class_path, cluster.bootstrap_servers)
    assert found.pop("mirror.version")
    assert set(expected) - set(found) == LEFT_OUT
    assert found == {name: row for name, row in expected.items() if name not in LEFT_OUT}


def test_mirroring_is_turned_on_and_not_off_while_there_is_a_mirror(kafka_class_path: str) -> None:
    with TcpCluster(brokers=1, mirror_version=0) as cluster:

        def features(*words: str) -> tuple[int, str]:
            return run(kafka_class_path, cluster.bootstrap_servers, *words)

        upgraded = features("upgrade", "--feature", "mirror.version=1")
        assert upgraded == (0, "mirror.version was upgraded to 1.\n")
        request = CreateMirrorRequest(mirror_name="m", config=[MirrorConfig("bootstrap.servers", "127.0.0.1:9")])
        created = cluster.order(request)
        assert isinstance(created, CreateMirrorResponse) and created.error_code == 0
        status, text = features("downgrade", "--feature", "mirror.version=0")
        assert status == 1
        assert text.startswith("Could not downgrade mirror.version to 0. The update failed for all features since the ")
        assert "There are mirrors: m. Remove their topics and delete them first." in text
        status, text = features("describe")
        (told,) = [line.split() for line in text.splitlines() if line.startswith("Feature: mirror.version")]
        assert (status, told[told.index("FinalizedVersionLevel:") + 1]) == (0, "1")
