"""`kmirror configs`: output and changes against a kmirror cluster, and command lines as in Kafka.

tests/interop/admin/test_tools.py compares it with Kafka's own tool, including quotas and credentials.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from kmirror.assembly.mirrors import create_request
from kmirror.cli import config_actions
from kmirror.cli.config_quotas import credential
from kmirror.cli.configs import OPTIONS, added_configs, command, deleted_configs
from kmirror.cli.kafka_options import parse_options
from kmirror.errors import UsageError
from kmirror.net.cluster import TcpCluster


class Stage(NamedTuple):
    """A cluster of two brokers, and the command that is run against it."""

    cluster: TcpCluster

    def run(self, words: str) -> tuple[int, str, str]:
        """Return exit code, stdout and stderr."""
        server = ["--bootstrap-server", self.cluster.bootstrap_servers]
        result = CliRunner().invoke(command, [*server, *words.split(" ")], standalone_mode=False)
        assert result.exception is None, result.exception
        if "--alter" in words:
            self.cluster.until(self._is_known, what="brokers to know what was altered")
        return result.return_value, result.stdout, result.stderr

    def _is_known(self) -> bool:
        cluster = self.cluster
        return all(cluster.broker(n).context.image.offset == cluster.image.offset for n in cluster.living())


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with TcpCluster(brokers=2, topics={"orders": 1, "bills": 1}) as cluster:
        cluster.create_topic("compacted", configs={"cleanup.policy": "compact"})
        yield Stage(cluster)


def test_configs_of_a_topic_are_shown_altered_and_deleted(stage: Stage) -> None:
    topic = "--entity-type topics --entity-name orders"
    shown = "Dynamic configs for topic orders are:\n"
    assert stage.run(f"{topic} --describe") == (0, shown, "")
    altered = (0, "Completed updating config for topic orders.\n", "")
    lists = "cleanup.policy=[compact,delete],mirror.replication.throttled.replicas=[0:1,0:2], retention.ms = 1000 "
    assert stage.run(f"{topic} --alter --add-config {lists.replace(' ', '')}") == altered
    synonyms = "{DYNAMIC_TOPIC_CONFIG:retention.ms=1000}"
    policies = "DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact,delete, DEFAULT_CONFIG:log.cleanup.policy=delete"
    throttled = "DYNAMIC_TOPIC_CONFIG:mirror.replication.throttled.replicas=0:1,0:2"
    assert stage.run("--describe --topic orders")[1] == (
        f"{shown}"
        f"  cleanup.policy=compact,delete sensitive=false synonyms={{{policies}}}\n"
        f"  mirror.replication.throttled.replicas=0:1,0:2 sensitive=false synonyms={{{throttled}}}\n"
        f"  retention.ms=1000 sensitive=false synonyms={synonyms}\n"
    )
    deleted = "--delete-config cleanup.policy,retention.ms --delete-config mirror.replication.throttled.replicas"
    assert stage.run(f"{topic} --alter {deleted}") == altered
    assert stage.run(f"{topic} --describe") == (0, shown, "")


def test_a_refused_config_has_a_reason(stage: Stage) -> None:
    code, out, err = stage.run("--topic orders --alter --add-config retention.ms=soon")
    assert (code, out) == (1, "")
    assert err.startswith("Error while executing config command : INVALID_CONFIG: ") and "retention.ms" in err
    code, out, err = stage.run("--topic nowhere --alter --add-config retention.ms=1")
    assert (code, out) == (1, "")
    assert "UNKNOWN_TOPIC_OR_PARTITION: The topic 'nowhere' does not exist." in err
    code, out, err = stage.run("--topic orders --alter --add-config mirror.name=m")
    assert (code, out) == (1, "") and "INVALID_CONFIG" in err


def test_entities_that_are_not_there(stage: Stage) -> None:
    for kind in ("topic", "broker", "mirror"):
        text = f"The {kind} '77' doesn't exist and doesn't have dynamic config.\n"
        assert stage.run(f"--entity-type {kind}s --entity-name 77 --describe") == (0, text, "")
        assert stage.run(f"--entity-type {kind}s --entity-name 77 --describe -o json") == (0, "", text)
    for action in ("--describe --all", "--alter --add-config log.cleaner.threads=2"):
        code, out, err = stage.run(f"--broker 77 {action}")
        assert (code, out) == (1, "")
        assert err.endswith(
            " : broker 77 is not running, and only it can describe or alter its configs; running brokers: 1, 2\n"
        )


def test_all_entities_of_a_type_are_shown_by_name(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_actions, "ENTITIES_PER_REQUEST", 2)
    lines = stage.run("--entity-type topics --describe")[1].splitlines()
    names = [line.split()[4] for line in lines if not line.startswith("  ")]
    assert names == sorted(names) and {"bills", "compacted", "orders"} <= set(names)
    at = lines.index("Dynamic configs for topic compacted are:")
    assert lines[at + 1].startswith("  cleanup.policy=compact sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:")
    code, out, _ = stage.run("--entity-type topics --describe --all")
    assert code == 0 and out.count("All configs for topic ") == len(names)
    assert "  retention.ms=604800000 sensitive=false synonyms={}\n" in out


def test_brokers_have_configs_of_their_own_and_those_of_all(stage: Stage) -> None:
    rate = "mirror.replication.throttled.rate"
    assert stage.run(f"--broker 2 --alter --add-config {rate}=100000000")[1] == (
        "Completed updating config for broker 2.\n"
    )
    everyone = "--entity-type brokers --entity-default --alter"
    default = (0, "Completed updating default config for brokers in the cluster.\n", "")
    assert stage.run(f"{everyone} --add-config log.cleaner.threads=2") == default
    threads = (
        "log.cleaner.threads=2 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:log.cleaner.threads=2, "
        "DEFAULT_CONFIG:log.cleaner.threads=1}"
    )
    of_the_bootstrap = (
        "  min.insync.replicas=1 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=1}\n"
    )
    assert stage.run("--entity-type brokers --describe")[1] == (
        "Dynamic configs for broker 1 are:\n"
        "Dynamic configs for broker 2 are:\n"
        f"  {rate}=100000000 sensitive=false synonyms={{DYNAMIC_BROKER_CONFIG:{rate}=100000000, "
        f"DEFAULT_CONFIG:{rate}=9223372036854775807}}\n"
        "Default configs for brokers in the cluster are:\n"
        "  log.cleaner.threads=2 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:log.cleaner.threads=2}\n"
        f"{of_the_bootstrap}"
    )
    assert f"  {threads}\n" in stage.run("--broker 1 --describe --all")[1]
    assert stage.run("--broker 2 --alter --delete-config mirror.replication.throttled.rate")[0] == 0
    assert stage.run(f"{everyone} --delete-config log.cleaner.threads") == default
    rest = (0, f"Default configs for brokers in the cluster are:\n{of_the_bootstrap}", "")
    assert stage.run("--broker-defaults --describe") == rest


def test_a_mirror_is_altered_and_shown_without_its_secrets(stage: Stage, tmp_path: Path) -> None:
    assert stage.run("--entity-type mirrors --describe") == (0, "", "")
    name = "--entity-type mirrors --entity-name dr"
    code, out, err = stage.run(f"{name} --alter --add-config bootstrap.servers=localhost:9092")
    assert (code, out) == (1, "") and "UNKNOWN_MIRROR" in err
    stage.cluster.order(create_request("dr", "localhost:9091", {}))
    altered = (0, "Completed updating config for mirror dr.\n", "")
    assert stage.run(f"{name} --alter --add-config bootstrap.servers=[localhost:9092,localhost:9093]") == altered
    module = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="s3cret";'
    (tmp_path / "more").write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={module}\n"
    )
    assert stage.run(f"{name} --alter --add-config-file {tmp_path / 'more'}") == altered
    code, out, err = stage.run(f"{name} --describe")
    assert (code, err) == (0, "") and "s3cret" not in out
    assert out.splitlines()[:2] == [
        "Dynamic configs for mirror dr are:",
        "  bootstrap.servers=localhost:9092,localhost:9093 sensitive=false "
        "synonyms={UNKNOWN:bootstrap.servers=localhost:9092,localhost:9093}",
    ]
    assert "  sasl.jaas.config=null sensitive=true synonyms={UNKNOWN:sasl.jaas.config=null}" in out.splitlines()
    rows = [json.loads(line) for line in stage.run("--entity-type mirrors --describe -o json")[1].splitlines()]
    assert rows[0] == {
        "entity_type": "mirrors",
        "entity_name": "dr",
        "name": "bootstrap.servers",
        "value": "localhost:9092,localhost:9093",
        "sensitive": False,
        "read_only": False,
        "source": "UNKNOWN",
        "synonyms": [{"source": "UNKNOWN", "name": "bootstrap.servers", "value": "localhost:9092,localhost:9093"}],
    }
    taken = f"{name} --alter --delete-config sasl.jaas.config,sasl.mechanism,security.protocol -o json"
    code, out, err = stage.run(taken)
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "action": "alter",
        "entities": [{"type": "mirrors", "name": "dr"}],
        "set": [],
        "deleted": ["sasl.jaas.config", "sasl.mechanism", "security.protocol"],
    }


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            "--client c --alter --add-config consumer_byte_rate=1024",
            "does not support the request DescribeClientQuotas",
        ),
        ("--user u --describe", "does not support the request DescribeClientQuotas"),
        (
            "--user u --alter --add-config SCRAM-SHA-256=[password=p]",
            "not support the request AlterUserScramCredentials",
        ),
        ("--client-metrics s --alter --add-config interval.ms=1000", "INVALID_REQUEST: Unknown resource type 16"),
        ("--group g --describe --all", "INVALID_REQUEST: Unsupported resource type: GROUP"),
        ("--broker-logger 1 --describe", "INVALID_REQUEST: Unsupported resource type: BROKER_LOGGER"),
    ],
)
def test_features_that_kmirror_lacks_are_refused(stage: Stage, words: str, why: str) -> None:
    code, out, err = stage.run(words)
    assert (code, out) == (1, "")
    assert err.startswith("Error while executing config command : ") and why in err


def test_a_cluster_without_mirroring_is_reported() -> None:
    with TcpCluster(brokers=1, mirror_version=0) as cluster:
        for action in ("--describe", "--alter --add-config bootstrap.servers=:1"):
            code, _, err = Stage(cluster).run(f"--entity-type mirrors --entity-name m {action}")
            assert code == 1 and "feature mirror.version=1 turns it on" in err


@pytest.mark.parametrize(
    ("text", "configs"),
    [
        ("k=v", {"k": "v"}),
        ("k1=v1,k2=[v1,v2,v2],k3=v3", {"k1": "v1", "k2": "v1,v2,v2", "k3": "v3"}),
        (" k = v , l=", {"k": "v", "l": ""}),
        ("k=[a=1,b=2],", {"k": "a=1,b=2"}),
        ("k=1,k=2", {"k": "2"}),
        ("org.example.Main$Inner=DEBUG", {"org.example.Main$Inner": "DEBUG"}),
    ],
)
def test_how_configs_are_written(text: str, configs: dict[str, str]) -> None:
    assert added_configs(parse_options(["--add-config", text], OPTIONS)) == configs


@pytest.mark.parametrize(
    ("words", "keys"),
    [(["a,b", "c"], ("a", "b", "c")), ([" a ,,b"], ("a", "b")), ([""], ("",)), ([], ())],
)
def test_how_keys_are_deleted(words: list[str], keys: tuple[str, ...]) -> None:
    given = parse_options([each for word in words for each in ("--delete-config", word)], OPTIONS)
    assert deleted_configs(given) == keys


AT = "--bootstrap-server :1"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (f"{AT} --topic t", "Command must include exactly one action: --describe, --alter"),
        (f"{AT} --topic t --describe --alter", "Command must include exactly one action: --describe, --alter"),
        (
            f"{AT} --topic t --describe --add-config a=b",
            'Option "[describe]" can\'t be used with option "[add-config]"',
        ),
        ("--topic t --describe", "--bootstrap-server must be specified"),
        ("--bootstrap-server x --topic t --describe", "'x' is not a server"),
        (f"{AT} --describe", "At least one entity type must be specified"),
        (f"{AT} --describe --entity-type topic", "Invalid entity type topic, the entity type must be one of topics, "),
        (f"{AT} --describe --topic t --group g", "Only 'users' and 'clients' entity types may be specified together"),
        (f"{AT} --describe --user u --user-defaults", "Duplicate entity type(s) specified: users"),
        (
            f"{AT} --describe --user u --entity-type clients",
            "--entity-{type,name,default} should not be used in conjunction with specific entity flags",
        ),
        (
            f"{AT} --describe --broker one",
            "The entity name for brokers must be a valid integer broker id, but it is: one",
        ),
        (
            f"{AT} --describe --ip 1.2.3.",
            "The entity name for ips must be a valid IP or resolvable host, but it is: 1.2.3.",
        ),
        (
            f"{AT} --describe --entity-type topics --entity-default",
            "--entity-default must not be specified with --describe of topics",
        ),
        (f"{AT} --describe --entity-type topics --entity-name (", "Topic name is invalid: "),
        (
            f"{AT} --describe --entity-type broker-loggers",
            "An entity name must be specified with --describe of broker-loggers",
        ),
        (
            f"{AT} --describe --entity-type topics --entity-name a --entity-name b",
            "More entity names specified than entity types",
        ),
        (
            f"{AT} --alter --entity-type topics --add-config a=b",
            "An entity name must be specified with --alter of topics",
        ),
        (
            f"{AT} --alter --entity-type users --add-config a=b",
            "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips",
        ),
        (
            f"{AT} --alter --entity-type users --entity-name u --entity-type clients --add-config a=b",
            "An entity name must be specified for every entity type",
        ),
        (
            f"{AT} --alter --topic t --add-config a=b --add-config-file f",
            "Only one of --add-config or --add-config-file must be specified",
        ),
        (
            f"{AT} --alter --topic t",
            "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter",
        ),
        (f"{AT} --alter --topic t --add-config-file /no/such", "--add-config-file: cannot read /no/such: No such file"),
        (f"{AT} --alter --topic t --add-config a+=b", "Invalid character found for config key: a+"),
        (f"{AT} --alter --topic t --add-config a", 'must be in the format "key=val"'),
        (f"{AT} --alter --topic t --add-config ssl.key.password=a=s3cret", "'ssl.key.password' is not."),
        (f"{AT} --bootstrap-controller :1 --describe", "there is no option --bootstrap-controller"),
    ],
)
def test_a_command_line_that_is_refused(words: str, text: str) -> None:
    result = CliRunner().invoke(command, words.split())
    assert isinstance(result.exception, UsageError)
    assert text in str(result.exception) and "s3cret" not in str(result.exception)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            "--client c --alter --add-config x=1",
            "Only quota configs can be added for 'clients' using --bootstrap-server.",
        ),
        ("--client c --alter --delete-config SCRAM-SHA-256", "Only quota configs can be deleted for 'clients'"),
        ("--user u --client c --alter --add-config SCRAM-SHA-256=[password=p]", "Only quota configs can be added"),
        ("--user u --alter --add-config x=1", "Only quota and SCRAM credential configs can be added for 'users'"),
        ("--user u --alter --delete-config x", "Only quota and SCRAM credential configs can be deleted for 'users'"),
        ("--user-defaults --alter --delete-config SCRAM-SHA-512", "is not allowed with User SCRAM Credentials"),
        (
            "--user u --alter --add-config SCRAM-SHA-256=[password=p],consumer_byte_rate=1",
            "Cannot alter both quota and SCRAM credential configs simultaneously for 'users'",
        ),
        (
            "--ip 127.0.0.1 --alter --add-config consumer_byte_rate=1",
            "Only connection quota configs can be added for 'ips'",
        ),
        ("--client c --alter --add-config consumer_byte_rate=fast", "value for consumer_byte_rate: fast"),
        ("--user u --alter --add-config SCRAM-SHA-256=secret", "Invalid credential property SCRAM-SHA-256: it is ["),
        (
            "--user u --alter --add-config SCRAM-SHA-512=[iterations=4095,password=p]",
            "Iterations 4095 is less than the minimum 4096 required for SCRAM-SHA-512",
        ),
    ],
)
def test_invalid_quotas_and_credentials_are_refused_before_any_request(stage: Stage, words: str, text: str) -> None:
    server = ["--bootstrap-server", stage.cluster.bootstrap_servers]
    result = CliRunner().invoke(command, [*server, *words.split()])
    assert isinstance(result.exception, UsageError), result.exception
    assert text in str(result.exception) and "secret" not in str(result.exception)


def test_a_password_is_salted_before_it_is_sent() -> None:
    made = credential("u", "SCRAM-SHA-512", "iterations=5000,password=a,b=c")
    assert (made.name, made.mechanism, made.iterations, len(made.salt)) == ("u", 2, 5000, 16)
    assert made.salted_password == hashlib.pbkdf2_hmac("sha512", b"a,b=c", made.salt, 5000)
    assert credential("u", "SCRAM-SHA-256", "password=p").iterations == 4096
    assert credential("u", "SCRAM-SHA-256", "iterations=-1,password=p").salt != made.salt
