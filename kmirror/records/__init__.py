"""Record batches: reading headers, decoding records on demand, and building batches.

Names are imported on first use, so code that only reads batches does not load the builder.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kmirror.records.batch import Batch, TornBatch, UnsupportedMagic, iter_batches
    from kmirror.records.build import BatchBuilder, build_batch, set_base_offset_and_epoch
    from kmirror.records.codecs import Compression
    from kmirror.records.control import ControlRecord, ControlType
    from kmirror.records.layout import TimestampType
    from kmirror.records.record import Record, RecordData

_MODULES = {
    "Batch": "batch",
    "TornBatch": "batch",
    "UnsupportedMagic": "batch",
    "iter_batches": "batch",
    "build_batch": "build",
    "set_base_offset_and_epoch": "build",
    "BatchBuilder": "build",
    "Compression": "codecs",
    "ControlRecord": "control",
    "ControlType": "control",
    "TimestampType": "layout",
    "Record": "record",
    "RecordData": "record",
}

__all__ = [
    "Batch",
    "BatchBuilder",
    "Compression",
    "ControlRecord",
    "ControlType",
    "Record",
    "RecordData",
    "TimestampType",
    "TornBatch",
    "UnsupportedMagic",
    "build_batch",
    "iter_batches",
    "set_base_offset_and_epoch",
]


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value  # Later uses need only a dictionary lookup.
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
