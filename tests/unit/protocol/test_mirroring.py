"""KIP-1279's messages equal those of the KIP, with the corrections of D1, D2, D3, D8 and D9."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from codegen.load import SCHEMAS, load, mirroring_keys, read_files
from codegen.messages import generate_message
from codegen.schema import build_message, load_json
from kmirror.protocol import Message, Uuid
from kmirror.protocol import keyed_records as records
from kmirror.protocol.gen.bump_leader_epochs_response import BumpLeaderEpochsResponse, TopicPartitions
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest, MirrorInfo
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.describe_mirrors_response import DescribedMirror
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.gen.last_mirror_epochs_key import LastMirrorEpochsKey
from kmirror.protocol.gen.mirror_partition_state_key import MirrorPartitionStateKey
from kmirror.protocol.gen.mirror_partition_state_value import MirrorPartitionStateValue
from kmirror.protocol.gen.mirror_pid_reset_record import MirrorPidResetRecord
from kmirror.protocol.gen.read_mirror_states_response import PartitionResult
from kmirror.protocol.gen.write_mirror_states_request import (
    PartitionData as WrittenPartition,
)
from kmirror.protocol.gen.write_mirror_states_request import (
    TopicData as WrittenTopic,
)
from kmirror.protocol.gen.write_mirror_states_request import (
    WriteMirrorStatesRequest,
)
from kmirror.protocol.registry import by_api_name, by_name
from kmirror.spec.error_codes import ErrorCode

LITERAL = Path(__file__).parents[2] / "data" / "schemas" / "kip1279-literal"

NEW_APIS = (
    "CreateMirror", "AddTopicsToMirror", "RemoveTopicsFromMirror", "ListMirrors", "DescribeMirrors",
    "ReadMirrorStates", "WriteMirrorStates", "PauseMirrorTopics", "ResumeMirrorTopics", "DeleteMirror",
    "BumpLeaderEpochs",
)  # fmt: skip
BUMPS = {
    "Fetch": 19,
    "CreateTopics": 8,
    "FindCoordinator": 7,
    "DescribeConfigs": 5,
    "IncrementalAlterConfigs": 2,
}


@pytest.mark.decision("D1")
@pytest.mark.parametrize("name", NEW_APIS)
def test_new_apis(name: str) -> None:
    api = by_api_name(name)
    assert api.key == mirroring_keys(SCHEMAS)[name]
    assert (api.min_version, api.flexible_from) == (0, 0)
    assert api.request.MAX_VERSION == api.response.MAX_VERSION == api.max_version
    assert api.request.API_KEY == api.response.API_KEY == api.key


@pytest.mark.decision("D1")
@pytest.mark.parametrize("name", BUMPS)
def test_bumped_apis_are_one_above_the_release(name: str) -> None:
    api = by_api_name(name)
    assert api.request.MAX_VERSION == api.response.MAX_VERSION == BUMPS[name]
    release = {f.raw["name"]: f.raw for f in read_files(SCHEMAS, ("kafka",))}
    for half in ("Request", "Response"):
        assert release[name + half]["validVersions"].endswith(f"-{BUMPS[name] - 1}")


@pytest.mark.decision("D2")
def test_error_codes() -> None:
    names = [
        "READ_ONLY_TOPIC", "INVALID_MIRROR_NAME", "UNKNOWN_MIRROR", "TOPIC_ALREADY_IN_MIRROR",
        "TOPIC_NOT_IN_MIRROR",
        "MIRROR_TOPIC_ALREADY_PAUSED", "MIRROR_TOPIC_NOT_PAUSED", "MIRROR_TOPIC_BEING_REMOVED",
        "MIRROR_NOT_EMPTY",
        "MIRROR_AUTHORIZATION_FAILED", "MIRROR_ALREADY_EXISTS",
    ]  # fmt: skip
    assert [ErrorCode(code).name for code in range(134, 145)] == names
    assert max(ErrorCode) == 144


@pytest.mark.decision("D3")
def test_names_and_fields_that_the_kip_lacks() -> None:
    assert [f.name for f in DescribedMirror.FIELDS] == [
        "ErrorCode",
        "MirrorName",
        "AuthorizedOperations",
        "Reason",  # This tagged field and the next one are kmirror's.
        "Warning",
        "Topics",
    ]
    assert DescribedMirror().authorized_operations == -2147483648
    assert DescribeMirrorsRequest.decode(DescribeMirrorsRequest(mirror_names=None).encode(0), 0).mirror_names is None
    assert [f.name for f in TopicPartitions.FIELDS] == ["TopicId", "TopicName", "Partitions"]
    assert BumpLeaderEpochsResponse().encode(0) == bytes(4 + 2) + b"\x01\x00"
    assert LastMirrorEpochsKey.NAME == "LastMirrorEpochsKey"
    for name in ("ReadMirrorStatesResponse", "DescribeMirrorsResponse", "LastMirrorEpochsValue"):
        fields = {f.name for s in load().messages[name].structs() for f in s.fields}
        assert "LastMirrorEpoch" in fields


@pytest.mark.decision("D3")
def test_mirror_info_is_null_unless_set_and_is_dropped_below_version_8() -> None:
    plain = CreateTopicsRequest(topics=[CreatableTopic(name="t")])
    assert plain.topics[0].mirror_info is None
    with_id = CreateTopicsRequest(topics=[CreatableTopic(name="t", mirror_info=MirrorInfo(topic_id=Uuid(b"i" * 16)))])
    assert CreateTopicsRequest.decode(with_id.encode(8), 8) == with_id
    assert with_id.encode(7) == plain.encode(7)
    # The marker is in the schema's place: after the configs, before the tags.
    assert plain.encode(8) == plain.encode(7)[:-7] + b"\xff" + plain.encode(7)[-7:]


@pytest.mark.decision("D8")
def test_mirror_state_keys_name_the_partition() -> None:
    for cls in (MirrorPartitionStateKey, LastMirrorEpochsKey):
        assert [f.name for f in cls.FIELDS] == ["MirrorName", "TopicId", "Partition"]
    key = MirrorPartitionStateKey(mirror_name="m", topic_id=Uuid.from_ints(0, 1), partition=3)
    assert records.encode_key(key) == b"\0\2" + b"\0\1m" + bytes(15) + b"\x01" + b"\0\0\0\3"
    found = records.decode_record(records.MIRROR_STATE, records.encode_key(key), None)
    assert found == (key, None, None)


@pytest.mark.decision("D9")
def test_leader_epoch_travels_as_a_tag_and_costs_nothing_at_its_default() -> None:
    for cls in (WrittenPartition, PartitionResult, MirrorPartitionStateValue):
        field = next(f for f in cls.FIELDS if f.name == "LeaderEpoch")
        assert (field.tag, field.default) == (0, -1)
    bare = MirrorPartitionStateValue(topic_name="my-topic", partition=0, state=1)
    assert bare.encode(0) == b"\x09my-topic" + bytes(4) + b"\x01" + b"\x00"
    assert (
        MirrorPartitionStateValue(topic_name="my-topic", partition=0, state=1, leader_epoch=7).encode(0)
        == b"\x09my-topic" + bytes(4) + b"\x01" + b"\x01\x00\x04\x00\x00\x00\x07"
    )
    topic = next(f for f in WrittenTopic.FIELDS if f.name == "TopicId")
    assert (topic.tag, topic.default) == (0, Uuid.ZERO)
    request = WriteMirrorStatesRequest(removed_topics=["gone"])
    assert WriteMirrorStatesRequest.decode(request.encode(0), 0).removed_topics == ["gone"]


@pytest.mark.kip("1279", "MirrorLeaderEpoch")
def test_mirror_leader_epoch_in_fetch() -> None:
    request = FetchRequest(topics=[FetchTopic(partitions=[FetchPartition(mirror_leader_epoch=5)])])
    assert b"\x01\x02\x04\x00\x00\x00\x05" in request.encode(19)
    assert FetchRequest.decode(request.encode(19), 19) == request
    # It is ignorable: below version 19 it is dropped silently.
    assert FetchRequest.decode(request.encode(18), 18).topics[0].partitions[0].mirror_leader_epoch == -1
    response = FetchResponse(responses=[FetchableTopicResponse(partitions=[PartitionData(mirror_leader_epoch=5)])])
    assert b"\x01\x03\x04\x00\x00\x00\x05" in response.encode(19)
    assert FetchResponse.decode(response.encode(18), 18).responses[0].partitions[0].mirror_leader_epoch == -1


def test_pid_reset_record() -> None:
    assert MirrorPidResetRecord(version=0, source_cluster_id="abc").encode(0) == b"\0\0\x04abc\0"
    assert MirrorPidResetRecord.TYPE == "data"


def _literal(name: str) -> type[Message]:
    """Return the class that the generator makes from the KIP's own layout."""
    raw = load_json((LITERAL / f"{name}.json").read_text(encoding="utf-8"))
    text = generate_message(build_message(raw, f"literal/{name}.json"))
    module_name = f"kip1279_literal_{name}"
    spec = importlib.util.spec_from_loader(module_name, loader=None)
    assert spec is not None
    module = ModuleType(module_name)
    # Dataclasses look up their module.
    sys.modules[module_name] = module
    exec(compile(text, module_name, "exec"), module.__dict__)
    found: type[Message] = getattr(module, name)
    return found


@pytest.mark.kip("1279", "mirror state dump")
@pytest.mark.decision("D8")
def test_the_literal_layout_has_the_sizes_of_the_kips_dump() -> None:
    key = records.encode_key(_literal("MirrorPartitionStateKey")(mirror_name="my-mirror"))
    value_class = _literal("MirrorPartitionStateValue")
    value = records.encode_value(value_class(topic_name="my-topic", partition=0, state=0), 0)
    assert (len(key), len(value)) == (13, 17)
    # One record in a batch: header of 61; length, attributes, two deltas, key, value, number of headers.
    record = 1 + 1 + 1 + 1 + 1 + len(key) + 1 + len(value) + 1
    assert 61 + record == 98
    # kmirror's value has the bytes of the literal one.
    ours = MirrorPartitionStateValue(topic_name="my-topic", partition=0, state=0)
    assert records.encode_value(ours, 0) == value


@pytest.mark.decision("D8")
def test_the_literal_key_keeps_one_partition_of_a_mirror() -> None:
    literal = _literal("MirrorPartitionStateKey")
    partitions = range(3)
    assert len({records.encode_key(literal(mirror_name="m")) for _ in partitions}) == 1
    ours = {records.encode_key(MirrorPartitionStateKey(mirror_name="m", partition=p)) for p in partitions}
    assert len(ours) == 3


def test_literal_last_mirror_epochs_have_the_products_value_layout() -> None:
    literal, ours = _literal("LastMirrorEpochsValue"), by_name("LastMirrorEpochsValue")
    raw = {"topics": [{"name": "t", "partitions": [{"partitionIndex": 1, "lastMirrorEpoch": 9}]}]}
    assert literal.from_json(raw, 0).encode(0) == ours.from_json(raw, 0).encode(0)
