"""Times of KIP-1279's requests, divided like Kafka's: queue, local, remote, and response times."""

from __future__ import annotations

from kmirror.cluster.authorizer import ALLOW_ALL, Authorizer
from kmirror.cluster.server import Handler, Inbound, Server
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import LinkOpened, Reply, RequestTiming
from kmirror.kernel.failures import Failures, OnFailure
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.runner_metrics import RequestTimes
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.headers import encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from tests.client_links import link_opened

VERSIONS = {key_of(ListMirrorsRequest): (0, 0), key_of(BumpLeaderEpochsRequest): (0, 0)}


class DenyAll:
    """Denies every operation."""

    def authorize(self, *_: object) -> bool:
        return False

    authorize_by_resource_type = authorize


class Stage:
    """A server, a link to it, and two clocks: that of events, and one that runs within them."""

    def __init__(self, authorizer: Authorizer = ALLOW_ALL, *, is_on: bool = True) -> None:
        self.now: Instant = 0
        self.clock: Instant = 0
        on, off = (VERSIONS, {}) if is_on else ({}, VERSIONS)
        outbox = Outbox()
        failures = Failures(outbox, OnFailure.CONTINUE)
        self.server = Server(lambda: on, lambda: off, outbox, authorizer, failures=failures, clock=lambda: self.clock)
        self.client: LinkOpened = link_opened("c")
        self.server.on_opened(self.client)
        self.kept: list[Inbound] = []
        self.server.serve({ListMirrorsRequest: self._keep, BumpLeaderEpochsRequest: self._keep})

    def _keep(self, now: Instant, inbound: Inbound) -> None:
        self.clock += 7  # Processing time of the handler before it waits for others.
        self.kept.append(inbound)

    def serve(self, handler: Handler) -> None:
        self.server.serve({ListMirrorsRequest: handler})

    def ask(self, now: Instant, body: Message | None = None) -> None:
        self.server.meters.now = now
        frame = encode_request(body or ListMirrorsRequest(), 0, correlation_id=1, client_id="c")
        self.server.on_frame(now, self.client.link, frame)

    def answer(self, now: Instant) -> None:
        self.server.meters.now = now
        self.kept.pop(0).reply(ListMirrorsResponse())
        self.server.run_ready(now)

    def timed(self) -> list[RequestTiming | None]:
        return [effect.timing for effect in self.server.outbox.drain() if isinstance(effect, Reply)]

    def counted(self) -> dict[tuple[str, ...], float]:
        samples = self.server.meters.samples(self.server.meters.now, {})
        return {(one.row.name, *one.tags): one.attributes["Count"] for one in samples}


def test_a_request_waits_for_the_one_before_it_on_its_link() -> None:
    stage = Stage()
    stage.server.accept()
    stage.ask(10)
    stage.ask(12)
    stage.answer(100)
    stage.answer(300)
    assert stage.timed() == [RequestTiming("ListMirrors", 10, 10, 7), RequestTiming("ListMirrors", 12, 100, 7)]


def test_a_request_waits_until_the_node_is_ready() -> None:
    stage = Stage()
    stage.ask(10)
    stage.server.accept()
    stage.server.run_ready(50)
    stage.answer(60)
    assert stage.timed() == [RequestTiming("ListMirrors", 10, 50, 7)]


def test_work_that_ends_with_the_response_waits_for_nothing() -> None:
    stage = Stage()

    def at_once(now: Instant, inbound: Inbound) -> None:
        stage.clock += 5
        inbound.reply(ListMirrorsResponse())
        stage.clock += 1000  # The node's later work is not counted for the request.

    stage.serve(at_once)
    stage.server.accept()
    stage.ask(10)
    assert stage.timed() == [RequestTiming("ListMirrors", 10, 10, 5)]


def test_a_handler_that_fails_is_timed_and_its_error_counted_once() -> None:
    stage = Stage()

    def fail(now: Instant, inbound: Inbound) -> None:
        stage.clock += 3
        raise RuntimeError("a planted one")

    stage.serve(fail)
    stage.server.accept()
    stage.ask(10)
    assert stage.timed() == [RequestTiming("ListMirrors", 10, 10, 3)]
    assert stage.counted()["ErrorsPerSec", "ListMirrors", "UNKNOWN_SERVER_ERROR"] == 1


def test_denied_and_disabled_requests_are_counted_too() -> None:
    denied = Stage(DenyAll())
    denied.server.accept()
    denied.ask(10, BumpLeaderEpochsRequest())
    assert not denied.kept
    counted = denied.counted()
    assert counted["RequestsPerSec", "BumpLeaderEpochs", "0"] == 1
    assert counted["ErrorsPerSec", "BumpLeaderEpochs", "CLUSTER_AUTHORIZATION_FAILED"] == 1
    off = Stage(is_on=False)
    off.server.accept()
    off.ask(10)
    assert not off.kept
    assert off.counted()["ErrorsPerSec", "ListMirrors", "UNSUPPORTED_VERSION"] == 1


def test_the_parts_of_a_time_add_up() -> None:
    times = RequestTimes()
    at = [n * MILLISECOND for n in (100, 103, 110, 140, 142, 147)]
    arrived, begun, worked, handed_over, writing, written = at
    times.add(RequestTiming("ListMirrors", arrived, begun, worked - begun), handed_over, writing, written)
    parts = (times.queue_ms, times.local_ms, times.remote_ms, times.answer_queue_ms, times.answer_send_ms)
    assert [part.total for part in parts] == [3, 7, 30, 2, 5]
    assert times.total_ms.total == 47
