"""The package as one archive, for executors that do not have it, as a value of `--py-files`.

The archive has the Python files and the sample data, in a fixed order and with a fixed date, so that its name is a
digest of its content. The dependencies of kmirror (CRC, codecs) must be on the executor; a run without compression
needs only a CRC package.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from pathlib import Path

_DATE = (1980, 1, 1, 0, 0, 0)


def build_archive(folder: Path | None = None) -> Path:
    """Return the path of `kmirror-<digest>.zip` in `folder`, or in a temporary folder; writes it if missing."""
    top = Path(__file__).resolve().parents[1]
    files = sorted(path for path in top.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(top)).encode() + b"\0" + path.read_bytes())
    folder = folder or Path(tempfile.gettempdir()) / f"kmirror-{os.getuid()}"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"kmirror-{digest.hexdigest()[:16]}.zip"
    if target.is_file():
        return target
    temporary = target.with_name(f".{target.name}-{os.getpid()}")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            name = str(Path("kmirror") / path.relative_to(top))
            archive.writestr(zipfile.ZipInfo(name, _DATE), path.read_bytes(), zipfile.ZIP_DEFLATED)
    temporary.replace(target)
    return target
