"""Messages as JSON, and errors for JSON that does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.errors import LocalProtocolError
from kmirror.protocol import FetchRequest
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.json_form import Records, to_json


def test_records_have_three_forms() -> None:
    partition = PartitionProduceData(index=1, records=b"abc")
    message = ProduceRequest(topic_data=[TopicProduceData(name="t", partition_data=[partition])])

    def shown(records: Records) -> Any:
        return to_json(message, 9, records)["topicData"][0]["partitionData"][0]

    assert shown(Records.BASE64) == {"index": 1, "records": "YWJj"}
    assert shown(Records.EMPTY) == {"index": 1, "records": ""}
    assert shown(Records.SIZE) == {"index": 1, "recordsSizeInBytes": 3}
    assert ProduceRequest.from_json(message.to_json(9), 9) == message


GOOD = FetchRequest().to_json(17)

WRONG = [
    ([], "FetchRequest", "a JSON object is expected"),
    ({**GOOD, "colour": 1}, "colour", "FetchRequest has no such field"),
    (
        {k: v for k, v in GOOD.items() if k != "maxWaitMs"},
        "max_wait_ms",
        "maxWaitMs is missing, which version 17",
    ),
    ({**GOOD, "maxWaitMs": "1"}, "max_wait_ms", "'1' is no int32"),
    ({**GOOD, "maxWaitMs": True}, "max_wait_ms", "True is no int32"),
    ({**GOOD, "maxWaitMs": 2**31}, "max_wait_ms", "is no int32"),
    ({**GOOD, "maxWaitMs": None}, "max_wait_ms", "null, which is never allowed"),
    ({**GOOD, "topics": {}}, "topics", "a JSON array is expected"),
    ({**GOOD, "topics": [{"topicId": "x", "partitions": []}]}, "topics[0].topic_id", "not a uuid"),
    ({**GOOD, "rackId": 5}, "rack_id", "5 is no string"),
]


@pytest.mark.parametrize(("raw", "path", "text"), WRONG)
def test_json_that_does_not_fit_is_refused_with_its_path(raw: Any, path: str, text: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        FetchRequest.from_json(raw, 17)
    assert str(caught.value).startswith(f"field {path}: ")
    assert text in str(caught.value)


def test_bytes_must_be_base64() -> None:
    raw = {"transactionalId": None, "acks": 1, "timeoutMs": 1, "topicData": []}
    raw["topicData"] = [{"name": "t", "partitionData": [{"index": 1, "records": "%%"}]}]
    with pytest.raises(LocalProtocolError, match=r"topic_data\[0\]\.partition_data\[0\]\.records: '%%' is not base64"):
        ProduceRequest.from_json(raw, 9)


def test_values_that_the_version_cannot_carry_have_no_json() -> None:
    with pytest.raises(LocalProtocolError, match="field replica_id: version 17 lacks it"):
        FetchRequest(replica_id=1).to_json(17)
    with pytest.raises(LocalProtocolError, match="field rack_id: null"):
        FetchRequest(rack_id=None).to_json(17)  # type: ignore[arg-type]
