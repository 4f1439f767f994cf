"""Aspect of the metadata image: registrations of controllers, and the state of a migration from ZooKeeper.

A real Kafka controller writes them. No part of a node reads them here, but snapshots keep them.
"""

from __future__ import annotations

from kmirror.cluster.images.aspect import KeyedAspect
from kmirror.protocol.gen.register_controller_record import RegisterControllerRecord
from kmirror.protocol.gen.zk_migration_state_record import ZkMigrationStateRecord

CONTROLLERS = KeyedAspect({RegisterControllerRecord: lambda record: record.controller_id})
ZK_MIGRATION = KeyedAspect({ZkMigrationStateRecord: lambda record: None})
