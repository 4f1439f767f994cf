"""Committed offsets against a model that reads the whole log each time; reloads and the cleaner change nothing."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kmirror.cluster.coordinators.groups.offsets import OffsetKey, Offsets, tombstone
from kmirror.cluster.coordinators.shard_state import LoggedRecord
from kmirror.kernel.ids import TopicPartition
from tests.consumer_offsets import Entry, LogOfOffsets, Marker, committed, loaded

KEYS = [OffsetKey(group, TopicPartition("orders", partition)) for group in "gh" for partition in (0, 1)]
KEY_OF = {tombstone(key)[0]: key for key in KEYS}
PRODUCERS = [7, 8, 9]
RETENTION_MS = 50
Rows = list[tuple[int, Entry]]

keys = st.sampled_from(KEYS)
producers = st.sampled_from(PRODUCERS)


def records_of(rows: Rows, key: OffsetKey) -> list[LoggedRecord]:
    return [entry for _, entry in rows if isinstance(entry, LoggedRecord) and KEY_OF[entry.key] == key]


def outcome(rows: Rows, record: LoggedRecord) -> bool | None:
    """Return whether the first marker after a transaction's record commits it, or None without a marker."""
    for at, entry in rows:
        if at > record.offset and isinstance(entry, Marker) and entry[0] == record.producer_id:
            return entry[1]
    return None


def expected_offset(rows: Rows, key: OffsetKey) -> tuple[int | None, list[int]]:
    """Return from the whole log: the record that holds for `key`, and the producers with a pending offset for it."""
    holds, pending = None, {}
    for record in records_of(rows, key):
        if record.value is None:
            holds, pending = None, {}
        elif record.producer_id == -1 or outcome(rows, record):
            holds = record.offset
        elif outcome(rows, record) is None:
            pending[record.producer_id] = None
    return holds, sorted(pending)


def state_of(offsets: Offsets, key: OffsetKey) -> tuple[int | None, list[int]]:
    newest = offsets.latest(key)
    return None if newest is None else newest.record_offset, sorted(offsets.producers(key))


class CommittedOffsets(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.log = LogOfOffsets()
        self.rows: Rows = []
        """The log after the cleaner."""
        self.high_watermark = 0
        self.now_ms = 0
        self.end_seen = 0

    def follow(self) -> None:
        self.rows += [(at, self.log.entries[at]) for at in range(self.end_seen, len(self.log.entries))]
        self.end_seen = len(self.log.entries)

    @rule(key=keys)
    def commit(self, key: OffsetKey) -> None:
        self.log.commit(len(self.log.entries), key=key, committed_ms=self.now_ms)
        self.follow()

    @rule(key=keys, producer_id=producers)
    def commit_in_transaction(self, key: OffsetKey, producer_id: int) -> None:
        self.log.commit(len(self.log.entries), key=key, producer_id=producer_id, committed_ms=self.now_ms)
        self.follow()

    @rule(key=keys)
    def delete(self, key: OffsetKey) -> None:
        self.log.delete(key)
        self.follow()

    @rule(producer_id=producers, commit=st.booleans())
    def end(self, producer_id: int, commit: bool) -> None:
        self.log.marker(producer_id, commit=commit)
        self.follow()

    @rule(drafts=st.lists(st.tuples(keys, st.sampled_from([-1, *PRODUCERS]), st.booleans()), min_size=1, max_size=4))
    def be_refused(self, drafts: list[tuple[OffsetKey, int, bool]]) -> None:
        for key, producer_id, is_deletion in drafts:
            value = None if is_deletion else committed(0)
            self.log.draft(value, key=key, producer_id=-1 if is_deletion else producer_id)
        self.log.offsets.revert()

    @rule(portion=st.floats(0, 1))
    def replicate(self, portion: float) -> None:
        self.high_watermark = max(self.high_watermark, int(portion * len(self.log.entries)))
        self.log.offsets.commit(self.high_watermark)

    @rule(elapsed_ms=st.integers(1, 80))
    def expire(self, elapsed_ms: int) -> None:
        self.now_ms += elapsed_ms
        for group in "gh":
            wanted = []
            for key in KEYS:
                at, pending = expected_offset(self.rows, key)
                record = self.log.offsets.latest(key)
                if key.group == group and at is not None and not pending and record is not None:
                    wanted += [key] if self.now_ms - record.committed_ms >= RETENTION_MS else []
            gone = self.log.offsets.expired_keys(group, self.now_ms, RETENTION_MS, None, lambda _: False)
            assert sorted(gone) == wanted
            for key in wanted:
                self.delete(key)

    @rule()
    def reload(self) -> None:
        """A new leader replays the cleaned log."""
        self.log.offsets = loaded(self.rows)
        self.high_watermark = len(self.log.entries)

    @precondition(lambda self: self.rows)
    @rule(drop_tombstones=st.booleans())
    def clean(self, drop_tombstones: bool) -> None:
        """Keep the last record of a key below the first open transaction; remove aborted records and unused markers.

        A transaction is open until its marker is below the high watermark, as for Kafka's last stable offset.
        """
        below = [(at, entry) for at, entry in self.rows if at < self.high_watermark]
        open_at = [
            entry.offset
            for _, entry in below
            if isinstance(entry, LoggedRecord) and entry.producer_id != -1 and outcome(below, entry) is None
        ]
        stable = min([self.high_watermark, *open_at])
        last: dict[bytes, int] = {}
        for at, entry in self.rows:
            if at < stable and isinstance(entry, LoggedRecord) and not self.is_aborted(entry):
                last[entry.key] = at

        def is_removed(at: int, entry: Entry) -> bool:
            if at >= stable or isinstance(entry, Marker):
                return False
            return last.get(entry.key) != at or (drop_tombstones and entry.value is None)

        kept = [(at, entry) for at, entry in self.rows if not is_removed(at, entry)]
        transactions = {entry.producer_id for _, entry in kept if isinstance(entry, LoggedRecord)}
        self.rows = [
            (at, one) for at, one in kept if at >= stable or isinstance(one, LoggedRecord) or one[0] in transactions
        ]

    def is_aborted(self, record: LoggedRecord) -> bool:
        return record.producer_id != -1 and outcome(self.rows, record) is False

    @invariant()
    def agree_with_the_log(self) -> None:
        for key in KEYS:
            assert state_of(self.log.offsets, key) == expected_offset(self.rows, key)
            committed = self.log.offsets.committed(key)
            below = [(at, entry) for at, entry in self.rows if at < self.high_watermark]
            assert (None if committed is None else committed.record_offset) == expected_offset(below, key)[0]
        for group in "gh":
            assert self.log.offsets.has_pending(group) == any(
                expected_offset(self.rows, key)[1] for key in KEYS if key.group == group
            )


TestCommittedOffsets = CommittedOffsets.TestCase
