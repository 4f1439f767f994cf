"""Explanation of why a topic, a config or a group of the source is mirrored or not, from two live clusters.

The verdicts are those of the syncs' own rules (`mirror.syncs.explain`), with the mirror's present configs.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.admin.client import AsyncAdmin, TopicInfo
from kmirror.admin.described_configs import configs_of
from kmirror.admin.mirror import describe_mirrors
from kmirror.assembly.mirrors import Description
from kmirror.client.remote_cluster import RemoteTopic, code_of
from kmirror.errors import KafkaError
from kmirror.mirror.states import MirrorState, Wish
from kmirror.mirror.syncs.batches import in_batches
from kmirror.mirror.syncs.explain import Explanation, explain
from kmirror.mirror.syncs.rules import ListedGroup, Rules, Verdict
from kmirror.mirror.syncs.source_configs import TOPICS_MAX, SourceConfigs, read, request
from kmirror.mirror.syncs.topics import TopicFacts
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.list_groups_response import ListGroupsResponse
from kmirror.spec.configs import Configs, Scope, broker_configs
from kmirror.spec.wire_values import ResourceType

WISHES = {
    MirrorState.PAUSING: Wish.PAUSE,
    MirrorState.PAUSED: Wish.PAUSE,
    MirrorState.STOPPING: Wish.REMOVE,
    MirrorState.STOPPED: Wish.REMOVE,
}


async def explain_filters(mirror: str, *, source: AsyncAdmin, destination: AsyncAdmin) -> Explanation:
    """Return a verdict on each topic, config and group of the source; internal topics are left out.

    Raises KafkaError if the mirror does not exist, or if a cluster does not respond.
    """
    description = (await describe_mirrors(destination, [mirror]))[mirror]
    source_topics, destination_topics = await source.topics(), await destination.topics()
    wishes, cluster_id = _wishes(description), await destination.cluster_id()
    facts = [
        TopicFacts(
            name, wish, _remote(source_topics.get(name)), _remote(destination_topics.get(name)), cluster_id=cluster_id
        )
        for name, wish in wishes.items()
    ]
    mirrored = [name for name in wishes if name in source_topics]
    broker_id = next(iter(await destination.brokers()))
    dynamic_configs = await configs_of(destination, ResourceType.BROKER, str(broker_id), broker_id)
    found = explain(
        Rules.from_configs(Configs(Scope.MIRROR, await configs_of(destination, ResourceType.MIRROR, mirror, None))),
        facts,
        await source.cluster_id(),
        (await _topic_configs(source, mirrored)).values,
        await _groups(source),
        broker_configs(dynamic_configs, {}),
    )
    other_topics = {
        name for name, topic in source_topics.items() if not topic.is_internal and not name.startswith("__")
    }
    left_out = dict.fromkeys(sorted(other_topics - wishes.keys()), Verdict(False, "it was not added to the mirror"))
    return Explanation(dict(sorted({**found.topics, **left_out}.items())), found.configs, found.groups)


def _wishes(description: Description) -> dict[str, Wish]:
    """Return the user's wish for each topic in the mirror, as the states of its partitions show it."""
    by_state = {row.tp.topic: WISHES.get(row.state, Wish.MIRROR) for row in description.rows}
    return dict.fromkeys(description.topics, Wish.MIRROR) | by_state


def _remote(topic: TopicInfo | None) -> RemoteTopic | None:
    return None if topic is None else RemoteTopic(topic.topic_id, len(topic.leaders))


async def _topic_configs(source: AsyncAdmin, topics: Sequence[str]) -> SourceConfigs:
    """Return the configs of topics at the source, requested as the sync does."""
    found = SourceConfigs()
    for names in in_batches(topics, TOPICS_MAX):
        found.add(names, read(await source.ask(request(names))))
    return found


async def _groups(source: AsyncAdmin) -> list[ListedGroup]:
    """Return the groups of every coordinator of the source."""
    groups: dict[str, ListedGroup] = {}
    for broker_id, reply in (await source.ask_each(ListGroupsRequest())).items():
        assert isinstance(reply, ListGroupsResponse), "the answer to its request"
        if reply.error_code:
            error = code_of(reply.error_code)
            raise KafkaError(error, f"broker {broker_id} of {source.servers} lists no groups: {error.name}")
        for row in reply.groups:
            groups[row.group_id] = ListedGroup(row.group_id, row.protocol_type, row.group_type)
    return list(groups.values())
