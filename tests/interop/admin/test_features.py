"""Kafka's own `kafka-features.sh` against a cluster of ours, which has a feature that Kafka has not."""

from __future__ import annotations

import subprocess

from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest, MirrorConfig
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse


def test_mirroring_is_turned_on_and_not_off_while_there_is_a_mirror(kafka_class_path: str) -> None:
    with TcpCluster(brokers=1, mirror_version=0) as cluster:

        def features(*words: str) -> tuple[int, str]:
            command = ["java", "-Xmx256m", "-cp", kafka_class_path, "org.apache.kafka.tools.FeatureCommand"]
            done = subprocess.run(
                [*command, "--bootstrap-server", cluster.bootstrap_servers, *words],
                capture_output=True,
                text=True,
                check=False,
            )
            return done.returncode, done.stdout

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
