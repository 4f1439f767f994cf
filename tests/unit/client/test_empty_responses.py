"""A response that equals the last decoded one without news, except for its correlation id, need not be decoded."""

from __future__ import annotations

import pytest

from kmirror.client.empty_responses import EmptyResponseMatcher


def frame(body: bytes, correlation_id: int = 0) -> bytes:
    return correlation_id.to_bytes(4, "big") + body


@pytest.mark.parametrize("kind", [bytes, memoryview])
def test_only_the_correlation_id_may_be_another(kind: type) -> None:
    answers = EmptyResponseMatcher(20)
    assert not answers.matches(kind(frame(b"nothing", 1)))
    assert not answers.matches(kind(frame(b"nothing", 2))), "it was not read"
    answers.record_newest()
    assert answers.matches(kind(frame(b"nothing", 3)))
    for other in (b"nothinG", b"nothing.", b"nothin", b""):
        assert not answers.matches(kind(frame(other)))
    assert answers.matches(kind(frame(b"nothing", 4))), "one with news in between changes nothing"
    answers.forget()
    assert not answers.matches(kind(frame(b"nothing", 5)))
    answers.record_newest()
    assert answers.matches(kind(frame(b"nothing", 6)))


def test_a_large_response_has_new_data() -> None:
    answers = EmptyResponseMatcher(20)
    for body, is_small in ((b"x" * 16, True), (b"x" * 17, False)):
        assert not answers.matches(frame(body))
        answers.record_newest()
        assert answers.matches(frame(body)) is is_small
    assert not answers.matches(frame(b"x" * 16)), "what was read last counts"
