"""`kmirror report RESULTS`: results of a sweep as a page or as tables."""

from __future__ import annotations

from pathlib import Path

import click

from kmirror.cli.commands import CONTEXT
from kmirror.errors import UsageError
from kmirror.kernel.names import counted


@click.command("report", context_settings=CONTEXT)
@click.argument("results", type=click.Path(path_type=Path, readable=False))
@click.option(
    "-o", "--output", required=True, metavar="FILE|json|csv",
    help="An HTML file (plots are also written as PNG files to a folder next to it), or json or csv on stdout.",
)  # fmt: skip
def command(results: Path, output: str) -> int:
    """Show the results of `kmirror sweep`: one self-contained page, or tables for programs."""
    try:
        return _show(results, output)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"{error.filename or output}: {error.strerror or error}") from None


def _show(results: Path, output: str) -> int:
    try:
        from kmirror.report.notebook import load
    except ModuleNotFoundError as error:
        raise _missing_package_error(error) from None
    found = load(results)
    if output in ("json", "csv"):
        click.echo(found.to_json() if output == "json" else found.to_csv(), nl=output == "json")
        return 0
    file = Path(output)
    if file.suffix not in (".html", ".htm"):
        raise UsageError(f"-o must be json, csv or a file name that ends in .html, not {output!r}")
    try:
        from kmirror.report.sweep_page import sweep_page
    except ModuleNotFoundError as error:
        raise _missing_package_error(error) from None
    text, plots = sweep_page(found)
    folder = file.with_suffix(".plots")
    folder.mkdir(parents=True, exist_ok=True)
    for name, png in plots.items():
        (folder / f"{name}.png").write_bytes(png)
    file.write_text(text, "utf-8")
    click.echo(f"{file}: {counted(len(found.rows), 'run')}, {counted(len(plots), 'plot')} (also in {folder})")
    return 0


def _missing_package_error(error: ModuleNotFoundError) -> UsageError:
    name = (error.name or "").partition(".")[0]
    return UsageError(f"{name} is not installed: pip install 'kmirror[report]' installs it")
