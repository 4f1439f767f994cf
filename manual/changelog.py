"""Changes since the last release, from the fragments in `changes/` (towncrier)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TITLE = "## Unreleased"


def unreleased(root: Path = ROOT) -> str:
    """Return the section of CHANGELOG.md about changes that are not released: one block for each fragment."""
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "Unreleased"]
    completed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return TITLE + completed.stdout.partition(TITLE)[2].rstrip() + "\n"
