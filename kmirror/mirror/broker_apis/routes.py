"""Handlers of a broker for requests about mirrors; requests that only the controller decides are forwarded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kmirror.cluster.broker.forwarding import forward
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.mirror.broker_apis import (
    add_topics_to_mirror,
    delete_mirror,
    describe_mirrors,
    list_mirrors,
    read_mirror_states,
    write_mirror_states,
)
from kmirror.mirror.context import MirrorContext
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.pause_mirror_topics_request import PauseMirrorTopicsRequest
from kmirror.protocol.gen.read_mirror_states_request import ReadMirrorStatesRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.resume_mirror_topics_request import ResumeMirrorTopicsRequest
from kmirror.protocol.gen.write_mirror_states_request import WriteMirrorStatesRequest
from kmirror.protocol.message import Message


def _forward(context: MirrorContext, now: Instant, inbound: Inbound[Message]) -> None:
    forward(context.broker, now, inbound)


ROUTES: Mapping[type[Message], Callable[[MirrorContext, Instant, Inbound[Any]], None]] = {
    CreateMirrorRequest: _forward,
    AddTopicsToMirrorRequest: add_topics_to_mirror.handle,
    RemoveTopicsFromMirrorRequest: _forward,
    PauseMirrorTopicsRequest: _forward,
    ResumeMirrorTopicsRequest: _forward,
    DeleteMirrorRequest: delete_mirror.handle,
    BumpLeaderEpochsRequest: _forward,
    ListMirrorsRequest: list_mirrors.handle,
    DescribeMirrorsRequest: describe_mirrors.handle,
    ReadMirrorStatesRequest: read_mirror_states.handle,
    WriteMirrorStatesRequest: write_mirror_states.handle,
}
