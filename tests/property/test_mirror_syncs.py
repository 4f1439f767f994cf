"""The plans of the syncs, for any two sides: their requests make both agree, and no further ones follow (D17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.client.remote_cluster import RemoteTopic
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.states import Wish
from kmirror.mirror.syncs import configs, deleted_topics, groups, topics
from kmirror.mirror.syncs.groups import LocalLog, LocalPartition, Offset
from kmirror.mirror.syncs.rules import Rules
from kmirror.mirror.syncs.topics import TopicFacts
from kmirror.mirror.topic_ids import generated_topic_id
from kmirror.protocol.gen.incremental_alter_configs_request import AlterConfigsResource
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest
from kmirror.spec.configs import Configs, Scope, problem_with
from kmirror.spec.configs.conflicts import problem_between
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ConfigOp

pytestmark = pytest.mark.decision("D17")
SOURCE = "source-cluster-id"
NAMES = ("a", "b", "c")
BROKER = Configs(Scope.BROKER, {"log.cleaner.min.compaction.lag.ms": "1000"})
VALUES: Mapping[str, Sequence[str]] = {
    "cleanup.policy": ("compact", "delete", "compact,delete", "shred"),
    "retention.ms": ("1", "-1", "soon"),
    "min.compaction.lag.ms": ("0", "100", "5000"),
    "max.compaction.lag.ms": ("500", "2000", "9000"),
    "min.insync.replicas": ("1", "2"),
    "remote.storage.enable": ("true", "false"),
    "a.config.of.later": ("x",),
    "mirror.name": ("m", "n.paused"),
}
OF_HERE = {name: values for name, values in VALUES.items() if name != "a.config.of.later"}
RULES = st.builds(
    Rules,
    st.sampled_from([(), ("min.insync.replicas",), (".*ms", "cleanup.policy"), ("r.*",)]),
    st.just((".*",)),
)


def settings(values: Mapping[str, Sequence[str]]) -> st.SearchStrategy[dict[str, str]]:
    return st.fixed_dictionaries({}, optional={name: st.sampled_from(found) for name, found in values.items()})


def is_possible(values: Mapping[str, str]) -> bool:
    """Return whether a topic of this cluster can have these configs."""
    wrong = [name for name in values if name != "mirror.name" and problem_with(Scope.TOPIC, name, values[name])]
    return not wrong and problem_between(values, BROKER) is None


def altered_configs(
    ours: dict[str, dict[str, str]], alter: Sequence[AlterConfigsResource]
) -> dict[str, dict[str, str]]:
    """Return the configs after a controller's changes to `ours`; it refuses impossible ones."""
    after = {topic: dict(values) for topic, values in ours.items()}
    for resource in alter:
        values = after[resource.resource_name]
        for config in resource.configs:
            if config.config_operation == ConfigOp.DELETE:
                del values[config.name]
            else:
                assert config.value is not None
                values[config.name] = config.value
        assert is_possible(values), f"the controller refuses {values}"
    return after


@given(
    theirs=st.dictionaries(st.sampled_from(NAMES), settings(VALUES)),
    ours=st.fixed_dictionaries({name: settings(OF_HERE).filter(is_possible) for name in NAMES}),
    rules=RULES,
)
def test_configs_agree_under_the_rules_and_stay(
    theirs: dict[str, dict[str, str]], ours: dict[str, dict[str, str]], rules: Rules
) -> None:
    made = configs.plan(NAMES, theirs, ours, rules, BROKER)
    after = altered_configs(ours, made.alter)
    for topic in NAMES:
        refused = made.rejected.get(topic, {})
        for name in {*ours[topic], *theirs.get(topic, {})}:
            if topic not in theirs or not rules.config(name).is_mirrored or name in refused:
                assert after[topic].get(name) == ours[topic].get(name), "stays as it is"
            else:
                assert after[topic].get(name) == theirs[topic].get(name)
    again = configs.plan(reversed(NAMES), theirs, after, rules, BROKER)
    assert again.alter == []
    assert again.rejected == made.rejected, "told again, and in any order"


UUIDS = st.sampled_from([Uuid(bytes([n] * 16)) for n in range(3)])  # The first is ZERO, as from an old source.
SIDE = st.none() | st.builds(RemoteTopic, UUIDS, st.integers(1, 3))


@st.composite
def facts(draw: st.DrawFn) -> list[TopicFacts]:
    found = []
    for name in draw(st.permutations(NAMES)):
        ours = draw(SIDE)
        if ours is not None and ours.topic_id == Uuid.ZERO:
            ours = replace(ours, topic_id=generated_topic_id(SOURCE, name))
        refused = draw(st.none() | st.just(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        found.append(TopicFacts(name, draw(st.sampled_from(Wish)), draw(SIDE), ours, refused))
    return found


@given(facts(), st.sets(st.sampled_from(NAMES)))
def test_topics_agree_and_none_holds_another(given_facts: list[TopicFacts], described: set[str]) -> None:
    values = {name: {"cleanup.policy": "compact"} for name in described}
    made = topics.plan(given_facts, "m", SOURCE, values)
    here = {topic.name: topic.local_topic for topic in given_facts}
    for new in made.create:
        assert new.mirror_info is not None
        assert [(config.name, config.value) for config in new.configs] == [("cleanup.policy", "compact")]
        here[new.name] = RemoteTopic(new.mirror_info.topic_id, new.num_partitions)
    for grown in made.grow:
        known = here[grown.name]
        assert known is not None and grown.count > known.partitions
        here[grown.name] = replace(known, partitions=grown.count)
    after = [replace(topic, local_topic=here[topic.name]) for topic in given_facts]
    for topic in after:
        if (
            topic.unsynced_reason(SOURCE)
            or topic.source_topic is None
            or (topic.local_topic is None and topic.name not in described)
        ):
            assert topic.local_topic == next(each.local_topic for each in given_facts if each.name == topic.name)
        else:
            assert topic.local_topic is not None
            assert topic.local_topic.partitions == topic.source_topic.partitions or topic.name in made.problems
    again = topics.plan(reversed(after), "m", SOURCE, values)
    assert (again.create, again.grow, again.problems) == ([], [], made.problems)


@given(st.lists(facts(), min_size=1, max_size=4))
@pytest.mark.decision("D16")
def test_only_topics_missing_in_two_cycles_are_gone(cycles: list[list[TopicFacts]]) -> None:
    counts: dict[str, int] = {}
    for cycle in cycles:
        counts = deleted_topics.count_missing(counts, cycle)
    for name in deleted_topics.plan(counts):
        assert len(cycles) >= 2
        for cycle in cycles[-2:]:
            topic = next(each for each in cycle if each.name == name)
            assert topic.source_topic is None and topic.source_error is None and topic.wish is Wish.MIRROR


TPS = [TopicPartition(name, index) for name in NAMES for index in range(2)]
OFFSETS = st.dictionaries(
    st.sampled_from(TPS), st.builds(Offset, st.integers(0, 9), st.integers(-1, 3), st.sampled_from(["", "m"]))
)
GROUPS = st.dictionaries(st.sampled_from(("g", "h", "i")), OFFSETS)
LOG = st.integers(0, 5).flatmap(lambda start: st.builds(LocalLog, st.just(start), st.integers(start, 7)))
IDS = {name: Uuid(name.encode() * 16) for name in NAMES}


def committed_offsets(ours: dict[str, dict[TopicPartition, Offset]], requests: Sequence[OffsetCommitRequest]) -> None:
    for request in requests:
        assert (request.generation_id_or_member_epoch, request.member_id) == (-1, ""), "refused while there are members"
        for topic in request.topics:
            assert topic.topic_id == IDS[topic.name]
            for row in topic.partitions:
                ours[request.group_id][TopicPartition(topic.name, row.partition_index)] = Offset(
                    row.committed_offset, row.committed_leader_epoch, row.committed_metadata or ""
                )


LOCAL = st.builds(LocalPartition, st.integers(0, 3), st.none() | LOG)


@given(GROUPS, GROUPS, st.dictionaries(st.sampled_from(TPS), LOCAL))
def test_offsets_agree_where_partitions_mirror(
    theirs: dict[str, dict[TopicPartition, Offset]],
    ours: dict[str, dict[TopicPartition, Offset]],
    mirroring: dict[TopicPartition, LocalPartition],
) -> None:
    before = {group: dict(offsets) for group, offsets in ours.items()}
    committed_offsets(ours, groups.plan(theirs, ours, mirroring, IDS))
    for group, offsets in ours.items():
        for tp in TPS:
            source, local = theirs.get(group, {}).get(tp), mirroring.get(tp)
            if source is None or local is None:
                assert offsets.get(tp) == before[group].get(tp), (
                    "nothing is taken back, or copied while it is not mirrored"
                )
            elif source.leader_epoch > local.leader_epoch:
                assert offsets[tp].leader_epoch == -1, "a consumer would wait for that epoch"
            elif local.log is None:
                assert offsets[tp] == source, "even above the log end (D17)"
            else:
                assert offsets[tp] == source or offsets[tp].leader_epoch == -1
            if source is not None and local is not None:
                log = local.log or LocalLog(source.offset, source.offset)
                assert offsets[tp].offset == min(max(source.offset, log.start), log.end)
    assert groups.plan(theirs, ours, mirroring, IDS) == []
