"""`kmirror failback-preview`: the records that a failback would remove, before anything is cut.

Rule 1: stdout has a line for each partition, with `--records` every record to remove, and a summary; with `-o json` one
object per line.
Rule 2: the exit code is 0 if nothing would be removed; 1 if something would, or if a partition would wait for a user; 2
if that is not known, or not yet: a script that continues only after 0 loses nothing.
Rule 3: nothing is written, neither to a cluster nor to a folder.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from kmirror.admin.client import AsyncAdmin
from kmirror.admin.failback import FailbackPreview
from kmirror.cli.cluster_client import client_of, properties_in
from kmirror.cli.commands import CONTEXT
from kmirror.cli.failback_folders import FolderPreview
from kmirror.cli.output import Output
from kmirror.cli.topic_pattern import topic_matcher
from kmirror.cli.usage_errors import EXIT_USAGE, as_usage_error
from kmirror.errors import KmirrorError, UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted
from kmirror.logdir.available_memory import size_in_words
from kmirror.mirror.failback import FailbackWait, Removal, RemovedRecord

Found = Mapping[TopicPartition, Removal | FailbackWait]


@click.command("failback-preview", context_settings=CONTEXT)
@click.argument("folders", metavar="[DESTINATION SOURCE]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--bootstrap-server", metavar="SERVERS", help="Brokers of the cluster to fail back to.")
@click.option("--source", metavar="SERVERS", help="Brokers of the cluster that accepts writes now.")
@click.option("--mirror", metavar="NAME", required=True, help="The mirror's name, the same on both sides.")
@click.option("--topic", default=".*", metavar="TOPIC", help="A topic, or a regular expression for whole names.")
@click.option("--records", is_flag=True, help="Print each record that would be removed: offset, time, key, size.")
@click.option(
    "--command-config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Client properties file for the cluster to fail back to.",
)
@click.option(
    "--source-config", metavar="FILE", type=click.Path(path_type=Path), help="Client properties file for the source."
)
@click.option(
    "--timeout", type=click.IntRange(1, 2**31 - 1), metavar="MS", help="Time limit for an answer of a cluster."
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: one object per line.")
def command(
    folders: tuple[Path, ...],
    bootstrap_server: str | None,
    source: str | None,
    mirror: str,
    topic: str,
    records: bool,
    command_config: Path | None,
    source_config: Path | None,
    timeout: int | None,
    output: str,
) -> int:
    """Print every record that a failback would remove from the cluster that becomes the destination.

    The two clusters are queried over TCP. Alternatively, DESTINATION and SOURCE are log folders of the brokers that
    lead the partitions. The records removed are those that DESTINATION wrote after the last record that SOURCE mirrored
    from it, and those that retention deleted at SOURCE. A topic that is or was compacted may be removed completely and
    copied again. A partition whose log reaches SOURCE from DESTINATION, through any mirrors, would wait.

    Folders show how far the log cleaner got. Clusters do not, so the preview of clusters does not show that a topic
    which was compacted earlier, but is not now, may be removed completely. Clusters report deletions that may have been
    missed, and rings of more than two clusters; folders do not.

    The exit code is 0 if nothing would be removed: the failback can begin. It is 1 if something would be removed, or if
    a partition would wait until an operator acts, as its line says. It is 2 if this is not known, or not yet known, for
    example while a failover is still ending.
    """
    with as_usage_error(KmirrorError), Output() as out:
        matches = topic_matcher(topic)
        if folders and (bootstrap_server or source):
            raise UsageError("give either two log folders, or --bootstrap-server and --source")
        if folders:
            if len(folders) != 2:
                raise UsageError("give two log folders: one of the cluster to fail back to, and one of its source")
            found: Found = FolderPreview(*folders, mirror=mirror).read_removals(matches)
        else:
            if not bootstrap_server or not source:
                raise UsageError("give --bootstrap-server and --source, or two log folders")
            destination_admin = _admin(bootstrap_server, command_config, "command-config", timeout)
            source_admin = _admin(source, source_config, "source-config", timeout)
            found = asyncio.run(_preview_clusters(destination_admin, source_admin, mirror, matches))
        if not found:
            raise UsageError(f"no topic that exists on both sides matches {topic!r}: nothing was checked")
        render = _json if output == "json" else _text
        out.write("".join(f"{line}\n" for line in render(found, with_records=records)))
    return exit_code(found)


def _admin(servers: str, config: Path | None, option: str, timeout_ms: int | None) -> AsyncAdmin:
    client = client_of({} if config is None else properties_in(str(config), option), timeout_ms)
    return AsyncAdmin(servers, client.configs, security=client.security)


async def _preview_clusters(
    destination: AsyncAdmin, source: AsyncAdmin, mirror: str, matches: Callable[[str], bool]
) -> Found:
    async with source, destination:
        source_topics, destination_topics = await source.topics(), await destination.topics()
        names = [
            name for name in destination_topics if name in source_topics and matches(name) and not name.startswith("__")
        ]
        tps = [TopicPartition(name, index) for name in names for index in destination_topics[name].leaders]
        common = [tp for tp in sorted(tps) if tp.partition in source_topics[tp.topic].leaders]
        preview = FailbackPreview(mirror, source=source, destination=destination)
        await preview.load(common)
        return {tp: await preview.removed(tp) for tp in common}


def exit_code(found: Found) -> int:
    """Return 1 if a user must check a partition, else 2 if that is uncertain for one, else 0."""
    needs_user = [
        not each.is_transient if isinstance(each, FailbackWait) else each.batches > 0 for each in found.values()
    ]
    if any(needs_user):
        return 1
    return EXIT_USAGE if any(isinstance(each, FailbackWait) for each in found.values()) else 0


def _text(found: Found, *, with_records: bool) -> list[str]:
    lines = []
    for tp, each in found.items():
        if isinstance(each, FailbackWait):
            lines.append(f"{tp}: would wait: {each.reason}")
            continue
        lines.append(f"{tp}: {_removal_text(each)}")
        if with_records:
            lines += [f"  {_record_text(record)}" for record in each.records]
    removals = [each for each in found.values() if isinstance(each, Removal) and each.batches]
    waiting = sum(isinstance(each, FailbackWait) for each in found.values())
    count, size = sum(len(each.records) for each in removals), sum(each.size_in_bytes for each in removals)
    total = (
        f"{counted(count, 'record')}, {size_in_words(size)} would be removed"
        if removals
        else "no records would be removed"
    )
    scope = (
        f" from {len(removals)} of {counted(len(found), 'partition')}"
        if removals
        else f" ({counted(len(found), 'partition')} checked)"
    )
    waiting_text = f"; {counted(waiting, 'partition')} would wait" if waiting else ""
    return [*lines, f"{total}{scope}{waiting_text}"]


def _removal_text(removed: Removal) -> str:
    if not removed.batches:
        return "no records would be removed"
    first, last = removed.records[0].offset, removed.records[-1].offset
    parts = [
        counted(len(removed.records), "record"),
        counted(removed.batches, "batch"),
        size_in_words(removed.size_in_bytes),
        counted(len(removed.keys), "key"),
        counted(removed.tombstones, "tombstone"),
    ]
    reason_text = f": {removed.reason}" if removed.reason else ": the source's log starts later"
    full_removal = f"; {removed.full_removal_reason}" if removed.full_removal_reason else ""
    return f"offsets {first} to {last} would be removed ({', '.join(parts)}){reason_text}{full_removal}"


def _record_text(record: RemovedRecord) -> str:
    if record.is_control:
        return f"offset {record.offset} time {record.timestamp} control record"
    key = "no key" if record.key is None else f"key {record.key.decode('utf-8', 'backslashreplace')}"
    value_text = "tombstone" if record.value_size is None else f"value of {counted(record.value_size, 'byte')}"
    return f"offset {record.offset} time {record.timestamp} {key} {value_text}"


def _json(found: Found, *, with_records: bool) -> list[str]:
    lines = []
    for tp, each in found.items():
        partition_fields = {"topic": tp.topic, "partition": tp.partition}
        if isinstance(each, FailbackWait):
            lines.append(
                {"type": "partition", **partition_fields, "waits_for": each.reason, "ends_by_itself": each.is_transient}
            )
            continue
        lines.append(
            {
                "type": "partition",
                **partition_fields,
                "log_start_offset": each.start,
                "log_end_offset": each.offset,
                "why": each.reason or None,
                "all_may_go": each.full_removal_reason or None,
                "records": len(each.records),
                "batches": each.batches,
                "bytes": each.size_in_bytes,
                "keys": len(each.keys),
                "tombstones": each.tombstones,
                "control_records": each.controls,
            }
        )
        if with_records:
            lines += [{"type": "record", **partition_fields, **_record_json(record)} for record in each.records]
    return [json.dumps(line) for line in lines]


def _record_json(record: RemovedRecord) -> dict[str, object]:
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": None if record.key is None else record.key.decode("utf-8", "backslashreplace"),
        "value_bytes": record.value_size,
        "tombstone": record.value_size is None and not record.is_control,
        "control": record.is_control,
    }
