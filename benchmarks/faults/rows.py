"""Faults as rows: a file, its original text, and the text with the mistake."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FAULTS_FOLDER = Path(__file__).resolve().parent
ROOT = FAULTS_FOLDER.parents[1]
FILES = (FAULTS_FOLDER / "written.toml", FAULTS_FOLDER / "drawn.toml")
FINDINGS = FAULTS_FOLDER / "findings.toml"
"""Mistakes that kmirror once had, planted one by one; see findings.py."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake in one file of kmirror."""

    name: str
    file: str
    """Relative to the project's root, such as kmirror/log/epochs.py."""
    about: str
    """The mistake in one sentence; for a drawn fault, the operator that made it."""
    before: str
    """Text that occurs exactly once in the file."""
    after: str
    equivalent: str = ""
    """Reason why no user, test or checker can detect this fault; empty if one can."""
    profile: str = ""
    """Profile of histories made for such mistakes; empty if there is none."""

    @property
    def is_control(self) -> bool:
        """Return whether nothing is changed, so that any finding is false."""
        return not self.before

    def apply_to(self, source: str) -> str:
        """Return the file's text with the fault; raises `ValueError` if its place does not occur exactly once."""
        if self.is_control:
            return source
        count = source.count(self.before)
        if count != 1:
            raise ValueError(f"fault {self.name}: its text stands {count} times in {self.file}, not once; mend the row")
        return source.replace(self.before, self.after)


def controls(faults: Iterable[Fault]) -> list[Fault]:
    """Return a row without a planted fault for each package of these faults."""
    packages = dict.fromkeys(fault.file.split("/")[1] for fault in faults)
    return [Fault(f"control-{name}", f"kmirror/{name}/__init__.py", "Nothing is planted.", "", "") for name in packages]


def read_faults(paths: tuple[Path, ...] = FILES) -> list[Fault]:
    """Return the faults of TOML files; raises `ValueError` for a duplicate name."""
    found: dict[str, Fault] = {}
    for path in paths:
        for row in tomllib.loads(path.read_text(encoding="utf-8")).get("fault", []):
            fault = Fault(**row)
            if fault.name in found:
                raise ValueError(f"{path.name}: two faults are called {fault.name}")
            found[fault.name] = fault
    return list(found.values())


def to_toml(faults: list[Fault]) -> str:
    """Return faults as the text of a TOML file."""
    lines = []
    for fault in faults:
        assert "'''" not in fault.before + fault.after, "a literal string of TOML cannot hold it"
        lines += ["[[fault]]", f'name = "{fault.name}"', f'file = "{fault.file}"', f'about = "{fault.about}"']
        lines += [f"before = '''\n{fault.before}'''", f"after = '''\n{fault.after}'''", ""]
    return "\n".join(lines)
