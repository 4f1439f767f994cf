"""One partition in plain Python: a list of batches, from which everything else is computed directly."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    DATA = "data"
    COMMIT = "commit"
    ABORT = "abort"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class ModelBatch:
    base: int
    last: int
    epoch: int
    data: bytes
    kind: Kind = Kind.DATA
    pid: int = -1
    producer_epoch: int = -1
    last_sequence: int = -1
    transactional: bool = False


@dataclass(slots=True)
class ModelProducer:
    epoch: int = -1
    last_sequence: int = -1
    txn_first: int = -1


Table = dict[int, ModelProducer]


@dataclass(slots=True)
class Model:
    batches: list[ModelBatch] = field(default_factory=list)
    start: int = 0
    end: int = 0
    high_watermark: int = 0
    epochs: list[tuple[int, int]] = field(default_factory=list)
    table: Table = field(default_factory=dict)
    decided: dict[int, int] = field(default_factory=dict)  # First and last offset, not yet replicated.
    tables: dict[int, Table] = field(default_factory=dict)  # The table at each former log end.

    # Appending and truncating

    def append(self, batch: ModelBatch) -> None:
        self.tables[batch.base] = deepcopy(self.table)  # Segments begin at batches, and have snapshots there.
        self.batches.append(batch)
        self.end = batch.last + 1
        self.assign_epoch(batch.epoch, batch.base)
        self.apply(batch)
        self.tables[self.end] = deepcopy(self.table)

    def assign_epoch(self, epoch: int, start: int) -> None:
        if self.epochs and self.epochs[-1][0] == epoch:
            return
        self.epochs = [(e, s) for e, s in self.epochs if e < epoch and s < start] + [(epoch, start)]

    def apply(self, batch: ModelBatch) -> None:
        if batch.kind is Kind.RESET:
            opened = [known.txn_first for known in self.table.values() if known.txn_first >= 0]
            self.decided.update(dict.fromkeys(opened, batch.base))
            self.table.clear()
            return
        if batch.pid < 0:
            return
        known = self.table.setdefault(batch.pid, ModelProducer())
        if known.epoch != batch.producer_epoch:
            known.last_sequence = -1
        known.epoch = batch.producer_epoch
        if batch.kind is Kind.DATA:
            known.last_sequence = batch.last_sequence
            if batch.transactional and known.txn_first < 0:
                known.txn_first = batch.base
        elif known.txn_first >= 0:
            self.decided[known.txn_first] = batch.base
            known.txn_first = -1

    def end_after_cut(self, offset: int) -> int:
        """Return the base offset of the batch that contains `offset`; `offset` if there is none."""
        return next((batch.base for batch in self.batches if batch.base <= offset <= batch.last), offset)

    def cut(self, offset: int, snapshots: list[int]) -> None:
        """Truncate to `offset`; `snapshots` are the offsets of the snapshots in the store."""
        self.batches = [batch for batch in self.batches if batch.last < offset]
        self.end = offset
        self.start = min(self.start, offset)
        self.epochs = [(epoch, start) for epoch, start in self.epochs if start < offset]
        kept = {first: last for first, last in self.decided.items() if last < offset}
        self.tables = {end: table for end, table in self.tables.items() if end <= offset}
        self.reload(snapshots)
        self.decided.update(kept)
        self.set_high_watermark(min(self.high_watermark, offset))

    def clear(self, offset: int) -> None:
        self.batches, self.epochs, self.table, self.decided, self.tables = [], [], {}, {}, {}
        self.start = self.end = self.high_watermark = offset

    def reload(self, snapshots: list[int], *, recovered_from: int | None = None) -> None:
        """Compute the producer table again, from the newest snapshot within the log.

        A segment that is recovered, and those after it, are read completely, even below the log start.
        """
        usable = [offset for offset in snapshots if self.start < offset <= self.end]
        begin = max(usable, default=self.start)
        self.decided = {}
        self.table = deepcopy(self.tables[begin]) if usable else {}
        for batch in self.batches:
            if batch.last >= begin or (recovered_from is not None and batch.base >= recovered_from):
                self.apply(batch)
        if recovered_from is not None and self.end <= self.start:
            self.table = {}  # The snapshot that a recovery leaves at its end does not count at the log start.
        self.tables[self.end] = deepcopy(self.table)

    def all_decided(self) -> dict[int, int]:
        """Return first and last offset of each transaction that was decided at or above the high watermark."""
        again = Model()
        for batch in self.batches:
            again.apply(batch)
        return {first: last for first, last in again.decided.items() if last >= self.high_watermark}

    def set_high_watermark(self, offset: int) -> None:
        self.high_watermark = min(max(offset, self.start), self.end)
        self.decided = {first: last for first, last in self.decided.items() if last >= self.high_watermark}

    def advance_start(self, offset: int) -> None:
        self.start = offset
        below = [epoch for epoch, start in self.epochs if start <= offset]
        if below:
            self.epochs = [(below[-1], offset), *((e, s) for e, s in self.epochs if s > offset)]

    # Queries

    def stable(self) -> int:
        opened = [known.txn_first for known in self.table.values() if known.txn_first >= 0]
        # For a transaction that began below the log start, the rest counts, from the next batch on.
        rest = next((max(batch.base, self.start) for batch in self.batches if batch.last >= self.start), self.end)
        firsts = (first if first >= self.start else rest for first in [*opened, *self.decided])
        return min([self.high_watermark, *firsts])

    def aborted(self, start: int, end: int) -> set[tuple[int, int, int]]:
        """Return (pid, first, last) of the aborted transactions in the log that touch `start` to `end`."""
        found, opened = set(), dict[int, int]()
        for batch in self.batches:
            if batch.kind is Kind.RESET:
                opened.clear()
            elif batch.kind is Kind.DATA and batch.transactional:
                opened.setdefault(batch.pid, batch.base)
            elif batch.kind in (Kind.COMMIT, Kind.ABORT):
                first = opened.pop(batch.pid, -1)
                if batch.kind is Kind.ABORT and first >= 0 and batch.base >= start and first < end:
                    found.add((batch.pid, first, batch.base))
        return found

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        known = [e for e, _ in self.epochs]
        if not known or epoch < 0 or epoch > known[-1]:
            return -1, -1
        floor = max((e for e in known if e <= epoch), default=epoch)
        return floor, next((start for e, start in self.epochs if e > epoch), self.end)

    def read(self, offset: int, end: int) -> list[ModelBatch]:
        """Return all batches from the one that contains `offset` to the last one wholly below `end`."""
        found = [batch for batch in self.batches if batch.last >= offset]
        reaching = next((index for index, batch in enumerate(found) if batch.last >= end), len(found))
        return found[:reaching]
