"""Events of the fetch loop: the meaning of a leader's response for a partition, or for all partitions of a fetcher."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from kmirror.client.fetch_session import PartitionFetch
from kmirror.client.remote_cluster import LeaderHint
from kmirror.protocol.gen.fetch_response import PartitionData
from kmirror.spec.error_codes import ErrorCode

P = TypeVar("P")


class Records(NamedTuple, Generic[P]):
    """The leader has records above the log end, or none; its offsets are in `data`."""

    state: P
    fetch: PartitionFetch
    data: PartitionData


class Diverged(NamedTuple, Generic[P]):
    """The leader ends our last epoch at another offset: the log must be cut."""

    state: P
    fetch: PartitionFetch
    data: PartitionData


class LogEndsEarlier(NamedTuple, Generic[P]):
    """The leader's log ends at `offset`, before ours: the log must be cut."""

    state: P
    fetch: PartitionFetch
    offset: int


class LogStartsLater(NamedTuple, Generic[P]):
    """The leader's log begins at `offset`, after our end: the log must begin there."""

    state: P
    fetch: PartitionFetch
    offset: int


class UnknownEpoch(NamedTuple, Generic[P]):
    """Our log end is in the leader's range, so the leader does not know our last epoch."""

    state: P
    fetch: PartitionFetch


class PartitionError(NamedTuple, Generic[P]):
    """The leader returned an error; the partition is paused afterwards."""

    state: P
    error: ErrorCode


class LeaderMoved(NamedTuple, Generic[P]):
    """The broker is not the leader, or no longer, and names another one; the partition is paused."""

    state: P
    hint: LeaderHint


class PartitionConfirmed(NamedTuple, Generic[P]):
    """A response names the partition, or fetches leave it out from now on.

    Up to `confirmed_at` of the fetcher, each response since the last one that named it confirmed that it had nothing
    new.
    """

    state: P


class ResponseMissed(NamedTuple):
    """A partition has missed a response of the session, which was dropped.

    It is no longer fetched here, or is fetched in another leader epoch; or it was removed and assigned again between
    two fetches, so that the leader has no reason to repeat its earlier response.
    """


class FetchFailed(NamedTuple):
    """There was no usable response; the next fetch follows after a pause, unless the owner sets `is_dead`."""


class NoOffset(NamedTuple):
    """ListOffsets returned no offset; the partition that needed it is paused afterwards."""


FetchEvent = (
    Records[P]
    | Diverged[P]
    | LogEndsEarlier[P]
    | LogStartsLater[P]
    | UnknownEpoch[P]
    | PartitionError[P]
    | LeaderMoved[P]
    | PartitionConfirmed[P]
    | ResponseMissed
    | FetchFailed
    | NoOffset
)
