"""Records of each kind of client in the log of a quiet cluster."""

from __future__ import annotations

from kmirror.histories.account import LogRow
from kmirror.histories.draw import draw
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step
from kmirror.histories.run import play
from kmirror.histories.verdict import Outcome
from kmirror.kernel.ids import TopicPartition

TP = TopicPartition("t", 0)
CONFIGS = {**draw(0).clusters[0].configs, "min.insync.replicas": "1", "transaction.state.log.min.isr": "1"}


def quiet(kind: str, *, pause_ms: int = 200, **options: int) -> Outcome:
    """Run one producer and a read_committed consumer for about fifteen seconds."""
    clients = (
        ClientPlan("p", kind, "a", ("t",), pause_ms, options),
        ClientPlan("c", "read_committed", "a", ("t",), 150),
    )
    nothing = Step(12_000, "turn", {"clients": "p", "cluster": "a"})
    clusters = (ClusterPlan("a", 1, 1, CONFIGS),)
    outcome = play(Plan(3, "test", clusters, {}, clients, (nothing,), 13_000, 20_000, {"t": "1@a"}))
    assert outcome.account.crash == "" and outcome.account.unsettled == []
    return outcome


def rows(outcome: Outcome) -> tuple[LogRow, ...]:
    return outcome.account.final_logs["a", TP].rows


def test_committed_records_are_read_once_and_no_others() -> None:
    for kind in ("plain", "idempotent", "short", "overlapping", "long", "abandoned", "fenced"):
        outcome = quiet(kind)
        read = [r.value for r in outcome.account.reads]
        assert read == [row.value for row in rows(outcome) if row.visible], kind
        assert len(read) > 10, kind
        assert set(read) <= set(outcome.account.writes), kind


def test_overlapping_transactions_leave_no_moment_without_one() -> None:
    open_now: dict[int, None] = {}
    gaps = ends = 0
    for row in rows(quiet("overlapping")):
        if row.value.startswith("<"):
            open_now.pop(row.producer_id)
            ends += 1
            gaps += not open_now
        else:
            open_now[row.producer_id] = None
    assert ends > 20
    assert gaps <= 1, "only the last one may end alone"


def test_abandoned_transactions_are_timed_out() -> None:
    outcome = quiet("abandoned", timeout_ms=1_500)
    left = [t for t in outcome.account.transactions.values() if not t.requested_end and t.values]
    assert len(left) >= 3
    values = {row.value: row for row in rows(outcome)}
    assert not any(values[value].visible for t in left for value in t.values)


def test_a_restart_with_the_same_id_fences_the_one_before() -> None:
    outcome = quiet("fenced")
    errors = {r.error for r in outcome.account.refusals}
    assert errors == {"INVALID_PRODUCER_EPOCH"}
    assert all(not r.first for r in outcome.account.refusals)


def test_long_transactions_take_seconds() -> None:
    outcome = quiet("long", timeout_ms=9_000)
    sent = {w.value: w.sent_at for w in outcome.account.writes.values()}
    spans = [sent[t.values[-1]] - sent[t.values[0]] for t in outcome.account.transactions.values() if t.values]
    assert max(spans) > 2_000_000
