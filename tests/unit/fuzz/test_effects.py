"""Checks of responses with NONE: rows whose effect is rare in a small cluster, written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kmirror.fuzz.effects import EFFECTS, check_effect, missing_effect
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.create_mirror_response import CreateMirrorResponse
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.delete_groups_response import DeletableGroupResult, DeleteGroupsResponse
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.delete_mirror_response import DeleteMirrorResponse
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.gen.list_groups_response import ListedGroup, ListGroupsResponse
from kmirror.protocol.gen.list_mirrors_response import ListedMirror, ListMirrorsResponse
from kmirror.protocol.gen.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kmirror.protocol.gen.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kmirror.protocol.gen.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from kmirror.protocol.headers import encode_request, encode_response
from kmirror.protocol.message import Message


def frames(request: Message, response: Message, version: int = 0) -> tuple[bytes, bytes]:
    request_frame = encode_request(request, version, correlation_id=7, client_id="test")
    return request_frame, encode_response(response, version, correlation_id=7)


def mirrors(*names: str) -> ListMirrorsResponse:
    return ListMirrorsResponse(mirrors=[ListedMirror(mirror_name=name) for name in names])


def groups(*names: str) -> ListGroupsResponse:
    return ListGroupsResponse(groups=[ListedGroup(group_id=name) for name in names])


def committed(offset: int) -> OffsetFetchResponse:
    part = OffsetFetchResponsePartitions(partition_index=0, committed_offset=offset)
    topic = OffsetFetchResponseTopics(name="t", partitions=[part])
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="g", topics=[topic])])


DELETED = OffsetDeleteResponse(
    topics=[OffsetDeleteResponseTopic(name="t", partitions=[OffsetDeleteResponsePartition(partition_index=0)])]
)
DELETES = OffsetDeleteRequest(
    group_id="g",
    topics=[OffsetDeleteRequestTopic(name="t", partitions=[OffsetDeleteRequestPartition(partition_index=0)])],
)
ROWS: list[tuple[Message, Message, Message, Message]] = [
    (CreateMirrorRequest(mirror_name="m"), CreateMirrorResponse(), mirrors("m"), mirrors("n")),
    (DeleteMirrorRequest(mirror_name="m"), DeleteMirrorResponse(), mirrors("n"), mirrors("m")),
    (
        DeleteGroupsRequest(groups_names=["g"]),
        DeleteGroupsResponse(results=[DeletableGroupResult(group_id="g")]),
        groups("h"),
        groups("h", "g"),
    ),
    (DELETES, DELETED, committed(-1), committed(4)),
]
"""A request, its response, and a later response that shows the effect, and one that does not."""


def always(response: Message) -> Callable[[Message, int], Any]:
    return lambda body, version: response


@pytest.mark.parametrize(("request_", "response", "shown", "missing"), ROWS, ids=lambda body: type(body).__name__)
def test_effects_of_successful_responses_are_checked(
    request_: Message, response: Message, shown: Message, missing: Message
) -> None:
    request, response_frame = frames(request_, response)
    assert missing_effect(request, response_frame, always(shown)) == ""
    assert missing_effect(request, response_frame, always(missing))


def test_an_effect_may_be_visible_a_little_later() -> None:
    request, response = frames(*ROWS[0][:2])
    shown = [mirrors(), mirrors(), mirrors("m")]
    check_effect(request, response, lambda body, version: shown.pop(0), lambda: True)
    assert not shown
    with pytest.raises(Fault, match="CreateMirror is answered with NONE, and mirror m is not listed") as found:
        check_effect(request, response, always(mirrors()), lambda: False)
    assert found.value.kind is FaultKind.STATE


def test_failed_requests_need_no_effect() -> None:
    request, response = frames(CreateMirrorRequest(mirror_name="m"), CreateMirrorResponse(error_code=42))
    assert missing_effect(request, response, always(mirrors())) == ""


def test_an_api_without_a_row_is_not_checked() -> None:
    request, response = frames(HeartbeatRequest(), HeartbeatResponse())
    assert "Heartbeat" not in EFFECTS
    assert missing_effect(request, response, always(mirrors())) == ""
