"""`kmirror apis`: list of APIs with their versions in Kafka, in KIP-1279 and on kmirror's nodes."""

from __future__ import annotations

import json
from typing import Final

import click

from kmirror.cli.commands import CONTEXT
from kmirror.errors import UsageError, did_you_mean
from kmirror.protocol.gen.registry import KAFKA_RELEASE
from kmirror.protocol.registry import Api, all_apis
from kmirror.spec.apis import ROWS_BY_KEY, versions_served

ROLES: Final = ("broker", "controller")
HEADINGS: Final = ("KEY", "NAME", "KAFKA", "KIP-1279", "FLEXIBLE", "BROKER", "CONTROLLER")


@click.command("apis", context_settings=CONTEXT)
@click.argument("words", nargs=-1, metavar="[NAME]...")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: one line per API.")
def command(words: tuple[str, ...], output: str) -> int:
    """Print each API: the versions of Apache Kafka 4.3.1, those that KIP-1279 adds, and those that kmirror's nodes
    serve.

    With NAMES, only APIs whose name contains one of them are printed. A star marks a last version that is unstable.
    FLEXIBLE is the first version with tagged fields: from that version on, requests have header version 2 and responses
    1; earlier versions have 1 and 0. The header of ApiVersionsResponse is version 0 in every version. BROKER and
    CONTROLLER are the versions served while mirror.version is 1; without that feature no version of KIP-1279 is served.
    -o json also contains the header versions and listeners of each version, and the unsupported parts of a served API.
    """
    apis = all_apis()
    fragments = [_normalize(word) for word in words]
    selected = [api for api in apis if not fragments or any(word in api.name.lower() for word in fragments)]
    if not selected:
        hint = did_you_mean(words[0], [api.name for api in apis]) or "without a name, all are shown"
        raise UsageError(f"no API's name contains {' or '.join(words)}; {hint}")
    if output == "json":
        for api in selected:
            click.echo(json.dumps(as_json(api)))
        return 0
    rows = [HEADINGS, *(as_row(api) for api in selected)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    for row in rows:
        click.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _normalize(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")


def as_row(api: Api) -> tuple[str, ...]:
    """Return the cells of the API's row in the table."""
    star = "*" if api.latest_version_unstable else ""
    return (
        str(api.key),
        api.name,
        _range(api.kafka_versions) + (star if not api.kip_versions else ""),
        _range(api.kip_versions) + (star if api.kip_versions else ""),
        "-" if api.flexible_from is None else f"{api.flexible_from}+",
        *(_range(_served_versions(api, role)) for role in ROLES),
    )


def _range(versions: range) -> str:
    if not versions:
        return "-"
    return str(versions[0]) if len(versions) == 1 else f"{versions[0]}-{versions[-1]}"


def _served_versions(api: Api, role: str) -> range:
    """Return the versions that a node of this role serves while feature mirror.version is 1."""
    first, last = versions_served(role, mirror=True).get(api.key, (0, -1))
    return range(first, last + 1)


def as_json(api: Api) -> dict[str, object]:
    """Return the API as the JSON object that `-o json` prints; a range of versions is [first, last], or null."""
    versions = range(api.min_version, api.max_version + 1)
    row = ROWS_BY_KEY.get(api.key)
    return {
        "key": api.key,
        "name": api.name,
        "minVersion": api.min_version,
        "maxVersion": api.max_version,
        "kafkaRelease": KAFKA_RELEASE,
        "kafkaVersions": _first_and_last(api.kafka_versions),
        "kip1279Versions": _first_and_last(api.kip_versions),
        "flexibleFrom": api.flexible_from,
        "latestVersionUnstable": api.latest_version_unstable,
        "listeners": list(api.listeners),
        "served": {role: _first_and_last(_served_versions(api, role)) for role in ROLES},
        "leftOut": (row.unsupported or None) if row else None,
        "requestHeaders": {v: api.request_header_version(v) for v in versions},
        "responseHeaders": {v: api.response_header_version(v) for v in versions},
    }


def _first_and_last(versions: range) -> list[int] | None:
    return [versions[0], versions[-1]] if versions else None
