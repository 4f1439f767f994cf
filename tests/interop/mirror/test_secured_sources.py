"""Mirrors from Kafka 4.3.1 over SASL and TLS: each listener of a broker, and errors if one refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kmirror.admin.client import AsyncAdmin
from kmirror.admin.leader_reader import LeaderReader
from kmirror.client.security import SecuritySettings, security_of
from kmirror.errors import KafkaError
from kmirror.kernel.ids import TopicPartition as Partition
from kmirror.net.cluster import TcpCluster
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import OffsetSpec
from tests.certificates import LONG_AGO, Authority, Identity
from tests.interop.clients.real import free_ports, real_clusters
from tests.interop.mirror.destination import Mirrored
from tests.interop.mirror.secured import (
    HOST,
    MECHANISMS,
    OURS,
    PASSWORD,
    add_scram_users,
    login,
    produce,
    sasl_of_listener,
)

SESSION_MS = 2000
TOPIC = "secured"
LISTENERS = {
    "PLAINTEXT": "PLAINTEXT",
    "PLAIN": "SASL_PLAINTEXT",
    "SECURED": "SASL_SSL",
    "MUTUAL": "SSL",
    "ELSEWHERE": "SSL",
    "EXPIRED": "SSL",
}


@dataclass(frozen=True)
class Source:
    """One broker with many listeners."""

    ports: Mapping[str, int]
    authority: Authority
    client: Identity

    @property
    def plain(self) -> str:
        return f"{HOST}:{self.ports['PLAINTEXT']}"

    def configs(self, listener: str, mechanism: str = "SCRAM-SHA-512", **others: str) -> dict[str, str]:
        """Return a mirror's configs for a listener; underscores mean dots."""
        found = {"bootstrap.servers": f"{HOST}:{self.ports[listener]}", "security.protocol": LISTENERS[listener]}
        if LISTENERS[listener].endswith("SSL"):
            found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": self.authority.pem}
        if LISTENERS[listener].startswith("SASL"):
            found |= login("PLAIN" if listener == "PLAIN" else mechanism)
        if listener == "MUTUAL":
            found |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.key": self.client.key_pem("hush"),
                "ssl.keystore.certificate.chain": self.client.chain_pem,
                "ssl.key.password": "hush",
            }
        return found | {name.replace("_", "."): value for name, value in others.items()}


def broker_configs(ports: Mapping[str, int], controller: int, folder: Path, authority: Authority) -> dict[str, str]:
    """Return the configs of the Kafka broker."""
    trusted = folder / "trusted.pem"
    trusted.write_text(authority.pem)
    keys = {
        "SECURED": authority.issue("broker", HOST),
        "MUTUAL": authority.issue("broker", HOST),
        "ELSEWHERE": authority.issue("broker", "elsewhere.example"),
        "EXPIRED": authority.issue("broker", HOST, validity=LONG_AGO),
    }
    inner = {**LISTENERS, "CONTROLLER": "PLAINTEXT"}
    found = {
        "listeners": ",".join(f"{name}://{HOST}:{port}" for name, port in {**ports, "CONTROLLER": controller}.items()),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in inner.items()),
        "controller.quorum.bootstrap.servers": f"{HOST}:{controller}",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trusted),
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.plain.connections.max.reauth.ms": str(SESSION_MS),
        **sasl_of_listener("PLAIN", "PLAIN"),
        **sasl_of_listener("SECURED", *MECHANISMS),
    }
    for listener, identity in keys.items():
        found[f"listener.name.{listener.lower()}.ssl.keystore.type"] = "PEM"
        path = identity.write_pem(folder / f"{listener}.pem")
        found[f"listener.name.{listener.lower()}.ssl.keystore.location"] = str(path)
    return found


@pytest.fixture(scope="module")
def source(kafka_class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    folder, authority = tmp_path_factory.mktemp("secured"), Authority()
    controller, *found = free_ports(len(LISTENERS) + 1)
    ports = dict(zip(LISTENERS, found, strict=True))
    source = Source(ports, authority, authority.issue("mirror"))
    with real_clusters(kafka_class_path, folder, (1,), broker_configs(ports, controller, folder, authority)):
        admin = AdminClient({"bootstrap.servers": source.plain, "log_level": 0})
        (created,) = admin.create_topics([NewTopic(TOPIC, 2, 1)]).values()
        created.result(60)
        add_scram_users(source.plain)
        produce(source.plain, TOPIC, "first")
        yield source


@pytest.fixture
def destination() -> Iterator[TcpCluster]:
    with TcpCluster(brokers=1, configs=OURS) as cluster:
        yield cluster


def start_mirror(source: Source, destination: TcpCluster, configs: Mapping[str, str]) -> Mirrored:
    """Return a mirror whose own connections use `configs`; the test uses the plain listener."""
    mirrored = Mirrored(source.plain, destination, configs)
    mirrored.add([TOPIC])
    return mirrored


@pytest.mark.kip("1279", "Mirror Configuration")
@pytest.mark.parametrize(
    ("listener", "mechanism"),
    [("PLAIN", "PLAIN"), *(("SECURED", mechanism) for mechanism in MECHANISMS), ("MUTUAL", "")],
)
def test_everything_is_mirrored_through(listener: str, mechanism: str, source: Source, destination: TcpCluster) -> None:
    mirrored = start_mirror(source, destination, source.configs(listener, mechanism))
    mirrored.catch_up()
    produce(source.plain, TOPIC, listener)
    mirrored.catch_up()
    assert "hush" not in str(mirrored.reasons)
    told = destination.metrics()
    taken = told.total("successful-authentication-total"), told.total("successful-authentication-no-reauth-total")
    assert taken == (1, 1) and told.total("connection-creation-total") == 1
    assert told.total("failed-authentication-total") == 0


@pytest.mark.parametrize("listener", ["PLAIN", "SECURED", "MUTUAL"])
def test_an_admin_client_reads_through(listener: str, source: Source) -> None:
    configs = source.configs(listener)

    async def end_of_topic(security: SecuritySettings | None) -> int:
        async with AsyncAdmin(configs["bootstrap.servers"], security=security) as admin:
            return await LeaderReader(admin, Partition(TOPIC, 0)).offset(OffsetSpec.LATEST)

    assert asyncio.run(end_of_topic(security_of(configs))) > 0
    if listener != "MUTUAL":
        wrong = {**configs, **login(configs["sasl.mechanism"], "guessed")}
        with pytest.raises(KafkaError, match="no secured connection to") as refused:
            asyncio.run(end_of_topic(security_of(wrong)))
        assert refused.value.code is ErrorCode.SASL_AUTHENTICATION_FAILED


def test_a_session_is_renewed_and_no_link_is_lost(source: Source, destination: TcpCluster) -> None:
    mirrored = start_mirror(source, destination, source.configs("PLAIN"))
    mirrored.catch_up()
    lost: list[str] = []
    destination.on_note.append(lambda _, note: lost.append(note.text) if "does not answer" in note.text else None)

    def metric(name: str) -> float:
        (found,) = destination.metrics().find(name)
        return found.value

    what = f"three sessions of {SESSION_MS} ms to end"
    destination.until(lambda: metric("successful-reauthentication-total") >= 3, within_s=60, what=what)
    produce(source.plain, TOPIC, "renewed")
    mirrored.catch_up()
    assert not lost, lost
    assert metric("connection-creation-total") == metric("successful-authentication-total") == 1
    assert metric("connection-close-total") == metric("failed-reauthentication-total") == 0
    assert 0 < metric("reauthentication-latency-avg") <= metric("reauthentication-latency-max") < SESSION_MS


REFUSED = {
    "a wrong password, PLAIN": ("PLAIN", login("PLAIN", "hush"), ("SASL_AUTHENTICATION_FAILED",)),
    "a wrong password, SCRAM": ("SECURED", login("SCRAM-SHA-512", "hush"), ("SASL_AUTHENTICATION_FAILED",)),
    "another mechanism": (
        "PLAIN",
        login("SCRAM-SHA-256"),
        ("UNSUPPORTED_SASL_MECHANISM", "it supports PLAIN, but sasl.mechanism is SCRAM-SHA-256"),
    ),
    "no SASL": ("PLAIN", {"security_protocol": "SASL_SSL"}, ("TLS", "")),
    "an unknown authority": (
        "MUTUAL",
        {"ssl_truststore_certificates": Authority("nobody").pem},
        ("certificate is not trusted",),
    ),
    "no certificate of ours": (
        "SECURED",
        {"bootstrap_servers": "MUTUAL", "security_protocol": "SSL"},
        ("TLS", "certificate"),
    ),
    "another host": ("ELSEWHERE", {}, ("certificate is not trusted", HOST)),
    "an old certificate": ("EXPIRED", {}, ("certificate is not trusted", "expired")),
    "a port without SASL": (
        "PLAIN",
        {"bootstrap_servers": "PLAINTEXT"},
        ("ILLEGAL_SASL_STATE", "security.protocol is SASL_PLAINTEXT"),
    ),
    "a port without TLS": ("MUTUAL", {"bootstrap_servers": "PLAINTEXT"}, ("TLS", "")),
}


@pytest.mark.kip("1279", "Mirror Configuration")
@pytest.mark.parametrize("case", REFUSED)
def test_mirroring_continues_once_a_refused_config_is_corrected(
    case: str, source: Source, destination: TcpCluster
) -> None:
    listener, others, words = REFUSED[case]
    configs = source.configs(listener, **others)
    if "bootstrap_servers" in others:
        configs["bootstrap.servers"] = f"{HOST}:{source.ports[others['bootstrap_servers']]}"
    mirrored = start_mirror(source, destination, configs)
    reason = mirrored.wait_for_reason(*words)
    assert "hush" not in reason and PASSWORD not in reason
    mends = source.configs("PLAIN" if listener in ("ELSEWHERE", "EXPIRED") else listener)
    mirrored.alter(mends)
    mirrored.catch_up()


def test_any_host_name_will_do_without_identification(source: Source, destination: TcpCluster) -> None:
    configs = source.configs("ELSEWHERE", ssl_endpoint_identification_algorithm="")
    start_mirror(source, destination, configs).catch_up()


def test_stores_are_files_of_pkcs12(source: Source, destination: TcpCluster, tmp_path: Path) -> None:
    (tmp_path / "trusted.p12").write_bytes(source.authority.pkcs12("hush"))
    (tmp_path / "own.p12").write_bytes(source.client.pkcs12("hush"))
    configs = source.configs("PLAINTEXT") | {
        "bootstrap.servers": f"{HOST}:{source.ports['MUTUAL']}",
        "security.protocol": "SSL",
        "ssl.truststore.location": str(tmp_path / "trusted.p12"),
        "ssl.truststore.password": "hush",
        "ssl.truststore.type": "PKCS12",
        "ssl.keystore.location": str(tmp_path / "own.p12"),  # Its default type is JKS, which Java accepts too.
        "ssl.keystore.password": "hush",
    }
    start_mirror(source, destination, configs).catch_up()


def test_credentials_that_become_wrong_are_the_reason_of_each_partition(
    source: Source, destination: TcpCluster
) -> None:
    mirrored = start_mirror(source, destination, source.configs("SECURED"))
    mirrored.catch_up()
    mirrored.alter(login("SCRAM-SHA-512", "hush"))
    reason = mirrored.wait_for_reason("no response from the source at", "SASL_AUTHENTICATION_FAILED")
    assert set(mirrored.reasons.values()) == {reason}
    mirrored.alter(login("SCRAM-SHA-512"))
    produce(source.plain, TOPIC, "altered")
    mirrored.catch_up()
    assert set(mirrored.reasons.values()) == {""}
