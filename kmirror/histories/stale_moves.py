"""Move with a source broker that is without its controller for long and keeps returning outdated metadata.

The table of all moves is in moves.py.
"""

from __future__ import annotations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.plan import Value
from kmirror.histories.step_drawing import ADDED, Line, Move, PlanDraft, move_on_line

HOUR_MS = 3_600_000


@move_on_line(ADDED)
def _stale_for_long(story: PlanDraft, line: Line) -> bool:
    """Cut a broker off; alter a config, create or recreate a topic; then let the mirror reach only this broker."""
    brokers, rng, source = story.clusters[line.source].brokers, story.rng, line.source
    if brokers < 2:
        return False
    stale = story.broker(source)
    new = Line(line.mirror, f"n{len(story.steps)}", source, line.destination, is_reversible=line.is_reversible)
    where: dict[str, Value] = {"cluster": source, "topic": new.topic}
    kind = rng.choice(("unknown", "known as another one", "none"))
    if kind == "known as another one":
        story.step("create_topic", **where, partitions=1)
        story.wait(1_000, 2_000)
    for_ms = rng.between(24_000, 30_000)
    story.step("line_down", one=f"{source}-{stale}", other=f"{source}-{CONTROLLER_ID}", for_ms=for_ms)
    story.wait(200, 2_500)
    value = str(rng.between(1, 99) * HOUR_MS)
    story.step("alter_topic", cluster=source, topic=line.topic, name="retention.ms", value=value)
    if kind == "known as another one":
        story.step("delete_topic", **where)
        story.wait(300, 800)
    if kind != "none":
        story.step("create_topic", **where, partitions=1)
        story.wait(100, 800)
    if kind == "unknown":
        story.add(new)
    story.wait(15_000, 17_000)
    if kind != "none":
        for_ms = rng.between(6_000, 9_000)
        for other in (broker for broker in range(1, brokers + 1) if broker != stale):
            story.step("line_down", one=f"{source}-{other}", other=line.destination, for_ms=for_ms)
    if kind == "known as another one":
        story.add(new)
    return True


STALE_MOVES: dict[str, Move] = {"stale_for_long": _stale_for_long}
