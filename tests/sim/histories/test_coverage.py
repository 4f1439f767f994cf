"""Coverage counts events and changes nothing; its rows are complete, and marked rows are marked correctly."""

from __future__ import annotations

from kmirror.histories.coverage.codes import error_codes
from kmirror.histories.coverage.table import ROWS, lines, unlisted
from kmirror.histories.run import run_history
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kmirror.spec.error_codes import ErrorCode

SEED, PROFILE = 3, "smoke"


def test_counting_changes_nothing() -> None:
    plain, counted = run_history(seed=SEED, profile=PROFILE), run_history(seed=SEED, profile=PROFILE, coverage=True)
    assert counted.digest == plain.digest
    assert plain.coverage == {}
    assert counted.coverage["answered.Produce"] > 10
    assert counted.coverage["mirror-state.UNKNOWN-PREPARING"] >= 1
    assert unlisted(counted.coverage) == []


def test_every_row_is_explained() -> None:
    assert len(ROWS) > 500
    for row in ROWS.values():
        assert row.doc.endswith("."), row.name
        assert row.group != row.name, f"{row.name} has no group"


def test_error_codes_are_found_at_any_depth() -> None:
    body = ProduceResponse(
        responses=[
            TopicProduceResponse(
                partition_responses=[
                    PartitionProduceResponse(error_code=ErrorCode.NONE),
                    PartitionProduceResponse(error_code=ErrorCode.READ_ONLY_TOPIC),
                ]
            )
        ]
    )
    assert list(error_codes(body)) == [ErrorCode.READ_ONLY_TOPIC]


def test_the_table_has_reached_missed_and_unreachable_rows() -> None:
    told = "\n".join(lines({"isr.shrink": 2, "sent.Fetch.NO_SUCH": 1}, {"isr.shrink": 9, "sent.Fetch.NO_SUCH": 1}))
    assert "isr.shrink " in told.splitlines()[1] and told.splitlines()[1].endswith(" 9")
    assert "no row: sent.Fetch.NO_SUCH" in told
    assert "1 of " in told and ROWS["isr.grow"].doc in told
    assert ROWS["election.preferred"].unreachable in told
