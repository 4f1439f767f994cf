"""Secrets are planted in every sensitive config of mirrors; then all output that a user can see is searched for them.

They may be in the metadata log, as in Kafka, and in a journal, which is private to its owner.
"""

from __future__ import annotations

import asyncio
import json
import logging
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import click
import pytest
from click.testing import CliRunner

from kmirror import Hooks, KafkaError
from kmirror.admin.client import AsyncAdmin
from kmirror.admin.mirror import TcpMirror
from kmirror.cli.configs import command as configs_command
from kmirror.cli.mirrors import command as mirrors_command
from kmirror.cli.replay import command as replay_command
from kmirror.client.security import security_of
from kmirror.errors import UsageError
from kmirror.mirror.facts import SourceTrouble
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.message import Message
from kmirror.spec.configs import Kind, Scope, config_keys
from kmirror.spec.wire_values import ResourceType
from tests.certificates import Authority

SECRET_APIS = "hush"
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
JAAS = f'{MODULE} required username="u" password="{SECRET_APIS}-of-jaas";'
SASL = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": JAAS}
SENSITIVE = [
    name
    for name, row in config_keys(Scope.BROKER).items()
    if row.kind is Kind.PASSWORD and name.partition(".")[0] in ("sasl", "ssl")
]
MIRRORS = {
    "everything": {
        **dict.fromkeys(SENSITIVE, SECRET_APIS),
        "sasl.unknown.to.kafka": SECRET_APIS,
        "security.protocol": "PLAINTEXT",
    },
    "logs-in": SASL,
    "texts": {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": f"{SECRET_APIS}-trusted",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": f"{SECRET_APIS}-key",
        "ssl.keystore.certificate.chain": f"{SECRET_APIS}-chain",
        "ssl.key.password": f"{SECRET_APIS}-of-key",
    },
    "stores": {
        **SASL,
        "security.protocol": "SASL_SSL",
        "ssl.truststore.location": "trusted.p12",
        "ssl.truststore.password": f"{SECRET_APIS}-of-store",
        "ssl.keystore.location": "own.p12",
        "ssl.keystore.password": f"{SECRET_APIS}-of-keys",
        "ssl.key.password": f"{SECRET_APIS}-of-key",
    },
}
SECURED = [name for name in MIRRORS if name != "everything"]
"""Mirrors that use their secrets, and do not reach the source."""
REFUSED = {
    "sasl.jaas.config": f'{MODULE} required username="u" password="{SECRET_APIS}"',
    "sasl.mechanism": "PLAIN",
    "ssl.truststore.password": SECRET_APIS,
}
"""Configs that are altered one by one, and that every mirror using them rejects."""


def test_every_sensitive_config_is_planted() -> None:
    planted = {name for configs in MIRRORS.values() for name, value in configs.items() if SECRET_APIS in value}
    assert planted == {*SENSITIVE, "sasl.unknown.to.kafka"} and len(SENSITIVE) > 8


@pytest.fixture(scope="module")
def source() -> Iterator[TcpCluster]:
    with TcpCluster(brokers=1, topics=dict.fromkeys(MIRRORS, 1)) as cluster:
        yield cluster


def stores(folder: Path) -> dict[str, str]:
    """Write the stores, which can be read but do not help; return their paths."""
    authority = Authority()
    (folder / "trusted.p12").write_bytes(authority.pkcs12(f"{SECRET_APIS}-of-store"))
    (folder / "own.p12").write_bytes(authority.issue("mirror").pkcs12(f"{SECRET_APIS}-of-keys"))
    return {name: str(folder / name) for name in ("trusted.p12", "own.p12")}


def configs_of(mirror: str, source: TcpCluster, folder: Path) -> dict[str, str]:
    files = stores(folder)
    values = {name: files.get(value, value) for name, value in MIRRORS[mirror].items()}
    return {"bootstrap.servers": source.bootstrap_servers, **values}


@contextmanager
def serving(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Run `kmirror serve` with Python's most verbose options."""
    python = [sys.executable, "-X", "dev", "-W", "default"]
    command = [*python, "-m", "kmirror", "serve", "--port", "0", "-o", "json", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def properties(path: Path, configs: dict[str, str]) -> Path:
    path.write_text("".join(f"{name}={value}\n" for name, value in configs.items()))
    return path


def described_configs(servers: str) -> list[Message]:
    """Return the brokers' descriptions of the configs of every mirror and of themselves."""
    kinds = [*((ResourceType.MIRROR, name) for name in MIRRORS), (ResourceType.BROKER, "1")]

    async def ask() -> list[Message]:
        async with AsyncAdmin(servers) as admin:
            return [
                await admin.ask(
                    DescribeConfigsRequest(
                        resources=[DescribeConfigsResource(kind, name, None)],
                        include_synonyms=True,
                        include_documentation=True,
                    ),
                    broker_id=next(iter(await admin.brokers())),
                )
                for kind, name in kinds
            ]

    return asyncio.run(ask())


def use_every_action(run: Callable[..., str], name: str, file: Path) -> None:
    """Create a mirror, add a topic, and run every command that shows or alters it."""
    own = f"--mirror={name}"
    for action in ("--create", "--alter"):
        for how in (("--dry-run",), (), ("-o", "json")):
            run(action, own, f"--mirror-config={file}", *how)
    run("--add", own, f"--topic={name}")
    run("--add", own, "--topic=o.*", f"--mirror-config={file}")
    run("--explain-filters", own, f"--mirror-config={file}")
    for key, value in REFUSED.items():
        run("--alter", own, f"--mirror-config={properties(file.with_suffix('.refused'), {key: value})}")
    run("--list", f"--command-config={file}")
    for more in (
        ("--describe", "--all"),
        ("--describe", "-o", "json"),
        ("--alter", f"--add-config-file={file}"),
        ("--alter", f"--add-config=ssl.key.password={SECRET_APIS}"),
        ("--alter", f"--add-config=sasl.jaas.config=[{SECRET_APIS} required"),
        ("--alter", f"--add-config=nobody.knows={SECRET_APIS}"),
    ):
        run(*more, "--entity-type=mirrors", f"--entity-name={name}", command=configs_command)
    tries = 0
    while '"mirror_reason": null' in run("--describe", own, "-o", "json") and name in SECURED:
        assert (tries := tries + 1) < 1000
    run("--describe", own)


def test_the_commands_show_no_secret(source: TcpCluster, tmp_path: Path) -> None:
    seen: list[str] = []

    def run(*words: str, command: click.Command = mirrors_command) -> str:
        result = CliRunner().invoke(command, ["--bootstrap-server", servers, *words], standalone_mode=False)
        texts = [words[0], command.name or "", result.output, repr(result.exception)]
        seen.append(" ".join(texts))
        return result.stdout

    journal, log = tmp_path / "journal", tmp_path / "data"
    options = ("--feature", "mirror.version=1", "--journal", str(journal), "--data", str(log), "--metrics-port", "0")
    with serving(*options) as process:
        assert process.stdout is not None
        started = json.loads(process.stdout.readline())
        servers = started["bootstrap_servers"]
        for name in MIRRORS:
            use_every_action(run, name, properties(tmp_path / name, configs_of(name, source, tmp_path)))
        scram = f"--add-config=SCRAM-SHA-256=[iterations=4096,password={SECRET_APIS}]"
        run("--alter", "--user=u", scram, command=configs_command)
        assert len(run("--list").splitlines()) == 1 + len(MIRRORS)
        seen += [f"{answer!r} {answer.encode(5)!r}" for answer in described_configs(servers)]
        with urlopen(started["metrics"], timeout=60) as page:
            seen.append(page.read().decode())
        process.terminate()
        seen += process.communicate(timeout=60)
    for file in journal.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600 and SECRET_APIS.encode() in file.read_bytes()
        seen.append(CliRunner().invoke(replay_command, [str(file), "-o", "json"]).output)
    assert [text for text in seen if SECRET_APIS in text] == []
    for shown in (
        "Created mirror",
        "sensitive=true",
        "Completed updating config",
        "SaslAuthenticate",
        "holds no trusted",
    ):
        assert any(shown in text for text in seen), shown


def refused_calls(mirror: TcpMirror, configs: dict[str, str]) -> Iterator[Callable[[], object]]:
    """Yield calls; most of them raise an error."""
    yield lambda: mirror.create(configs)
    yield lambda: mirror.add_topics([mirror.name])
    for key, value in REFUSED.items():
        yield partial(mirror.alter, {key: value})
    yield lambda: mirror.catch_up(within_s=0)
    yield lambda: security_of(configs | REFUSED)


def test_the_library_shows_no_secret(
    source: TcpCluster, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    hooks, source_errors = Hooks(), dict[str, str]()

    def note(process: str, note: object) -> None:
        seen.append(f"{process} {note!r}")
        if isinstance(fact := getattr(note, "fact", None), SourceTrouble) and fact.reason:
            source_errors[fact.mirror] = fact.reason

    with TcpCluster(brokers=1, interpose=hooks) as cluster:
        hooks.on(from_nodes=True).watch(lambda request: seen.append(repr(request)))
        cluster.on_note.append(note)
        for name in MIRRORS:
            configs = configs_of(name, source, tmp_path)
            security = security_of(configs)
            mirror = TcpMirror(name, source=source, destination=cluster, source_security=security)
            seen.append(f"{mirror!r} {vars(mirror)} {security!r}")
            mirror.create(configs)
            mirror.alter(configs)
            TcpMirror(name, source=source, destination=cluster).add_topics([name])
            seen += [repr(mirror.describe()), repr(TcpMirror.list(cluster))]
            for call in refused_calls(mirror, configs):
                try:
                    call()
                except (KafkaError, UsageError) as error:
                    seen.append(f"{error} {error!r} {error.args}")
            seen.append(mirror.reason())
        cluster.until(lambda: source_errors.keys() >= {*SECURED}, what="the reasons of all mirrors that are secured")
        component = cluster.broker(1).parts.components
        seen += [repr(cluster), repr(component), repr(described_configs(cluster.bootstrap_servers))]
    seen += [caplog.text, *capfd.readouterr()]
    assert [text for text in seen if SECRET_APIS in text] == []
    assert any("CreateMirrorRequest(" in text for text in seen)
