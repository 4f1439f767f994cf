"""Strategies for record batches: all codecs, producers, transactions, markers, and the older message formats.

They generate bytes as in a log or a request; `kmirror.Batch` and `iter_any_batches` decode them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.control import end_txn_marker
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData

# Far from the ends of the range: base plus delta must not overflow.
TIMESTAMPS_MS = st.integers(min_value=-1, max_value=2**61)
# Null, short, and around the size at which the length takes a second byte.
CONTENTS = st.one_of(st.none(), st.binary(max_size=40), st.binary(min_size=120, max_size=140))
LEGACY_CODECS = tuple(codec for codec in Compression if codec is not Compression.ZSTD)

# The default alphabet, but by category: the default itself first tries all of Unicode in UTF-8, which is so slow that
# Hypothesis's health check fails on a busy machine.
_NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def records(
    *, timestamps_ms: st.SearchStrategy[int | None] | None = None, headers: bool = True
) -> st.SearchStrategy[RecordData]:
    """Return a strategy for records with any key, value, headers and timestamp; formats 0 and 1 have no `headers`."""
    return st.builds(
        RecordData,
        key=CONTENTS,
        value=CONTENTS,
        headers=st.lists(st.tuples(_NAMES, CONTENTS), max_size=4) if headers else st.just(()),
        timestamp=st.none() | TIMESTAMPS_MS if timestamps_ms is None else timestamps_ms,
        offset=st.none(),
    )


@st.composite
def batch_options(draw: st.DrawFn, *, codecs: Sequence[Compression] = tuple(Compression)) -> dict[str, Any]:
    """Draw consistent keyword arguments of `build_batch`: a producer has an id, an epoch and a sequence."""
    idempotent = draw(st.booleans())
    return {
        "base_offset": draw(st.integers(min_value=0, max_value=2**62)),
        "partition_leader_epoch": draw(st.integers(min_value=-1, max_value=2**31 - 1)),
        "compression": draw(st.sampled_from(codecs)),
        "producer_id": draw(st.integers(min_value=0, max_value=2**63 - 1)) if idempotent else -1,
        "producer_epoch": draw(st.integers(min_value=0, max_value=2**15 - 1)) if idempotent else -1,
        "base_sequence": draw(st.integers(min_value=0, max_value=2**31 - 1)) if idempotent else -1,
        "is_transactional": idempotent and draw(st.booleans()),
        "timestamp_type": draw(st.sampled_from([0, 1])),
        "timestamp_ms": draw(TIMESTAMPS_MS),
    }


@st.composite
def record_batches(
    draw: st.DrawFn, *, max_size: int = 8, codecs: Sequence[Compression] = tuple(Compression), control: bool = False
) -> bytes:
    """Draw a record batch of 1 to `max_size` records, with or without a producer and a transaction.

    With `control`, some are transaction markers.
    """
    options = draw(batch_options(codecs=codecs))
    if control and draw(st.integers(0, 3)) == 3:
        return end_txn_marker(
            base_offset=options["base_offset"],
            leader_epoch=options["partition_leader_epoch"],
            timestamp_ms=options["timestamp_ms"],
            producer_id=max(options["producer_id"], 0),
            producer_epoch=max(options["producer_epoch"], 0),
            commit=draw(st.booleans()),
            coordinator_epoch=draw(st.integers(0, 2**31 - 1)),
        )
    return build_batch(draw(st.lists(records(), min_size=1, max_size=max_size)), **options)


@st.composite
def message_sets(draw: st.DrawFn, *, magic: int | None = None, max_size: int = 4) -> bytes:
    """Draw messages of format `magic` (0, 1, or either if None): in a row, or compressed in one wrapper."""
    return build_message_set(
        draw(st.lists(records(headers=False, timestamps_ms=TIMESTAMPS_MS), min_size=1, max_size=max_size)),
        magic=draw(st.sampled_from([0, 1])) if magic is None else magic,
        base_offset=draw(st.integers(min_value=0, max_value=2**62)),
        compression=draw(st.sampled_from(LEGACY_CODECS)),
    )
