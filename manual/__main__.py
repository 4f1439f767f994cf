"""`python -m manual`: renew the tables; `--check`: compare; `run PAGE...`: run examples; `build`: the site."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from manual.run import ROOT, ExampleFailed, run_page
from manual.site import build

USAGE = "usage: python -m manual [--check | run PAGE... | build]"


def pages() -> list[Path]:
    """Return every page of the manual."""
    return sorted((ROOT / "docs").rglob("*.md"))


def tables(*, writes: bool) -> int:
    """Write the stale generated parts of pages and generated files, or only list them; return an exit code."""
    # The tables import columns for Spark, which `build` does not need.
    from manual.tables import generated_files, with_generated_tables

    stale = 0
    marked = [*pages(), ROOT / "CHANGELOG.md"]
    new_pages = {page: with_generated_tables(page.read_text("utf-8")) for page in marked}
    for page, new_text in {**new_pages, **generated_files()}.items():
        text = page.read_text("utf-8") if page.exists() else ""
        if new_text == text:
            continue
        stale += 1
        print(f"{'written' if writes else 'stale'}: {page.relative_to(ROOT)}", file=sys.stderr)
        if writes:
            page.write_text(new_text, "utf-8")
    return 1 if stale and not writes else 0


def run(names: Sequence[str]) -> int:
    """Run the examples of some pages; return an exit code."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                count = run_page(Path(name).resolve(), Path(folder))
            except ExampleFailed as failed:
                print(failed, file=sys.stderr)
                return 1
        print(f"{name}: {count} examples run")
    return 0


def main(words: Sequence[str]) -> int:
    """Run the command line; return an exit code."""
    match words:
        case []:
            return tables(writes=True)
        case ["--check"]:
            return tables(writes=False)
        case ["run", _, *_]:
            return run(words[1:])
        case ["build"]:
            return build()
        case _:
            print(USAGE, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
