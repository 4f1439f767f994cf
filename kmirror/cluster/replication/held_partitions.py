"""The partitions that one broker holds, online and offline."""

from __future__ import annotations

from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.spec.error_codes import ErrorCode


class HeldPartitions(dict[TopicPartition, Partition]):
    """The online partitions of a broker."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self.offline: dict[TopicPartition, Uuid] = {}
        """Partitions whose log directory has failed, with their topic ids: the broker ignores them until its next
        start, or until they are reassigned to other brokers."""

    def find_led(self, tp: TopicPartition) -> Partition | None:
        """Return the partition if this broker leads it, else None."""
        partition = self.get(tp)
        return partition if partition is not None and partition.image.leader == partition.broker_id else None

    def not_led_error(self, tp: TopicPartition) -> ErrorCode:
        """Return why a partition is not led here, like Kafka's getPartitionOrError."""
        if tp in self.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        is_known = self._context.image.topics.partition(tp) is not None
        return ErrorCode.NOT_LEADER_OR_FOLLOWER if is_known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def set_offline(self, tp: TopicPartition) -> None:
        """Mark a partition as offline because its log directory has failed."""
        self.offline[tp] = self._context.image.topics[tp.topic].topic_id
        self._context.outbox.note(f"{tp} is offline: its log directory has failed")

    def check_offline(self, tp: TopicPartition) -> bool:
        """Return whether an offline partition is still assigned to this broker; else remove its entry.

        A new topic of the same name is a different topic, and is created in an online log directory.
        """
        image = self._context.image.topics.partition(tp)
        is_ours = image is not None and self._context.node_id in image.replicas
        if is_ours and self._context.image.topics[tp.topic].topic_id == self.offline[tp]:
            return True
        del self.offline[tp]
        return False
