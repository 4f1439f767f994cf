"""What does Metadata say, as bytes, for as long as the image says the same?

Clients ask the same question over and over, and of thousands of topics an image changes one. So two things are kept
until the image changes: for each topic its part of the answer, and whole answers for all who have the same rights. A
broker that dies or comes back may change every topic's part, since it says which leaders and replicas are alive.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import RightsVersion
from kmirror.cluster.images import Delta, TopicImage
from kmirror.protocol.gen.metadata_response import MetadataResponseTopic
from kmirror.protocol.wire import Put

BYTES_MAX = 16 << 20
"""Bound of the parts, and of the answers with their questions: 100,000 partitions with three replicas take a third."""

Wanted = tuple[int, str]
"""(version of the answer, listener at which the client asks)"""
Question = tuple[int, str, RightsVersion, bytes]
"""(version, listener, rights of the client, body of the request)"""


class EncodedTopic(MetadataResponseTopic):
    """A topic's part of an answer that was encoded before, for the same version; it has no other fields."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self._tagged = 1  # Has the writer of an answer call `_write` here.
        self.data = data

    def _write(self, put: Put, version: int) -> None:
        put(self.data)


class MetadataAnswers:
    """What is kept of answers; `apply` is to be called with every change of the image, before anybody asks again."""

    def __init__(self) -> None:
        self._parts: dict[str, dict[Wanted, EncodedTopic]] = {}
        """Topic to its parts, by version and listener."""
        self._parts_bytes = 0
        self._answers: dict[Question, bytes] = {}
        self._answers_bytes = 0

    def apply(self, delta: Delta) -> None:
        """Forget what may be otherwise now."""
        changed = {
            **delta.topics_created,
            **dict.fromkeys(delta.topics_deleted),
            **dict.fromkeys(tp.topic for tp in delta.partitions),
        }
        if delta.brokers or changed:
            self._answers.clear()
            self._answers_bytes = 0
        if delta.brokers:
            self._parts.clear()
            self._parts_bytes = 0
        for topic in changed:
            for part in self._parts.pop(topic, {}).values():
                self._parts_bytes -= len(part.data)

    def part(self, topic: TopicImage, wanted: Wanted) -> EncodedTopic | None:
        """Return what is kept of a topic's part."""
        return self._parts.get(topic.name, {}).get(wanted)

    def keep_part(self, topic: TopicImage, wanted: Wanted, described: MetadataResponseTopic) -> EncodedTopic:
        """Encode a topic's part, and keep it."""
        chunks: list[bytes | memoryview] = []
        described._write(chunks.append, wanted[0])
        part = EncodedTopic(b"".join(chunks))
        if self._parts_bytes + len(part.data) > BYTES_MAX:
            self._parts.clear()
            self._parts_bytes = 0
        self._parts.setdefault(topic.name, {})[wanted] = part
        self._parts_bytes += len(part.data)
        return part

    def answer(self, question: Question) -> bytes | None:
        """Return the body of the answer to a question, if it is kept."""
        return self._answers.get(question)

    def keep_answer(self, question: Question, answer: bytes) -> None:
        """Keep the answer to a question that is not kept, and forget the oldest ones where there are too many."""
        self._answers[question] = answer
        self._answers_bytes += _size(question, answer)
        while self._answers_bytes > BYTES_MAX:
            oldest = next(iter(self._answers))
            self._answers_bytes -= _size(oldest, self._answers.pop(oldest))


def _size(question: Question, answer: bytes) -> int:
    return len(question[-1]) + len(answer)
