"""The table of error codes."""

from __future__ import annotations

from kmirror.spec.error_codes import ErrorCode


def test_codes_run_without_a_gap_and_each_has_a_text() -> None:
    assert sorted(ErrorCode) == list(range(-1, 145))
    texts = [code.text for code in ErrorCode]
    assert all(text.endswith(".") for text in texts)
    assert len(set(texts)) == len(texts)


def test_retriable_is_kafkas() -> None:
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER.retriable
    assert ErrorCode.FENCED_LEADER_EPOCH.retriable
    assert ErrorCode.UNKNOWN_TOPIC_ID.retriable
    assert not ErrorCode.NONE.retriable
    assert not ErrorCode.OFFSET_OUT_OF_RANGE.retriable
    assert not ErrorCode.READ_ONLY_TOPIC.retriable
    assert sum(code.retriable for code in ErrorCode) == 32
