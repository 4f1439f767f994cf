"""The partitions that one broker holds, and those that it would hold if their log directory had not failed."""

from __future__ import annotations

from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.spec.error_codes import ErrorCode


class HeldPartitions(dict[TopicPartition, Partition]):
    """The partitions of a broker that are online."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self.offline: dict[TopicPartition, Uuid] = {}
        """The partitions whose log directory has failed, each with the id of its topic: the broker does nothing with
        them until its next start, or until they are assigned to other brokers."""

    def led(self, tp: TopicPartition) -> Partition | None:
        """Return the partition if this broker leads it."""
        partition = self.get(tp)
        return partition if partition is not None and partition.image.leader == partition.broker_id else None

    def unavailable(self, tp: TopicPartition) -> ErrorCode:
        """Return why a partition is not led here, as Kafka's getPartitionOrError does."""
        if tp in self.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        is_known = self._context.image.topics.partition(tp) is not None
        return ErrorCode.NOT_LEADER_OR_FOLLOWER if is_known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def set_offline(self, tp: TopicPartition) -> None:
        """Note that the log directory of a partition has failed."""
        self.offline[tp] = self._context.image.topics[tp.topic].topic_id
        self._context.outbox.note(f"{tp} is offline: its log directory has failed")

    def stays_offline(self, tp: TopicPartition) -> bool:
        """Return whether a partition whose directory has failed is still assigned to this broker; else forget it.

        A new topic of the same name is another one, and gets a place in a directory that is online.
        """
        image = self._context.image.topics.partition(tp)
        is_ours = image is not None and self._context.node_id in image.replicas
        if is_ours and self._context.image.topics[tp.topic].topic_id == self.offline[tp]:
            return True
        del self.offline[tp]
        return False
