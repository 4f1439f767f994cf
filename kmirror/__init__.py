"""Kafka's Cluster Mirroring, executable and byte-exact: the public names, nothing else.

A name is imported when it is first used, so that `import kmirror` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kmirror.errors import (
        CorruptBatch,
        KafkaError,
        KmirrorError,
        LocalProtocolError,
        ProtocolError,
        SimulationFailure,
        UsageError,
    )
    from kmirror.kernel.ids import TopicPartition

__version__ = "0.1.0.dev0"

# Where each public name lives. Type checkers need the name above as well, and tests/repo/test_exports.py
# lists it once more: what is public is decided, it does not just happen.
_HOME = {
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
    # data
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
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'kmirror' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value  # The next use costs a dictionary lookup.
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
