"""Wait of `kmirror mirrors --wait STATE`: until all partitions of some topics have a state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kmirror.admin.client import AsyncAdmin
from kmirror.admin.mirror import describe_mirrors
from kmirror.cli.output import write_stderr
from kmirror.kernel.names import counted, few
from kmirror.mirror.states import MirrorState

POLL_INTERVAL_S = 0.5


async def wait_for_state(
    admin: AsyncAdmin, mirror: str, matches: Callable[[str], bool], state: MirrorState, timeout_ms: int | None
) -> int:
    """Wait until all partitions of the matching topics have `state`, and print their number when it changes.

    An empty `mirror` means all mirrors. Return 0 when all have it, and 1 with the partitions that do not: if one is
    FAILED, which is not left without an operator, or after `timeout_ms`; None has no limit.
    """
    loop = asyncio.get_running_loop()
    until = None if timeout_ms is None else loop.time() + timeout_ms / 1000
    reported = ""
    while True:
        found = await describe_mirrors(admin, [mirror] if mirror else [])
        descriptions = [each.only(matches) for each in found.values()]
        rows = [row for described in descriptions for row in described.rows]
        leaderless = [topic for described in descriptions for topic in described.undescribed_topics]
        others = sorted(
            (row for row in rows if row.state is not state), key=lambda row: row.state is not MirrorState.FAILED
        )
        missing = [f"{row.tp} is {row.state.name}{row.reason and f' ({row.reason})'}" for row in others]
        missing += [f"{topic} has no leader" for topic in leaderless]
        if not missing and rows:
            return 0
        has_failed = any(row.state is MirrorState.FAILED for row in rows)
        is_late = until is not None and loop.time() >= until
        if has_failed or is_late:
            limit = "" if has_failed else f" after {timeout_ms} ms"
            names = few(missing, "partitions") if missing else "no partition is described"
            write_stderr(f"Error while executing mirror command : not {state.name}{limit}: {names}\n")
            return 1
        text = f"{len(rows) - len(others)} of {counted(len(rows), 'partition')}"
        if text != reported:
            reported = text
            write_stderr(f"waiting: {text} {state.name}\n")
        await asyncio.sleep(POLL_INTERVAL_S)
