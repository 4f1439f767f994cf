"""Eligible leader replicas (KIP-966): eligibility, elections among them, and the end of eligibility (D71)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.controller.elections import unclean_records
from kmirror.cluster.images import NO_LEADER, PartitionImage
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.alter_configs_request import AlterableConfig as Whole
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest
from kmirror.protocol.gen.alter_configs_request import AlterConfigsResource as WholeResource
from kmirror.protocol.gen.alter_configs_response import AlterConfigsResponse
from kmirror.protocol.gen.alter_partition_request import AlterPartitionRequest, BrokerState, PartitionData, TopicData
from kmirror.protocol.gen.alter_partition_response import AlterPartitionResponse
from kmirror.protocol.gen.feature_level_record import FeatureLevelRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.gen.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kmirror.protocol.gen.update_features_response import UpdateFeaturesResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import ELIGIBLE_VERSION
from kmirror.spec.wire_values import ResourceType, UpgradeType
from tests.unit.cluster.controller.test_altered_configs import BROKER, DELETE, SET, TOPIC, alter_one
from tests.unit.cluster.stage import RIGHTS, TOPIC_ID, TP, controller

KEY = "min.insync.replicas"
REFUSED = "while ELR is enabled."

pytestmark = pytest.mark.decision("D71")


def make(
    min_isr: int = 2,
    *,
    eligible_version: int = 1,
    topic: Sequence[int] = (1, 2, 3),
    unclean: bool = False,
    brokers: Sequence[int] = (1, 2, 3),
) -> Controller:
    configs = {KEY: str(min_isr), "unclean.leader.election.enable": str(unclean).lower()}
    return controller(brokers, configs=configs, eligible_version=eligible_version, topic=topic)


def of(c: Controller) -> PartitionImage:
    found = c.image.topics.partition(TP)
    assert found is not None
    return found


def members(c: Controller) -> tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return leader, ISR, eligible replicas and the last known leader."""
    found = of(c)
    return found.leader, found.isr, found.eligible, found.last_known


def fence(c: Controller, *brokers: int) -> None:
    for broker_id in brokers:
        c.sessions.fence(0, broker_id, "a test")


def end_uncleanly(c: Controller, broker_id: int) -> list[Message]:
    records = unclean_records(c.image, c.context.configs, broker_id)
    c.commit(0, records)
    return records


def alter_isr(c: Controller, *isr: int) -> AlterPartitionResponse:
    found = of(c)
    asked = PartitionData(
        partition_index=0,
        leader_epoch=found.leader_epoch,
        partition_epoch=found.partition_epoch,
        new_isr_with_epochs=[BrokerState(broker_id=b, broker_epoch=c.image.brokers[b].epoch) for b in isr],
    )
    epoch = c.image.brokers[found.leader].epoch
    topics = [TopicData(topic_id=TOPIC_ID, partitions=[asked])]
    reply = c.decide(0, AlterPartitionRequest(broker_id=found.leader, broker_epoch=epoch, topics=topics), 3, RIGHTS)
    assert isinstance(reply, AlterPartitionResponse)
    return reply


def upgrade(c: Controller, level: int = 1, how: int = UpgradeType.UPGRADE, **more: int) -> tuple[ErrorCode, str]:
    rows = [FeatureUpdateKey(ELIGIBLE_VERSION, level, upgrade_type=how)]
    rows += [FeatureUpdateKey(name.replace("_", "."), to, upgrade_type=how) for name, to in more.items()]
    reply = c.decide(0, UpdateFeaturesRequest(feature_updates=rows), 2, RIGHTS)
    assert isinstance(reply, UpdateFeaturesResponse)
    return ErrorCode(reply.error_code), reply.error_message or ""


# -- eligibility ------------------------------------------------------------------------------


def test_a_replica_that_leaves_an_isr_at_the_minimum_stays_eligible() -> None:
    c = make()
    fence(c, 3)
    assert members(c) == (1, (1, 2), (), ()), "two may commit: what they commit 3 has not"
    fence(c, 2)
    assert members(c) == (1, (1,), (2,), ())
    fence(c, 1)
    assert members(c) == (NO_LEADER, (), (1, 2), (1,))


def test_at_level_0_the_last_isr_stays_and_no_replica_is_eligible() -> None:
    c = make(eligible_version=0)
    fence(c, 3, 2, 1)
    assert members(c) == (NO_LEADER, (1,), (), ())


def test_an_isr_shrunk_by_its_leader_leaves_eligible_replicas_until_it_is_full() -> None:
    c = make()
    assert alter_isr(c, 1).topics[0].partitions[0].isr == [1]
    assert members(c) == (1, (1,), (2, 3), ())
    answer = alter_isr(c, 1, 3).topics[0].partitions[0]
    assert (answer.error_code, answer.partition_epoch) == (0, of(c).partition_epoch)
    assert members(c) == (1, (1, 3), (), ())


def test_a_growing_isr_below_the_minimum_keeps_eligible_replicas() -> None:
    c = make(3)
    fence(c, 3)
    alter_isr(c, 1)
    assert members(c) == (1, (1,), (2, 3), ())
    alter_isr(c, 1, 2)
    assert members(c) == (1, (1, 2), (3,), ())


def test_no_more_replicas_than_there_are_need_be_in_sync() -> None:
    c = make(3, topic=(1, 2))
    fence(c, 2)
    assert members(c) == (1, (1,), (2,), ())
    c.sessions.unfence(0, 2)
    alter_isr(c, 1, 2)
    assert members(c) == (1, (1, 2), (), ())


def test_with_a_minimum_of_one_only_the_last_replica_is_eligible() -> None:
    c = make(1)
    fence(c, 3, 2, 1)
    assert members(c) == (NO_LEADER, (), (1,), (1,))


# -- elections --------------------------------------------------------------------------------


def test_an_eligible_replica_leads_where_the_isr_is_empty() -> None:
    c = make()
    fence(c, 3, 2, 1)
    before = of(c).leader_epoch
    c.sessions.unfence(0, 3)
    assert members(c) == (NO_LEADER, (), (1, 2), (1,)), "3 missed what 1 and 2 committed"
    c.sessions.unfence(0, 2)
    assert members(c) == (2, (2,), (1,), ())
    assert of(c).leader_epoch == before + 1
    alter_isr(c, 2, 3)
    assert members(c) == (2, (2, 3), (), ())


def test_a_live_eligible_replica_takes_over_immediately() -> None:
    c = make(3)
    alter_isr(c, 1)
    fence(c, 1)
    assert members(c) == (2, (2,), (1, 3), ())


def test_a_member_of_the_isr_precedes_eligible_replicas() -> None:
    c = make(3)
    alter_isr(c, 1, 3)
    fence(c, 1)
    assert members(c) == (3, (3,), (1, 2), ())


def test_a_replica_that_ended_uncleanly_is_not_eligible() -> None:
    c = make()
    fence(c, 3, 2, 1)
    end_uncleanly(c, 2)
    assert members(c) == (NO_LEADER, (), (1,), (1,))
    end_uncleanly(c, 1)
    assert members(c) == (NO_LEADER, (), (), (1,))
    for broker_id in (3, 2):
        c.sessions.unfence(0, broker_id)
        assert members(c) == (NO_LEADER, (), (), (1,))
    c.sessions.unfence(0, 1)
    assert members(c) == (1, (1,), (), ())


def test_a_member_of_the_isr_that_ended_uncleanly_is_removed() -> None:
    c = make()
    assert len(end_uncleanly(c, 2)) == 1
    assert members(c) == (1, (1, 3), (), ())
    end_uncleanly(c, 3)
    assert members(c) == (1, (1,), (), ())
    assert end_uncleanly(c, 3) == [], "it has nothing to leave any more"


def test_broker_0_leads_as_any_other() -> None:
    c = make(brokers=(0, 1, 2), topic=(0, 1, 2))
    fence(c, 2, 1, 0)
    assert members(c)[3] == (0,)
    c.sessions.unfence(0, 0)
    assert members(c) == (0, (0,), (1,), ())


def test_an_unclean_election_leaves_no_replica_eligible() -> None:
    c = make(unclean=True)
    fence(c, 3, 2, 1)
    c.sessions.unfence(0, 3)
    assert members(c) == (3, (3,), (), ())


def test_a_clean_election_is_none_of_the_unclean_ones() -> None:
    c = make()
    fence(c, 3, 2, 1)
    c.sessions.unfence(0, 2)
    assert "uncleanly" not in _notes(c)
    c = make()
    fence(c, 3, 2, 1)
    end_uncleanly(c, 1), end_uncleanly(c, 2)
    c.sessions.unfence(0, 1)
    assert "led by 1 in epoch 9, uncleanly" in _notes(c)


def _notes(c: Controller) -> str:
    return "\n".join(str(effect) for effect in c.outbox.drain())


def test_after_a_downgrade_eligible_replicas_lead_once_and_are_removed() -> None:
    c = make()
    fence(c, 3, 2, 1)
    assert upgrade(c, 0, UpgradeType.SAFE_DOWNGRADE) == (ErrorCode.NONE, "")
    c.sessions.unfence(0, 2)
    assert members(c) == (2, (2,), (), ())


# -- min.insync.replicas ----------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), [(TOPIC, TP.topic), (BROKER, "")])
def test_a_new_minimum_ends_eligibility(kind: int, name: str) -> None:
    c = make()
    fence(c, 3, 2, 1)
    before = of(c).partition_epoch
    assert (
        alter_one(c, kind, name, ("retention.ms" if kind == TOPIC else "log.retention.ms", SET, "1"))[0]
        is ErrorCode.NONE
    )
    assert members(c)[2:] == ((1, 2), (1,))
    assert alter_one(c, kind, name, (KEY, SET, "1"))[0] is ErrorCode.NONE
    assert members(c) == (NO_LEADER, (), (), ())
    assert of(c).partition_epoch == before + 1


def test_a_new_minimum_of_another_topic_ends_nothing() -> None:
    c = make()
    fence(c, 3, 2)
    c.commit(0, [TopicRecord(name="other", topic_id=Uuid.from_ints(7, 7))])
    assert alter_one(c, TOPIC, "other", (KEY, SET, "1"))[0] is ErrorCode.NONE
    assert members(c) == (1, (1,), (2,), ())


@pytest.mark.parametrize("operation", [SET, DELETE])
def test_one_broker_cannot_have_its_own_minimum(operation: int) -> None:
    c = make()
    value = "2" if operation == SET else None
    assert alter_one(c, BROKER, "1", (KEY, operation, value)) == (
        ErrorCode.INVALID_CONFIG,
        f"Broker-level {KEY} cannot be altered {REFUSED}",
    )
    assert alter_one(make(eligible_version=0), BROKER, "1", (KEY, operation, value))[0] is ErrorCode.NONE


def test_the_minimum_of_all_brokers_cannot_be_removed() -> None:
    c = make()
    words = f"Cluster-level {KEY} cannot be removed {REFUSED}"
    assert alter_one(c, BROKER, "", (KEY, DELETE, None)) == (ErrorCode.INVALID_CONFIG, words)
    whole = WholeResource(BROKER, "", [Whole("log.retention.ms", "1")])
    reply = c.decide(0, AlterConfigsRequest(resources=[whole]), 2, RIGHTS)
    assert isinstance(reply, AlterConfigsResponse)
    assert (reply.responses[0].error_code, reply.responses[0].error_message) == (ErrorCode.INVALID_CONFIG, words)
    assert c.image.configs[BROKER, ""] == {KEY: "2"}


# -- the feature level ------------------------------------------------------------------------


def test_a_cluster_that_starts_at_level_1_has_the_minimum_in_its_log() -> None:
    assert make().image.configs[ResourceType.BROKER, ""] == {KEY: "2"}
    assert (ResourceType.BROKER, "") not in make(eligible_version=0).image.configs


def test_an_upgrade_makes_the_minimum_the_same_for_all_brokers() -> None:
    c = make(eligible_version=0)
    for broker_id, value in (("1", "1"), ("3", "3")):
        assert alter_one(c, BROKER, broker_id, (KEY, SET, value))[0] is ErrorCode.NONE
    assert alter_one(c, BROKER, "2", ("log.retention.ms", SET, "1"))[0] is ErrorCode.NONE
    assert upgrade(c) == (ErrorCode.NONE, "")
    assert c.image.features.has_eligible_replicas
    brokers = {name: values for (kind, name), values in c.image.configs.items() if kind == BROKER}
    assert brokers == {"": {KEY: "2"}, "2": {"log.retention.ms": "1"}}


def test_an_upgrade_does_not_change_a_minimum_of_all_brokers() -> None:
    c = make(eligible_version=0)
    assert alter_one(c, BROKER, "", (KEY, SET, "3"))[0] is ErrorCode.NONE
    assert upgrade(c) == (ErrorCode.NONE, "")
    assert c.image.configs[BROKER, ""] == {KEY: "3"}


def test_the_level_needs_a_metadata_version_that_has_the_records() -> None:
    c = make(eligible_version=0)
    c.commit(0, [FeatureLevelRecord(name="metadata.version", feature_level=22)])
    error, text = upgrade(c)
    assert error is ErrorCode.INVALID_UPDATE_VERSION
    assert text.endswith(f"{ELIGIBLE_VERSION} could not be set to 1 because it depends on metadata.version level 23")
    assert not c.image.features.has_eligible_replicas and (BROKER, "") not in c.image.configs
