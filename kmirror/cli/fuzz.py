"""`kmirror fuzz`: search for errors in a decoder, a broker or a client with generated frames."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kmirror.cli.commands import CONTEXT
from kmirror.cli.fuzz_client import ClientOptions, client_options, fuzz_client, replay_client
from kmirror.cli.fuzz_display import EXIT_FINDINGS, CampaignDisplay
from kmirror.cli.fuzz_options import TARGET_OPTIONS, target_options, target_settings
from kmirror.cli.output import write_stderr
from kmirror.cli.processes import in_processes
from kmirror.cli.screen import add_names, add_numbers, make_console, plain_table
from kmirror.fuzz.campaign import Campaign, Tally
from kmirror.fuzz.clients.campaign import NAME
from kmirror.fuzz.findings import load, to_json
from kmirror.fuzz.parallel_jobs import FuzzJob, merge_tallies, run_job, split_jobs
from kmirror.fuzz.profiles import DEFAULT, PROFILES, Profile
from kmirror.fuzz.replay import replay
from kmirror.fuzz.targets.rows import TARGETS, TargetOptions, TargetRow, open_target


@click.command("fuzz", context_settings=CONTEXT)
@click.argument("target", metavar="TARGET", required=False)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the frames; default: random and printed.")
@click.option("--frames", type=click.IntRange(min=1), metavar="N", help="Maximum number of frames.")
@click.option("--minutes", type=click.FloatRange(min=0), metavar="M", help="Time limit.")
@target_options
@click.option("--feedback", is_flag=True, help="Mutate frames with new results further.")
@click.option(
    "--coverage", is_flag=True, help="Search for new lines of code with atheris, with the grammar as its mutator."
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Number of processes; needs --frames.")
@click.option("--spark", "on_spark", is_flag=True, help="Distribute the frames with Spark; needs --frames.")
@click.option("--master", metavar="URL", help="With --spark: Spark master; default: local[*].")
@click.option(
    "--corpus", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Folder for the findings."
)
@click.option("--replay", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Replay a finding.")
@click.option("--no-shrink", is_flag=True, help="Do not shrink the frames of findings.")
@click.option("--list", "is_list", is_flag=True, help="List targets and profiles, and exit.")
@client_options
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    target: str | None,
    seed: int | None,
    frames: int | None,
    minutes: float | None,
    feedback: bool,
    coverage: bool,
    jobs: int,
    on_spark: bool,
    master: str | None,
    corpus: Path | None,
    replay: Path | None,
    no_shrink: bool,
    is_list: bool,
    output: str,
    **others: Any,
) -> int:
    """Send valid, almost valid and broken frames to TARGET, and report its incorrect reactions.

    Without --frames and --minutes it runs until Ctrl-C. Each finding is one line with its seed and number; with
    --corpus it is also saved to a file for --replay. The exit code is 0 if nothing was found, 4 otherwise.
    """
    if is_list:
        return _list(output)
    chosen_seed = int.from_bytes(os.urandom(4), "big") if seed is None else seed
    options = target_settings(chosen_seed, **{name: others.pop(name) for name in TARGET_OPTIONS})
    client = ClientOptions(
        bootstrap_server=options.bootstrap_server, owns_host=options.owns_host, shrinks=not no_shrink, **others
    )
    if replay is not None:
        return _replay(replay, options, client, output)
    if target is None and options.bootstrap_server is not None:
        target = "bootstrap-server"
    if target is None:
        raise click.UsageError("give a TARGET; --list shows them")
    seconds = None if minutes is None else minutes * 60
    display = CampaignDisplay(target, corpus, frames, seconds, is_text=output == "text")
    if target == NAME:
        if jobs > 1 or on_spark or feedback or coverage or options.messages:
            raise click.UsageError(
                "the target client does not support --jobs, --spark, --feedback, --coverage and --message"
            )
        return fuzz_client(display, client, chosen_seed, output, frames=frames, seconds=seconds)
    if jobs > 1 or on_spark:
        if frames is None or feedback or coverage:
            raise click.UsageError("--jobs and --spark need --frames, and cannot be used with --feedback or --coverage")
        parts = split_jobs(target, options, frames, shrinks=not no_shrink)
        _run_pieces(display, parts, jobs, on_spark=on_spark, master=master)
    elif coverage:
        from kmirror.fuzz.coverage import run

        display.show(run(target, options, frames=frames, seconds=seconds))
    else:
        opened, source = open_target(target, options)
        with closing(opened):
            for remark in opened.remarks:
                write_stderr(f"kmirror: {remark}\n")
            campaign = Campaign(opened, source, feedback, not no_shrink, display.add_finding)
            display.show(campaign.run(frames=frames, seconds=seconds), campaign.tally)
    _print_summary(target, options, display.tally, output)
    return display.exit_code


def _run_pieces(
    display: CampaignDisplay, parts: list[FuzzJob], jobs: int, *, on_spark: bool, master: str | None
) -> None:
    """Distribute the campaign over processes, or over Spark's executors."""
    if on_spark:
        from kmirror.cli.spark_session import spark_session
        from kmirror.spark.sessions import require_pyspark

        require_pyspark()
        from kmirror.spark.fuzzing import fuzz  # Arrow is installed with Spark.

        with spark_session("kmirror fuzz", master=master, remote=None, configs={}) as spark:
            display.show(fuzz(spark, parts))
        return
    with in_processes(run_job, parts, jobs) as rows:
        display.show(merge_tallies(rows))


def _print_summary(target: str, options: TargetOptions, tally: Tally, output: str) -> None:
    if output == "json":
        click.echo(json.dumps(_as_json(target, options, tally)))
        return
    console = make_console()
    if tally.findings:
        table = plain_table("findings, by cause")
        add_numbers(table, "times", "messages", "versions")
        add_names(table, "finding", "frame")
        for cause, finding in tally.findings.items():
            table.add_row(
                f"{tally.counts[cause]:,}", f"{len(tally.messages[cause])}", _range(tally.versions[cause]),
                finding.line, finding.frame.hex(),
            )  # fmt: skip
        console.print(table)
    refused = tally.frames - tally.taken
    profile = "" if options.profile == DEFAULT else f", profile {options.profile}"
    console.print(
        f"{target}, seed {options.seed}{profile}: {tally.frames:,} frames in {tally.seconds:,.1f} s "
        f"({tally.per_second:,.0f}/s), {tally.taken:,} accepted, {refused:,} rejected in {len(tally.outcomes):,} ways; "
        f"{len(tally.findings)} findings",
        highlight=False,
    )


def _range(versions: set[int]) -> str:
    first, last = min(versions), max(versions)
    return f"{first}" if first == last else f"{first}-{last}"


def _as_json(target: str, options: TargetOptions, tally: Tally) -> dict[str, Any]:
    return {
        "target": target,
        "seed": options.seed,
        "profile": options.profile,
        "frames": tally.frames,
        "taken": tally.taken,
        "seconds": round(tally.seconds, 3),
        "framesPerSecond": round(tally.per_second),
        "outcomes": len(tally.outcomes),
        "findings": [
            {
                **to_json(each),
                "times": tally.counts[cause],
                "messages": sorted(tally.messages[cause]),
                "versions": sorted(tally.versions[cause]),
            }
            for cause, each in tally.findings.items()
        ],
    }


def _list(output: str) -> int:
    if output == "json":
        rows = {"targets": list(map(_row, TARGETS)), "profiles": list(map(_row, PROFILES))}
        click.echo(json.dumps(rows))
        return 0
    for row in TARGETS:
        click.echo(f"{row.name:20} {row.about}")
    click.echo("\nprofiles:")
    for profile in PROFILES:
        click.echo(f"{profile.name:20} {profile.about}")
    return 0


def _row(row: TargetRow | Profile) -> dict[str, str]:
    return {"name": row.name, "about": row.about}


def _replay(path: Path, options: TargetOptions, client: ClientOptions, output: str) -> int:
    finding = load(path)
    options = replace(options, seed=finding.seed)
    fault = replay_client(finding, client) if finding.target == NAME else replay(finding, options)
    if output == "json":
        click.echo(json.dumps({"again": fault is not None, "told": None if fault is None else fault.description}))
    elif fault is None:
        write_stderr(f"{finding.line}: not seen again\n")
    else:
        click.echo(f"{finding.line}\nexpected: {finding.expected}\nnow: {fault}")
    return 0 if fault is None else EXIT_FINDINGS
