"""Common parts of secured listeners of Kafka brokers and the mirrors that use them."""

from __future__ import annotations

from click.testing import CliRunner
from confluent_kafka import Producer

from kmirror.cli import configs

HOST = "127.0.0.1"
USER = "mirror=,1"
PASSWORD = 'pa, "ss=\\é'
PACKAGE = "org.apache.kafka.common.security"
SCRAM = {"SCRAM-SHA-256": 4096, "SCRAM-SHA-512": 8192}
"""Mechanism to the iterations of its user."""
MECHANISMS = ("PLAIN", *SCRAM)
OURS = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
"""Configs of the mirroring kmirror brokers."""


def quote(text: str) -> str:
    """Return a value for a JAAS config."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def login(mechanism: str, password: str = PASSWORD) -> dict[str, str]:
    """Return the configs with which a client logs in."""
    module = "Plain" if mechanism == "PLAIN" else "Scram"
    name = f"{PACKAGE}.{module.lower()}.{module}LoginModule"
    jaas = f'{name} required username="{USER}" password={quote(password)};'
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": jaas}


def in_file(text: str) -> str:
    """Return a value in the form of a properties file."""
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return "".join(char if char.isascii() else f"\\u{ord(char):04x}" for char in escaped)


def sasl_of_listener(listener: str, *mechanisms: str) -> dict[str, str]:
    """Return the configs of a broker's listener that accepts these mechanisms."""
    prefix = f"listener.name.{listener.lower()}"
    found = {f"{prefix}.sasl.enabled.mechanisms": ",".join(mechanisms)}
    for mechanism in mechanisms:
        users = f'"user_{USER}"={quote(PASSWORD)}' if mechanism == "PLAIN" else ""
        module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
        config = f"{PACKAGE}.{module} required {users};"
        found[f"{prefix}.{mechanism.lower()}.sasl.jaas.config"] = in_file(config)
    return found


def scram_credentials() -> list[str]:
    """Return the user's credentials for kafka-configs.sh: one at a time, as a user may be altered once."""
    return [f"{mechanism}=[iterations={count},password={PASSWORD}]" for mechanism, count in SCRAM.items()]


def add_scram_users(servers: str) -> None:
    """Add the user for each SCRAM mechanism, in a cluster without ZooKeeper."""
    for credential in scram_credentials():
        words = ["--bootstrap-server", servers, "--alter", "--user", USER, "--add-config", credential]
        result = CliRunner().invoke(configs.command, words, standalone_mode=False)
        assert (result.return_value, result.stdout) == (0, f"Completed updating config for user {USER}.\n"), (
            result.stderr
        )


def produce(servers: str, topic: str, what: str, *, count: int = 200) -> None:
    """Write records into partitions 0 and 1, in turns."""
    producer = Producer({"bootstrap.servers": servers, "log_level": 0, "linger.ms": 5})
    for n in range(count):
        producer.produce(topic, f"{what} {n} {'x' * 500}", partition=n % 2)
    assert producer.flush(60) == 0
