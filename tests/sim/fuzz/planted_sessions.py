"""Faults planted in kmirror's coordinators and logs, one function each, for sessions to find."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple
from unittest.mock import patch

from kmirror.cluster.coordinators.groups.classic import kind, requests
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup, Member, Members
from kmirror.cluster.coordinators.groups.classic.group_states import HEARTBEAT_ERRORS
from kmirror.cluster.coordinators.transactions import transitions
from kmirror.cluster.coordinators.transactions.apis import add_partitions_to_txn, end_txn
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.log import producers
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.spec.error_codes import ErrorCode

Patch = AbstractContextManager[object]


class Planted(NamedTuple):
    """A fault, and the machine that finds it."""

    machine: str
    plant: Callable[[], Patch]

    @property
    def name(self) -> str:
        return self.plant.__name__.replace("_", " ")


# -- groups -------------------------------------------------------------------------------------


def generation_of_heartbeat_unchecked() -> Patch:
    """A Heartbeat of any generation counts as one of the current generation."""

    def heartbeat(group: ClassicGroup, request: HeartbeatRequest) -> ErrorCode:
        error = group.members.error(request.member_id, request.group_instance_id)
        return error or HEARTBEAT_ERRORS[group.state]

    return patch.object(requests, "heartbeat", heartbeat)


def old_generation_commits() -> Patch:
    """A member of an earlier generation commits offsets."""
    commit_error = ClassicGroup.commit_error

    def accept_generation(
        self: ClassicGroup, member_id: str, instance: str | None, generation: int, *, in_transaction: bool
    ) -> ErrorCode:
        error = commit_error(self, member_id, instance, generation, in_transaction=in_transaction)
        return ErrorCode.NONE if error is ErrorCode.ILLEGAL_GENERATION else error

    return patch.object(ClassicGroup, "commit_error", accept_generation)


def rebalance_forgets_a_member() -> Patch:
    """One of two members that have joined is missing in the list for the leader."""
    join_response = ClassicGroup.join_response

    def omit_later_members(self: ClassicGroup, member: Member, **options: Any) -> Any:
        response = join_response(self, member, **options)
        response.members = response.members[:1]
        return response

    return patch.object(ClassicGroup, "join_response", omit_later_members)


def rebalance_ends_too_early() -> Patch:
    """A rebalance ends with the first that joins, although a member has yet to join with its member id."""
    all_have_joined = property(lambda self: self.members.awaiting_join == len(self.members) or self.pending_joins)
    return patch.object(ClassicGroup, "all_have_joined", all_have_joined)


def join_has_no_response() -> Patch:
    """Members other than the leader never get the response to their JoinGroup."""
    respond_to_join = ClassicGroup.respond_to_join

    def respond_to_leader(self: ClassicGroup, member: Member, body: Any) -> None:
        if body.error_code or member.member_id == self.leader:
            respond_to_join(self, member, body)

    return patch.object(ClassicGroup, "respond_to_join", respond_to_leader)


def static_member_is_not_fenced() -> Patch:
    """The former owner of an instance id gets the error for unknown instead of fenced members."""
    member_error = Members.error

    def replace_fenced(self: Members, member_id: str, instance: str | None) -> ErrorCode:
        error = member_error(self, member_id, instance)
        return ErrorCode.UNKNOWN_MEMBER_ID if error is ErrorCode.FENCED_INSTANCE_ID else error

    return patch.object(Members, "error", replace_fenced)


def member_id_is_not_required() -> Patch:
    """A new member joins immediately, in versions that require a second request."""
    return patch.object(requests, "MEMBER_ID_REQUIRED_FROM", 99)


def another_members_assignment() -> Patch:
    """Each member gets the assignment of the first."""
    respond = ClassicGroup.sync_response
    return patch.object(
        ClassicGroup, "sync_response", lambda self, member: respond(self, next(iter(self.members.values())))
    )


def sessions_never_end() -> Patch:
    """A silent member stays for ever."""
    return patch.object(kind, "_on_session_end", lambda group, now_ms, member_id: None)


def deleted_although_it_has_members() -> Patch:
    """A group with members is deleted."""
    return patch.object(ClassicGroup, "delete_error", lambda self: ErrorCode.NONE)


# -- transactions -------------------------------------------------------------------------------


def epoch_is_not_fenced() -> Patch:
    """The coordinator checks only the producer id."""
    producer_error = add_partitions_to_txn.producer_error

    def check_producer_id(known: Any, producer_id: int, epoch: int, version: int) -> ErrorCode:
        return producer_error(known, producer_id, epoch if known is None else known.producer_epoch, version)

    return patch.object(add_partitions_to_txn, "producer_error", check_producer_id)


def sequence_is_not_checked() -> Patch:
    """Batches may be missing before the next one."""
    return patch.object(producers, "_check_sequence", lambda update, batch: None)


def aborted_is_committed() -> Patch:
    """Every transaction is committed."""
    prepare = transitions.prepare

    def prepare_commit(known: Any, *, commit: bool, **rest: Any) -> Any:
        return prepare(known, commit=True, **rest)

    return patch.object(transitions, "prepare", prepare_commit)


def repeated_end_is_fenced() -> Patch:
    """A client that repeats a request for the same end, as it has no response yet, is fenced."""
    check_with_bumps = end_txn._check_with_bumps

    def fence_repeated(known: Any, request: Any) -> Any:
        return (
            check_with_bumps(known, request)
            if known.producer_epoch == request.producer_epoch
            else ErrorCode.PRODUCER_FENCED
        )

    return patch.object(end_txn, "_check_with_bumps", fence_repeated)


def ongoing_transaction_is_not_aborted() -> Patch:
    """InitProducerId responds that a transaction is ending, but does not end it."""
    return patch.object(TransactionCoordinator, "abort_and_fence", lambda self, now, transaction: None)


PLANTED = (
    *(
        Planted("groups", plant)
        for plant in (
            generation_of_heartbeat_unchecked,
            old_generation_commits,
            rebalance_forgets_a_member,
            rebalance_ends_too_early,
            join_has_no_response,
            static_member_is_not_fenced,
            member_id_is_not_required,
            another_members_assignment,
            sessions_never_end,
            deleted_although_it_has_members,
        )
    ),
    *(
        Planted("transactions", plant)
        for plant in (
            epoch_is_not_fenced,
            sequence_is_not_checked,
            aborted_is_committed,
            repeated_end_is_fenced,
            ongoing_transaction_is_not_aborted,
        )
    ),
)
