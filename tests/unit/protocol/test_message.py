"""Operations common to all messages."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest

from kmirror.errors import LocalProtocolError, ProtocolError, UsageError
from kmirror.protocol import FetchRequest, Policy, UnknownTag, Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchTopic, ForgottenTopic, ReplicaState
from kmirror.protocol.gen.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kmirror.protocol.gen.incremental_alter_configs_request import AlterableConfig
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.sasl_authenticate_request import SaslAuthenticateRequest


def request() -> FetchRequest:
    partition = FetchPartition(partition=3, fetch_offset=7)
    return FetchRequest(max_wait_ms=500, topics=[FetchTopic(topic_id=Uuid.from_ints(0, 1), partitions=[partition])])


def test_equality_is_by_value_and_type() -> None:
    assert request() == request()
    changed = request()
    changed.topics[0].partitions[0].fetch_offset = 8
    assert changed != request()
    assert FetchTopic() != ReplicaState()
    tagged = request()
    tagged.unknown_tags = [UnknownTag(9, b"x")]
    assert tagged != request()


def test_repr_is_the_constructor_call() -> None:
    shown = repr(request())
    assert shown == (
        "FetchRequest(max_wait_ms=500, topics=[FetchTopic(topic_id=Uuid.from_str('AAAAAAAAAAAAAAAAAAAAAQ'), "
        "partitions=[FetchPartition(partition=3, fetch_offset=7)])])"
    )
    names = {
        "FetchRequest": FetchRequest,
        "FetchTopic": FetchTopic,
        "FetchPartition": FetchPartition,
        "Uuid": Uuid,
    }
    assert eval(shown, names) == request()


def test_repr_hides_secrets() -> None:
    configs = [
        AlterableConfig("retention.ms", 0, "5"),
        AlterableConfig("sasl.jaas.config", 0, "hush"),
        AlterableConfig("nobody.knows", 0, "hush"),
        AlterableConfig("ssl.key.password", 1, None),
    ]
    assert repr(configs) == (
        "[AlterableConfig(name='retention.ms', value='5'), "
        "AlterableConfig(name='sasl.jaas.config', value='[hidden]'), "
        "AlterableConfig(name='nobody.knows', value='[hidden]'), "
        "AlterableConfig(name='ssl.key.password', config_operation=1, value=None)]"
    )
    assert repr(SaslAuthenticateRequest(auth_bytes=b"hush")) == "SaslAuthenticateRequest(auth_bytes='[hidden]')"
    assert repr(SaslAuthenticateRequest()) == "SaslAuthenticateRequest()"
    assert SaslAuthenticateRequest(auth_bytes=b"hush").to_json(0) == {"authBytes": "aHVzaA=="}


def test_construction_is_by_keyword() -> None:
    with pytest.raises(TypeError):
        FetchTopic(nme="name")  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        FetchTopic().nme = "name"  # type: ignore[attr-defined]


def test_copies_and_pickles_are_equal() -> None:
    assert copy.deepcopy(request()) == request()
    assert pickle.loads(pickle.dumps(request())) == request()


def test_defaults_are_not_shared() -> None:
    first, second = FetchRequest(), FetchRequest()
    first.topics.append(FetchTopic())
    first.replica_state.replica_id = 5
    assert second == FetchRequest()
    one = FetchRequest.decode(second.encode(17), 17)
    one.replica_state.replica_id = 5
    assert FetchRequest.decode(second.encode(17), 17) == FetchRequest()


@pytest.mark.parametrize("version", [3, 20, -1])
def test_unknown_versions_are_refused_in_both_directions(version: int) -> None:
    with pytest.raises(LocalProtocolError, match=f"no version {version}: known are 4 to 19"):
        FetchRequest().encode(version)
    with pytest.raises(ProtocolError, match=f"no version {version}"):
        FetchRequest.decode(b"", version)
    with pytest.raises(LocalProtocolError, match=f"no version {version}"):
        FetchRequest().to_json(version)


REFUSALS = [
    (FetchRequest(max_wait_ms=2**31), 17, "max_wait_ms", "2147483648 is no int32"),
    (FetchRequest(max_wait_ms=1.5), 17, "max_wait_ms", "1.5 is no int32"),  # type: ignore[arg-type]
    (FetchRequest(rack_id=None), 17, "rack_id", "null, which version 17 does not allow"),  # type: ignore[arg-type]
    (FetchRequest(rack_id=b"r"), 17, "rack_id", "a str expected, not bytes"),  # type: ignore[arg-type]
    (FetchRequest(rack_id="x" * 32768), 17, "rack_id", "at most 32767"),
    (FetchRequest(rack_id="x" * 32768), 11, "rack_id", "at most 32767"),
    (FetchRequest(rack_id="\ud800"), 17, "rack_id", "no UTF-8 form"),
    (FetchRequest(topics=[FetchTopic(partitions=[None])]), 17, "topics[0].partitions[0]", "null"),  # type: ignore[list-item]
    (FetchRequest(topics=5), 17, "topics", "a list expected, not int"),  # type: ignore[arg-type]
    (FetchRequest(replica_id=1), 17, "replica_id", "version 17 lacks it and 1 may not be dropped"),
    (FetchRequest(replica_state=ReplicaState(replica_id=1)), 14, "replica_state", "version 14 lacks it"),
    (FetchRequest(unknown_tags=[UnknownTag(9, b"")]), 11, "unknown_tags", "version 11 has no tagged fields"),
    (
        FetchRequest(unknown_tags=[UnknownTag(1, b"")]),
        17,
        "unknown_tags",
        "tag 1 is one that the schema names",
    ),
    (
        FetchRequest(unknown_tags=[UnknownTag(9, b""), UnknownTag(9, b"")]),
        17,
        "unknown_tags",
        "tag 9 after tag 9: they must ascend",
    ),
    (MetadataRequest(topics=None), 0, "topics", "null, which version 0 does not allow"),
    (
        MetadataRequest(topics=[MetadataRequestTopic(name=None)]),
        9,
        "topics[0].name",
        "null, which version 9 does not allow",
    ),
]


@pytest.mark.parametrize(("message", "version", "path", "text"), REFUSALS)
def test_unencodable_values_are_refused_with_their_path(message, version, path, text) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LocalProtocolError) as caught:
        message.encode(version)
    assert str(caught.value).startswith(f"field {path}: ")
    assert text in str(caught.value)


def test_ignorable_fields_are_dropped_where_a_version_lacks_them() -> None:
    assert FetchRequest(session_id=5, rack_id="r").encode(4) == FetchRequest().encode(4)
    with pytest.raises(LocalProtocolError, match="field forgotten_topics_data"):
        FetchRequest(forgotten_topics_data=[ForgottenTopic()]).encode(4)


def test_unknown_tags_stay_in_place_at_every_level() -> None:
    partition = FetchPartition(partition=1, replica_directory_id=Uuid(b"d" * 16), unknown_tags=[UnknownTag(7, b"deep")])
    topic = FetchTopic(partitions=[partition], unknown_tags=[UnknownTag(0, b""), UnknownTag(300, b"x" * 200)])
    message = FetchRequest(cluster_id="c", topics=[topic], unknown_tags=[UnknownTag(2, b"a"), UnknownTag(5, b"b")])
    data = message.encode(17)
    again = FetchRequest.decode(data, 17)
    assert again == message
    assert again.encode(17) == data
    assert data.endswith(b"\x03\x00\x02\x02c\x02\x01a\x05\x01b")


def test_records_are_views_and_are_not_copied() -> None:
    data = bytes(range(256)) * 64
    response = FetchResponse(responses=[FetchableTopicResponse(partitions=[PartitionData(records=data)])])
    chunks = response.encode_chunks(17)
    assert any(chunk is data for chunk in chunks)
    frame = b"".join(chunks)
    found = FetchResponse.decode(frame, 17).responses[0].partitions[0].records
    assert isinstance(found, memoryview)
    assert found.obj is frame
    assert found == data


def test_lenient_accepts_values_that_strict_refuses() -> None:
    good = FetchRequest(rack_id="rack").encode(17)
    null = good[:-6] + b"\x00\x00"
    with pytest.raises(ProtocolError, match="null where string must be"):
        FetchRequest.decode(null, 17)
    assert FetchRequest.decode(null, 17, policy=Policy.LENIENT).rack_id is None
    # Text that is not UTF-8 is written back unchanged.
    odd = good[:-2] + b"\xff\x00"
    assert FetchRequest.decode(odd, 17).rack_id == "rac\ufffd"
    kept = FetchRequest.decode(odd, 17, policy=Policy.LENIENT)
    assert kept.encode(17) == odd
    with pytest.raises(ProtocolError):
        FetchRequest.decode(good[:-1], 17, policy=Policy.LENIENT)


def test_a_known_tag_of_another_version() -> None:
    body = FetchRequest().encode(14)[:-1] + b"\x01\x01\x0d" + bytes(12) + b"\x00"
    with pytest.raises(ProtocolError, match="tag 1 does not exist in version 14") as caught:
        FetchRequest.decode(body, 14)
    assert (caught.value.field, caught.value.position) == ("tags", len(body) - 15)
    found = FetchRequest.decode(body, 14, policy=Policy.LENIENT)
    assert found.unknown_tags == (UnknownTag(1, bytes(13)),)


def test_messages_are_imported_on_demand() -> None:
    code = (
        "import sys, kmirror, kmirror.protocol\n"
        "loaded = [m for m in sys.modules if m.startswith('kmirror.protocol.gen.')]\n"
        "assert not loaded, loaded\n"
        "from kmirror.protocol import FetchRequest\n"
        "loaded = [m for m in sys.modules if m.startswith('kmirror.protocol.gen.')]\n"
        "assert {m.split('.')[-1] for m in loaded} == {'fetch_request', 'registry'}, loaded\n"
        "assert 'FetchRequest' in dir(kmirror.protocol)\n"
        "assert not {'asyncio', 'click', 'rich', 'hypothesis', 'construct'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_that_are_none() -> None:
    import kmirror.protocol

    with pytest.raises(AttributeError, match="no message is named Nothing"):
        kmirror.protocol.Nothing  # noqa: B018
    with pytest.raises(ImportError):
        from kmirror.protocol import nothing  # type: ignore[attr-defined]  # noqa: F401


class TestUuid:
    def test_forms(self) -> None:
        uuid = Uuid.from_ints(-1, 1)
        assert str(uuid) == "__________8AAAAAAAAAAQ"
        assert Uuid.from_str(str(uuid)) == Uuid.from_str(str(uuid) + "==") == uuid
        assert (uuid.high, uuid.low) == (-1, 1)
        assert repr(uuid) == "Uuid.from_str('__________8AAAAAAAAAAQ')"
        assert Uuid() == Uuid.ZERO == bytes(16)

    @pytest.mark.parametrize("text", ["", "A", "A" * 21, "A" * 23, "A" * 21 + "!", "Ä" * 22])
    def test_invalid_uuids_are_refused(self, text: str) -> None:
        with pytest.raises(UsageError, match="not a uuid"):
            Uuid.from_str(text)

    def test_wrong_length(self) -> None:
        with pytest.raises(UsageError, match="16 bytes, not 15"):
            Uuid(bytes(15))


def test_a_tagged_field_that_is_not_set_is_not_made_by_writing() -> None:
    """Otherwise each default that is made for a comparison would stay in the message."""
    row = PartitionData(current_leader=LeaderIdAndEpoch(leader_id=1, leader_epoch=2))
    topic = FetchableTopicResponse(partitions=[row])
    frame = FetchResponse(responses=[topic]).encode(17)
    assert list(row._tagged) == ["current_leader"]
    assert FetchResponse.decode(frame, 17).responses[0].partitions[0].current_leader.leader_id == 1
