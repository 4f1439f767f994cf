"""Running nodes for scripts that do not use asyncio: the nodes run on a separate thread, and the script waits for them.

Base of a whole cluster in one process (`cluster.py`) and of one node of a larger cluster (`node.py`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kmirror.assembly.metrics import Metrics
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel import arguments
from kmirror.kernel.events import Note
from kmirror.kernel.failures import GaveUp, HandlingFailed
from kmirror.kernel.rng import Rng
from kmirror.net.host import Host
from kmirror.net.loop_thread import LoopThread
from kmirror.net.metrics_page import PATH, MetricsPage
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from types import TracebackType

T = TypeVar("T")
STOP_WITHIN_S = 310.0
"""A broker waits five minutes for a controller that does not respond."""
WITHIN_S = 60.0
FAILURES_KEPT = 100
ANY_ADDRESS = ("", "0.0.0.0", "::")


class RunningNodes:
    """Nodes on one host, with a loop on its own thread, from `start` to `close`. `what` names them in errors."""

    def __init__(self, what: str) -> None:
        self.what = what
        """Name of the nodes in messages."""
        self.failures: list[HandlingFailed] = []
        """The first hundred exceptions in the nodes after which they continued; each is a bug in kmirror."""
        self.ended_nodes: dict[str, str] = {}
        """Processes whose node ended by itself, with the reason; an entry is removed when the node is started again."""
        self.on_note: list[Callable[[str, Note], None]] = [self._on_failure_note]
        """Callbacks on the nodes' thread, called with the process name and each `Note` of its node."""
        self._thread = LoopThread(f"kmirror {what}")
        self._host: Host | None = None
        self._metrics_page: MetricsPage | None = None

    def start(self) -> None:
        """Start every node."""
        raise NotImplementedError

    def metrics(self) -> Metrics:
        """Return the current metrics of the nodes."""
        raise NotImplementedError

    def serve_metrics(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Serve the metrics to Prometheus until `close`, and return the URL of the page; port 0 uses a free port.

        Raises UsageError if the address is not available, or if the nodes were not started.
        """
        self._running_host()
        if self._metrics_page is not None:
            raise UsageError(f"{self.what} already serves its metrics")
        page = MetricsPage(self.metrics)
        endpoint = self._thread.wait(page.start(host, port))
        self._metrics_page = page
        return f"http://{endpoint}{PATH}"

    def close(self) -> None:
        """Kill every running node and release its resources."""
        raise NotImplementedError

    @property
    def has_failed(self) -> bool:
        """Whether too few nodes are running to serve requests."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- processes ----------------------------------------------------------------------------

    def _running_host(self) -> Host:
        if self._host is None:
            raise UsageError(f"{self.what} was not started: use it in a `with` block, or call start()")
        return self._host

    def _runs(self, process: str) -> bool:
        return self._host is not None and self._host.runs(process)

    async def _stop_process(self, process: str) -> None:
        host = self._running_host()
        if host.runs(process):
            host.stop(process)
            await self._until(lambda: not host.runs(process), STOP_WITHIN_S, f"for {process} to end")

    async def _restart_process(self, process: str) -> None:
        host = self._running_host()
        await host.wait_for_disk(process)
        self.ended_nodes.pop(process, None)
        host.start(process)

    def _close_host(self, processes: Iterable[str]) -> None:
        """Kill the running nodes, wait until their disk jobs are finished, and end the thread."""
        if self._host is None:
            return
        if self._metrics_page is not None:
            self._thread.call(self._metrics_page.close)
            self._metrics_page = None
        self._thread.call(self._host.close)
        for process in processes:
            self._thread.wait(self._host.wait_for_disk(process))
        self._thread.stop()
        self._host = None

    # -- waiting ------------------------------------------------------------------------------

    def until(self, condition: Callable[[], bool], *, within_s: float = WITHIN_S, what: str = "a condition") -> None:
        """Wait until `condition` holds; it is called on the nodes' thread after every turn of the loop.

        Raises KafkaError with REQUEST_TIMED_OUT after `within_s` seconds.
        """
        arguments.callback("condition", condition)
        self._check_may_wait()
        self._thread.wait(self._until(condition, arguments.seconds("within_s", within_s), f"for {what}"))

    def run_on_loop(self, call: Callable[[], T]) -> T:
        """Call `call` on the nodes' thread, between two events, and return its result."""
        return self._on_loop(call)

    async def _until(self, condition: Callable[[], bool], within_s: float | None, what: str) -> None:
        host = self._running_host()
        try:
            await asyncio.wait_for(host.until(lambda: bool(host.crashes) or self.has_failed or condition()), within_s)
        except TimeoutError:
            code = ErrorCode.REQUEST_TIMED_OUT
            raise KafkaError(code, f"{self.what}: timed out after {within_s:g} s waiting {what}: {self!r}") from None
        if host.crashes or self.has_failed:
            raise self.failure()

    async def _wait_for_work(self, work: Coroutine[Any, Any, T], what: str) -> T:
        """Return the result of `work`; raise the error by which the nodes were lost, or KafkaError on a timeout."""
        host = self._running_host()
        task = asyncio.ensure_future(work)
        failed = host.until(lambda: bool(host.crashes) or self.has_failed)
        try:
            done, _ = await asyncio.wait((task, failed), timeout=WITHIN_S, return_when=asyncio.FIRST_COMPLETED)
            if task in done:
                return task.result()
            if failed in done:
                raise self.failure()
        finally:
            task.cancel()
            failed.cancel()
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"{what} took longer than {WITHIN_S:g} s: {self!r}")

    def _on_loop(self, call: Callable[[], T]) -> T:
        """Call `call` on the loop's thread and return its result; before the start, call it on the caller's thread."""
        if self._thread.loop is None or self._thread.is_current:
            return call()
        return self._thread.call(call)

    def _check_may_wait(self) -> None:
        self._running_host()
        if self._thread.is_current:
            raise UsageError("cannot block on the cluster from its own event-loop thread")

    # -- failures -----------------------------------------------------------------------------

    def failure(self) -> Exception:
        """Return the exception that a node raised (a bug), or an error about the nodes that gave up."""
        if self._host is not None and self._host.crashes:
            return self._host.crashes[0][1]
        text = "; ".join(f"{process} ended: {reason}" for process, reason in self.ended_nodes.items())
        return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, text)

    def _on_failure_note(self, process: str, note: Note) -> None:
        if isinstance(note.fact, HandlingFailed) and len(self.failures) < FAILURES_KEPT:
            self.failures.append(note.fact)
        elif isinstance(note.fact, GaveUp):
            self.ended_nodes[process] = note.fact.reason


def checked_advertised(host: str) -> str:
    """Return the host that clients use for this machine; UsageError for a wildcard address."""
    if host in ANY_ADDRESS:
        name = "the name by which they reach this machine as advertised_host, or --advertised-host"
        raise UsageError(f"no client can connect to {host or 'an empty host'}: set {name}")
    return host


def new_rng() -> Rng:
    """Return a generator seeded by the system, for a node outside a simulation."""
    return Rng(int.from_bytes(os.urandom(8), "big"))
