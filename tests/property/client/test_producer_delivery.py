"""For any loss, delay, refusal or lost state: an acknowledged batch is in the log exactly once and in order."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from kmirror.client.producer import EPOCH_MAX, ProducerConfigs
from kmirror.spec.error_codes import ErrorCode
from tests.unit.client.leader_model import Site
from tests.unit.client.script import OTHER, TP

STEPS: dict[str, Callable[[Site], object]] = {
    "send": lambda site: site.send(TP),
    "send two records": lambda site: site.send(TP, records=2),
    "send to the other": lambda site: site.send(OTHER),
    "one serves": lambda site: site.serve(1),
    "two serves": lambda site: site.serve(2),
    "one answers": lambda site: site.answer(1),
    "two answers": lambda site: site.answer(2),
    "one refuses": lambda site: site.serve(1, ErrorCode.MESSAGE_TOO_LARGE),
    "two refuses": lambda site: site.serve(2, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    "one is short of replicas": lambda site: site.serve(1, ErrorCode.NOT_ENOUGH_REPLICAS),
    "one loses replicas": lambda site: site.serve(1, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, written=True),
    "two is too late": lambda site: site.serve(2, ErrorCode.REQUEST_TIMED_OUT, written=True),
    "the link to one breaks": lambda site: site.break_link(1),
    "the link to two breaks": lambda site: site.break_link(2),
    "time passes": lambda site: site.wait(),
    "the leader moves": lambda site: site.move(TP, lose=False),
    "the leader moves and loses": lambda site: site.move(TP, lose=True),
    "the leader forgets": lambda site: site.forget(TP),
    "the other's leader moves": lambda site: site.move(OTHER, lose=True),
}
COMMON = ["send", "one serves", "one answers", "one refuses", "the link to one breaks"]
"""Steps that most histories need; they are drawn as often as all the others together."""
HISTORIES = st.lists(st.sampled_from(COMMON) | st.sampled_from(sorted(STEPS)), min_size=4, max_size=40)


@settings(max_examples=400)
@given(steps=HISTORIES, epoch=st.sampled_from([0, EPOCH_MAX]), delivery_timeout_ms=st.sampled_from([400, 120_000]))
def test_acknowledged_batches_are_in_the_log_once_and_in_order(
    steps: list[str], epoch: int, delivery_timeout_ms: int
) -> None:
    site = Site(ProducerConfigs(delivery_timeout_ms=delivery_timeout_ms), epoch=epoch)
    for step in steps:
        STEPS[step](site)
    site.settle()
    site.check()
