"""Results of a sweep for notebooks."""

from __future__ import annotations

from pathlib import Path

from kmirror.experiments.results import read_rows
from kmirror.report.results import SweepResults


class ShownResults(SweepResults):
    """Results that Jupyter shows as the report's content."""

    def _repr_html_(self) -> str:
        """Return the report's content, without the frame of a page."""
        from kmirror.report.sweep_page import fragment  # Needs matplotlib; JSON and CSV do not.

        return fragment(self)[0]


def load(location: str | Path) -> ShownResults:
    """Return the results that `kmirror sweep` wrote to this folder or URI; raise UsageError if there are none."""
    return ShownResults(read_rows(str(location)), str(location))
