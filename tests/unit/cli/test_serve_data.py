"""`kmirror serve`: location of logs, refusals, keys without an effect, and output while logs are opened."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli import serve
from kmirror.cli.recovery_progress import count_opened_logs, recovery_progress
from kmirror.cli.serve import command
from kmirror.errors import UsageError
from kmirror.kernel.failures import GaveUp
from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.checkpoints import CLEAN_SHUTDOWN
from kmirror.net.cluster import TcpCluster
from kmirror.spec.features import ELIGIBLE_VERSION

ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> list[TcpCluster]:
    """The clusters that `serve` starts; each stops at once."""
    made: list[TcpCluster] = []

    def start_and_stop(cluster: TcpCluster, *_: object) -> None:
        made.append(cluster)
        with cluster:
            cluster.stop()

    monkeypatch.setattr(serve, "serve", start_and_stop)
    return made


def refused(*words: str) -> str:
    result = CliRunner().invoke(command, ["--port", "0", *words])
    assert result.exception is not None
    return str(result.exception)


def run(*words: str) -> None:
    result = CliRunner().invoke(command, ["--port", "0", *words], standalone_mode=False)
    if result.exception is not None:
        raise result.exception


def properties(folder: Path, *lines: str) -> str:
    path = folder / "server.properties"
    path.write_text("\n".join(lines))
    return str(path)


def test_data_selects_the_folder_that_is_closed_cleanly(clusters: list[TcpCluster], tmp_path: Path) -> None:
    run("--data", str(tmp_path / "logs"))
    assert (tmp_path / "logs" / CLEAN_SHUTDOWN).is_file()
    assert "mirror.version" not in clusters[0].image.features


def test_log_dirs_of_the_properties_are_used_unless_an_option_is_given(
    clusters: list[TcpCluster], tmp_path: Path
) -> None:
    config = properties(tmp_path, f"log.dirs={tmp_path / 'theirs'}")
    run("--config", config, "--memory")
    run("--config", config, "--data", str(tmp_path / "ours"))
    assert not (tmp_path / "theirs").exists() and (tmp_path / "ours" / "meta.properties").is_file()
    run("--config", config)
    assert (tmp_path / "theirs" / "meta.properties").is_file()


def test_mirroring_is_enabled_only_on_request(clusters: list[TcpCluster], tmp_path: Path) -> None:
    run("--data", str(tmp_path), "--feature", "mirror.version=1")
    assert clusters[0].image.features["mirror.version"] == 1


@pytest.mark.decision("D71")
def test_a_new_folder_has_eligible_leader_replicas_unless_level_0_is_given(
    clusters: list[TcpCluster], tmp_path: Path
) -> None:
    for where in (["--data", str(tmp_path / "without")], ["--memory"]):
        run(*where, "--feature", f"{ELIGIBLE_VERSION}=0")
    for _ in range(2):
        run("--data", str(tmp_path / "with"))
    run("--memory")
    run("--data", str(tmp_path / "without"))
    assert [cluster.image.features.get(ELIGIBLE_VERSION) for cluster in clusters] == [None, None, 1, 1, 1, None]
    configs = [cluster.image.configs.get((4, "")) for cluster in clusters]
    assert configs == [None, None, *[{"min.insync.replicas": "1"}] * 3, None]


@pytest.mark.decision("D71")
@pytest.mark.parametrize("level", [0, 1])
def test_a_folder_with_another_level_is_refused(clusters: list[TcpCluster], tmp_path: Path, level: int) -> None:
    there, asked = f"{ELIGIBLE_VERSION}={level}", f"{ELIGIBLE_VERSION}={1 - level}"
    how = "upgrade" if level == 0 else "downgrade"
    run("--data", str(tmp_path), "--feature", there)
    for _ in range(2):
        with pytest.raises(UsageError, match=f"{ELIGIBLE_VERSION} is {level}.* features {how} --feature {asked}$"):
            run("--data", str(tmp_path), "--feature", asked, "--feature", "mirror.version=1")
    run("--data", str(tmp_path), "--feature", there)
    assert "mirror.version" not in clusters[-1].image.features, "what is refused has changed nothing"


@pytest.mark.decision("D71")
def test_mirroring_is_not_turned_off_by_a_start(clusters: list[TcpCluster], tmp_path: Path) -> None:
    run("--data", str(tmp_path), "--feature", "mirror.version=0")
    run("--data", str(tmp_path), "--feature", "mirror.version=1")
    with pytest.raises(UsageError, match=r"mirror.version is 1.* features downgrade --feature mirror.version=0$"):
        run("--data", str(tmp_path), "--feature", "mirror.version=0")
    assert [cluster.image.features.get("mirror.version") for cluster in clusters[:2]] == [None, 1]


def test_invalid_options_are_refused(tmp_path: Path) -> None:
    assert "--memory and --data cannot be used together" in refused("--memory", "--data", str(tmp_path))
    twice = properties(tmp_path, f"log.dirs={tmp_path}/a, {tmp_path}/./a")
    assert "Duplicate log directory found" in refused("--config", twice)
    assert "settable features are mirror.version=0" in refused("--feature", "mirror.version=2")
    assert "settable features are mirror.version=0" in refused("--feature", "metadata.version=30")
    (tmp_path / "file").write_text("")
    assert "is not a folder" in refused("--data", str(tmp_path / "file"))


def test_a_folder_that_the_system_refuses_is_named() -> None:
    assert refused("--data", "/proc/kmirror") == "/proc/kmirror: cannot be used: No such file or directory"


def test_a_cluster_is_lost_when_all_brokers_or_the_controller_ended(tmp_path: Path) -> None:
    with TcpCluster(brokers=2, data=tmp_path) as cluster:
        assert not cluster.has_failed
        cluster.ended_nodes["kafka-1"] = "its disk is full"
        assert not cluster.has_failed, "another broker is left"
        cluster.ended_nodes["kafka-2"] = "its disk is full too"
        assert cluster.has_failed
        assert str(cluster.failure()) == "kafka-1 ended: its disk is full; kafka-2 ended: its disk is full too"
        cluster.ended_nodes.clear()
        cluster.ended_nodes["kafka-controller"] = GaveUp("away").reason
        assert cluster.has_failed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_how_many_logs_are_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TcpCluster(brokers=1, data=tmp_path, topics={"orders": 7}) as cluster:
        cluster.stop()
    cluster = TcpCluster(brokers=1, data=tmp_path)
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with recovery_progress(cluster):
        cluster.start()
    assert "opening logs" in screen.getvalue()
    assert cluster.run_on_loop(lambda: count_opened_logs(cluster)) == (7, 7)
    cluster.close()


def test_no_progress_is_shown_without_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with recovery_progress(TcpCluster(brokers=1, data=tmp_path)):
        pass
    assert capsys.readouterr().err == ""


# -- keys without an effect --------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "sasl.enabled.mechanisms=PLAIN",
        "ssl.client.auth=required",
        "ssl.keystore.location=/etc/kafka/none.jks",
        "connections.max.reauth.ms=60000",
        "principal.builder.class=org.example.Builder",
        "listener.name.plaintext.ssl.client.auth=required",
        "listener.name.plaintext.scram-sha-256.sasl.jaas.config=org.example.Login required;",
    ],
)
def test_security_that_a_broker_does_not_have_stops_the_start(tmp_path: Path, line: str) -> None:
    config = properties(tmp_path, "num.partitions=2", line)
    key = line.partition("=")[0]
    assert refused("--config", config) == (
        f"{config}: {key} has no effect: listeners have no TLS, no SASL and no delegation tokens, so clients would "
        "connect with less security than configured. To serve them without it, remove the configuration"
    )
    if not key.startswith("listener."):
        with pytest.raises(UsageError, match=rf"{key} has no effect"):
            TcpCluster(configs={key: line.partition("=")[2]})


def test_a_key_without_an_effect_is_reported_if_it_differs_from_its_default(
    clusters: list[TcpCluster], tmp_path: Path
) -> None:
    lines = ("num.io.threads=16", "num.network.threads=3", "ssl.client.auth=none", "sasl.enabled.mechanisms= GSSAPI")
    config = properties(tmp_path, *lines, "listeners=PLAINTEXT://127.0.0.1:0", "compression.gzip.level=9")
    result = CliRunner().invoke(command, ["--port", "0", "--config", config, "--memory"], standalone_mode=False)
    assert result.stderr.splitlines()[:2] == [
        f"kmirror: {config}: num.io.threads=16 has no effect: an event loop replaces the threads",
        f"kmirror: {config}: compression.gzip.level=9 has no effect: codecs compress at their default level",
    ]


@pytest.mark.parametrize("key", ["ssl.keystore.location", "ssl.cipher.suites", "sasl.jaas.config"])
def test_an_empty_key_of_security_is_its_default(clusters: list[TcpCluster], tmp_path: Path, key: str) -> None:
    run("--config", properties(tmp_path, f"{key}=", "listeners=PLAINTEXT://127.0.0.1:0"), "--memory")
    assert clusters
