"""The fetcher's half of an incremental fetch session (KIP-227), as Kafka's FetchSessionHandler."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kmirror.protocol.gen.fetch_response import FetchResponse

FULL = 0


class FetchSession:
    """Puts only changed partitions into a request; after an error a new session begins."""

    def __init__(self) -> None:
        self._id = 0
        self._epoch = FULL
        self._sent: dict[TopicPartition, FetchPartition] = {}
        self._topic_ids: dict[str, Uuid] = {}

    @property
    def is_empty(self) -> bool:
        """Return whether the session has no partitions at the leader."""
        return not self._sent

    def fill(
        self, request: FetchRequest, wanted: Mapping[TopicPartition, FetchPartition], topic_ids: Mapping[str, Uuid]
    ) -> None:
        """Put `wanted` into `request`: all of it in a new session, else what is new, changed or gone."""
        request.session_id, request.session_epoch = self._id, self._epoch
        full = self._epoch == FULL
        topics: dict[str, FetchTopic] = {}
        # A topic that was deleted and created again is another one, though it has the same name.
        renewed = {name for name, topic_id in topic_ids.items() if self._topic_ids.get(name, topic_id) != topic_id}
        gone = [tp for tp in self._sent if tp not in wanted or tp.topic in renewed]
        if not full:
            request.forgotten_topics_data = [
                ForgottenTopic(topic=tp.topic, topic_id=self._topic_ids[tp.topic], partitions=[tp.partition])
                for tp in gone
            ]
        for tp, partition in wanted.items():
            if not full and tp.topic not in renewed and self._sent.get(tp) == partition:
                continue
            topic = topics.get(tp.topic)
            if topic is None:
                topic = topics[tp.topic] = FetchTopic(topic=tp.topic, topic_id=topic_ids[tp.topic])
            topic.partitions.append(partition)
        request.topics = list(topics.values())
        self._topic_ids.update(topic_ids)
        self._sent = dict(wanted)

    def accept(self, reply: FetchResponse) -> None:
        """Take over an answer without an error: go to the next epoch, or begin anew if the leader keeps no session."""
        if not reply.session_id:
            self._id = 0
            self.reset()
            return
        self._id = reply.session_id
        self._epoch = self._epoch % 0x7FFFFFFF + 1

    def reset(self) -> None:
        """Begin anew: the next request names all partitions, and closes the session that the leader may still have."""
        self._epoch = FULL
        self._sent.clear()
