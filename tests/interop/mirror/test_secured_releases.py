"""Mirrors from older releases of Kafka over SASL and TLS: every mechanism and protocol, one broker with all listeners.

2.1.1 stores its SCRAM users in ZooKeeper, supports no PEM and no TLS 1.3, and authenticates with SaslAuthenticate 0.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kmirror.admin.mirror import TcpMirror
from kmirror.client.security import security_of
from kmirror.net.cluster import TcpCluster
from tests.certificates import Authority, Identity
from tests.interop.jvm import java
from tests.interop.mirror.brokers import RealCluster
from tests.interop.mirror.destination import Mirrored
from tests.interop.mirror.secured import (
    HOST,
    MECHANISMS,
    OURS,
    USER,
    add_scram_users,
    login,
    produce,
    sasl_of_listener,
    scram_credentials,
)
from tests.interop.mirror.source import create_topic

TOPIC = "secured"
LISTENERS = ("SASL_PLAINTEXT", "SASL_SSL", "SSL")
CASES = [*((protocol, mechanism) for protocol in LISTENERS[:2] for mechanism in MECHANISMS), ("SSL", "")]


OF_2_1 = {"ssl.enabled.protocols": "TLSv1.2", "zookeeper.session.timeout.ms": "10000"}
"""No broker is killed here, so ZooKeeper may wait for a busy machine."""


@dataclass(frozen=True)
class Source:
    """A broker of a release."""

    kafka: RealCluster
    authority: Authority
    client: Identity

    def configs(self, protocol: str, mechanism: str) -> dict[str, str]:
        """Return a mirror's configs."""
        found = {"bootstrap.servers": self.kafka.servers_of[protocol], "security.protocol": protocol}
        if mechanism:
            found |= login(mechanism)
        if protocol.endswith("SSL"):
            found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": self.authority.pem}
        if protocol == "SSL":
            found |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.key": self.client.key_pem(),
                "ssl.keystore.certificate.chain": self.client.chain_pem,
            }
        return found


def broker_configs(release: str, folder: Path, authority: Authority) -> dict[str, str]:
    """Return the configs of the Kafka broker; its stores are PKCS12, which every release supports."""
    (folder / "trusted.p12").write_bytes(authority.pkcs12("hush"))
    (folder / "own.p12").write_bytes(authority.issue("broker", HOST).pkcs12("hush"))
    return {
        "ssl.truststore.type": "PKCS12",
        "ssl.truststore.location": str(folder / "trusted.p12"),
        "ssl.truststore.password": "hush",
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(folder / "own.p12"),
        "ssl.keystore.password": "hush",
        "ssl.key.password": "hush",
        "listener.name.ssl.ssl.client.auth": "required",
        **(OF_2_1 if release.startswith("2.") else {}),
        **sasl_of_listener("SASL_PLAINTEXT", *MECHANISMS),
        **sasl_of_listener("SASL_SSL", *MECHANISMS),
    }


def add_users(kafka: RealCluster, class_path: str) -> None:
    """Add the user for each SCRAM mechanism: by the tool of 2.1.1, which writes into ZooKeeper, or by the API."""
    if not kafka.release.startswith("2."):
        add_scram_users(kafka.bootstrap_servers)
        return
    tool = [*java(class_path, "kafka.admin.ConfigCommand", "-Xmx128m"), "--zookeeper", kafka.zookeeper]
    words = ["--alter", "--entity-type", "users", "--entity-name", USER, "--add-config", ",".join(scram_credentials())]
    utf8 = {**os.environ, "LC_ALL": "C.UTF-8"}
    subprocess.run([*tool, *words], check=True, capture_output=True, env=utf8)


@pytest.fixture(scope="module", params=["2.1.1", "3.9.1"])
def source(
    request: pytest.FixtureRequest, class_path_of: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Source]:
    folder, authority = tmp_path_factory.mktemp("secured"), Authority()
    release, class_path = request.param, class_path_of(request.param)
    configs = broker_configs(release, folder, authority)
    with RealCluster(release, class_path, folder / "kafka", brokers=1, listeners=LISTENERS, configs=configs) as kafka:
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})
        create_topic(admin, NewTopic(TOPIC, 2, 1))
        add_users(kafka, class_path)
        yield Source(kafka, authority, authority.issue("mirror"))


@pytest.mark.kip("1279", "Mirror Configuration")
@pytest.mark.parametrize(("protocol", "mechanism"), CASES)
def test_everything_is_mirrored_through(protocol: str, mechanism: str, source: Source) -> None:
    configs, servers = source.configs(protocol, mechanism), source.kafka.bootstrap_servers
    with TcpCluster(brokers=1, configs=OURS) as destination:
        wrong = login(mechanism, "hush") if mechanism else {"ssl.truststore.certificates": Authority("nobody").pem}
        mirrored = Mirrored(servers, destination, configs | wrong)
        mirrored.add([TOPIC])
        words = "SASL_AUTHENTICATION_FAILED" if mechanism else "certificate is not trusted"
        assert "hush" not in mirrored.wait_for_reason(words)
        produce(servers, TOPIC, f"{protocol} {mechanism}")
        mirrored.alter(configs)
        mirrored.catch_up()
        mirror = TcpMirror(
            "from-kafka",
            source=configs["bootstrap.servers"],
            destination=destination,
            source_security=security_of(configs),
        )
        mirror.assert_equal()
        assert mirror.reason() == ""
