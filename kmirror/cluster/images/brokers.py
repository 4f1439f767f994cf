"""Aspect of the metadata image: registered brokers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kmirror.cluster.images.aspect import Merges, Replays, changed
from kmirror.cluster.images.delta import Delta
from kmirror.cluster.images.topics import LOST, MIGRATING, PartitionImage
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.uuid import Uuid
from kmirror.log.log_dirs import UNASSIGNED
from kmirror.protocol.gen.broker_registration_change_record import BrokerRegistrationChangeRecord
from kmirror.protocol.gen.fence_broker_record import FenceBrokerRecord
from kmirror.protocol.gen.register_broker_record import RegisterBrokerRecord
from kmirror.protocol.gen.unfence_broker_record import UnfenceBrokerRecord
from kmirror.protocol.gen.unregister_broker_record import UnregisterBrokerRecord
from kmirror.protocol.keyed_records import VersionedMessage

REGISTRATION_VERSIONS = (0, 1, 3, 4)
"""Version of a BrokerRegistrationChangeRecord -> version of the RegisterBrokerRecord with the same fields."""


@dataclass(frozen=True, slots=True)
class BrokerImage:
    """One registered broker; `epoch` is the offset of its registration."""

    broker_id: int
    epoch: int
    incarnation: Uuid
    endpoints: Mapping[str, Endpoint] = field(hash=False)
    """Listener name -> endpoint."""
    fenced: bool
    rack: str | None = None
    in_controlled_shutdown: bool = False
    directories: tuple[Uuid, ...] = ()
    """Ids of its online log directories; empty if the metadata log is older than KIP-858."""
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict, hash=False)
    """Feature -> first and last level that it supports."""

    def has_online(self, directory_id: Uuid) -> bool:
        """Return whether a replica in this directory may be served, as far as is known (DirectoryId.isOnline)."""
        if directory_id in (UNASSIGNED, MIGRATING) or not self.directories:
            return directory_id != LOST
        return directory_id in self.directories


class Brokers(dict[int, BrokerImage]):
    """Broker id -> registration."""

    def replays(self) -> Replays:
        return {
            RegisterBrokerRecord: self._register,
            BrokerRegistrationChangeRecord: self._change,
            UnregisterBrokerRecord: self._unregister,
            FenceBrokerRecord: self._fence,
            UnfenceBrokerRecord: self._fence,
        }

    def _register(self, record: RegisterBrokerRecord, delta: Delta) -> None:
        if not record.end_points:
            raise ValueError(f"broker {record.broker_id} has no listener")
        self[record.broker_id] = BrokerImage(
            record.broker_id,
            record.broker_epoch,
            record.incarnation_id,
            {row.name: Endpoint(row.host, row.port) for row in record.end_points},
            record.fenced,
            record.rack,
            record.in_controlled_shutdown,
            tuple(record.log_dirs),
            {row.name: (row.min_supported_version, row.max_supported_version) for row in record.features},
        )
        delta.brokers[record.broker_id] = None

    def _change(self, record: BrokerRegistrationChangeRecord, delta: Delta) -> None:
        broker = self[record.broker_id]
        if record.fenced:
            broker = replace(broker, fenced=record.fenced > 0)
        if record.in_controlled_shutdown:
            broker = replace(broker, in_controlled_shutdown=record.in_controlled_shutdown > 0)
        if record.log_dirs:
            broker = replace(broker, directories=tuple(record.log_dirs))
        self[record.broker_id] = broker
        delta.brokers[record.broker_id] = None

    def _unregister(self, record: UnregisterBrokerRecord, delta: Delta) -> None:
        self.pop(record.broker_id, None)
        delta.brokers[record.broker_id] = None

    def _fence(self, record: FenceBrokerRecord | UnfenceBrokerRecord, delta: Delta) -> None:
        self[record.id] = replace(self[record.id], fenced=isinstance(record, FenceBrokerRecord))
        delta.brokers[record.id] = None

    def add_difference(self, before: Brokers, delta: Delta) -> None:
        delta.brokers.update(changed(before, self))

    def is_alive(self, broker_id: int) -> bool:
        """Return whether a broker is registered and not fenced."""
        broker = self.get(broker_id)
        return broker is not None and not broker.fenced

    def is_active(self, broker_id: int) -> bool:
        """Return whether a broker is alive and not in controlled shutdown; only then it may lead or join an ISR."""
        return self.is_alive(broker_id) and not self[broker_id].in_controlled_shutdown

    def may_lead(self, broker_id: int, partition: PartitionImage) -> bool:
        """Return whether a broker is active and the log directory of its replica of a partition is online."""
        return self.is_active(broker_id) and self[broker_id].has_online(partition.directory_of(broker_id))

    def offline(self, partition: PartitionImage, listener: str | None = None) -> list[int]:
        """Return the replicas whose brokers are not alive, or whose log directories are offline.

        A broker without the client's `listener` is treated as not alive.
        """
        return [
            broker_id
            for broker_id in partition.replicas
            if not self.is_alive(broker_id)
            or (listener is not None and listener not in self[broker_id].endpoints)
            or not self[broker_id].has_online(partition.directory_of(broker_id))
        ]

    def any_alive_id(self) -> int:
        """Return the id of a live broker; -1 if there is none."""
        return next((number for number, broker in self.items() if not broker.fenced), -1)

    def endpoint(self, broker_id: int, listener: str) -> Endpoint | None:
        """Return the endpoint of a broker at a listener; None if it is not alive, or has no such listener."""
        broker = self.get(broker_id)
        return None if broker is None or broker.fenced else broker.endpoints.get(listener)

    def default_directory(self, broker_id: int) -> Uuid:
        """Return the directory of a new replica: the only one of its broker, or UNASSIGNED if it has several.

        UNASSIGNED lets the broker choose. MIGRATING if the broker's directories are unknown.
        """
        broker = self.get(broker_id)
        if broker is None:
            return UNASSIGNED
        if not broker.directories:
            return MIGRATING
        return broker.directories[0] if len(broker.directories) == 1 else UNASSIGNED


class BrokerRecords:
    """The registration of each broker, with the changes merged."""

    def __init__(self) -> None:
        self._brokers: dict[int, VersionedMessage] = {}

    def merges(self) -> Merges:
        return {
            RegisterBrokerRecord: self._register,
            BrokerRegistrationChangeRecord: self._change,
            UnregisterBrokerRecord: self._unregister,
            FenceBrokerRecord: self._fence,
            UnfenceBrokerRecord: self._fence,
        }

    def _register(self, record: RegisterBrokerRecord, version: int) -> None:
        self._brokers[record.broker_id] = VersionedMessage(record, version)

    def _change(self, change: BrokerRegistrationChangeRecord, version: int) -> None:
        before = self._brokers[change.broker_id]
        broker = before.message
        assert isinstance(broker, RegisterBrokerRecord), "a registration"
        if change.fenced:
            broker.fenced = change.fenced > 0
        if change.in_controlled_shutdown:
            broker.in_controlled_shutdown = change.in_controlled_shutdown > 0
        if change.log_dirs:
            broker.log_dirs = change.log_dirs
        if change.cordoned_log_dirs is not None:
            broker.cordoned_log_dirs = change.cordoned_log_dirs
        merged_version = max(before.version, REGISTRATION_VERSIONS[version])
        self._brokers[change.broker_id] = VersionedMessage(broker, merged_version)

    def _unregister(self, record: UnregisterBrokerRecord, version: int) -> None:
        self._brokers.pop(record.broker_id, None)

    def _fence(self, record: FenceBrokerRecord | UnfenceBrokerRecord, version: int) -> None:
        broker = self._brokers[record.id].message
        assert isinstance(broker, RegisterBrokerRecord), "a registration"
        broker.fenced = isinstance(record, FenceBrokerRecord)

    def records(self) -> Iterable[VersionedMessage]:
        return self._brokers.values()
