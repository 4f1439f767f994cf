"""Command line, run as `python -m kmirror`."""

from __future__ import annotations

from kmirror.cli.main import run

if __name__ == "__main__":
    run()
