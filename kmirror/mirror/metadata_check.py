"""Checks of Metadata responses that only witnesses of the source may confirm (D60).

A response is checked if it would cause a topic to be created, stopped, failed, or given partitions. Everything else is
believed from any broker: leaders are compared by their epochs, and keeping the present metadata does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.client.remote_cluster import OnChecked, RemoteCluster
from kmirror.client.witnesses import NO_PROOF, Witnesses, find_witnesses, no_response_text
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.topic_ids import is_same_topic
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse, MetadataResponseTopic
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

DIFFER = "brokers of the source differ about it, and none proves that it is up to date"


class MetadataCheck:
    """Checks the Metadata responses of one mirror's source."""

    def __init__(self, context: MirrorContext, mirror: str, source: RemoteCluster) -> None:
        self._context = context
        self._mirror = mirror
        self._source = source

    def check(self, now: Instant, request: MetadataRequest, reply: MetadataResponse, on_checked: OnChecked) -> None:
        """Send the request to the witnesses if `reply` has a change that needs a proof."""
        remembered = self._context.source_cluster_id(self._mirror)
        if remembered and reply.cluster_id != remembered:  # Nothing is done with the response (D16).
            on_checked(now, reply, {})
            return
        doubted_topics = [
            topic.name or "" for topic in reply.topics if self._needs_witness(topic, reply.cluster_id or "")
        ]
        if not doubted_topics:
            on_checked(now, reply, {})
            return

        def on_found(later: Instant, witnesses: Witnesses) -> None:
            def on_responses(latest: Instant, responses: Sequence[Message]) -> None:
                replies = [response for response in responses if isinstance(response, MetadataResponse)]
                if replies:
                    on_checked(latest, replies[-1], dict.fromkeys(differing_topics(replies), DIFFER))
                    return
                reason = (
                    f"{NO_PROOF}: {no_response_text(self._source)}" if witnesses.endpoints else witnesses.missing_reason
                )
                on_checked(latest, reply, dict.fromkeys(doubted_topics, reason))

            witnesses.ask(later, self._source, request, on_responses)

        listed = [Endpoint(row.host, row.port) for row in reply.brokers]
        find_witnesses(self._source, now, listed, on_found)

    def _needs_witness(self, topic: MetadataResponseTopic, cluster_id: str) -> bool:
        """Return whether the response would cause an action on the topic that cannot be undone."""
        name, source = topic.name or "", self._source
        local_topic = self._context.broker.image.topics.get(name)
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return local_topic is not None
        if topic.error_code:
            return False
        if local_topic is None or name in source.missing_topics:
            return True
        known, count = source.topics.get(name), len(topic.partitions)
        if known is not None and Uuid.ZERO not in (known.topic_id, topic.topic_id) and known.topic_id != topic.topic_id:
            return True
        if not is_same_topic(topic.topic_id, local_topic.topic_id, cluster_id, self._context.broker.cluster_id, name):
            return True
        return count != len(local_topic.partitions) and (known is None or count != known.partitions)


def differing_topics(responses: Sequence[MetadataResponse]) -> list[str]:
    """Return the topics about which the responses differ: whether they exist, in their ids, in their partitions."""
    rows = [{topic.name or "": topic for topic in response.topics} for response in responses]
    return [
        name
        for name in rows[-1]
        if any(name not in each for each in rows)
        or len({(each[name].error_code, len(each[name].partitions)) for each in rows}) > 1
        or len({each[name].topic_id for each in rows} - {Uuid.ZERO}) > 1  # Older brokers return none.
    ]
