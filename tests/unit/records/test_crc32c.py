"""Every checksum library gives the same number for every kind of buffer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kmirror.records import Batch, build_batch
from kmirror.records import crc32c as module
from kmirror.records.crc32c import crc32c, crc32c_function, crc32c_reference, implementations
from kmirror.records.record import RecordData

# From RFC 3720, appendix B.4.
KNOWN = [
    (b"", 0x00000000),
    (b"123456789", 0xE3069283),
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C),
]


@pytest.mark.parametrize("name", implementations())
def test_known_numbers(name: str) -> None:
    function = implementations()[name]
    for data, expected in KNOWN:
        assert function(data) == expected
        assert function(bytearray(data)) == expected
        assert function(memoryview(b"x" + data + b"x")[1:-1]) == expected


def test_the_reference_is_always_there_and_agrees() -> None:
    assert "crcmod" in implementations()
    for data, expected in KNOWN:
        assert crc32c(data) == crc32c_reference(data) == crc32c_function()(data) == expected


def test_the_fastest_one_installed_is_used() -> None:
    assert next(iter(implementations())) == module.IMPLEMENTATION


PICK = """
import sys
sys.path.insert(0, {root!r})
for name in {missing!r}:
    sys.modules[name] = None  # Importing it now raises ImportError.
from kmirror.records import Batch, build_batch
from kmirror.records.crc32c import IMPLEMENTATION, crc32c
from kmirror.records.record import RecordData
assert crc32c(memoryview(b"123456789")) == 0xE3069283
assert crc32c(bytes(32)) == 0x8A9136AA
batch = Batch(build_batch([RecordData(b"k", b"v")] * 3))
batch.verify_crc()
print(IMPLEMENTATION, batch.crc)
"""


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ([], "crc32c"),
        (["crc32c"], "google-crc32c"),
        (["crc32c", "google_crc32c"], "crcmod"),
        (["crc32c", "google_crc32c.cext"], "crcmod"),  # It can be installed without a wheel.
        (["crc32c", "google_crc32c", "crcmod._crcfunext"], "crcmod"),  # Nor is there a C compiler for crcmod.
    ],
)
def test_a_missing_library_is_replaced_by_the_next(root: Path, missing: list[str], expected: str) -> None:
    if expected == "crc32c":
        pytest.importorskip("crc32c")
    script = PICK.format(root=str(root), missing=missing)
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    crc = Batch(build_batch([RecordData(b"k", b"v")] * 3)).crc
    assert (done.stdout, done.stderr) == (f"{expected} {crc}\n", "")


def test_nothing_is_imported_before_the_first_checksum(root: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(root)!r}); import kmirror.records\n"
        "heavy = {'crc32c', 'google_crc32c', 'crcmod', 'lz4', 'zstandard', 'snappy', 'cramjam', 'numpy', 'pyarrow'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


ALONE = """
import sys
sys.path.insert(0, {root!r})
from kmirror.records.crc32c import crc32c_function
ours = crc32c_function()
assert not {{"crc32c", "importlib.metadata"}} & set(sys.modules)
import crc32c
assert ours(b"123456789") == crc32c.crc32c(b"123456789") == 0xE3069283
"""


def test_only_the_compiled_part_of_crc32c_is_imported(root: Path) -> None:
    pytest.importorskip("crc32c")
    subprocess.run([sys.executable, "-c", ALONE.format(root=str(root))], check=True)


def test_a_package_without_that_compiled_part_is_imported_whole() -> None:
    assert module._load_compiled_part("kmirror", "_kmirror") is None  # It is imported already.
    assert module._load_compiled_part("this", "_this") is None  # A module, not a package.
    assert module._load_compiled_part("no_such_package", "_part") is None
    assert module._load_compiled_part("crcmod", "_no_such_part") is None
