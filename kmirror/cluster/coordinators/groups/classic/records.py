"""The record of a classic group: its members at the last assignment."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.coordinators.groups.classic.group import NO_TIME, ClassicGroup, Member
from kmirror.cluster.coordinators.groups.classic.group_states import GroupState
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.protocol.gen.group_metadata_key import GroupMetadataKey
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue, MemberMetadata
from kmirror.protocol.keyed_records import encode_key, encode_value

VALUE_VERSION = 3
"""The version in which Kafka 4.3.1 writes GroupMetadataValue."""


def metadata_record(group_id: str, value: GroupMetadataValue | None) -> KeyValue:
    """Return the record of a group, or its tombstone."""
    key = encode_key(GroupMetadataKey(group=group_id))
    return key, None if value is None else encode_value(value, VALUE_VERSION)


def record_of(group: ClassicGroup, assignments: Mapping[str, bytes]) -> KeyValue:
    """Return the record of the group with these assignments of its members."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        current_state_timestamp=group.state_since_ms,
        members=[
            MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.protocols[group.protocol or ""],
                assignment=assignments.get(member.member_id, b""),
            )
            for member in group.members.in_order()
        ],
    )
    return metadata_record(group.group_id, value)


def group_of(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """Return the group in a record: STABLE if it has members, and without waiting requests."""
    group = ClassicGroup(group_id, value.current_state_timestamp)
    group.state = GroupState.STABLE if value.members else GroupState.EMPTY
    group.generation = value.generation
    group.protocol_type = value.protocol_type or None
    group.protocol, group.leader = value.protocol, value.leader
    for row in value.members:
        group.add(
            Member(
                row.member_id,
                row.group_instance_id,
                row.client_id,
                row.client_host,
                row.session_timeout if row.rebalance_timeout == NO_TIME else row.rebalance_timeout,
                row.session_timeout,
                value.protocol_type,
                {value.protocol or "": bytes(row.subscription)},
                bytes(row.assignment),
            )
        )
    if group.leader not in group.members:  # Kafka writes no such record.
        group.leader = next((member.member_id for member in group.members.in_order()), None)
    group.update_subscriptions()
    return group
