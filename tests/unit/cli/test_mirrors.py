"""`kmirror mirrors`: every action, table and text, against clusters of one broker; exit codes like Kafka's tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from kmirror.admin.mirror import TcpMirror
from kmirror.assembly.mirrors import Description, MirrorListing, MirrorRow
from kmirror.cli import mirror_actions, mirror_wait
from kmirror.cli.cluster_client import client_of
from kmirror.cli.mirror_tables import describe_json, describe_table, list_json, list_table, reasons
from kmirror.cli.mirrors import command
from kmirror.client.admin import AdminConfigs
from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.component import MirrorComponent
from kmirror.mirror.states import MirrorState
from kmirror.net.cluster import TcpCluster
from kmirror.net.listener import Port

LISTINGS = [
    MirrorListing("my-mirror", "localhost:9091,localhost:9092", "lBq12jYZRp-9wF3M9MPopg", 2),
    MirrorListing("new-mirror", "localhost:9091,localhost:9092", "", 1),
]


def description(*rows: MirrorRow, others: tuple[str, ...] = (), **reasons: str) -> Description:
    """Return the brokers' descriptions, with topics without a leader; reasons of brokers by `b` and their id."""
    names = dict.fromkeys([*(row.tp.topic for row in rows), *others])
    return Description({row.tp: row for row in rows}, names, reasons={int(b[1:]): why for b, why in reasons.items()})


ROWS = {
    "my-mirror": description(
        MirrorRow(TopicPartition("bar", 0), 2324, 2324, 0, MirrorState.MIRRORING, 3),
        MirrorRow(TopicPartition("foo", 0), 69, 66, 3, MirrorState.MIRRORING, -1, "slow"),
        MirrorRow(TopicPartition("t" * 50, 12), -1, -1, -1, MirrorState.FAILED, -1, "the source is another cluster"),
        others=("absent",),
        b3="refused",
        b1="refused",
        b2="no answer",
    ),
    "n" * 31: description(MirrorRow(TopicPartition("baz", 0), 189, 189, 0, MirrorState.STOPPED, 0)),
}
ROWS["my-mirror"].warnings["it burns"] = None
NOT_THERE = "the topic does not exist yet, or you are not authorized to describe it"


def test_the_table_of_mirrors() -> None:
    assert list_table(LISTINGS) == (
        "MIRROR                         TOPICS     CLUSTER-ID                 BOOTSTRAP-SERVER\n"
        "my-mirror                      2          lBq12jYZRp-9wF3M9MPopg     localhost:9091,localhost:9092\n"
        "new-mirror                     1          -                          localhost:9091,localhost:9092\n"
    )
    assert list_table([]) == "No mirrors found\n"
    assert [json.loads(line) for line in list_json(LISTINGS).splitlines()][1] == {
        "mirror": "new-mirror",
        "topics": 1,
        "cluster_id": None,
        "bootstrap_server": "localhost:9091,localhost:9092",
        "warning": None,
    }


def test_the_table_of_partitions() -> None:
    assert describe_table(ROWS) == (
        "MIRROR                         TOPIC                                    PARTITION  SOURCE-OFFSET   "
        "DESTINATION-OFFSET LAG        STATE\n"
        "my-mirror                      bar                                      0          2324            "
        "2324               0          MIRRORING\n"
        "my-mirror                      foo                                      0          69              "
        "66                 3          MIRRORING\n"
        f"my-mirror                      ...{'t' * 37} 12         -               -                  -          "
        "FAILED\n"
        f"...{'n' * 27} baz                                      0          189             "
        "189                0          STOPPED\n"
    )
    assert describe_table({"m": description()}) == "No mirror partitions found\n"
    assert reasons(ROWS).splitlines() == [
        "my-mirror waits for its source: refused (brokers 1, 3); no answer (broker 2)",
        "my-mirror warning: it burns",
        f"my-mirror absent: {NOT_THERE}",
        "my-mirror foo-0: MIRRORING: slow",
        f"my-mirror {'t' * 50}-12: FAILED: the source is another cluster",
    ]
    assert json.loads(describe_json(ROWS).splitlines()[2]) == {
        "mirror": "my-mirror",
        "topic": "t" * 50,
        "partition": 12,
        "source_offset": None,
        "destination_offset": None,
        "lag": None,
        "state": "FAILED",
        "last_mirrored_epoch": None,
        "reason": "the source is another cluster",
        "mirror_reason": "refused (brokers 1, 3); no answer (broker 2)",
        "warning": "it burns",
    }
    nothing = dict.fromkeys(json.loads(describe_json(ROWS).splitlines()[2]))
    assert json.loads(describe_json(ROWS).splitlines()[3]) == {
        **nothing,
        "mirror": "my-mirror",
        "topic": "absent",
        "reason": NOT_THERE,
        "mirror_reason": "refused (brokers 1, 3); no answer (broker 2)",
        "warning": "it burns",
    }
    assert json.loads(describe_json({"m": description(b1="refused")})) == {
        **nothing,
        "mirror": "m",
        "mirror_reason": "refused (broker 1)",
    }
    assert describe_json({"m": description()}) == ""


class Stage(NamedTuple):
    """Two clusters, and the command that is run against the second."""

    source: TcpCluster
    destination: TcpCluster
    config: Path

    def run(self, words: str) -> tuple[int, str, str]:
        """Return exit code, stdout and stderr."""
        server = ["--bootstrap-server", self.destination.bootstrap_servers]
        result = CliRunner().invoke(command, [*server, *words.split()], standalone_mode=False)
        assert result.exception is None, result.exception
        return result.return_value, result.stdout, result.stderr

    def mirror(self) -> TcpMirror:
        return TcpMirror("my-mirror", source=self.source, destination=self.destination)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    config = tmp_path_factory.mktemp("mirrors") / "mirror.properties"
    topics = {"bar": 1, "foo": 2, "my.topic": 1, "__hidden": 1}
    with TcpCluster(name="a", brokers=1, topics=topics) as a, TcpCluster(name="b", brokers=1) as b:
        config.write_text(f"# The source.\nbootstrap.servers={a.bootstrap_servers}\n")
        yield Stage(a, b, config)


def test_the_life_of_a_mirror(stage: Stage) -> None:
    run, name = stage.run, "--mirror my-mirror"
    assert run("--list") == (0, "No mirrors found\n", "")
    assert run("--describe") == (0, "No mirror partitions found\n", "")
    create = f"--create {name} --mirror-config {stage.config}"
    assert run(f"{create} --dry-run") == (0, "Would create mirror my-mirror with configs [bootstrap.servers]\n", "")
    assert run("--list")[1] == "No mirrors found\n"
    assert run(create) == (0, "Created mirror my-mirror\n", "")
    code, out, err = run(create)
    assert (code, out) == (1, "")
    assert err.startswith("Error while executing mirror command : MIRROR_ALREADY_EXISTS: ")

    assert run(f"--add --topic foo {name}") == (0, "Added 1 topic(s) to mirror my-mirror: [foo]\n", "")
    stage.mirror().catch_up()
    every = "Would add 2 topic(s) to mirror my-mirror: [bar, my.topic]\n"
    assert run(f"--add --topic .* {name} --dry-run") == (0, every, ""), "what is mirrored, or internal, is left out"
    assert run(f"--add --all-topics {name} --dry-run") == (0, every, "")
    assert run(f"--add --topic .* {name} -o json") == (
        0,
        '{"action": "add", "mirror": "my-mirror", "topics": ["bar", "my.topic"], "refused": {}, "dry_run": false}\n',
        "",
    )
    stage.mirror().catch_up()
    assert run(f"--add --topic foo.* {name}") == (0, "Added 0 topic(s) to mirror my-mirror: []\n", "")
    code, out, err = run("--describe --topic fo+")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["my-mirror", "foo", str(partition), "0", "0", "0", "MIRRORING"] for partition in range(2)
    ]
    code, out, _ = run("--list")
    assert out.splitlines()[1].split() == ["my-mirror", "3", stage.source.cluster_id, stage.source.bootstrap_servers]

    paused = "Paused mirroring for 1 topic(s) in mirror my-mirror: [foo]\n"
    assert run(f"--pause --topic foo {name}") == (0, paused, "")
    stage.mirror().wait_for_state(MirrorState.PAUSED, [TopicPartition("foo", 0), TopicPartition("foo", 1)])
    code, out, err = run(f"--pause --topic foo {name}")
    assert (code, out) == (1, "Paused mirroring for 0 topic(s) in mirror my-mirror: []\n")
    assert err.startswith("Error while executing mirror command : topic foo: MIRROR_TOPIC_ALREADY_PAUSED: ")
    rest = "Would pause mirroring for 2 topic(s) in mirror my-mirror: [bar, my.topic]\n"
    assert run(f"--pause --topic .* {name} --dry-run") == (0, rest, ""), "what is paused already is left out"
    assert run(f"--pause --all-topics {name} --dry-run") == (0, rest, "")
    resumed = "Resumed mirroring for 1 topic(s) in mirror my-mirror: [foo]\n"
    assert run(f"--resume --all-topics {name}") == (0, resumed, "")
    altered = "Completed updating config for mirror my-mirror.\n"
    assert run(f"--alter {name} --mirror-config {stage.config}") == (0, altered, "")

    assert run(f"--delete {name}")[2].startswith("Error while executing mirror command : MIRROR_NOT_EMPTY: ")
    removed = "Removed 3 topic(s) from mirror my-mirror: [bar, foo, my.topic]\n"
    assert run(f"--remove --all-topics {name}") == (0, removed, "")
    stage.mirror().fail_over()
    assert run(f"--remove --topic .* {name}") == (0, "Removed 0 topic(s) from mirror my-mirror: []\n", "")
    assert run(f"--delete {name} --dry-run") == (0, "Would delete mirror my-mirror\n", "")
    assert run(f"--delete {name}") == (0, "Deleted mirror my-mirror\n", "")
    assert run("--list") == (0, "No mirrors found\n", "")


def test_a_command_waits_for_a_state(stage: Stage) -> None:
    run, name = stage.run, "--mirror waited"
    assert run(f"--create {name} --mirror-config {stage.config}")[0] == 0
    code, out, err = run(f"--add --topic foo {name} --wait MIRRORING")
    assert (code, out) == (0, "Added 1 topic(s) to mirror waited: [foo]\n")
    assert err.splitlines()[-1].startswith("waiting: ") and err.splitlines()[-1].endswith(" of 2 partitions MIRRORING")
    assert [line.split()[-1] for line in run(f"--describe {name}")[1].splitlines()[1:]] == ["MIRRORING"] * 2
    assert run(f"--pause --topic foo {name} --wait PAUSED")[0] == 0
    code, out, err = run(f"--describe {name} --wait MIRRORING --timeout 1200")
    assert (code, out.count("PAUSED")) == (1, 2)
    late = "Error while executing mirror command : not MIRRORING after 1200 ms: foo-0 is PAUSED, foo-1 is PAUSED"
    assert err.splitlines()[:2] == ["waiting: 0 of 2 partitions MIRRORING", late]
    assert run(f"--resume --topic foo {name} --wait MIRRORING")[0] == 0
    assert run(f"--remove --topic foo {name} --wait STOPPED")[0] == 0
    assert [line.split()[-1] for line in run(f"--describe {name}")[1].splitlines()[1:]] == ["STOPPED"] * 2
    assert run(f"--delete {name}")[0] == 0


def test_a_wait_ends_when_a_partition_fails(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def describe(*_: object) -> dict[str, Description]:
        return ROWS

    monkeypatch.setattr(mirror_wait, "describe_mirrors", describe)
    code, _, err = stage.run("--describe --wait MIRRORING")
    assert code == 1
    failed = f"not MIRRORING: {'t' * 50}-12 is FAILED (the source is another cluster)"
    assert err == f"Error while executing mirror command : {failed}, baz-0 is STOPPED, absent has no leader\n"


def test_missing_mirrors_and_topics_are_errors(stage: Stage) -> None:
    unknown = "Error while executing mirror command : Mirror 'nobody' not found or has no configuration\n"
    for action in ("add", "remove", "pause", "resume"):
        assert stage.run(f"--{action} --topic x --mirror nobody") == (1, "", unknown)
    assert stage.run("--describe --mirror nobody")[2].startswith(
        "Error while executing mirror command : cannot describe mirror nobody: UNKNOWN_MIRROR: "
    )
    stage.run(f"--create --mirror empty --mirror-config {stage.config}")
    for action in ("add", "remove"):
        assert stage.run(f"--{action} --topic no-.* --mirror empty") == (
            1,
            "",
            "Error while executing mirror command : No topics matching pattern 'no-.*' found\n",
        )
    assert stage.run("--add --topic fo --mirror empty")[2].endswith("No topics matching pattern 'fo' found\n")
    assert "topic fo: UNKNOWN_TOPIC_OR_PARTITION" in stage.run("--remove --topic fo --mirror empty")[2]
    stage.run("--delete --mirror empty")


def test_filters_are_explained(stage: Stage, tmp_path: Path) -> None:
    stage.source.create_topic("compacted", configs={"cleanup.policy": "compact", "min.insync.replicas": "1"})
    config = tmp_path / "filters"
    config.write_text(f"bootstrap.servers={stage.source.bootstrap_servers}\nmirror.groups.include=app-.*\n")
    stage.run(f"--create --mirror filters --mirror-config {config}")
    stage.run("--add --topic compacted --mirror filters")
    TcpMirror("filters", source=stage.source, destination=stage.destination).catch_up()
    code, out, err = stage.run("--explain-filters --mirror filters --topic compacted|foo")
    assert (code, err) == (0, "")
    assert [line.split(None, 4) for line in out.splitlines()] == [
        ["KIND", "NAME", "MIRRORED", "WHY"],
        ["topic", "compacted", "yes", "it", "was added to the mirror"],
        ["topic", "foo", "no", "it", "was not added to the mirror"],
        ["config", "compacted:", "cleanup.policy", "yes", "no entry of mirror.topic.properties.exclude matches"],
        ["config", "compacted:", "min.insync.replicas", "no", "mirror.topic.properties.exclude=min.insync.replicas"],
    ]
    lines = stage.run("--explain-filters --mirror filters -o json")[1].splitlines()
    assert {"kind": "topic", "name": "foo", "mirrored": False, "why": "it was not added to the mirror"} in [
        json.loads(line) for line in lines
    ]
    TcpMirror("filters", destination=stage.destination).fail_over()
    stage.run("--delete --mirror filters")


def test_the_number_of_replicas_is_given(stage: Stage) -> None:
    stage.run(f"--create --mirror wide --mirror-config {stage.config}")
    code, _, err = stage.run("--add --topic bar --mirror wide --replication-factor 9")
    assert code == 0, "the topic is there since the first test, or was created with one replica"
    stage.source.create_topic("late", 2)
    code, out, err = stage.run("--add --topic late --mirror wide --replication-factor 2")
    assert (code, out) == (1, "")
    assert "cannot create topic late: INVALID_REPLICATION_FACTOR" in err
    code, out, err = stage.run("--add --topic late --mirror wide --replication-factor 1")
    assert (code, out, err) == (0, "Added 1 topic(s) to mirror wide: [late]\n", "")
    assert stage.destination.image.topics["late"].topic_id == stage.source.image.topics["late"].topic_id
    TcpMirror("wide", destination=stage.destination).fail_over()
    stage.run("--delete --mirror wide")


def test_a_source_that_does_not_respond_to_the_client(stage: Stage, tmp_path: Path) -> None:
    port = Port("127.0.0.1", 0)
    port.close()
    (tmp_path / "away").write_text(f"bootstrap.servers=127.0.0.1:{port.endpoint.port}\n")
    (tmp_path / "client").write_text("default.api.timeout.ms=200\n")
    stage.run(f"--create --mirror away --mirror-config {tmp_path / 'away'}")
    client = f"--command-config {tmp_path / 'client'}"
    code, out, err = stage.run(f"--add --topic f.* --mirror away {client}")
    assert (code, out) == (1, "")
    assert "the source does not respond" in err
    assert "give --mirror-config, or one topic's full name" in err
    code, out, err = stage.run(f"--add --topic fresh --mirror away {client}")
    assert (code, out) == (0, "Added 1 topic(s) to mirror away: [fresh]\n")
    assert "the topic is added without the source's topic id" in err
    parts = stage.destination.broker(1).parts.components
    (sources,) = (part.context.sources for part in parts if isinstance(part, MirrorComponent))
    stage.destination.until(lambda: "away" in sources and sources["away"].is_unresponsive)
    code, out, err = stage.run("--describe --mirror away")
    assert (code, out) == (0, "No mirror partitions found\n")
    waits, absent = err.splitlines()
    assert waits.startswith(f"away waits for its source: no response from the source at 127.0.0.1:{port.endpoint.port}")
    assert absent == f"away fresh: {NOT_THERE}"
    (line,) = stage.run("--describe --mirror away -o json")[1].splitlines()
    row = json.loads(line)
    assert (row["topic"], row["partition"], row["reason"]) == ("fresh", None, NOT_THERE)
    assert row["mirror_reason"].startswith("no response from the source at ")
    code, out, err = stage.run("--pause --topic fres. --mirror away")
    assert (code, out) == (0, "Paused mirroring for 0 topic(s) in mirror away: []\n")
    assert err == "1 topic of mirror away cannot be matched because it has no leader: give its full name\n"
    assert stage.run("--remove --topic fres. --mirror away") == (
        0,
        "Removed 1 topic(s) from mirror away: [fresh]\n",
        "",
    )
    stage.run("--delete --mirror away")


def test_a_connection_that_cannot_be_secured_is_an_immediate_error(stage: Stage, tmp_path: Path) -> None:
    module = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="s3cret";'
    (tmp_path / "sasl").write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={module}\n"
    )
    for action in ("--list", f"--create --mirror m --mirror-config {stage.config}"):
        code, out, err = stage.run(f"{action} --command-config {tmp_path / 'sasl'}")
        assert (code, out) == (1, "")
        assert err.startswith("Error while executing mirror command : no secured connection to 127.0.0.1:")
        assert "s3cret" not in err


def test_it_watches_until_it_is_interrupted(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(mirror_actions.asyncio, "sleep", sleep)
    result = CliRunner().invoke(
        command, ["--bootstrap-server", stage.destination.bootstrap_servers, "--describe", "--watch", "5"]
    )
    assert (waits, result.stdout) == ([5.0, 5.0], "No mirror partitions found\n" * 2)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("--list", "--bootstrap-server must be specified"),
        ("--bootstrap-server x --list", "'x' is not a server"),
        (
            "--bootstrap-server :1",
            "Command must include exactly one action: --add, --alter, --create, --delete, --describe, "
            "--explain-filters, --list, --pause, --remove, --resume",
        ),
        ("--bootstrap-server :1 --list --describe", "Command must include exactly one action"),
        ("--bootstrap-server :1 --create", "--mirror must be specified"),
        ("--bootstrap-server :1 --create --mirror m", "--mirror-config must be specified when creating a mirror"),
        ("--bootstrap-server :1 --alter --mirror m", "--mirror-config must be specified when altering a mirror"),
        ("--bootstrap-server :1 --add --mirror m", "--topic must be specified when adding topic(s) to a mirror"),
        ("--bootstrap-server :1 --remove --mirror m", "--topic must be specified when removing topic(s) from a mirror"),
        ("--bootstrap-server :1 --pause --mirror m", "--topic must be specified when pausing topic(s) of a mirror"),
        ("--bootstrap-server :1 --list --topic t", "--topic is for --add and --remove and --pause and --resume"),
        ("--bootstrap-server :1 --describe --all-topics", "--all-topics is for --add and --remove and --pause"),
        (
            "--bootstrap-server :1 --remove --mirror m --topic t --all-topics",
            "--all-topics and --topic cannot be used together",
        ),
        ("--bootstrap-server :1 --create --mirror m --mirror-config /no/such", "cannot read /no/such: No such file"),
        ("--bootstrap-server :1 --describe --watch 0", "--watch takes a number of seconds, at least 0.1, not '0'"),
        ("--bootstrap-server :1 --add --mirror m --topic t --replication-factor 0", "a number from 1 to 32767, not 0"),
        (
            "--bootstrap-server :1 --list --wait STOPPED",
            "--wait is for --add and --remove and --pause and",
        ),
        ("--bootstrap-server :1 --describe --wait FAILED", "--wait must be one of MIRRORING, PAUSED, STOPPED, not"),
        ("--bootstrap-server :1 --describe --wait STOPPED --watch", "--wait cannot be used with --dry-run or --watch"),
        ("--bootstrap-server :1 --list --timeout 0", "--timeout must be a positive number of milliseconds, not 0"),
        ("--bootstrap-server :1 --describe --topic (", "--topic '(' is not a regular expression"),
        ("--bootstrap-server :1 --describe --all", "there is no option --all"),
        ("--bootstrap-server :1 --remove --mirror m --topic a b", "'b' does not belong to an option; quote patterns"),
    ],
)
def test_a_command_line_that_is_refused(words: str, text: str) -> None:
    result = CliRunner().invoke(command, words.split())
    assert isinstance(result.exception, UsageError)
    assert text in str(result.exception)


def test_the_configs_of_the_client() -> None:
    given = {"request.timeout.ms": "5000", "default.api.timeout.ms": " 7000 ", "client.id": "me"}
    assert client_of(given).configs == AdminConfigs(request_timeout_ms=5000, default_api_timeout_ms=7000)
    assert client_of(given, 6000).configs == AdminConfigs(request_timeout_ms=5000, default_api_timeout_ms=6000)
    assert client_of(given, 400).configs == AdminConfigs(request_timeout_ms=400, default_api_timeout_ms=400)
    with pytest.raises(UsageError, match=r"request\.timeout\.ms must be a number of milliseconds, not '5s'"):
        client_of({"request.timeout.ms": "5s"})
    with pytest.raises(UsageError, match=r"sasl\.mechanism is not set"):
        client_of({"security.protocol": "SASL_SSL"})


def test_help_names_every_option() -> None:
    assert asyncio.iscoroutinefunction(mirror_actions.run_task)
    shown = CliRunner().invoke(command, ["--help"]).stdout
    for option in (
        "add",
        "all-topics",
        "alter",
        "bootstrap-server",
        "command-config",
        "create",
        "describe",
        "help",
        "list",
        "mirror",
    ):
        assert f"--{option} " in shown
    for option in ("mirror-config", "pause", "remove", "replication-factor", "resume", "topic", "version", "delete"):
        assert f"--{option} " in shown
