"""Record batches: headers over bytes, records on demand, and the way back."""

from kmirror.records.batch import Batch, TornBatch, UnsupportedMagic, iter_batches
from kmirror.records.build import build_batch, set_base_offset_and_epoch
from kmirror.records.builder import BatchBuilder
from kmirror.records.codecs import Compression
from kmirror.records.control import ControlRecord, ControlType
from kmirror.records.layout import TimestampType
from kmirror.records.record import Record, RecordData

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
