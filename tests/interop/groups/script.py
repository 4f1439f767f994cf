"""Requests of members of classic groups, and of administrators of groups: one conversation after the other.

The broker has `group.initial.rebalance.delay.ms` 0, `group.min.session.timeout.ms` 500 and `group.max.size` 3.
"""

from __future__ import annotations

from typing import Any

from kmirror.protocol.gen.consumer_protocol_subscription import ConsumerProtocolSubscription
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.group_metadata_key import GroupMetadataKey
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kmirror.protocol.gen.leave_group_request import LeaveGroupRequest, MemberIdentity
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.protocol.gen.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kmirror.protocol.json_form import to_json
from kmirror.protocol.keyed_records import decode_record
from kmirror.records.legacy import iter_any_batches
from tests.interop.groups.talk import Talk

CONFIGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "500",
    "group.max.size": "3",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
}
SESSION_MS = 20_000
SYNC, BEAT, LEAVE = 5, 4, 5
"""Versions used where the version does not matter."""


def subscription(user_data: bytes) -> bytes:
    """Return a consumer's subscription; with invalid bytes Kafka's rebalance never ends."""
    return b"\0\0" + ConsumerProtocolSubscription(topics=["orders"], user_data=user_data).encode(0)


class Member:
    """One client of a group, on its own link."""

    def __init__(self, talk: Talk, link: str, group: str, **options: Any) -> None:
        self.talk, self.link, self.group = talk, link, group
        self.version: int = options.get("version", 9)
        self.instance: str | None = options.get("instance")
        self.type: str = options.get("type", "consumer")
        self.protocols: tuple[str, ...] = options.get("protocols", ("range",))
        self.session_ms: int = options.get("session_ms", SESSION_MS)
        self.rebalance_ms: int = options.get("rebalance_ms", SESSION_MS)
        self.member_id = ""
        self.generation = -1
        self.joined: Any = None

    def send_join(self, label: str, *, metadata: bytes = b"m") -> None:
        self.talk.send(self.link, label, self._request(metadata), self.version)

    def _request(self, metadata: bytes) -> JoinGroupRequest:
        protocols = [
            JoinGroupRequestProtocol(name=name, metadata=subscription(metadata + name.encode()))
            for name in self.protocols
        ]
        return JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=self.rebalance_ms,
            member_id=self.member_id,
            group_instance_id=self.instance,
            protocol_type=self.type,
            protocols=protocols,
        )

    def take_join(self) -> Any:
        return self._has_joined(self.talk.receive(self.link))

    def _has_joined(self, answer: Any) -> Any:
        self.joined = answer
        if answer.error_code in (0, 79):
            self.member_id, self.generation = answer.member_id, answer.generation_id
        return answer

    def join(self, label: str, *, metadata: bytes = b"m") -> Any:
        """Join and wait for the response; a client that must join again with a member id does so."""
        if self._ask_to_join(label, metadata).error_code == 79:
            self._ask_to_join(label, metadata)
        return self.joined

    def _ask_to_join(self, label: str, metadata: bytes) -> Any:
        return self._has_joined(self.talk.ask(self.link, label, self._request(metadata), self.version))

    def begin_join(self, label: str) -> None:
        """Get a member id if one is required, and send the join that waits."""
        if not self.member_id and self.instance is None and self.version >= 4:
            self._ask_to_join(label, b"m")
        self.send_join(label)

    def send_sync(self, label: str, *others: Member, version: int = SYNC, **wrong: Any) -> None:
        self.talk.send(self.link, label, self._assignments(others, wrong), version)

    def sync(self, label: str, *others: Member, version: int = SYNC, **wrong: Any) -> Any:
        return self.talk.ask(self.link, label, self._assignments(others, wrong), version)

    def _assignments(self, others: tuple[Member, ...], wrong: dict[str, Any]) -> SyncGroupRequest:
        rows = [
            SyncGroupRequestAssignment(member_id=one.member_id, assignment=one.link.encode()) for one in (self, *others)
        ]
        leads = self.joined is not None and self.joined.leader == self.member_id
        fields: dict[str, Any] = {
            "group_id": self.group,
            "generation_id": self.generation,
            "member_id": self.member_id,
            "group_instance_id": self.instance,
            "protocol_type": self.type,
            "protocol_name": getattr(self.joined, "protocol_name", None) or "range",
            "assignments": rows if leads and not getattr(self.joined, "skip_assignment", False) else [],
        }
        return SyncGroupRequest(**{**fields, **wrong})

    def beat(self, label: str, version: int = BEAT, **wrong: Any) -> Any:
        fields: dict[str, Any] = {
            "group_id": self.group,
            "generation_id": self.generation,
            "member_id": self.member_id,
            "group_instance_id": self.instance if version >= 3 else None,
        }
        return self.talk.ask(f"{self.link} beats", label, HeartbeatRequest(**{**fields, **wrong}), version)

    def leave(self, label: str, version: int = LEAVE, **wrong: Any) -> Any:
        fields: dict[str, Any] = {"group_id": self.group}
        if version >= 3:
            who = {"member_id": self.member_id, "group_instance_id": self.instance, **wrong}
            fields["members"] = [MemberIdentity(**who)]
        else:
            fields["member_id"] = wrong.get("member_id", self.member_id)
        return self.talk.ask(f"{self.link} beats", label, LeaveGroupRequest(**fields), version)


def describe(talk: Talk, label: str, *groups: str, version: int = 6, operations: bool = False) -> Any:
    request = DescribeGroupsRequest(groups=list(groups), include_authorized_operations=operations)
    return talk.ask("admin", label, request, version)


def wait_for_write(talk: Talk) -> None:
    """Let a new group be written to the log: its first member is answered before that, and described only after."""
    talk.peer.wait(0.1)


def delete(talk: Talk, label: str, *groups: str, version: int = 2) -> Any:
    return talk.ask("admin", label, DeleteGroupsRequest(groups_names=list(groups)), version)


def find(talk: Talk) -> None:
    """Look for coordinators in every version."""
    for version in range(7):
        keys: dict[str, Any] = {"coordinator_keys": ["g", "h"]} if version >= 4 else {"key": "g"}
        request = FindCoordinatorRequest(key_type=0, **keys)
        talk.ask("admin", "find", request, version)


def full_lifecycle(talk: Talk, version: int, others: dict[str, int]) -> None:
    """One member, a second one, both leave, the group is deleted; in one version of JoinGroup."""
    group = f"life-{version}"
    one, two = (Member(talk, name, group, version=version) for name in ("one", "two"))
    describe(talk, "not yet", group, version=others["describe"])
    one.join("first")
    wait_for_write(talk)
    describe(talk, "completing", group, version=others["describe"])
    one.sync("first", version=others["sync"])
    one.beat("first", others["beat"])
    describe(talk, "stable", group, version=others["describe"], operations=others["describe"] >= 3)
    two.begin_join("second")
    talk.waits("two", "second")
    one.beat("rebalancing", others["beat"])
    one.sync("rebalancing", version=others["sync"])
    describe(talk, "preparing", group, version=others["describe"])
    one.send_join("again")
    one.take_join()
    two.take_join()
    two.send_sync("second", version=others["sync"])
    talk.waits("two", "second sync")
    two.beat("completing", others["beat"])
    one.sync("second", two, version=others["sync"])
    talk.receive("two")
    two.sync("once more", version=others["sync"])
    two.join("nothing new")
    describe(talk, "two", group, version=others["describe"])
    delete(talk, "not empty", group, version=others["delete"])
    two.leave("leaves", others["leave"])
    two.leave("has left", others["leave"])
    one.beat("one left", others["beat"])
    one.join("alone")
    one.sync("alone", version=others["sync"])
    one.leave("leaves", others["leave"])
    describe(talk, "empty", group, version=others["describe"])
    one.beat("gone", others["beat"])
    one.sync("gone", version=others["sync"])
    one.join("gone")
    delete(talk, "empty", group, "no-such-group", version=others["delete"])
    describe(talk, "deleted", group, version=others["describe"])
    one.leave("deleted", others["leave"])


def refusals(talk: Talk) -> None:
    """Invalid requests, each for one reason."""
    for version in (0, 1, 2, 3, 4, 6, 7, 9):
        Member(talk, "one", "", version=version).join("no group")
        Member(talk, "one", "r", version=version, session_ms=499).join("short session")
        Member(talk, "one", "r", version=version, session_ms=1_800_001).join("long session")
        stranger = Member(talk, "one", "r", version=version)
        stranger.member_id = "nobody"
        stranger.join("no such group")
        Member(talk, "one", f"without-{version}", version=version, protocols=()).join("no protocols")
        wait_for_write(talk)
        describe(talk, "refused", f"without-{version}")
    member = Member(talk, "one", "refusals", protocols=("range", "sticky"))
    member.join("refusals")
    for version in (0, 2, 3, 4, 5):
        group_instance = {"group_instance_id": "i"} if version >= 3 else {}
        member.sync("wrong generation", version=version, generation_id=7)
        member.sync("wrong member", version=version, member_id="nobody")
        member.sync("wrong group", version=version, group_id="none")
        member.sync("no group", version=version, group_id="")
        member.sync("unknown instance", version=version, **group_instance)
    member.sync("wrong type", protocol_type="connect")
    member.sync("wrong protocol", protocol_name="sticky")
    member.sync("no type", protocol_type=None)
    member.sync("no protocol", protocol_name=None)
    for version in range(5):
        member.beat("wrong generation", version, generation_id=7)
        member.beat("wrong member", version, member_id="nobody")
        member.beat("wrong group", version, group_id="none")
        member.beat("no group", version, group_id="")
    member.sync("at last")
    for version in range(6):
        member.leave("nobody", version, member_id="nobody")
    member.leave("unknown instance", member_id="", group_instance_id="i")
    member.leave("neither", member_id="", group_instance_id=None)
    member.leave("wrong instance", group_instance_id="i")
    Member(talk, "two", "refusals", protocols=("other",)).join("other protocols")
    describe(talk, "no such group", "none", "")
    for version in range(3):
        delete(talk, "no such group", "none", "refusals", "", version=version)


def static_members(talk: Talk) -> None:
    """Members with instance ids, which return (KIP-345, KIP-814)."""
    for version in (5, 7, 8, 9):
        group = f"static-{version}"
        one = Member(talk, "one", group, version=version, instance="first")
        two = Member(talk, "two", group, version=version, instance="second")
        one.join("static")
        one.sync("static")
        two.begin_join("static")
        one.send_join("static")
        one.take_join()
        two.take_join()
        one.send_sync("static", two)
        two.send_sync("static")
        talk.receive("one")
        talk.receive("two")
        again = Member(talk, "two again", group, version=version, instance="second")
        again.join("follower is back")
        two.beat("fenced")
        two.sync("fenced")
        two.leave("fenced")
        two.join("fenced")
        again.sync("follower is back")
        one.beat("unmoved")
        describe(talk, "follower is back", group)
        leader = Member(talk, "one again", group, version=version, instance="first")
        leader.join("leader is back")
        leader.sync("leader is back", again)
        describe(talk, "leader is back", group)
        other = Member(talk, "three", group, version=version, instance="second", protocols=("range", "sticky"))
        other.join("with more protocols")
        other.sync("with more protocols")
        leader.leave("by its name", member_id="")
        describe(talk, "one is left", group)
        other.leave("by its name", member_id="")
        describe(talk, "none is left", group)


def static_while_completing(talk: Talk) -> None:
    """A static member that returns before the assignment is made: the generation is abandoned."""
    one = Member(talk, "one", "static-completing", instance="first")
    two = Member(talk, "two", "static-completing", instance="second")
    one.join("first")
    one.sync("first")
    two.begin_join("second")
    one.send_join("second")
    one.take_join()
    two.take_join()
    two.send_sync("parked")
    talk.waits("two", "parked")
    again = Member(talk, "two again", "static-completing", instance="second")
    again.begin_join("back")
    talk.receive("two")
    one.sync("too late", two)
    one.send_join("back")
    one.take_join()
    again.take_join()
    again.send_sync("back")
    one.sync("back", again)
    talk.receive("two again")
    describe(talk, "back", "static-completing")


def votes(talk: Talk) -> None:
    """Protocols in different orders of preference."""
    likes = (("a", "b", "c"), ("b", "c", "a"), ("c", "b", "a"))
    members = [Member(talk, f"voter {index}", "votes", protocols=row) for index, row in enumerate(likes)]
    members[0].join("votes")
    members[0].sync("votes")
    members[1].begin_join("votes")
    members[0].send_join("votes")
    members[0].take_join()
    members[1].take_join()
    members[2].begin_join("votes")
    for member in members[:2]:
        member.send_join("votes")
    for member in members:
        member.take_join()
    fourth = Member(talk, "voter 3", "votes", protocols=("a",))
    fourth.join("the group is full")
    members[1].send_sync("votes")
    members[2].send_sync("votes")
    members[0].sync("votes", *members[1:])
    talk.receive("voter 1")
    talk.receive("voter 2")
    members[2].protocols = ("c", "a")
    members[2].begin_join("likes b no more")
    for member in members[:2]:
        member.beat("rebalancing")
        member.send_join("again")
    for member in members:
        member.take_join()
    describe(talk, "votes", "votes")


def timeouts(talk: Talk) -> None:
    """Silent members."""
    one = Member(talk, "one", "quiet", session_ms=600)
    one.join("quiet")
    one.sync("quiet")
    talk.peer.wait(2)
    describe(talk, "session over", "quiet")
    one.beat("session over")
    fast = Member(talk, "one", "late", rebalance_ms=800)
    slow = Member(talk, "two", "late", rebalance_ms=800)
    fast.join("late")
    fast.sync("late")
    slow.begin_join("late")
    slow.take_join()
    slow.sync("late")
    fast.beat("out")
    fast.begin_join("no sync")
    slow.send_join("no sync")
    slow.take_join()
    fast.take_join()
    slow.sync("no sync", fast)
    talk.peer.wait(1.6)
    slow.beat("no sync")
    slow.join("no sync")
    describe(talk, "no sync", "late")
    pending = Member(talk, "one", "pending", session_ms=600)
    pending.send_join("pending")
    pending.take_join()
    describe(talk, "pending", "pending")
    talk.peer.wait(1.5)
    pending.send_join("too late")
    pending.take_join()


def departures(talk: Talk) -> None:
    """Members that leave during a rebalance, and the responses to the others."""
    one, two = Member(talk, "one", "departures"), Member(talk, "two", "departures")
    one.join("departures")
    one.sync("departures")
    two.begin_join("departures")
    one.leave("leader leaves while preparing")
    two.take_join()
    two.sync("leads now")
    one = Member(talk, "one", "departures", rebalance_ms=1_000)
    one.begin_join("back")
    two.send_join("back")
    two.take_join()
    one.take_join()
    one.send_sync("back")
    two.leave("leader leaves while completing")
    talk.receive("one")
    one.join("alone")
    one.sync("alone")
    describe(talk, "alone", "departures")
    pending = Member(talk, "two", "departures")
    pending.send_join("pending")
    pending.take_join()
    one.join("waits for who has only got an id", metadata=b"new")
    pending.leave("pending")


def lists(talk: Talk) -> None:
    """ListGroups by states and types."""
    for version in range(6):
        talk.ask("admin", "all", ListGroupsRequest(), version)
    for states in (["Empty"], ["stable", "PREPARINGREBALANCE"], [" Dead"], ["nonsense"]):
        talk.ask("admin", f"{states}", ListGroupsRequest(states_filter=states), 4)
        talk.ask("admin", f"{states}", ListGroupsRequest(states_filter=states, types_filter=["Classic"]), 5)
    for types in (["classic"], ["Consumer"], ["share", "CLASSIC"], ["nonsense"]):
        talk.ask("admin", f"{types}", ListGroupsRequest(types_filter=types), 5)


def records(talk: Talk) -> None:
    """Records of all that in `__consumer_offsets`."""
    for batch in iter_any_batches(talk.offsets_log()):
        for record in batch.records():
            assert record.key is not None
            key, value, version = decode_record("__consumer_offsets", record.key, record.value)
            if isinstance(key, GroupMetadataKey):
                shown = None if value is None or version is None else to_json(value, version)
                talk.note(f"record of {key.group}, version {version}", shown)


def run(talk: Talk) -> None:
    """Run all conversations."""
    talk.find_coordinator()
    find(talk)
    for version in range(10):
        late = min(max(version - 2, 0), 6)
        others = {
            "sync": min(late, 5),
            "beat": min(late, 4),
            "leave": min(late, 5),
            "describe": late,
            "delete": late % 3,
        }
        full_lifecycle(talk, version, others)
    refusals(talk)
    static_members(talk)
    static_while_completing(talk)
    votes(talk)
    departures(talk)
    timeouts(talk)
    lists(talk)
    records(talk)
