"""`kmirror features`: output and changes against a kmirror cluster, and command lines as in Kafka.

tests/interop/admin/test_tools.py compares it with Kafka's own tool.
"""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from kmirror.assembly.mirrors import create_request
from kmirror.cli.feature_actions import dependencies, levels_of_release, version_mapping
from kmirror.cli.features import command
from kmirror.errors import UsageError
from kmirror.net.cluster import TcpCluster
from kmirror.spec.features import FORMAT_LEVELS, RELEASED_FEATURES, metadata_level
from kmirror.spec.wire_values import UpgradeType


def run(cluster: TcpCluster, *words: str) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr."""
    result = CliRunner().invoke(
        command, ["--bootstrap-server", cluster.bootstrap_servers, *words], standalone_mode=False
    )
    assert result.exception is None, result.exception
    return result.return_value, result.stdout, result.stderr


def test_mirroring_is_turned_on_and_off() -> None:
    with TcpCluster(brokers=1, mirror_version=0) as cluster:
        upgrade = ("upgrade", "--feature", "mirror.version=1")
        assert run(cluster, *upgrade, "--dry-run") == (0, "mirror.version can be upgraded to 1.\n", "")
        assert run(cluster, *upgrade) == (0, "mirror.version was upgraded to 1.\n", "")
        cluster.until(lambda: cluster.broker(1).context.image.features.get("mirror.version") == 1)
        code, out, err = run(cluster, "describe")
        assert (code, err) == (0, "")
        assert [line.split() for line in out.splitlines()] == [
            f"Feature: {name} SupportedMinVersion: {low} SupportedMaxVersion: {high} "
            f"FinalizedVersionLevel: {level} Epoch: {cluster.image.offset}".split()
            for name, low, high, level in (
                ("eligible.leader.replicas.version", "0", "1", "1"),
                ("metadata.version", "3.3-IV3", "4.3-IV0", "4.3-IV0"),
                ("mirror.version", "0", "1", "1"),
                ("transaction.version", "0", "2", "2"),
            )
        ]
        cluster.order(create_request("m", "localhost:1", {}))
        code, out, err = run(cluster, "disable", "--feature", "mirror.version")
        assert (code, err) == (1, "1 out of 1 operation(s) failed.\n")
        assert out.startswith("Could not disable mirror.version. The update failed for all features since the ")
        assert out.endswith("There are mirrors: m. Remove their topics and delete them first.\n")


def test_objects_a_line() -> None:
    with TcpCluster(brokers=1, mirror_version=0) as cluster:
        code, out, _ = run(cluster, "describe", "-o", "json", "--node-id", "1")
        rows = [json.loads(line) for line in out.splitlines()]
        epoch = rows[1].pop("epoch")
        assert code == 0 and isinstance(epoch, int)
        assert rows[1] == {"feature": "metadata.version", "supported_min": 7, "supported_max": 30, "level": 30}
        code, out, err = run(cluster, "downgrade", "--metadata", "3.9", "--dry-run", "-o", "json")
        told = json.loads(out)
        assert code == 1 and "flag is deprecated" in err
        assert told["error"].endswith("because it might delete metadata information.")
        assert (told["action"], told["feature"], told["level"]) == ("downgrade", "metadata.version", 21)


@pytest.mark.decision("D71")
def test_eligible_leader_replicas_are_turned_on_and_off() -> None:
    name = "eligible.leader.replicas.version"
    with TcpCluster(brokers=1, eligible_version=0) as cluster:
        assert run(cluster, "upgrade", "--feature", f"{name}=1") == (0, f"{name} was upgraded to 1.\n", "")
        cluster.until(lambda: cluster.broker(1).context.image.features.has_eligible_replicas)
        assert cluster.image.configs[4, ""] == {"min.insync.replicas": "1"}
        assert run(cluster, "disable", "--feature", name) == (0, f"{name} was disabled.\n", "")
        cluster.until(lambda: not cluster.broker(1).context.image.features.has_eligible_replicas)


def test_a_node_that_is_not_there() -> None:
    with TcpCluster(brokers=1) as cluster:
        assert run(cluster, "describe", "--node-id", "7") == (1, "", "node 7 is not running; running brokers: 1\n")


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("4.3", 30),
        ("4.3.1", 30),
        ("4.3-IV0", 30),
        ("3.9.1", 21),
        ("3.5", 11),
        ("4.4-IV0", 31),
        ("4.4", None),
        ("", None),
    ],
)
def test_a_release_means_its_last_metadata_version(text: str, level: int | None) -> None:
    assert metadata_level(text) == level


def test_a_fresh_cluster_has_the_levels_of_its_release() -> None:
    levels = levels_of_release("4.3.1", UpgradeType.UPGRADE)
    assert {name: level for name, level in levels.items() if name != "kraft.version"} == FORMAT_LEVELS
    assert list(version_mapping("3.8")) == [
        "metadata.version=20 (3.8)",
        *(f"{row.name}=0" for row in RELEASED_FEATURES),
    ]
    assert levels_of_release("3.8", UpgradeType.UPGRADE) == {"metadata.version": 20}
    assert levels_of_release("3.8", UpgradeType.SAFE_DOWNGRADE)["group.version"] == 0


def test_dependencies_of_a_feature_level() -> None:
    assert list(dependencies([("eligible.leader.replicas.version", 1), ("mirror.version", 1)])) == [
        "eligible.leader.replicas.version=1 requires:",
        "    metadata.version=23 (4.0-IV1)",
        "mirror.version=1 has no dependencies.",
    ]


AT = "--bootstrap-server :1"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (AT, "too few arguments: give a command, one of describe, upgrade, downgrade, disable, "),
        (f"{AT} raise", "invalid choice: 'raise' (choose from describe, "),
        (f"{AT} describe all", "unrecognized arguments: 'all'"),
        ("describe", "--bootstrap-server must be specified"),
        (f"{AT} describe --unsafe", "--unsafe is not for describe"),
        ("version-mapping -o json", "--output is not for version-mapping"),
        (f"{AT} describe --node-id -2", "Invalid node id -2: must be non-negative."),
        (f"{AT} upgrade", "You must specify at least one feature to upgrade"),
        (f"{AT} disable", "You must specify at least one feature to disable"),
        (f"{AT} upgrade --feature a", "Can't parse feature=level string a: equals sign not found."),
        (
            f"{AT} upgrade --feature a=40000",
            "Can't parse feature=level string a=40000: unable to parse 40000 as a short.",
        ),
        (f"{AT} upgrade --feature a=1 --feature a=2", "Feature a was specified more than once."),
        (f"{AT} upgrade --feature =1", "Provided feature can not be empty."),
        (f"{AT} upgrade --feature a=0", "should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE"),
        (f"{AT} downgrade --feature a=-1", "Cannot specify a negative version level."),
        (
            f"{AT} upgrade --release-version 5.0",
            "Unknown metadata.version '5.0'. Supported metadata.version are: 3.3-IV3, ",
        ),
        (
            f"{AT} upgrade --release-version 4.3 --feature a=1",
            "Can not specify `release-version` with other feature flags.",
        ),
        ("version-mapping --release-version x", "Unknown metadata.version 'x'"),
        ("feature-dependencies", "argument --feature is required"),
        ("feature-dependencies --feature metadata.version=2", "Unknown metadata.version 2"),
        ("feature-dependencies --feature group.version=2", "No feature:group.version with feature level 2"),
        ("feature-dependencies --feature a=2", "Unknown feature: a"),
    ],
)
def test_a_command_line_that_is_refused(words: str, text: str) -> None:
    result = CliRunner().invoke(command, words.split())
    assert isinstance(result.exception, UsageError)
    assert text in str(result.exception)
