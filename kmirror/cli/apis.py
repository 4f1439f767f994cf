"""`kmirror apis`: which APIs are there, and in which versions?"""

from __future__ import annotations

import json

import click

from kmirror.errors import UsageError
from kmirror.protocol.registry import Api, all_apis

HEADINGS = ("KEY", "NAME", "VERSIONS", "FLEXIBLE", "REQUEST-HEADER", "RESPONSE-HEADER", "LISTENERS")


@click.command("apis")
@click.argument("words", nargs=-1, metavar="[NAME]...")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: a line an API.")
def command(words: tuple[str, ...], output: str) -> int:
    """Print key, versions, first flexible version, header versions and listeners of each API.

    With NAMEs only those whose name holds one of them. A star marks a last version that is unstable.
    """
    wanted = [word.lower().replace("-", "") for word in words]
    chosen = [api for api in all_apis() if not wanted or any(word in api.name.lower() for word in wanted)]
    if not chosen:
        raise UsageError(f"no API's name holds {' or '.join(words)}; without a name all are shown")
    if output == "json":
        for api in chosen:
            click.echo(json.dumps(as_json(api)))
        return 0
    rows = [HEADINGS, *(as_row(api) for api in chosen)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    for row in rows:
        click.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    return 0


def as_row(api: Api) -> tuple[str, ...]:
    """Return the cells of the table's row."""
    star = "*" if api.latest_version_unstable else ""
    return (
        str(api.key),
        api.name,
        f"{api.min_version}-{api.max_version}{star}"
        if api.min_version < api.max_version
        else f"{api.max_version}{star}",
        "-" if api.flexible_from is None else f"{api.flexible_from}+",
        header_words(api, [api.request_header_version(v) for v in versions(api)]),
        header_words(api, [api.response_header_version(v) for v in versions(api)]),
        ",".join(api.listeners) or "-",
    )


def versions(api: Api) -> range:
    return range(api.min_version, api.max_version + 1)


def header_words(api: Api, headers: list[int]) -> str:
    """Return `1, 2 from v12`, or one number where all versions have the same."""
    if headers[0] == headers[-1]:
        return str(headers[0])
    first = api.min_version + headers.index(headers[-1])
    return f"{headers[0]}, {headers[-1]} from v{first}"


def as_json(api: Api) -> dict[str, object]:
    """Return the API as the JSON object that `-o json` prints."""
    return {
        "key": api.key,
        "name": api.name,
        "minVersion": api.min_version,
        "maxVersion": api.max_version,
        "flexibleFrom": api.flexible_from,
        "latestVersionUnstable": api.latest_version_unstable,
        "listeners": list(api.listeners),
        "requestHeaders": {v: api.request_header_version(v) for v in versions(api)},
        "responseHeaders": {v: api.response_header_version(v) for v in versions(api)},
    }
