"""The metadata image of a cluster: its aspects, and the replay of records into them."""

from __future__ import annotations

from kmirror.cluster.images.acls import Acls
from kmirror.cluster.images.aspect import Aspect, LatestImage, by_type
from kmirror.cluster.images.brokers import Brokers
from kmirror.cluster.images.configs import Configs
from kmirror.cluster.images.controllers import CONTROLLERS, ZK_MIGRATION
from kmirror.cluster.images.delegation_tokens import DELEGATION_TOKENS
from kmirror.cluster.images.delta import Delta
from kmirror.cluster.images.features import Features
from kmirror.cluster.images.producer_ids import ProducerIds
from kmirror.cluster.images.quotas import QUOTAS
from kmirror.cluster.images.scram import SCRAM
from kmirror.cluster.images.topics import Topics
from kmirror.errors import CorruptBatch
from kmirror.protocol.gen.abort_transaction_record import AbortTransactionRecord
from kmirror.protocol.gen.no_op_record import NoOpRecord
from kmirror.protocol.message import Message

_WITHOUT_EFFECT = (NoOpRecord, AbortTransactionRecord)
"""The records of an aborted transaction are dropped before its abort is replayed."""


class MetadataImage:
    """The metadata of a cluster; only `apply` changes it."""

    def __init__(self) -> None:
        self.features = Features()
        self.brokers = Brokers()
        self.topics = Topics(self.features)
        self.configs = Configs(self.topics)
        self.producer_ids = ProducerIds()
        self.controllers = LatestImage(CONTROLLERS)
        self.zk_migration = LatestImage(ZK_MIGRATION)
        self.quotas = LatestImage(QUOTAS)
        self.acls = Acls()
        self.scram = LatestImage(SCRAM)
        self.delegation_tokens = LatestImage(DELEGATION_TOKENS)
        self.offset = -1
        """Offset of the last record applied; -1 before the first.

        It rises with every batch, so it is a version of the image: data derived from the image is valid while it is
        unchanged.
        """
        self._replays = by_type([aspect.replays() for aspect in self.aspects().values()])

    def aspects(self) -> dict[str, Aspect]:
        """Return the aspects by attribute, in the order in which they replay a record.

        Configs come before topics: the configs of a deleted topic are removed while its name is known.
        """
        return {
            "features": self.features,
            "brokers": self.brokers,
            "configs": self.configs,
            "topics": self.topics,
            "producer_ids": self.producer_ids,
            "controllers": self.controllers,
            "zk_migration": self.zk_migration,
            "quotas": self.quotas,
            "acls": self.acls,
            "scram": self.scram,
            "delegation_tokens": self.delegation_tokens,
        }

    def apply(self, record: Message, delta: Delta) -> None:
        """Replay one record, and add the changes to `delta`.

        Raises `CorruptBatch` if the record does not match the previous ones; the image is not usable then.
        """
        replays = self._replays.get(type(record))
        assert replays is not None or isinstance(record, _WITHOUT_EFFECT), f"no replay for {type(record).__name__}"
        try:
            for replay in replays or ():
                replay(record, delta)
        except (LookupError, ValueError) as error:
            raise CorruptBatch(f"{record.NAME} does not match the preceding records: {error!r}") from error

    def replace_by(self, other: MetadataImage) -> Delta:
        """Become `other`, which must not be used afterwards; return the changes.

        This happens after a snapshot was read. Temporary changes between the two images are not in the delta.
        """
        delta = Delta()
        for name, aspect in self.aspects().items():
            getattr(other, name).add_difference(aspect, delta)
        self.__dict__.update(vars(other))
        return delta

    def unenforced_count(self, *, enforces_acls: bool) -> int:
        """Return the number of records that no part of a node enforces: credentials, tokens, quotas, and ACLs."""
        acls = 0 if enforces_acls else len(self.acls.latest)
        return acls + sum(len(aspect.latest) for aspect in (self.quotas, self.scram, self.delegation_tokens))
