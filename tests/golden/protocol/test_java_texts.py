"""Bytes that are no text are replaced as in a JVM, wherever text is read."""

from __future__ import annotations

from kmirror.kernel.java import java_text
from kmirror.protocol import Policy
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.records import Batch, build_batch
from kmirror.records.record import RecordData
from tests.golden.protocol.java_texts import byte_strings, recorded_texts

SURROGATES = (b"\xed\xa0", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0\x41")


def test_every_short_string_is_read_as_by_a_jvm() -> None:
    strings, texts = byte_strings(), recorded_texts()
    assert len(strings) == len(texts) > 10_000
    assert set(SURROGATES) < set(strings)
    assert sum("\ufffd" in text for text in texts) > len(texts) // 2
    assert [data.hex() for data, text in zip(strings, texts, strict=True) if java_text(data) != text] == []


def test_messages_and_record_headers_show_the_same_marks() -> None:
    answers = dict(zip(byte_strings(), recorded_texts(), strict=True))
    for data in SURROGATES:
        plain = MetadataResponse(cluster_id="x" * len(data)).encode(2)
        message = MetadataResponse.decode(plain.replace(b"x" * len(data), data), 2)
        assert message.cluster_id == answers[data]
        lenient = MetadataResponse.decode(plain.replace(b"x" * len(data), data), 2, policy=Policy.LENIENT)
        assert lenient.encode(2) == plain.replace(b"x" * len(data), data)
        batch = build_batch([RecordData(None, None, (("y" * len(data), b"v"),))])
        (record,) = Batch(batch.replace(b"y" * len(data), data)).records()
        assert record.headers == [(answers[data], b"v")]
