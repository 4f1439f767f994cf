"""Mirrors from a real Kafka 4.3.1 over SASL and TLS: each listener of a broker, and what is said if one refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from kmirror.net.cluster import TcpCluster
from tests.certificates import LONG_AGO, Authority, Identity
from tests.interop.clients.real import free_ports, real_clusters
from tests.interop.mirror.destination import Mirrored

HOST = "127.0.0.1"
PASSWORD = 'pa, "ss=\\'
SESSION_MS = 2000
PACKAGE = "org.apache.kafka.common.security"
TOPIC = "secured"
COUNT = 200
OURS = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
LISTENERS = {
    "PLAINTEXT": "PLAINTEXT",
    "PLAIN": "SASL_PLAINTEXT",
    "SCRAM": "SASL_SSL",
    "MUTUAL": "SSL",
    "ELSEWHERE": "SSL",
    "EXPIRED": "SSL",
}


def quoted(text: str) -> str:
    """Return a value for a JAAS config."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def jaas(module: str, password: str = PASSWORD) -> str:
    name = f"{PACKAGE}.{module.lower()}.{module}LoginModule"
    return f'{name} required username="mirror=,1" password={quoted(password)};'


def in_file(text: str) -> str:
    """Return a value as it stands in a properties file."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")


@dataclass(frozen=True)
class Source:
    """One broker with many listeners."""

    ports: Mapping[str, int]
    authority: Authority
    client: Identity

    @property
    def plain(self) -> str:
        return f"{HOST}:{self.ports['PLAINTEXT']}"

    def configs(self, listener: str, **others: str) -> dict[str, str]:
        """Return a mirror's configs for a listener; underscores stand for dots."""
        found = {"bootstrap.servers": f"{HOST}:{self.ports[listener]}", "security.protocol": LISTENERS[listener]}
        if LISTENERS[listener].endswith("SSL"):
            found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": self.authority.pem}
        if listener == "PLAIN":
            found |= {"sasl.mechanism": "PLAIN", "sasl.jaas.config": jaas("Plain")}
        if listener == "SCRAM":
            found |= {"sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": jaas("Scram")}
        if listener == "MUTUAL":
            found |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.key": self.client.key_pem("hush"),
                "ssl.keystore.certificate.chain": self.client.chain_pem,
                "ssl.key.password": "hush",
            }
        return found | {name.replace("_", "."): value for name, value in others.items()}


def broker_configs(ports: Mapping[str, int], controller: int, folder: Path, authority: Authority) -> dict[str, str]:
    """Return the configs of the real broker."""
    trusted = folder / "trusted.pem"
    trusted.write_text(authority.pem)
    keys = {
        "SCRAM": authority.issue("broker", HOST),
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
        "listener.name.plain.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.plain.connections.max.reauth.ms": str(SESSION_MS),
        "listener.name.plain.plain.sasl.jaas.config": in_file(
            f'{PACKAGE}.plain.PlainLoginModule required "user_mirror=,1"={quoted(PASSWORD)};'
        ),
        "listener.name.scram.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.scram.scram-sha-512.sasl.jaas.config": f"{PACKAGE}.scram.ScramLoginModule required;",
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
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 8192)
        user = UserScramCredentialUpsertion("mirror=,1", info, PASSWORD.encode())
        (altered,) = admin.alter_user_scram_credentials([user]).values()
        altered.result(60)
        produce(source, "first")
        yield source


def produce(source: Source, what: str) -> None:
    producer = Producer({"bootstrap.servers": source.plain, "log_level": 0, "linger.ms": 5})
    for n in range(COUNT):
        producer.produce(TOPIC, f"{what} {n} {'x' * 500}", partition=n % 2)
    assert producer.flush(60) == 0


@pytest.fixture
def destination() -> Iterator[TcpCluster]:
    with TcpCluster(brokers=1, configs=OURS) as cluster:
        yield cluster


def begun(source: Source, destination: TcpCluster, configs: Mapping[str, str]) -> Mirrored:
    """Return a mirror whose own connections go by `configs`; the test asks the plain listener."""
    mirrored = Mirrored(source.plain, destination, configs)
    mirrored.add([TOPIC])
    return mirrored


@pytest.mark.kip("1279", "Mirror Configuration")
@pytest.mark.parametrize("listener", ["PLAIN", "SCRAM", "MUTUAL"])
def test_everything_is_mirrored_through(listener: str, source: Source, destination: TcpCluster) -> None:
    mirrored = begun(source, destination, source.configs(listener))
    mirrored.catch_up()
    produce(source, listener)
    mirrored.catch_up()
    assert "hush" not in str(mirrored.reasons)


def test_a_session_is_renewed_and_no_link_is_lost(source: Source, destination: TcpCluster) -> None:
    mirrored = begun(source, destination, source.configs("PLAIN"))
    mirrored.catch_up()
    lost: list[str] = []
    destination.on_note.append(lambda _, note: lost.append(note.text) if "does not answer" in note.text else None)
    links = destination.broker(1).context.requester._secured
    fetching = next(secured for link, secured in links.items() if "-fetch-" in link.channel)
    began: dict[int, None] = {}

    def is_renewed() -> bool:
        began[fetching._began] = None
        return len(began) > 3

    destination.until(is_renewed, within_s=60, what=f"three sessions of {SESSION_MS} ms to end")
    produce(source, "renewed")
    mirrored.catch_up()
    assert fetching._turn == 1 and not lost, lost


REFUSED = {
    "a wrong password, PLAIN": ("PLAIN", {"sasl_jaas_config": jaas("Plain", "hush")}, ("SASL_AUTHENTICATION_FAILED",)),
    "a wrong password, SCRAM": ("SCRAM", {"sasl_jaas_config": jaas("Scram", "hush")}, ("SASL_AUTHENTICATION_FAILED",)),
    "another mechanism": (
        "SCRAM",
        {"sasl_mechanism": "SCRAM-SHA-256"},
        ("UNSUPPORTED_SASL_MECHANISM", "SCRAM-SHA-512"),
    ),
    "no SASL": ("PLAIN", {"security_protocol": "SASL_SSL"}, ("TLS", "")),
    "an unknown authority": (
        "MUTUAL",
        {"ssl_truststore_certificates": Authority("nobody").pem},
        ("certificate is not taken",),
    ),
    "no certificate of ours": (
        "SCRAM",
        {"bootstrap_servers": "MUTUAL", "security_protocol": "SSL"},
        ("TLS", "certificate"),
    ),
    "another host": ("ELSEWHERE", {}, ("certificate is not taken", HOST)),
    "an old certificate": ("EXPIRED", {}, ("certificate is not taken", "expired")),
    "a port without SASL": (
        "PLAIN",
        {"bootstrap_servers": "PLAINTEXT"},
        ("ILLEGAL_SASL_STATE", "security.protocol is SASL_PLAINTEXT"),
    ),
    "a port without TLS": ("MUTUAL", {"bootstrap_servers": "PLAINTEXT"}, ("TLS", "")),
}


@pytest.mark.kip("1279", "Mirror Configuration")
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_the_reason_and_goes_on_once_altered(
    case: str, source: Source, destination: TcpCluster
) -> None:
    listener, others, words = REFUSED[case]
    configs = source.configs(listener, **others)
    if "bootstrap_servers" in others:
        configs["bootstrap.servers"] = f"{HOST}:{source.ports[others['bootstrap_servers']]}"
    mirrored = begun(source, destination, configs)
    reason = mirrored.wait_for_reason(*words)
    assert "hush" not in reason and PASSWORD not in reason
    mends = source.configs("PLAIN" if listener in ("ELSEWHERE", "EXPIRED") else listener)
    mirrored.alter(mends)
    mirrored.catch_up()


def test_any_host_name_will_do_without_identification(source: Source, destination: TcpCluster) -> None:
    configs = source.configs("ELSEWHERE", ssl_endpoint_identification_algorithm="")
    begun(source, destination, configs).catch_up()


def test_stores_are_files_of_pkcs12(source: Source, destination: TcpCluster, tmp_path: Path) -> None:
    (tmp_path / "trusted.p12").write_bytes(source.authority.pkcs12("hush"))
    (tmp_path / "own.p12").write_bytes(source.client.pkcs12("hush"))
    configs = source.configs("PLAINTEXT") | {
        "bootstrap.servers": f"{HOST}:{source.ports['MUTUAL']}",
        "security.protocol": "SSL",
        "ssl.truststore.location": str(tmp_path / "trusted.p12"),
        "ssl.truststore.password": "hush",
        "ssl.truststore.type": "PKCS12",
        "ssl.keystore.location": str(tmp_path / "own.p12"),  # Of the type JKS by default, as Java takes it too.
        "ssl.keystore.password": "hush",
    }
    begun(source, destination, configs).catch_up()


def test_credentials_that_become_wrong_are_the_reason_of_each_partition(
    source: Source, destination: TcpCluster
) -> None:
    mirrored = begun(source, destination, source.configs("SCRAM"))
    mirrored.catch_up()
    mirrored.alter({"sasl.jaas.config": jaas("Scram", "hush")})
    reason = mirrored.wait_for_reason("no answer from the source at", "SASL_AUTHENTICATION_FAILED")
    assert set(mirrored.reasons.values()) == {reason}
    mirrored.alter({"sasl.jaas.config": jaas("Scram")})
    produce(source, "altered")
    mirrored.catch_up()
    assert set(mirrored.reasons.values()) == {""}
