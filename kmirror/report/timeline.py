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
from kmirror.report.run_drawing import (
    KEY,
    STYLE,
    draw_run,
    facts_list,
    node_lanes,
    partition_lanes,
    state_key,
    waits_table,
)
from kmirror.sim.simulation import Simulation


def timeline_page(simulation: Simulation) -> str:
    """Return a page that shows the run so far."""
    drawing = draw_run(simulation)
    title = f"kmirror simulation, seed {simulation.seed}"
    orders = [(row.begin_ms, row.text) for row in drawing.periods.orders]
    body = (
        f"<h1>{escape(title)}</h1><p>Clusters {escape(', '.join(simulation.cluster_names)) or 'none'}; "
        f"{counted(simulation.world.events, 'event')} in {simulation.elapsed_s:.1f} virtual seconds, digest "
        f"<code>{simulation.digest}</code>.</p><h2>Timeline</h2><p>{KEY}</p>"
        f"<p class=key>{state_key(drawing)}</p>{axis('virtual time', 'circles: orders', orders, drawing.end_ms)}"
        f"{''.join(node_lanes(drawing))}{''.join(partition_lanes(drawing))}{waits_table(drawing)}"
        f"{facts_list(drawing)}"
    )
    return page(title, body, STYLE)


def write_timeline(simulation: Simulation, file: Path) -> None:
    """Write a page that shows the run so far; raise UsageError if the file cannot be written."""
    write_page(file, timeline_page(simulation))
