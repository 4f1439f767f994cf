"""JoinGroup, versions 0-9: join a group, or join again when it rebalances.

The response is sent when the join phase ends: it has the generation, and for the leader all members with their
metadata.
"""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.apis.prelude import denied
from kmirror.cluster.coordinators.groups.classic import requests
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup, Limits
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.effects import Waiter
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.java import address
from kmirror.protocol.gen.join_group_request import JoinGroupRequest
from kmirror.protocol.gen.join_group_response import JoinGroupResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

NULL_PROTOCOL_FROM = 7
"""First version with null for a missing protocol; earlier versions use the empty string."""


def handle(coordinator: GroupCoordinator, now: Instant, inbound: Inbound[JoinGroupRequest]) -> None:
    """Respond when the generation is known, or with an error; without a member id, create the group if needed."""
    request, configs = inbound.body, coordinator.context.configs

    @inbound.guard
    def respond(body: Message) -> None:
        assert isinstance(body, JoinGroupResponse)
        body.protocol_name = body.protocol_name or (None if inbound.version >= NULL_PROTOCOL_FROM else "")
        inbound.reply(body)

    timeout_min, timeout_max = (
        configs.integer("group.min.session.timeout.ms"),
        configs.integer("group.max.session.timeout.ms"),
    )
    error, member_id = denied(inbound, request.group_id), ""
    if not error and not request.group_id:
        error, member_id = ErrorCode.INVALID_GROUP_ID, request.member_id
    elif not error and not timeout_min <= request.session_timeout_ms <= timeout_max:
        error, member_id = ErrorCode.INVALID_SESSION_TIMEOUT, request.member_id
    group = error or coordinator.live_group(now, request.group_id)
    if isinstance(group, ErrorCode):
        respond(JoinGroupResponse(error_code=group, member_id=member_id))
        return
    if inbound.version == 0:  # Version 0 has no rebalance timeout.
        request.rebalance_timeout_ms = request.session_timeout_ms
    join = _join(coordinator, inbound, respond)
    if group is None and not request.member_id:
        group = ClassicGroup(request.group_id, to_ms(now))
        group.limits, group.is_new = Limits.from_configs(configs), True
        coordinator.add(group)
    if isinstance(group, ClassicGroup):
        requests.join(group, to_ms(now), join)
        coordinator.perform(now, group)
    else:
        error = ErrorCode.UNKNOWN_MEMBER_ID if group is None else ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        respond(JoinGroupResponse(error_code=error, member_id=request.member_id))


def _join(coordinator: GroupCoordinator, inbound: Inbound[JoinGroupRequest], respond: Waiter) -> requests.Join:
    request = inbound.body
    client_id = inbound.head.client_id or ""
    name = client_id if request.group_instance_id is None else request.group_instance_id
    member_id = f"{name}-{random_uuid(coordinator.rng.octets(16))}"
    host = address(inbound.client.address.host)
    return requests.Join(request, client_id, host, inbound.version, member_id, respond)


def random_uuid(octets: bytes) -> str:
    """Return the text of a random UUID (RFC 4122, version 4) made of 16 random bytes."""
    raw = bytearray(octets)
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
