"""Hooks that change a response after the broker has acted; and the requests to which a hook applies."""

from __future__ import annotations

import pytest

from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.spec.error_codes import ErrorCode
from tests.sim.hooks.test_hooks import Stage, X, codes, produce, stage

__all__ = ["stage"]


@pytest.mark.parametrize("refused", [False, True])
def test_a_delayed_response_does_not_delay_the_brokers_action(stage: Stage, refused: bool) -> None:
    """A hook's own response waits too."""
    stage.hooks.on(ProduceRequest, times=1).delay(300, applied=True)
    held = stage.hooks.on(ProduceRequest, times=1).hold(applied=True)
    if refused:
        stage.hooks.on(ProduceRequest, times=1).apply_then(X)
    first, second = stage.wire.send(produce(), 9), stage.wire.send(produce(), 9)
    stage.wire.run(200)
    assert stage.end() == 1 and stage.wire.order == [] and held.requests == []
    stage.wire.run(200)
    assert len(held.requests) == 1 and stage.wire.order == []
    held.release()
    stage.wire.run(20)
    assert stage.wire.order == [first, second] and stage.end() == 2
    assert codes(stage.wire.responses[first]) == {3: X if refused else ErrorCode.NONE}


def test_a_slow_link_is_slow_in_both_directions(stage: Stage) -> None:
    stage.hooks.on(ProduceRequest, times=1).slow(1000)
    stage.wire.send(produce(), 9)
    stage.wire.run(1)
    elapsed_ms = 0
    while not stage.end():
        stage.wire.run(1)
        elapsed_ms += 1
    assert 90 <= elapsed_ms <= 250, "a request of some hundred bytes"
    assert stage.wire.order == []
    stage.wire.run(100)
    assert len(stage.wire.order) == 1


@pytest.mark.parametrize(("version", "throttle_ms"), [(1, 0), (9, 700)])
def test_a_client_gets_the_throttle_time_if_the_version_has_it(stage: Stage, version: int, throttle_ms: int) -> None:
    stage.hooks.on(MetadataRequest).throttle(500)
    stage.hooks.on(MetadataRequest).throttle(700)
    response = stage.wire.ask(MetadataRequest(topics=[]), version)
    assert isinstance(response, MetadataResponse) and response.throttle_time_ms == throttle_ms


def test_of_those_that_match_the_nth_and_then_each_so_manieth(stage: Stage) -> None:
    hook = stage.hooks.on(ProduceRequest, topic="orders", client_id="test", versions=(9, 9), nth=2, every=3).answer(X)
    for version in (9, 8, 9, 9, 9, 9, 9):
        stage.wire.ask(produce(), version)
    assert (hook.seen, hook.count) == (6, 2) and stage.end() == 5
