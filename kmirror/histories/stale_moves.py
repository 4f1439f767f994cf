"""Move with a source broker that is without its controller for long and keeps returning outdated metadata.

The table of all moves is in moves.py.
"""

from __future__ import annotations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.plan import Value
from kmirror.histories.plan_draft import ADDED, Line, Move, PlanDraft, move_on_line

HOUR_MS = 3_600_000


@move_on_line(ADDED)
def _stale_for_long(draft: PlanDraft, line: Line) -> bool:
    """Cut a broker off; alter a config, create or recreate a topic; then let the mirror reach only this broker."""
    brokers, rng, source = draft.clusters[line.source].brokers, draft.rng, line.source
    if brokers < 2:
        return False
    stale = draft.broker(source)
    new = Line(line.mirror, f"n{len(draft.steps)}", source, line.destination, is_reversible=line.is_reversible)
    topic_args: dict[str, Value] = {"cluster": source, "topic": new.topic}
    kind = rng.choice(("unknown", "known as another one", "none"))
    if kind == "known as another one":
        draft.step("create_topic", **topic_args, partitions=1)
        draft.wait(1_000, 2_000)
    for_ms = rng.between(24_000, 30_000)
    draft.step("line_down", one=f"{source}-{stale}", other=f"{source}-{CONTROLLER_ID}", for_ms=for_ms)
    draft.wait(200, 2_500)
    value = str(rng.between(1, 99) * HOUR_MS)
    draft.step("alter_topic", cluster=source, topic=line.topic, name="retention.ms", value=value)
    if kind == "known as another one":
        draft.step("delete_topic", **topic_args)
        draft.wait(300, 800)
    if kind != "none":
        draft.step("create_topic", **topic_args, partitions=1)
        draft.wait(100, 800)
    if kind == "unknown":
        draft.add(new)
    draft.wait(15_000, 17_000)
    if kind != "none":
        for_ms = rng.between(6_000, 9_000)
        for other in (broker for broker in range(1, brokers + 1) if broker != stale):
            draft.step("line_down", one=f"{source}-{other}", other=line.destination, for_ms=for_ms)
    if kind == "known as another one":
        draft.add(new)
    return True


STALE_MOVES: dict[str, Move] = {"stale_for_long": _stale_for_long}
