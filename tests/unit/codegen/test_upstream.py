"""Every difference between a release and the schemas is reported, and nothing else."""

from __future__ import annotations

import copy
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.load import RELEASE_FOLDERS, SCHEMAS, mirroring_keys, read_files
from codegen.lock import generate_lock, read_lock
from codegen.main import main
from codegen.upstream import compare, read_upstream

TAKEN = mirroring_keys(SCHEMAS)["CreateMirror"]


def release() -> dict[str, Any]:
    """Return schemas/ in the form of a release that equals the locked one."""
    return {f.raw["name"]: copy.deepcopy(f.raw) for f in read_files(SCHEMAS, RELEASE_FOLDERS)}


def test_the_locked_release_has_no_difference() -> None:
    assert compare(release()) == []


def test_unimportant_attributes_are_no_difference() -> None:
    theirs = release()
    fetch = theirs["FetchRequest"]
    fetch["about"] = "Words."
    fetch["listeners"].reverse()
    fetch["fields"][0]["about"] = "More words."
    fetch["fields"][3]["ignorable"] = False
    theirs["AddPartitionsToTxnRequest"]["latestVersionUnstable"] = False
    theirs["UpdateFeaturesRequest"]["fields"][2]["default"] = False
    assert compare(theirs) == []


def _field(raw: Any, *path: str) -> Any:
    fields = raw["fields"]
    for name in path:
        found = next(f for f in fields if f["name"] == name)
        fields = found.get("fields", ())
    return found


def _remove(theirs: dict[str, Any]) -> None:
    del theirs["FetchRequest"]


def _add(theirs: dict[str, Any]) -> None:
    theirs["NewRequest"] = {"apiKey": TAKEN, "type": "request", "name": "NewRequest", "validVersions": "0"}


def _new_version(theirs: dict[str, Any]) -> None:
    fetch = theirs["FetchRequest"]
    fetch["validVersions"] = "4-19"
    _field(fetch, "Topics", "Partitions")["fields"].append(
        {"name": "New", "type": "int32", "versions": "19+", "taggedVersions": "19+", "tag": 2, "default": "-1"}
    )


def _narrower(theirs: dict[str, Any]) -> None:
    theirs["FetchRequest"]["validVersions"] = "5-18"


def _changed(theirs: dict[str, Any]) -> None:
    _field(theirs["FetchRequest"], "Topics", "Topic")["versions"] = "0-13"
    _field(theirs["FetchRequest"], "MaxBytes")["default"] = "5"
    theirs["FetchRequest"]["flexibleVersions"] = "11+"


def _gone_field(theirs: dict[str, Any]) -> None:
    theirs["FetchRequest"]["fields"].pop()


def _order(theirs: dict[str, Any]) -> None:
    theirs["FetchRequest"]["fields"].reverse()


def _common(theirs: dict[str, Any]) -> None:
    del theirs["GroupMetadataValue"]["commonStructs"]


CHANGES: list[tuple[Callable[[dict[str, Any]], None], list[str]]] = [
    (_remove, ["gone message: FetchRequest"]),
    (
        _add,
        [f"new message: NewRequest: request, key {TAKEN}, versions 0 (the key is CreateMirror's in mirroring.json)"],
    ),
    (
        _new_version,
        [
            "new versions: FetchRequest: versions 4-18 -> 4-19",
            "new field: FetchRequest: Topics.Partitions.New: int32, versions 19+, tag 2, default -1",
        ],
    ),
    (_narrower, ["changed message: FetchRequest: versions 4-18 -> 5-18"]),
    (
        _changed,
        [
            "changed message: FetchRequest: flexibleVersions 12+ -> 11+",
            "changed field: FetchRequest: MaxBytes: default 0x7fffffff -> 5",
            "changed field: FetchRequest: Topics.Topic: versions 0-12 -> 0-13",
        ],
    ),
    (_gone_field, ["gone field: FetchRequest: RackId"]),
    (_order, ["changed message: FetchRequest: the order of fields"]),
    (_common, ["gone field: GroupMetadataValue: MemberMetadata: common struct"]),
]


@pytest.mark.parametrize(("change", "expected"), CHANGES)
def test_every_difference_is_reported(change: Callable[[dict[str, Any]], None], expected: list[str]) -> None:
    theirs = release()
    change(theirs)
    assert [str(d) for d in compare(theirs)] == expected


def _jar(path: Path, messages: dict[str, Any], folder: str = "common/message") -> Path:
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/native-image/config.json", "[]")
        for name, raw in messages.items():
            jar.writestr(f"{folder}/{name}.json", "// A licence.\n" + json.dumps(raw))
    return path


def test_a_jar_a_folder_of_jars_and_a_source_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = {f.raw["name"]: f.folder for f in read_files(SCHEMAS, RELEASE_FOLDERS)}
    messages = release()
    jars = tmp_path / "libs"
    jars.mkdir()
    inner = {"metadata": "common/metadata", "storage": "message"}
    for folder in RELEASE_FOLDERS:
        of_folder = {name: raw for name, raw in messages.items() if folders[name] == folder}
        _jar(jars / f"{folder}.jar", of_folder, inner.get(folder, "common/message"))
    assert set(read_upstream(jars)) == set(messages)
    assert main(["upstream", str(jars)]) == 0
    # Messages of other jars are not reported as missing.
    assert main(["upstream", str(jars / "kafka.jar")]) == 0
    tree = tmp_path / "kafka" / "clients" / "src" / "main" / "resources" / "common" / "message"
    tree.mkdir(parents=True)
    for name, raw in messages.items():
        if folders[name] == "kafka":
            (tree / f"{name}.json").write_text(json.dumps(raw), encoding="utf-8")
    samples = tmp_path / "kafka" / "clients" / "src" / "test" / "resources" / "common" / "message"
    samples.mkdir(parents=True)
    (samples / "Wrong.json").write_text("{", encoding="utf-8")
    assert main(["upstream", str(tmp_path / "kafka")]) == 0
    (tree / "FetchRequest.json").unlink()
    assert main(["upstream", str(tmp_path / "kafka")]) == 1
    assert capsys.readouterr().out == "gone message: FetchRequest\n"


@pytest.mark.parametrize("name", ["absent", "empty", "broken.jar", "nothing.jar", "wrong.jar"])
def test_a_path_without_schemas(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.jar").write_bytes(b"PK")
    _jar(tmp_path / "nothing.jar", {})
    with zipfile.ZipFile(tmp_path / "wrong.jar", "w") as jar:
        jar.writestr("common/message/A.json", "{")
    assert main(["upstream", str(tmp_path / name)]) == 2
    assert str(tmp_path / name) in capsys.readouterr().err


def test_the_lock_names_the_release_and_every_file() -> None:
    lock = read_lock()
    assert lock["kafka"]["version"] == "4.3.1"
    assert json.loads(generate_lock()) == lock
    on_disk = {f"{p.parent.name}/{p.name}" for p in SCHEMAS.glob("*/*.json")} | {"errors.json", "mirroring.json"}
    assert set(lock["sha256"]) == on_disk
