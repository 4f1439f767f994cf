"""Page of any simulation: orders, nodes, lines and partitions over time, and a table of waits.

    from kmirror.report.timeline import write_timeline
    write_timeline(simulation, Path("run.html"))

Time goes from left to right, under one axis for all lanes. The page ends with a list of all facts of the run.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from kmirror.kernel.names import counted
from kmirror.report.drawing import axis
from kmirror.report.page import page, write_page
from kmirror.report.picture import (
    KEY,
    STYLE,
    facts_list,
    partition_lanes,
    picture_of,
    state_key,
    waits_table,
    world_lanes,
)
from kmirror.sim.simulation import Simulation


def timeline_page(simulation: Simulation) -> str:
    """Return a page that shows the run so far."""
    picture = picture_of(simulation)
    title = f"kmirror simulation, seed {simulation.seed}"
    orders = [(row.begin_ms, row.text) for row in picture.stretches.orders]
    body = (
        f"<h1>{escape(title)}</h1><p>Clusters {escape(', '.join(simulation.cluster_names)) or 'none'}; "
        f"{counted(simulation.world.events, 'event')} in {simulation.elapsed_s:.1f} virtual seconds, digest "
        f"<code>{simulation.digest}</code>.</p><h2>Timeline</h2><p>{KEY}</p>"
        f"<p class=key>{state_key(picture)}</p>{axis('virtual time', 'circles: orders', orders, picture.end_ms)}"
        f"{''.join(world_lanes(picture))}{''.join(partition_lanes(picture))}{waits_table(picture)}"
        f"{facts_list(picture)}"
    )
    return page(title, body, STYLE)


def write_timeline(simulation: Simulation, file: Path) -> None:
    """Write a page that shows the run so far; raise UsageError if the file cannot be written."""
    write_page(file, timeline_page(simulation))
