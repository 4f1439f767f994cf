"""The records of a metadata log that are left: what a snapshot holds.

Records are merged with records and not read off an image: what a Kafka of another release or a feature that is not
served here has written (credentials, quotas, directories of replicas) then stays, each in the version in which it was
written.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.cluster.images.acls import ACLS
from kmirror.cluster.images.aspect import LatestTable, RecordTable, by_type
from kmirror.cluster.images.brokers import BrokerRecords
from kmirror.cluster.images.configs import ConfigRecords
from kmirror.cluster.images.controllers import CONTROLLERS, ZK_MIGRATION
from kmirror.cluster.images.delegation_tokens import DELEGATION_TOKENS
from kmirror.cluster.images.features import FeatureRecords
from kmirror.cluster.images.producer_ids import PRODUCER_IDS
from kmirror.cluster.images.quotas import QUOTAS
from kmirror.cluster.images.scram import SCRAM
from kmirror.cluster.images.topics import TopicRecords
from kmirror.protocol.gen.no_op_record import NoOpRecord
from kmirror.protocol.keyed_records import VersionedMessage
from kmirror.protocol.message import Message


class SnapshotRecords:
    """Tables of the records that are left of a metadata log; `take` is the only way they change.

    Transactions of the log are taken out before (`metadata/transactions.py`).
    """

    def __init__(self) -> None:
        features = FeatureRecords()
        topics = TopicRecords(features)
        configs = ConfigRecords(topics)
        self._written: list[RecordTable] = [
            features,
            LatestTable(ZK_MIGRATION),
            BrokerRecords(),
            LatestTable(CONTROLLERS),
            topics,
            configs,
            LatestTable(QUOTAS),
            LatestTable(PRODUCER_IDS),
            LatestTable(ACLS),
            LatestTable(SCRAM),
            LatestTable(DELEGATION_TOKENS),
        ]
        """In the order of Kafka's MetadataImage.write."""
        merging = [configs, *(table for table in self._written if table is not configs)]  # As in MetadataImage.aspects.
        self._merges = by_type([table.merges() for table in merging])

    def take(self, record: Message, version: int) -> None:
        """Take in the next record of the log; it may be changed later."""
        merges = self._merges.get(type(record))
        assert merges is not None or isinstance(record, NoOpRecord), f"no place in a snapshot for {record.NAME}"
        for merge in merges or ():
            merge(record, version)

    def records(self) -> Iterator[VersionedMessage]:
        """Yield what is left, in the order in which it can be replayed."""
        for table in self._written:
            yield from table.records()
