"""Which log counts as its source's throughout (D68)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.lineage import Stretch, Stretches, copied_in, written_by, written_on
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_lineage import LineageCheck

OF_A = written_by("a")


@pytest.mark.decision("D68")
@pytest.mark.parametrize(
    ("ours", "source", "expected"),
    [
        (OF_A, OF_A, True),
        (written_on(OF_A, 2, "b"), OF_A, False),
        (OF_A, written_on(OF_A, 2, "c"), False),
        (OF_A, copied_in(OF_A, 3, "a"), False),
        ((Stretch(-4, "a"), *OF_A), copied_in(OF_A, 3, "a"), True),
        (copied_in(OF_A, 3, "b"), OF_A, True),
    ],
    ids=["the source's", "ours since", "another's since", "copied again since", "of that copy", "copied again here"],
)
def test_a_log_is_its_sources_if_the_same_clusters_wrote_both_in_one_copy(
    ours: Stretches, source: Stretches, expected: bool
) -> None:
    context = SimpleNamespace(broker=SimpleNamespace(cluster_id="b"), writers_of=lambda tp: ours)
    mp = SimpleNamespace(tp=TopicPartition("t", 0), source_lineage=source)
    check = LineageCheck(cast(MirrorContext, context), *[cast("object", None)] * 4)  # type: ignore[arg-type]
    assert check.is_the_sources(cast(MirrorPartition, mp)) is expected
