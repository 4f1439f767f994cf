"""The records of a snapshot, merged from a metadata log.

Records are merged with records, and not generated from an image. This keeps records of other Kafka releases and of
features that are not served here (credentials, quotas, directories of replicas), each in the version in which it was
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
    """Tables of the records that a snapshot keeps of a metadata log; only `merge` changes them.

    Transactions of the log are resolved before (`metadata/transactions.py`).
    """

    def __init__(self) -> None:
        features = FeatureRecords()
        topics = TopicRecords(features)
        configs = ConfigRecords(topics)
        self._tables: list[RecordTable] = [
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
        tables = [configs, *(table for table in self._tables if table is not configs)]  # As in MetadataImage.aspects.
        self._merges = by_type([table.merges() for table in tables])

    def merge(self, record: Message, version: int) -> None:
        """Merge the next record of the log; it may be modified later."""
        merges = self._merges.get(type(record))
        assert merges is not None or isinstance(record, NoOpRecord), f"no place in a snapshot for {record.NAME}"
        for merge in merges or ():
            merge(record, version)

    def records(self) -> Iterator[VersionedMessage]:
        """Yield the merged records, in an order in which they can be replayed."""
        for table in self._tables:
            yield from table.records()
