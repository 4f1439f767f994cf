"""Kafka's Cluster Mirroring, executable and byte-exact: the public names.

A name is imported at its first use, so that `import kmirror` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kmirror.client.consumer import ConsumerRecord
    from kmirror.errors import (
        CorruptBatch,
        KafkaError,
        KmirrorError,
        LocalProtocolError,
        ProtocolError,
        SimulationFailure,
        UsageError,
    )
    from kmirror.hooks.hooks import Hooks
    from kmirror.kernel.ids import TopicPartition
    from kmirror.logdir.load import read_log_dirs, read_sample
    from kmirror.logdir.write import write_log_dirs
    from kmirror.mirror.states import MirrorState
    from kmirror.records.batch import Batch
    from kmirror.records.codecs import Compression
    from kmirror.records.record import Record, RecordData
    from kmirror.sim.cluster import Cluster
    from kmirror.sim.consumer import Consumer
    from kmirror.sim.mirror import Mirror
    from kmirror.sim.producer import Producer
    from kmirror.sim.simulation import Simulation
    from kmirror.spec.error_codes import ErrorCode
    from kmirror.spec.wire_values import IsolationLevel, OffsetSpec

__version__ = "0.1.0.dev0"

# Module of each public name. Type checkers need the imports above as well, and tests/repo/test_exports.py repeats the
# list, so that the public interface does not change by accident.
_MODULES = {
    "Simulation": "kmirror.sim.simulation",
    "Cluster": "kmirror.sim.cluster",
    "Mirror": "kmirror.sim.mirror",
    "Producer": "kmirror.sim.producer",
    "Consumer": "kmirror.sim.consumer",
    "Hooks": "kmirror.hooks.hooks",
    "ConsumerRecord": "kmirror.client.consumer",
    "read_log_dirs": "kmirror.logdir.load",
    "read_sample": "kmirror.logdir.load",
    "write_log_dirs": "kmirror.logdir.write",
    "Batch": "kmirror.records.batch",
    "Record": "kmirror.records.record",
    "RecordData": "kmirror.records.record",
    "Compression": "kmirror.records.codecs",
    "ErrorCode": "kmirror.spec.error_codes",
    "IsolationLevel": "kmirror.spec.wire_values",
    "OffsetSpec": "kmirror.spec.wire_values",
    "MirrorState": "kmirror.mirror.states",
    "TopicPartition": "kmirror.kernel.ids",
    "KmirrorError": "kmirror.errors",
    "ProtocolError": "kmirror.errors",
    "CorruptBatch": "kmirror.errors",
    "LocalProtocolError": "kmirror.errors",
    "UsageError": "kmirror.errors",
    "KafkaError": "kmirror.errors",
    "SimulationFailure": "kmirror.errors",
}

__all__ = [
    # running
    "Simulation",
    "Cluster",
    "Mirror",
    "Producer",
    "Consumer",
    "Hooks",
    # data
    "ConsumerRecord",
    "read_log_dirs",
    "read_sample",
    "write_log_dirs",
    "Batch",
    "Record",
    "RecordData",
    "Compression",
    "ErrorCode",
    "IsolationLevel",
    "OffsetSpec",
    "MirrorState",
    "TopicPartition",
    # errors
    "KmirrorError",
    "ProtocolError",
    "CorruptBatch",
    "LocalProtocolError",
    "UsageError",
    "KafkaError",
    "SimulationFailure",
    "__version__",
]


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'kmirror' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value  # Later uses cost one dictionary lookup.
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
