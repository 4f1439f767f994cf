"""Display of a campaign: a bar, a line for each finding, and a file in the corpus."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kmirror.cli.screen import make_console
from kmirror.fuzz.campaign import Tally
from kmirror.fuzz.findings import Finding, keep

if TYPE_CHECKING:
    from rich.progress import Progress

EXIT_FINDINGS = 4
EXIT_STOPPED = 130


class CampaignDisplay:
    """Shows a campaign with a bar, prints findings as they come, and stores them."""

    def __init__(
        self, target: str, corpus: Path | None, frames: int | None, seconds: float | None, *, is_text: bool
    ) -> None:
        self.tally = Tally()
        self.is_stopped = False
        self._target = target
        self._corpus = corpus
        self._frames = frames
        self._seconds = seconds
        self._is_text = is_text
        self._known: set[str] = set()
        self._progress = _bar()

    def show(self, tallies: Iterable[Tally], tally: Tally | None = None) -> None:
        """Show the tally until the campaign ends; Ctrl-C ends it, too."""
        self.tally = tally or self.tally
        total = self._frames if self._frames is not None else self._seconds
        with self._progress as progress:
            bar = progress.add_task(f"fuzz {self._target}", total=total, rate="")
            try:
                for self.tally in tallies:
                    for cause, finding in self.tally.findings.items():
                        if cause not in self._known:
                            self.add_finding(finding)
                    done = self.tally.frames if self._frames is not None else self.tally.seconds
                    rate = f"{self.tally.frames:,} frames, {self.tally.per_second:,.0f}/s"
                    progress.update(bar, completed=done, rate=rate)
            except KeyboardInterrupt:
                self.is_stopped = True

    @property
    def exit_code(self) -> int:
        """Return 0 if nothing was found."""
        return EXIT_STOPPED if self.is_stopped else EXIT_FINDINGS if self.tally.findings else 0

    def add_finding(self, finding: Finding) -> None:
        """Print a finding with a new cause, and store it."""
        self._known.add(f"{finding.kind.value} {finding.cause}")
        if self._corpus is not None:
            keep(finding, self._corpus)
        if self._is_text:
            line = f"{finding.line} [seed {finding.seed}, frame {finding.number}]"
            self._progress.console.print(line, markup=False)


def _bar() -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rate]}"))
    console = make_console(stderr=True)
    return Progress(
        *columns, TimeElapsedColumn(), TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
