"""Generated files in the repository equal the generator's output, and differences are detected."""

from __future__ import annotations

from pathlib import Path

from codegen.main import GENERATED, build, differences, main, write


def test_the_committed_code_is_fresh() -> None:
    assert differences(build()) == []
    assert main(["--check"]) == 0


def test_stale_missing_and_extra_files_are_noticed_and_mended(tmp_path: Path) -> None:
    files = {f"{GENERATED}/a.py": "a = 1\n", f"{GENERATED}/b.py": "b = 1\n"}
    assert write(files, tmp_path) == 2
    assert differences(files, tmp_path) == []
    (tmp_path / GENERATED / "a.py").write_text("a = 2\n")
    (tmp_path / GENERATED / "b.py").unlink()
    (tmp_path / GENERATED / "c.py").write_text("")
    assert differences(files, tmp_path) == [
        f"stale: {GENERATED}/a.py",
        f"missing: {GENERATED}/b.py",
        f"extra: {GENERATED}/c.py",
    ]
    assert write(files, tmp_path) == 3
    assert differences(files, tmp_path) == []


def test_a_line_ending_is_a_difference(tmp_path: Path) -> None:
    files = {f"{GENERATED}/a.py": "a = 1\n"}
    write(files, tmp_path)
    (tmp_path / GENERATED / "a.py").write_bytes(b"a = 1\r\n")
    assert differences(files, tmp_path) == [f"stale: {GENERATED}/a.py"]


def test_generated_text_depends_only_on_the_schemas() -> None:
    assert build() == build()
