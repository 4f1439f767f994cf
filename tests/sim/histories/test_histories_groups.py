"""Groups and clients of `kmirror.client` in histories: their actions are in the account, without findings."""

from __future__ import annotations

from dataclasses import replace

from kmirror.histories.draw import draw
from kmirror.histories.membership import assign
from kmirror.histories.plan import ClientPlan, Plan, Step
from kmirror.histories.run import run_history
from kmirror.histories.verdict import Exit, Outcome
from kmirror.kernel.ids import TopicPartition
from tests.sim.histories import group_plans


def clean(plan: Plan) -> Outcome:
    outcome = run_history(plan)
    assert outcome.exit is Exit.CLEAN, (outcome.anomalies, outcome.account.crash, outcome.account.unsettled)
    return outcome


def test_members_share_the_partitions_and_commit_in_their_generations() -> None:
    groups = clean(group_plans.members_come_and_go()).account.groups
    assert {len(row.partitions) for row in groups.assignments} >= {1, 2}
    assert len({row.generation for row in groups.assignments}) > 3
    errors = {row.error for row in groups.sent_offsets.values()}
    assert "NONE" in errors and errors & {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}, errors


def test_static_members_are_restarted_without_a_new_generation() -> None:
    plan = group_plans.members_come_and_go()
    (client,) = [one for one in plan.clients if one.kind == "members"]
    static = replace(client, options={**client.options, "static": True, "session_ms": 6_000})
    rows = clean(replace(plan, clients=(plan.clients[0], static))).account.groups.assignments
    ids: dict[tuple[str, int], set[str]] = {}
    for row in rows:
        ids.setdefault((row.instance, row.generation), set()).add(row.member_id)
    assert any(len(some) > 1 for some in ids.values()), rows


def test_offsets_and_groups_are_deleted_while_groups_are_empty() -> None:
    plan = group_plans.members_come_and_go()
    (client,) = [one for one in plan.clients if one.kind == "members"]
    deleting = replace(client, options={**client.options, "deletes": True})
    longer = replace(plan, clients=(plan.clients[0], deleting), faults_end_ms=40_000)
    assert clean(longer).account.groups.deletions


def test_each_input_is_transformed_once_in_either_transaction_version() -> None:
    for version in (0, 2):
        plan = group_plans.members_transform()
        (client,) = [one for one in plan.clients if one.kind == "transform"]
        other = replace(client, options={**client.options, "transaction_version": version})
        account = clean(replace(plan, clients=(plan.clients[0], other))).account
        assert sum(len(row.outputs) for row in account.groups.transformed_ranges) > 50
        assert {row.requested_end for row in account.transactions.values()} == {"commit", "abort"}


def test_library_clients_survive_a_dead_broker_and_a_growing_topic() -> None:
    plan = group_plans.members_come_and_go()
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    kinds = {"p1": "library", "p2": "library_transactions", "c1": "library_read", "c2": "session_read"}
    clients = [ClientPlan(name, kind, "a", ("t0",), 150) for name, kind in kinds.items()]
    brokers = [replace(plan.clusters[0], name=name, brokers=2, replication_factor=2) for name in "ab"]
    steps = (
        Step(100, "create_mirror", there),
        Step(200, "add", there),
        Step(3_000, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 3_000}),
        Step(8_000, "grow_topic", {"cluster": "a", "topic": "t0", "partitions": 3}),
        Step(11_000, "turn", {"clients": "c1,c2", "cluster": "b"}),
    )
    account = clean(replace(plan, clusters=tuple(brokers), clients=tuple(clients), steps=steps)).account
    values = {ack.value for ack in account.acks}
    for name in ("p1", "p2"):
        assert sum(account.writes[value].client == name for value in values) > 40
    for name in ("c1", "c2"):
        reads = [read for read in account.reads if read.client == name]
        assert {read.cluster for read in reads} == {"a", "b"}
        committed = {value for value in values if (key := account.writes[value].transaction) == ""
                     or account.transactions[key].requested_end == "commit"}  # fmt: skip
        assert committed - {read.value for read in reads} == set()
        assert len(reads) == len({read.value for read in reads}), "nothing is read twice"


def test_every_partition_is_assigned_once() -> None:
    partitions = [TopicPartition(topic, n) for topic, count in (("t0", 3), ("t1", 1)) for n in range(count)]
    for protocol in ("range", "roundrobin"):
        for members in (["x"], ["y", "x"], ["z", "x", "y", "w", "v"]):
            is_in_shared_part = assign(protocol, members, partitions)
            assert sorted(tp for share in is_in_shared_part.values() for tp in share) == partitions
            assert list(is_in_shared_part) == sorted(members)


def test_a_profile_draws_applications_of_every_kind() -> None:
    kinds = {client.kind for seed in range(40) for client in draw(seed, "groups").clients}
    assert kinds >= {"members", "transform", "library", "library_transactions", "library_read", "session_read"}


def test_a_profile_draws_short_rebalances_commits_in_two_ways_and_outages_for_some() -> None:
    clients = [client for seed in range(40) for client in draw(seed, "groups").clients]
    for kinds, option in (
        (("members", "transform"), "rebalance_ms"),
        (("members", "transform"), "both_ways"),
        (("library", "library_transactions", "library_read"), "outages"),
    ):
        assert {option in client.options for client in clients if client.kind in kinds} == {True, False}
    assert not any("outages" in client.options for client in clients if not client.kind.startswith("library"))
