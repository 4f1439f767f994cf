"""Clients that send every kind of request, rare ways to write batches, clean shutdowns of nodes."""

from __future__ import annotations

import pytest

from kmirror.cluster.metadata.batches import metadata_records
from kmirror.histories.arbitrary_requests import CATEGORIES, REQUEST_KINDS
from kmirror.histories.coverage.table import unlisted
from kmirror.histories.draw import draw
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step, Value
from kmirror.histories.run import run_history
from kmirror.histories.scene import Scene
from kmirror.histories.verdict import Exit, Outcome
from kmirror.kernel.ids import TopicPartition
from kmirror.records.codecs import Compression
from tests.sim.histories.group_plans import CONFIGS

TP = TopicPartition("t", 0)
QUIET = {**CONFIGS, "min.insync.replicas": "1", "transaction.state.log.min.isr": "1"}
READS = ClientPlan("c", "read_committed", "a", ("t",), 150)


def quiet(*clients: ClientPlan, steps: tuple[Step, ...] = (), brokers: int = 2, ends_ms: int = 9_000) -> Outcome:
    """Run clients of one cluster for some seconds, together with the steps."""
    clusters = (ClusterPlan("a", brokers, brokers, QUIET),)
    return run_history(Plan(3, "test", clusters, {}, clients, steps, ends_ms, 20_000, {"t": "1@a"}), coverage=True)


# -- requests ---------------------------------------------------------------------------------


@pytest.mark.parametrize("about", CATEGORIES)
def test_every_request_is_answered_and_every_code_has_a_row(about: str) -> None:
    outcome = quiet(ClientPlan("q", "asks", "a", (), 40, {"about": about}))
    assert outcome.exit is Exit.CLEAN
    assert unlisted(outcome.coverage) == []
    assert sum(times for row, times in outcome.coverage.items() if row.startswith("answered.")) > 50


def test_invalid_requests_and_those_of_nodes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """All decisions of the controller are in its metadata log: with such requests it is as long as without."""
    counts: list[list[str]] = []
    look = Scene.end_span

    def records(self: Scene, kind: str, subject: str) -> None:
        look(self, kind, subject)
        log = self.clusters["a"].controller.context.log.log
        counts.append([record.NAME for batch in log.batches() for record, _ in metadata_records(batch)])

    monkeypatch.setattr(Scene, "end_span", records)
    once = (Step(8_500, "line_slow", {"one": "a", "other": "a-1", "ms": 1, "for_ms": 100}),)
    quiet(READS, steps=once)
    without = counts[0]
    counts.clear()
    outcome = quiet(READS, ClientPlan("q", "asks", "a", (), 30, {"about": "nodes,orders"}), steps=once)
    assert outcome.coverage["sent.AlterPartition.INELIGIBLE_REPLICA"] > 0
    assert outcome.coverage["sent.CreatePartitions.INVALID_REPLICA_ASSIGNMENT"] > 0
    assert counts[0] == without


def test_a_client_sends_only_requests_of_its_option() -> None:
    outcome = quiet(ClientPlan("q", "asks", "a", (), 60, {"about": "orders"}))
    assert outcome.coverage["answered.UpdateFeatures"] > 0
    assert "answered.JoinGroup" not in outcome.coverage and "answered.BrokerHeartbeat" not in {
        name for name in outcome.coverage if name.startswith("sent.")
    }
    assert {row.category for row in REQUEST_KINDS} == set(CATEGORIES)


# -- batches ----------------------------------------------------------------------------------


@pytest.mark.parametrize("acks", [0, 1])
def test_records_written_without_acks_all_are_not_guaranteed(acks: int) -> None:
    outcome = quiet(ClientPlan("p", "plain", "a", ("t",), 200, {"acks": acks}), READS)
    assert outcome.exit is Exit.CLEAN
    assert outcome.account.acks == [] and len(outcome.account.reads) > 10
    assert {read.value for read in outcome.account.reads} <= set(outcome.account.writes)


@pytest.mark.parametrize("codec", [codec.name.lower() for codec in Compression if codec])
def test_batches_are_compressed_and_read(codec: str) -> None:
    outcome = quiet(ClientPlan("p", "idempotent", "a", ("t",), 200, {"compression": codec}), READS)
    assert outcome.exit is Exit.CLEAN
    assert outcome.coverage["produce.compressed"] > 10
    assert {ack.value for ack in outcome.account.acks} == {read.value for read in outcome.account.reads}


def test_records_without_key_and_value_are_known_by_a_header() -> None:
    outcome = quiet(ClientPlan("p", "plain", "a", ("t",), 200, {"nulls": 50}), READS)
    assert outcome.exit is Exit.CLEAN
    assert outcome.coverage["produce.no-value"] > 5
    assert {ack.value for ack in outcome.account.acks} == {read.value for read in outcome.account.reads}


@pytest.mark.parametrize(
    ("kind", "options", "config", "error"),
    [
        ("plain", {"padding": 3_000}, ("max.message.bytes", "1000"), "MESSAGE_TOO_LARGE"),
        ("plain", {"nulls": 100}, ("cleanup.policy", "compact"), "INVALID_RECORD"),
        ("unadded", {}, ("max.message.bytes", "1000"), "TRANSACTION_ABORTABLE"),
        ("unadded", {"produce_version": 10}, ("max.message.bytes", "1000"), "INVALID_TXN_STATE"),
    ],
)
def test_batches_that_are_refused_for_good(
    kind: str, options: dict[str, Value], config: tuple[str, str], error: str
) -> None:
    name, value = config
    set_first = Step(0, "alter_topic", {"cluster": "a", "topic": "t", "name": name, "value": value})
    outcome = quiet(ClientPlan("p", kind, "a", ("t",), 400, options), READS, steps=(set_first,))
    assert outcome.exit is Exit.CLEAN
    assert {refusal.error for refusal in outcome.account.refusals[2:]} == {error}
    assert len(outcome.account.reads) <= 2, "before the config was set"


# -- nodes ------------------------------------------------------------------------------------


def test_a_broker_shuts_down_cleanly_and_others_lead_its_partitions() -> None:
    stops = Step(2_000, "stop_broker", {"cluster": "a", "broker": 1, "for_ms": 2_000})
    outcome = quiet(ClientPlan("p", "idempotent", "a", ("t",), 100), steps=(stops,))
    assert outcome.exit is Exit.CLEAN
    assert outcome.coverage["node.stopped"] == 1
    assert "node.fenced-session" not in outcome.coverage
    (span,) = outcome.account.spans
    assert (span.kind, span.subject) == ("broker", "a-1") and span.end - span.begin == 2_000_000


def test_a_broker_that_does_not_end_in_time_is_killed_and_started() -> None:
    steps = (
        Step(1_000, "kill_controller", {"cluster": "a", "for_ms": 4_000}),
        Step(1_500, "stop_broker", {"cluster": "a", "broker": 1, "for_ms": 1_000}),
    )
    outcome = quiet(ClientPlan("p", "idempotent", "a", ("t",), 100), steps=steps)
    told = [text for _, text in outcome.story]
    assert outcome.exit is Exit.CLEAN
    assert "broker a-1 did not stop in time and is killed" in told and "broker a-1 is started" in told


def test_a_broker_that_is_about_to_end_runs_when_faults_have_ended() -> None:
    steps = (
        Step(1_000, "kill_controller", {"cluster": "a"}),
        Step(1_500, "stop_broker", {"cluster": "a", "broker": 1, "for_ms": 60_000}),
        Step(1_600, "stop_broker", {"cluster": "a", "broker": 1, "for_ms": 60_000}),
    )
    outcome = quiet(ClientPlan("p", "idempotent", "a", ("t",), 100), steps=steps)
    assert outcome.exit is Exit.CLEAN
    assert any("a-1 is down, or stopping" in text for _, text in outcome.story)


def test_the_profile_draws_clients_that_ask_and_writers_that_are_refused() -> None:
    kinds: dict[str, int] = {}
    for seed in range(10):
        for client in draw(seed, "requests").clients:
            kinds[client.kind] = kinds.get(client.kind, 0) + 1
    assert kinds["asks"] >= 20 and kinds["unadded"] == 10
