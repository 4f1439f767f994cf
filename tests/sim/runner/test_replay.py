"""A node that replays its journal gives the same effects: for whole histories, restarts, and disks that fail."""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import partial

import pytest

from kmirror.assembly.journal.entries import CALL, encode_entry, file_header, read_entries
from kmirror.assembly.journal.recorder import JournalEnded, Journals
from kmirror.assembly.journal.replay import Replay, replay
from kmirror.cluster.authorizer import ALLOW_ALL
from kmirror.errors import ProtocolError, UsageError
from kmirror.histories import run
from kmirror.hooks.hooks import Hooks
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, Node, TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.wrapping import Wrapper
from kmirror.log.flushing import Flush
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.sim.cluster import Cluster
from kmirror.sim.disk_work import DiskOptions
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import SMALL, WrittenLogs, plain


class Nothing:
    """A node that does nothing."""

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        return []


class Kept:
    """Journals in memory, by process and number of its start."""

    def __init__(self) -> None:
        self.pieces: dict[str, list[bytes]] = {}
        self.interpose = Journals(self._open)

    def _open(self, process: str) -> Callable[[bytes], object]:
        number = sum(name.startswith(f"{process} ") for name in self.pieces) + 1
        pieces: list[bytes] = []
        self.pieces[f"{process} {number}"] = pieces
        return pieces.append

    def data(self, name: str) -> bytes:
        return b"".join(self.pieces[name])

    def replayed(self) -> dict[str, Replay]:
        return {name: replay(self.data(name)) for name in self.pieces}

    def check(self) -> int:
        """Replay every journal; return the number of calls."""
        found = self.replayed()
        assert {name: str(one.difference) for name, one in found.items() if not one.is_equal} == {}
        assert all(one.torn is None and name.startswith(f"{one.process} ") for name, one in found.items())
        return sum(one.calls for one in found.values())


@pytest.mark.parametrize(("seed", "profile"), [(1, "full"), (5, "power")])
def test_every_node_of_a_history_does_the_same_again(seed: int, profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()
    monkeypatch.setattr(run, "Cluster", partial(Cluster, interpose=kept.interpose))
    run.run_history(seed=seed, profile=profile)
    assert kept.check() > 3000
    assert profile == "power" or any(name.endswith(" 2") for name in kept.pieces), "a node was started again"


def test_a_journal_changes_nothing() -> None:
    digests = []
    for interpose in (None, Kept().interpose):
        with Simulation(3) as simulation, Cluster(simulation, "a", interpose=interpose) as a:
            a.create_topic("orders", 3)
            a.produce("orders", 0, [b"v"])
            digests.append(simulation.digest)
    assert digests[0] == digests[1]


def test_nodes_that_stopped_and_start_over_their_disks_do_the_same_again() -> None:
    """A clean shutdown is recorded on the disk, and forgotten when the next process is made."""
    kept = Kept()
    simulation = Simulation(3, disk=DiskOptions(job_min_us=10, job_max_us=900))
    logs = WrittenLogs({"old": [plain(0, 0, "a", "b"), plain(2, 1, "c")]})
    a = Cluster(simulation, "a", configs=SMALL, logs=logs, interpose=kept.interpose)
    a.start()
    a.create_topic("orders", configs={"flush.messages": "1"})
    for number in range(20):
        a.produce("orders", 0, [b"v%d" % number])
    a.stop()
    a.start()
    assert a.broker(1).context.previous_epoch is not None
    a.kill(2, power_cut=True)
    a.restart(2)
    simulation.run_until(a.is_settled, what="broker 2")
    a.produce("orders", 0, [b"last"])
    a.stop()
    assert len(kept.pieces) == 9
    kept.check()


def test_a_disk_that_failed_fails_again() -> None:
    kept = Kept()
    with Simulation(3) as simulation, Cluster(simulation, "a", configs=SMALL, interpose=kept.interpose) as a:
        a.create_topic("orders", configs={"flush.messages": "1"})
        leader = a.leader(TopicPartition("orders", 0))
        assert leader is not None
        error = OSError(errno.EIO, "Input/output error")
        name = a.process(leader.broker_id)
        simulation.world.disk_workers.fail_next(name, error, lambda work: isinstance(work.job, Flush))
        a.produce("orders", 0, [b"v"])
        simulation.run_for(span_s=5)
    kept.check()
    assert b"cannot flush orders-0: [Errno 5] Input/output error" in kept.data(f"{name} 1")


def test_a_journal_does_not_contain_the_effects_of_hooks() -> None:
    """It contains the node's inputs: not a hook's response, nor the arrival time of a held request."""
    kept, hooks = Kept(), Hooks()

    def interpose(name: str, node: Node) -> Node:
        return hooks(name, kept.interpose(name, node))

    with Simulation(3) as simulation, Cluster(simulation, "a", interpose=interpose) as a:
        a.create_topic("orders")
        hooks.on(ProduceRequest, times=1).answer(ErrorCode.REQUEST_TIMED_OUT)
        hooks.on(ProduceRequest, times=1).delay(500)
        a.produce("orders", 0, [b"v"])
    kept.check()
    with pytest.raises(UsageError, match="wrap the node in the journal first"):
        kept.interpose("b-1", Wrapper(Nothing()))


def one_journal() -> bytes:
    kept = Kept()
    logs = WrittenLogs({"old": [plain(0, 0, "a", "b")]})
    with Simulation(3) as simulation, Cluster(simulation, "a", brokers=1, logs=logs, interpose=kept.interpose) as a:
        a.create_topic("orders")
        for _ in range(20):
            a.produce("orders", 0, [b"v"])
        simulation.run_for(span_s=5)
    return kept.data("a-1 1")


def test_the_first_call_that_differs_is_named() -> None:
    data = one_journal()
    whole = replay(data)
    assert whole.is_equal and whole.calls > 30
    changed = []
    for kind, value in read_entries(data):  # type: ignore[misc]
        is_late = kind == CALL and value[1][0] == "TimerFired"
        changed.append(encode_entry(kind, (value[0] + 1, *value[1:]) if is_late else value))
    found = replay(file_header() + b"".join(changed))
    assert found.difference is not None
    assert found.difference.event.startswith("TimerFired")
    assert found.difference.recorded != found.difference.replayed
    text = str(found.difference)
    assert text.startswith(f"call {found.calls} at {found.difference.at_ms} ms: TimerFired")
    assert "\n  recorded: " in text and "\n  replayed: " in text


def test_inputs_of_a_node_other_than_events_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here its random numbers: they come from a source that continues from one run to the next."""
    numbers = iter(range(1 << 40, 1 << 60, 12345))
    monkeypatch.setattr(Rng, "next64", lambda self: next(numbers))
    found = replay(one_journal())
    assert found.difference is not None and any("Send on" in text for text in found.difference.recorded)


def test_an_exception_is_raised_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from kmirror.cluster.broker.broker import Broker

    kept, on_timer = Kept(), Broker._on_timer
    with Simulation(3) as simulation, Cluster(simulation, "a", brokers=1, interpose=kept.interpose):
        since = simulation.world.now

        def fail(self: Broker, now: Instant, key: TimerKey) -> None:
            if now > since:
                raise ZeroDivisionError("in a timer")
            on_timer(self, now, key)

        monkeypatch.setattr(Broker, "_on_timer", fail)
        with pytest.raises(ZeroDivisionError):
            simulation.run_for(span_s=10)
    assert replay(kept.data("a-1 1")).is_equal
    monkeypatch.undo()
    found = replay(kept.data("a-1 1"))
    assert found.difference is not None
    assert found.difference.recorded == ("raised \"ZeroDivisionError('in a timer')\"",)


def test_a_torn_journal_is_replayed_up_to_its_end() -> None:
    data = one_journal()
    whole = replay(data)
    found = replay(data[:-5])
    assert found.is_equal and found.calls == whole.calls - 1 and found.torn is not None
    at_the_start = replay(data[:40])
    assert (at_the_start.calls, at_the_start.process) == (0, "") and at_the_start.torn is not None


def test_entries_out_of_place_are_an_error() -> None:
    data = one_journal()
    found = [encode_entry(*one) for one in read_entries(data)]  # type: ignore[misc]
    for order in ([found[0], *found], found[1:], [*found, found[1]]):
        with pytest.raises(ProtocolError, match="misplaced entry"):
            replay(file_header() + b"".join(order))


def test_a_node_continues_without_a_journal_that_cannot_be_written() -> None:
    left = [3]

    def write(data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    with Simulation(3) as simulation, Cluster(simulation, "a", interpose=Journals(lambda _: write)) as a:
        a.create_topic("orders")
        ended = simulation.facts(JournalEnded)
        assert {seen.fact.process for seen in ended} == {seen.node for seen in ended} and ended
        assert a.produce("orders", 0, [b"v"]) == 0


def test_an_authorizer_cannot_be_recorded() -> None:
    class Other:
        def authorize(self, *arguments: object) -> object:
            return ALLOW_ALL.authorize(*arguments)  # type: ignore[arg-type]

    a = Cluster(Simulation(3), "a", authorizer=Other(), interpose=Kept().interpose)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="cannot contain an authorizer"):
        a.start()
