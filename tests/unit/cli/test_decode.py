"""`kmirror decode` and `kmirror apis`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.load import SCHEMAS, mirroring_keys
from kmirror.cli.main import run
from kmirror.protocol import FetchRequest, FetchResponse, UnknownTag, Uuid, headers
from kmirror.protocol.frames import add_length
from kmirror.protocol.gen.fetch_request import FetchTopic
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, PartitionData
from kmirror.protocol.gen.registry import KAFKA_RELEASE
from kmirror.protocol.gen.topic_record import TopicRecord

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def kmirror(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line; returns exit code, stdout, stderr."""

    def run_command(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            run(arguments)
        out = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return caught.value.code, out.out, out.err

    return run_command


REQUEST = FetchRequest(rack_id="r", topics=[FetchTopic(topic_id=Uuid.from_ints(0, 1))])
FRAME = headers.encode_request(REQUEST, 17, correlation_id=5, client_id="me")


def test_a_request_names_itself(kmirror: Run) -> None:
    code, out, err = kmirror("decode", FRAME.hex())
    assert (code, err) == (0, "")
    shown = json.loads(out)
    assert shown["header"] == {
        "requestApiKey": 1,
        "requestApiVersion": 17,
        "correlationId": 5,
        "clientId": "me",
    }
    assert FetchRequest.from_json(shown["body"], 17) == REQUEST
    assert kmirror("decode", "--request", add_length(FRAME).hex(" ")) == (0, out, "")


def test_a_response_needs_its_api_and_version(kmirror: Run) -> None:
    partition = PartitionData(records=b"abc")
    body = FetchResponse(throttle_time_ms=7, responses=[FetchableTopicResponse(partitions=[partition])])
    frame = headers.encode_response(body, 17, correlation_id=5).hex()
    words = ("decode", "--raw-records", "--response", "--api", "fetch", "--version", "17", frame)
    code, out, _ = kmirror(*words)
    assert code == 0
    shown = json.loads(out)
    assert shown["header"] == {"correlationId": 5}
    assert shown["body"]["responses"][0]["partitions"][0]["records"] == "YWJj"
    assert kmirror("decode", "--response", frame)[::2] == (
        1,
        "kmirror: a response does not contain its API and version: give --api and --version\n",
    )


def test_bare_messages(kmirror: Run, tmp_path: Path) -> None:
    raw = REQUEST.encode(17)
    for arguments in (("--api", "Fetch"), ("--message", "FetchRequest")):
        code, out, _ = kmirror("decode", *arguments, "--version", "17", raw.hex())
        assert (code, FetchRequest.from_json(json.loads(out), 17)) == (0, REQUEST)
    record = tmp_path / "record.bin"
    record.write_bytes(TopicRecord(name="t").encode(0))
    code, out, _ = kmirror("decode", "--message", "TopicRecord", "--version", "0", str(record))
    assert (code, json.loads(out)["name"]) == (0, "t")
    record.write_text(TopicRecord(name="t").encode(0).hex("\n"), encoding="ascii")
    assert kmirror("decode", "--message", "TopicRecord", "--version", "0", str(record)) == (0, out, "")


def test_standard_input(kmirror: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(FRAME)
    with path.open("r") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert kmirror("decode", "-") == kmirror("decode", FRAME.hex())


def test_byte_ranges_cover_the_frame(kmirror: Run) -> None:
    code, out, _ = kmirror("decode", "--bytes", "-o", "json", FRAME.hex())
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    by_path = {row["path"]: row for row in rows}
    assert by_path["header.client_id"] == {"start": 8, "end": 12, "path": "header.client_id", "value": '"me"'}
    assert by_path["body.topics[0].topic_id"]["value"] == str(Uuid.from_ints(0, 1))
    covered = set()
    for row in rows:
        covered |= set(range(row["start"], row["end"]))
    assert covered == set(range(len(FRAME)))
    # A structure comes before its fields.
    assert list(by_path)[:2] == ["header", "header.request_api_key"]
    code, out, _ = kmirror("decode", "--bytes", FRAME.hex())
    assert "8       12  header.client_id" in out


def test_unknown_tags_and_trailing_bytes_are_reported(kmirror: Run) -> None:
    raw = FetchRequest(unknown_tags=[UnknownTag(9, b"x")]).encode(17) + b"rest"
    code, out, err = kmirror("decode", "--api", "fetch", "--version", "17", raw.hex())
    assert code == 1
    assert json.loads(out)["rackId"] == ""
    assert err.splitlines() == [
        "message: JSON does not contain unknown tagged fields; use --bytes to print them",
        f"4 bytes after the message, from byte {len(raw) - 4} on",
    ]
    code, out, err = kmirror("decode", "--bytes", "--api", "fetch", "--version", "17", raw.hex())
    assert (code, err) == (1, f"4 bytes after the message, from byte {len(raw) - 4} on\n")
    assert "tags[9]" in out
    assert "(after the message)" in out
    assert "4 bytes: 72 65 73 74" in out


def test_malformed_bytes_are_explained_without_a_traceback(kmirror: Run) -> None:
    code, out, err = kmirror("decode", FRAME[:40].hex())
    assert (code, out) == (1, "")
    assert err == "kmirror: 16 bytes wanted, 5 left (at field topics[0].topic_id, byte 35)\n"
    # With --bytes the readable part is shown nevertheless.
    code, out, err = kmirror("decode", "--bytes", FRAME[:40].hex())
    assert code == 1
    assert "body.session_epoch" in out
    assert "topics[0].topic_id, byte 35" in err


def test_lenient_shows_values_that_strict_refuses(kmirror: Run) -> None:
    null = REQUEST.encode(17)[:-3] + b"\x00\x00"
    assert kmirror("decode", "--api", "fetch", "--version", "17", null.hex())[0] == 1
    code, out, _ = kmirror("decode", "--lenient", "--api", "fetch", "--version", "17", null.hex())
    assert (code, json.loads(out)["rackId"]) == (0, None)


WRONG = [
    (("decode", "--api", "fetch", "00"), "give --version"),
    (("decode", "--api", "nothing", "--version", "1", "00"), "no API is named 'nothing'"),
    (("decode", "--message", "Nothing", "--version", "1", "00"), "no message is named 'Nothing'"),
    (("decode", "--message", "FetchRequest", "--version", "3", "00"), "FetchRequest has no version 3"),
    (("decode", "--request", "--response", "00"), "cannot be used together"),
    (("decode", "00"), "a request starts with 4 bytes"),
    (("decode", "7fff0000"), "no API has the key 32767"),
    (("decode", "no such file"), "'no such file' is neither hex nor a readable file"),
    (("decode", "00" * 3000 + "0"), "is neither hex nor a readable file"),
]


@pytest.mark.parametrize(("arguments", "text"), WRONG)
def test_wrong_use_is_explained(kmirror: Run, arguments: tuple[str, ...], text: str) -> None:
    code, out, err = kmirror(*arguments)
    assert (code, out) == (1, "")
    assert err.startswith("kmirror: ")
    assert text in err


def test_apis(kmirror: Run) -> None:
    code, out, _ = kmirror("apis")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 1 + 100
    assert lines[0].split()[:3] == ["KEY", "NAME", "KAFKA"]
    assert max(map(len, lines)) <= 80
    fetch = next(line for line in lines if line.split()[1] == "Fetch")
    assert " ".join(fetch.split()) == "1 Fetch 4-18 19 12+ 4-19 4-19"
    versions = kmirror("apis", "api-versions")[1].splitlines()[1]
    assert " ".join(versions.split()) == "18 ApiVersions 0-4 - 3+ 0-4 0-4"
    unstable = kmirror("apis", "init_producer_id")[1].splitlines()[1]
    assert " ".join(unstable.split()) == "22 InitProducerId 0-6* - 2+ 0-5 -"
    created = kmirror("apis", "CreateMirror")[1].splitlines()[1]
    assert " ".join(created.split()) == "94 CreateMirror - 0* 0+ 0 0"
    for options in ((), ("-o", "json")):
        told = "kmirror: no API's name contains nothing or none; without a name, all are shown\n"
        assert kmirror("apis", "nothing", "none", *options) == (1, "", told)
    rows = [json.loads(line) for line in kmirror("apis", "-o", "json", "mirror")[1].splitlines()]
    keys = mirroring_keys(SCHEMAS)
    assert {row["name"]: row["key"] for row in rows} == {name: keys[name] for name in keys if "Mirror" in name}
    assert [row["key"] for row in rows] == sorted(row["key"] for row in rows)
    assert rows[0]["latestVersionUnstable"]
    assert {json.dumps(row["kafkaVersions"]) for row in rows} == {"null"}
    (row,) = (json.loads(line) for line in kmirror("apis", "-o", "json", "produce")[1].splitlines()[:1])
    assert (row["kafkaRelease"], row["kafkaVersions"], row["kip1279Versions"]) == (KAFKA_RELEASE, [3, 13], None)
    assert (row["served"], row["leftOut"]) == ({"broker": [3, 13], "controller": None}, "quotas")
    assert KAFKA_RELEASE in kmirror("apis", "--help")[1]


def test_a_mistyped_name_is_answered_with_those_that_are_near(kmirror: Run) -> None:
    for arguments, told in (
        (("apis", "fecth"), "no API's name contains fecth; did you mean Fetch?"),
        (("decode", "--api", "creat-topics", "--version", "1", "00"), "'creat-topics'; did you mean CreateTopics?"),
        (("decode", "--message", "fetchrequest", "--version", "1", "00"), "'fetchrequest'; did you mean FetchRequest?"),
        (("decode", "--message", "TopicRecrod", "--version", "1", "00"), "did you mean TopicRecord"),
    ):
        code, out, err = kmirror(*arguments)
        assert (code, out) == (1, "")
        assert told in err
    assert kmirror("decode", "--api", "", "--version", "1", "00")[2] == "kmirror: no API is named ''\n"
