"""Events of the fetch loop: what a leader's answers mean for a partition, or for all partitions of a fetcher."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from kmirror.client.fetch_session import Wanted
from kmirror.client.remote_cluster import LeaderHint
from kmirror.protocol.gen.fetch_response import PartitionData
from kmirror.spec.error_codes import ErrorCode

P = TypeVar("P")


class Records(NamedTuple, Generic[P]):
    """The leader has records above the log end, or none; its offsets are in `data`."""

    state: P
    asked: Wanted
    data: PartitionData


class Diverged(NamedTuple, Generic[P]):
    """The leader ends our last epoch at another offset: the log has to be cut."""

    state: P
    asked: Wanted
    data: PartitionData


class Shorter(NamedTuple, Generic[P]):
    """The leader's log ends at `offset`, before ours: the log has to be cut."""

    state: P
    asked: Wanted
    offset: int


class LaterStart(NamedTuple, Generic[P]):
    """The leader's log begins at `offset`, after our end: the log has to begin there."""

    state: P
    asked: Wanted
    offset: int


class UnknownEpoch(NamedTuple, Generic[P]):
    """Our log end is in the leader's range, so that it must be our last epoch which the leader does not know."""

    state: P
    asked: Wanted


class Refused(NamedTuple, Generic[P]):
    """The leader answers an error; the partition is paused afterwards."""

    state: P
    error: ErrorCode


class Moved(NamedTuple, Generic[P]):
    """The broker is not the leader, or not any more, and names another one; the partition is paused."""

    state: P
    hint: LeaderHint


class Named(NamedTuple, Generic[P]):
    """An answer names the partition, or fetches leave it out from now on.

    Up to `confirmed_at` of the fetcher, each answer after the last one that named it said that it had nothing new.
    """

    state: P


class Unheard(NamedTuple):
    """A partition has missed an answer of the session, which was dropped.

    It is not fetched here any more, or in another leader epoch; or it was removed and assigned again between two
    fetches, so that the leader has no reason to repeat what it answered before.
    """


class Lost(NamedTuple):
    """There was no usable answer; the leader is asked again after a pause, unless the owner sets `is_dead`."""


class NoOffset(NamedTuple):
    """ListOffsets got no offset; the partition that wanted it is paused afterwards."""


FetchEvent = (
    Records[P]
    | Diverged[P]
    | Shorter[P]
    | LaterStart[P]
    | UnknownEpoch[P]
    | Refused[P]
    | Moved[P]
    | Named[P]
    | Unheard
    | Lost
    | NoOffset
)
