"""Feature levels are raised and lowered in a running cluster (UpdateFeatures), mainly `mirror.version` (D1, D52)."""

from __future__ import annotations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import KafkaError
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.broker_registration_request import BrokerRegistrationRequest, Feature, Listener
from kmirror.protocol.gen.broker_registration_response import BrokerRegistrationResponse
from kmirror.protocol.gen.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kmirror.protocol.gen.update_features_response import UpdateFeaturesResponse
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import UpgradeType
from tests.sim.stage import SMALL, TOPIC, StagedCluster, WrittenLogs, assert_equal, pair, plain

UP, SAFE, UNSAFE = UpgradeType.UPGRADE, UpgradeType.SAFE_DOWNGRADE, UpgradeType.UNSAFE_DOWNGRADE
FAILED = "The update failed for all features since the following feature had an error: "
Update = tuple[str, int, int]


def update(cluster: Cluster, *updates: Update, validate_only: bool = False, version: int = 2) -> UpdateFeaturesResponse:
    rows = [FeatureUpdateKey(name, level, upgrade_type=how) for name, level, how in updates]
    request = UpdateFeaturesRequest(feature_updates=rows, validate_only=validate_only)
    reply = cluster.client.call(cluster.endpoints()[0], request, version)
    assert isinstance(reply, UpdateFeaturesResponse)
    return reply


def levels(cluster: Cluster, node_id: int = 1) -> dict[str, int]:
    """Return the levels that a node reports; a missing row means 0."""
    reply = cluster.client.call(cluster.endpoint(node_id), ApiVersionsRequest("c", "1"), 4)
    assert isinstance(reply, ApiVersionsResponse)
    return {row.name: row.max_version_level for row in reply.finalized_features}


def make(mirror_version: int = 0) -> StagedCluster:
    cluster = StagedCluster(Simulation(1), "b", configs=SMALL, mirror_version=mirror_version)
    cluster.start()
    return cluster


@pytest.mark.decision("D1")
def test_mirroring_is_turned_on_and_off_while_the_cluster_runs() -> None:
    cluster = make()
    cluster.place_topic()
    mirror = Mirror("m", source=StagedCluster(cluster.simulation, "a", brokers=1), destination=cluster)
    with pytest.raises(KafkaError, match="UNSUPPORTED_VERSION"):
        mirror.create()
    assert update(cluster, ("mirror.version", 1, UP)).error_code == 0
    cluster.simulation.run_for(span_s=1)
    assert {levels(cluster, node).get("mirror.version") for node in (*cluster.broker_ids, CONTROLLER_ID)} == {1}
    mirror.create()
    cluster.write("with Fetch v19 between brokers")
    mirror.delete()
    assert update(cluster, ("mirror.version", 0, SAFE)).error_code == 0
    cluster.simulation.run_for(span_s=1)
    assert {levels(cluster, node).get("mirror.version") for node in (*cluster.broker_ids, CONTROLLER_ID)} == {None}
    with pytest.raises(KafkaError, match="UNSUPPORTED_VERSION"):
        mirror.create()
    cluster.write("with Fetch v18 again")
    cluster.settle()
    assert update(cluster, ("mirror.version", 1, UP)).error_code == 0
    mirror.create()


@pytest.mark.decision("D52")
@pytest.mark.parametrize("how", [SAFE, UNSAFE])
def test_mirroring_is_not_turned_off_while_there_is_a_mirror(how: int) -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0")]}))
    p.begin()
    p.fail_over()
    reply = update(p.b, ("mirror.version", 0, how))
    assert reply.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert reply.error_message == (
        f"{FAILED}Invalid update version 0 for feature mirror.version. There are mirrors: m. "
        "Remove their topics and delete them first."
    )
    p.there.delete()
    assert update(p.b, ("mirror.version", 0, how)).error_code == 0


@pytest.mark.decision("D45")
@pytest.mark.decision("D52")
def test_a_topic_that_was_mirrored_is_mirrored_again_after_mirroring_was_off() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0")]}))
    p.begin()
    p.fail_over()
    p.b.write("b0")
    p.there.delete()
    assert update(p.b, ("mirror.version", 0, SAFE)).error_code == 0
    p.simulation.run_for(span_s=2)
    p.b.write("b1")
    assert update(p.b, ("mirror.version", 1, UP)).error_code == 0
    p.simulation.run_for(span_s=2)
    p.fail_back()
    assert_equal(p.back)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("mirror.version", 1, 0), "The controller does not support the given upgrade type."),
        (("mirror.version", -1, SAFE), "A feature version cannot be less than 0."),
        (("mirror.version", 2, UP), "Local controller 0 only supports versions 0-1"),
        (("group.version", 1, UP), "Local controller 0 does not support this feature."),
        (("nothing.version", 0, SAFE), "Feature nothing.version not found."),
        (
            ("mirror.version", 0, UP),
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade.",
        ),
        (("metadata.version", 6, SAFE), "Local controller 0 only supports versions 7-30"),
    ],
)
def test_a_level_is_refused_in_kafkas_words(asked: Update, message: str) -> None:
    cluster = make(1)
    reply = update(cluster, asked)
    name, level, _ = asked
    assert reply.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert reply.error_message == f"{FAILED}Invalid update version {level} for feature {name}. {message}".replace(
        "controller 0", f"controller {CONTROLLER_ID}"
    )


def register(cluster: Cluster, broker_id: int, **levels: tuple[int, int]) -> int:
    """Register a broker with these levels of features, named as in `metadata_version`."""
    features = [Feature(name.replace("_", "."), first, last) for name, (first, last) in levels.items()]
    request = BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=cluster.cluster_id,
        incarnation_id=Uuid(b"incarnation of 8"),
        listeners=[Listener(name="PLAINTEXT", host="elsewhere", port=9092)],
        features=features,
        log_dirs=[Uuid(b"a directory of 8")],
    )
    reply = cluster.client.call(cluster.endpoint(CONTROLLER_ID), request, 4)
    assert isinstance(reply, BrokerRegistrationResponse)
    return reply.error_code


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("mirror.version", 1, UP), "Broker 8 does not support this feature."),
        (("transaction.version", 2, UP), "Broker 8 only supports versions 0-1"),
        (("metadata.version", 29, SAFE), "Broker 8 only supports versions 30"),
    ],
)
def test_a_level_that_a_registered_broker_does_not_support_is_refused(asked: Update, message: str) -> None:
    cluster = make()
    assert update(cluster, ("transaction.version", 1, SAFE)).error_code == 0
    supported = {"metadata_version": (30, 30), "transaction_version": (0, 1)}
    assert register(cluster, 8, **supported, eligible_leader_replicas_version=(0, 1)) == ErrorCode.NONE
    reply = update(cluster, asked)
    name, level, _ = asked
    assert reply.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert reply.error_message == f"{FAILED}Invalid update version {level} for feature {name}. {message}"
    assert update(cluster, ("mirror.version", 0, SAFE)).error_code == 0, "everyone has level 0"


def test_a_broker_without_support_for_the_current_levels_is_not_registered() -> None:
    cluster = make(1)
    offset = cluster.image.offset
    ours = {"metadata_version": (7, 30), "transaction_version": (0, 2), "mirror_version": (0, 1)}
    ours["eligible_leader_replicas_version"] = (0, 1)
    for lacking in (
        {"eligible_leader_replicas_version": (0, 0)},
        {"mirror_version": (0, 0)},
        {"metadata_version": (7, 29)},
        {"transaction_version": (0, 1)},
    ):
        assert register(cluster, 8, **{**ours, **lacking}) == ErrorCode.UNSUPPORTED_VERSION
    without = {name: levels for name, levels in ours.items() if name != "mirror_version"}
    assert register(cluster, 8, **without) == ErrorCode.UNSUPPORTED_VERSION
    assert register(cluster, 8, mirror_version=(0, 1)) == ErrorCode.INVALID_REGISTRATION
    assert cluster.image.offset == offset, "nothing is left of it"
    assert register(cluster, 8, **ours) == ErrorCode.NONE


def test_a_downgrade_to_a_newer_version_is_refused() -> None:
    reply = update(make(), ("mirror.version", 1, SAFE))
    assert reply.error_message is not None and reply.error_message.endswith("Can't downgrade to a newer version.")


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (SAFE, "Refusing to perform the requested downgrade because it might delete metadata information."),
        (UNSAFE, "Unsafe metadata downgrade is not supported in this version."),
    ],
)
def test_metadata_version_30_brought_records_that_29_cannot_have(how: int, text: str) -> None:
    reply = update(make(), ("metadata.version", 29, how))
    assert reply.error_message == f"{FAILED}Unsupported metadata.version downgrade from 30 to 29. {text}"


def test_one_level_that_is_refused_refuses_all_of_them() -> None:
    cluster = make()
    reply = update(cluster, ("mirror.version", 1, UP), ("nothing.version", 3, UP), version=1)
    assert reply.error_code == ErrorCode.INVALID_UPDATE_VERSION and reply.results == []
    assert "mirror.version" not in levels(cluster)


def test_validating_changes_nothing() -> None:
    cluster = make()
    assert update(cluster, ("mirror.version", 1, UP), validate_only=True).error_code == 0
    cluster.simulation.run_for(span_s=1)
    assert "mirror.version" not in levels(cluster)


@pytest.mark.parametrize(("version", "results"), [(0, ["mirror.version"]), (1, ["mirror.version"]), (2, [])])
def test_results_for_each_feature_are_returned_up_to_version_1(version: int, results: list[str]) -> None:
    reply = update(make(), ("mirror.version", 1, UP), version=version)
    assert (reply.error_code, reply.error_message) == (0, None)
    assert [row.feature for row in reply.results] == results
    assert all((row.error_code, row.error_message) == (0, "NONE") for row in reply.results)
