"""Progress of opening logs while a cluster starts: a bar on stderr if that is a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress

from kmirror.net.cluster import TcpCluster
from kmirror.net.node import TcpNode

POLL_INTERVAL_S = 0.1


def count_opened_logs(cluster: TcpCluster | TcpNode) -> tuple[int, int]:
    """Return the number of logs that the brokers have opened, and of those found so far."""
    found = [cluster.broker(broker_id).parts.replicas.opening.recovery for broker_id in cluster.living()]
    return sum(each.total - each.left for each in found), sum(each.total for each in found)


@contextmanager
def recovery_progress(cluster: TcpCluster | TcpNode) -> Iterator[None]:
    """Show the progress of the brokers while the body starts the cluster."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    is_finished = threading.Event()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("opening logs", total=None)

        def show() -> None:
            with suppress(CancelledError, RuntimeError):  # The cluster's loop may end during the call.
                while not is_finished.wait(POLL_INTERVAL_S):
                    opened, total = cluster.run_on_loop(lambda: count_opened_logs(cluster))
                    progress.update(task, completed=opened, total=total or None)

        thread = threading.Thread(target=show, name="recovery progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_finished.set()
            thread.join(timeout=1)
