"""Events and effects are values: equal if their fields are, usable as keys, matched by `match`."""

from __future__ import annotations

import dataclasses

from kmirror.kernel.events import CancelTimer, OutboundLink, Send, SetTimer, TimerFired
from kmirror.kernel.ids import Endpoint

LINK = OutboundLink(Endpoint("broker", 9092), "c")


def test_values_are_equal_by_their_fields_and_only_to_their_own_kind() -> None:
    assert SetTimer(("a",), 1) == SetTimer(("a",), 1) != SetTimer(("a",), 2)
    assert TimerFired(("a",)) != CancelTimer(("a",))
    assert {Send(LINK, (b"x",)): 1}[Send(OutboundLink(Endpoint("broker", 9092), "c"), (b"x",))] == 1


def test_values_have_no_other_fields_and_can_be_unpacked() -> None:
    effect = SetTimer(("a",), 1)
    assert not hasattr(effect, "__dict__")
    assert [field.name for field in dataclasses.fields(effect)] == ["key", "at"]
    match effect:
        case SetTimer(key, at):
            assert (key, at) == (("a",), 1)
