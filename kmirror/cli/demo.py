"""`kmirror demo`: mirror real Kafka logs between two simulated clusters, fail over, fail back, and prove each step.

Rule 1: text for readers goes to stdout, and so does the JSON of `-o json`, which is then the only output there.
Rule 2: the exit code is 0 only if every proof held; otherwise it is 1, and stderr has the first difference.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from kmirror.assembly.mirrors import MirrorRow
from kmirror.cli.commands import CONTEXT
from kmirror.cli.screen import add_names, add_numbers, fitting_table, make_console, plain_table
from kmirror.errors import UsageError
from kmirror.experiments.demo import Demo, DemoReport, Failback, Failover, Observer
from kmirror.kernel.names import counted
from kmirror.kernel.rng import SEED_MAX
from kmirror.logdir.faults import FileFault, gaps_in_words
from kmirror.logdir.load import LogDirs, read_log_dirs, read_sample
from kmirror.mirror.states import MirrorState
from kmirror.report.lanes import demo_page
from kmirror.report.page import write_page

LIVE_ROWS_MAX = 16
REMEDY = "copy the folder again after a clean shutdown of the broker, or select other topics"
FINAL_ROWS_MAX = 100
STAGES = 5


class Screen(Observer):
    """Shows a run in progress: the stage, a bar, and the table of DescribeMirrors."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
        )
        self._stages = self._progress.add_task("stages", total=STAGES)
        self._partitions = self._progress.add_task("partitions", total=None)
        self._rows: Sequence[MirrorRow] = ()
        self._live = Live(get_renderable=self._render, console=console, refresh_per_second=8, transient=True)
        self._started = 0

    def __enter__(self) -> Screen:
        self._live.__enter__()
        return self

    def __exit__(self, *reason: object) -> None:
        self._live.stop()

    def _render(self) -> RenderableType:
        return (
            Group(mirror_table(self._rows, LIVE_ROWS_MAX, self._console.width), self._progress)
            if self._rows
            else self._progress
        )

    def show_read_bytes(self, done: int, total: int) -> None:
        """Show the progress of reading the log folder: `done` of `total` bytes."""
        self._progress.update(self._partitions, description="bytes read", completed=done, total=total)

    def on_stage(self, title: str) -> None:
        self._flush()
        self._console.print(f"[bold]{title}[/bold]")
        self._progress.update(self._stages, description="stages", completed=self._started)
        self._progress.update(self._partitions, description="partitions", completed=0, total=None)
        self._started += 1

    def on_message(self, text: str) -> None:
        self._flush()
        self._console.print(f"  {text}", highlight=False)

    def on_rows(self, rows: Sequence[MirrorRow], partitions: int) -> None:
        self._rows = rows
        ready = sum(row.lag in (0, -1) and row.state in (MirrorState.MIRRORING, MirrorState.STOPPED) for row in rows)
        self._progress.update(self._partitions, description="partitions", completed=ready, total=partitions)

    def on_failover(self, rows: Sequence[Failover]) -> None:
        self._flush()
        self._console.print(failover_table(rows, self._console.width))

    def on_failback(self, rows: Sequence[Failback]) -> None:
        self._flush()
        self._console.print(failback_table(rows, self._console.width))

    def _flush(self) -> None:
        if self._rows:
            self._console.print(mirror_table(self._rows, FINAL_ROWS_MAX, self._console.width))
        self._rows = ()


def mirror_table(rows: Sequence[MirrorRow], rows_max: int, width: int) -> RenderableType:
    """Return the table of `kafka-mirrors.sh --describe`; with more than `rows_max` rows, lagging ones come first."""
    visible = rows
    if len(rows) > rows_max:
        visible = sorted(rows, key=lambda row: (row.lag == 0, row.tp))[:rows_max]

    def make_table(is_narrow: bool) -> Table:
        table = plain_table(is_narrow=is_narrow)
        add_names(table, "MIRROR", "TOPIC")
        add_numbers(table, "PARTITION", "SOURCE-OFFSET", "DESTINATION-OFFSET", "LAG", is_narrow=is_narrow)
        table.add_column("STATE", no_wrap=True)
        for row in visible:
            offsets = (_number_or_dash(number) for number in (row.source_offset, row.destination_offset, row.lag))
            table.add_row("demo", row.tp.topic, str(row.tp.partition), *offsets, row.state.name)
        return table

    table = fitting_table(make_table, width)
    hidden = len(rows) - len(visible)
    if not hidden:
        return table
    known = [row.lag for row in rows if row.lag >= 0]
    return Group(table, f"… and {hidden} more" + (f", lag {sum(known)} in all" if len(known) == len(rows) else ""))


def failover_table(rows: Sequence[Failover], width: int) -> Table:
    """Return the table of each log's cut, and of the epoch and producer reset after it."""
    headings = ("PARTITION", "LOG-END-OFFSET", "CUT-OFFSET", "LAST-MIRRORED-EPOCH", "LEADER-EPOCH", "PID-RESET")

    def make_table(is_narrow: bool) -> Table:
        table = plain_table("Failover on b", is_narrow=is_narrow)
        add_names(table, "TOPIC")
        add_numbers(table, *headings, is_narrow=is_narrow)
        for row in rows:
            cells = (row.tp.partition, row.log_end_offset, row.cut_offset, _number_or_dash(row.last_mirrored_epoch))
            table.add_row(row.tp.topic, *map(str, (*cells, row.leader_epoch, row.reset_offset)))
        return table

    return fitting_table(make_table, width)


def failback_table(rows: Sequence[Failback], width: int) -> Table:
    """Return the table of the offsets of a that were lost, with the rule of each cut."""

    def make_table(is_narrow: bool) -> Table:
        table = plain_table("Failback on a", is_narrow=is_narrow)
        add_names(table, "TOPIC")
        add_numbers(table, "PARTITION", "CUT-OFFSET", "LOST-OFFSETS", is_narrow=is_narrow)
        add_names(table, "CUT BY")
        for row in rows:
            lost = "none"
            if row.lost_first_offset < row.lost_end_offset:
                lost = f"{row.lost_first_offset}-{row.lost_end_offset - 1}"
            reasons = ", ".join(f"{cut.why} at {cut.offset}" for cut in row.cuts)
            table.add_row(
                row.tp.topic, str(row.tp.partition), str(row.cut_offset), lost, reasons or "nothing to truncate"
            )
        return table

    return fitting_table(make_table, width)


def _number_or_dash(number: int) -> str:
    return "-" if number < 0 else str(number)


def summary(report: DemoReport) -> str:
    """Return the last lines of a run."""
    lost = sum(row.lost_end_offset - row.lost_first_offset for row in report.failback)
    cut = sum(row.log_end_offset - row.cut_offset for row in report.failover)
    return (
        f"mirrored {counted(report.topics, 'topic')}, {counted(report.mirrored.partitions, 'partition')}, "
        f"{counted(report.mirrored.batches, 'batch')}, {counted(report.mirrored.bytes, 'byte')}: equal; "
        f"{counted(cut, 'undecided offset')} truncated at failover; {counted(lost, 'offset')} lost at failback; "
        f"{counted(report.final.batches, 'batch')} equal again\n"
        f"seed {report.seed}, {counted(report.events, 'event')} in {report.virtual_seconds:.1f} virtual seconds, "
        f"digest {report.digest}"
    )


def read(data: Path | None, topics: Sequence[str], screen: Screen) -> LogDirs:
    """Return the logs given by the user, or the embedded sample."""
    if data is None:
        return read_sample(topics or None)
    try:
        return read_log_dirs(data, topics=topics or None, progress=screen.show_read_bytes)
    except FileFault as error:
        raise UsageError(f"{error}; {REMEDY}") from None


@click.command("demo", context_settings=CONTEXT)
@click.option(
    "--seed",
    type=click.IntRange(0, SEED_MAX),
    default=0,
    show_default=True,
    help="Seed of the run; the same seed repeats it.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, readable=False),
    metavar="DIR",
    help="A Kafka log.dirs folder with the source's content.",
)
@click.option("--topic", "topics", multiple=True, metavar="NAME", help="Mirror only this topic; repeatable.")
@click.option("--faults", is_flag=True, help="Kill and restart brokers during the run.")
@click.option("-o", "--output", type=click.Choice(["json"]), help="Print only a JSON object.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write an HTML page that shows the run.")
def command(
    seed: int, data: Path | None, topics: tuple[str, ...], faults: bool, output: str | None, html: Path | None
) -> int:
    """Mirror real Kafka logs, fail over, fail back, and verify each step byte for byte.

    Two clusters with one controller and three brokers each run in virtual time. Without --data, the source contains an
    embedded sample written by Apache Kafka brokers.
    """
    console = make_console(stderr=output == "json")
    if not console.is_terminal:
        console.quiet = output == "json"  # A program that reads the JSON needs no other output on stderr.
    with Screen(console) as screen:
        logs = read(data, topics, screen)
        for name, reason in logs.skipped:
            screen.on_message(f"skipped {name}: {reason}")
        if data is not None:
            for line in gaps_in_words(gap for files in logs.partitions.values() for gap in files.gaps):
                screen.on_message(line)
        demo = Demo(logs, seed=seed, faults=faults, observer=screen)
        report = demo.run()
    if html is not None:
        write_page(html, demo_page(report, demo.simulation))
    if output == "json":
        click.echo(json.dumps(report.as_json()))
    else:
        console.print(f"[green]{summary(report)}[/green]", highlight=False)
    return 0
