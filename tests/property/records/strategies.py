"""Records and batches of every shape, for all property tests of this folder."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kmirror.records import Compression, RecordData, build_batch

INT64 = st.integers(min_value=-(2**63), max_value=2**63 - 1)
# Far from the ends of the range: a base and a delta must not wrap.
TIMESTAMPS = st.integers(min_value=-1, max_value=2**61)
SOME_BYTES = st.one_of(st.none(), st.binary(max_size=40), st.binary(min_size=120, max_size=140))
NAMES = st.text(max_size=12)
HEADERS = st.lists(st.tuples(NAMES, SOME_BYTES), max_size=4)
RECORDS = st.builds(
    RecordData,
    key=SOME_BYTES,
    value=SOME_BYTES,
    headers=HEADERS,
    timestamp=st.one_of(st.none(), TIMESTAMPS),
    offset=st.none(),
)
CODECS = st.sampled_from(list(Compression))


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    """Return keyword arguments of `build_batch` that belong together."""
    idempotent = draw(st.booleans())
    return {
        "base_offset": draw(st.integers(min_value=0, max_value=2**62)),
        "partition_leader_epoch": draw(st.integers(min_value=-1, max_value=2**31 - 1)),
        "compression": draw(CODECS),
        "producer_id": draw(st.integers(min_value=0, max_value=2**63 - 1)) if idempotent else -1,
        "producer_epoch": draw(st.integers(min_value=0, max_value=2**15 - 1)) if idempotent else -1,
        "base_sequence": draw(st.integers(min_value=0, max_value=2**31 - 1)) if idempotent else -1,
        "is_transactional": idempotent and draw(st.booleans()),
        "timestamp_type": draw(st.sampled_from([0, 1])),
        "timestamp_ms": draw(TIMESTAMPS),
    }


@st.composite
def batches(draw: st.DrawFn, *, max_size: int = 8) -> bytes:
    return build_batch(draw(st.lists(RECORDS, min_size=1, max_size=max_size)), **draw(options()))
