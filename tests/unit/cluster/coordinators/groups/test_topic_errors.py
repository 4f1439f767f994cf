"""Rows of one topic are adjacent, and the work grows with the size of the request, not with its square."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.cluster.coordinators.groups.topic_errors import RequestedTopic, TopicErrors, check_topics, merge_errors
from kmirror.cluster.images import MetadataImage
from kmirror.kernel.uuid import Uuid
from kmirror.spec.error_codes import ErrorCode

UNKNOWN, NONE = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE


@dataclass
class Asked:
    partition_index: int


class Name(str):
    """A topic's name that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def asked(*names: str) -> list[RequestedTopic[Asked]]:
    return [RequestedTopic(name, Uuid.ZERO, [Asked(0)]) for name in names]


def test_a_topic_named_twice_has_one_row_in_the_response() -> None:
    refused, accepted = check_topics(MetadataImage(), asked("a", "b", "a"), {})
    assert accepted == []
    decided = [TopicErrors("b", Uuid.ZERO, [(7, NONE)]), TopicErrors("c", Uuid.ZERO, [(8, NONE)])]
    assert merge_errors(refused, decided) == [
        TopicErrors("a", Uuid.ZERO, [(0, UNKNOWN), (0, UNKNOWN)]),
        TopicErrors("b", Uuid.ZERO, [(0, UNKNOWN), (7, NONE)]),
        TopicErrors("c", Uuid.ZERO, [(8, NONE)]),
    ]


def test_the_work_grows_with_the_topics_and_not_with_their_square() -> None:
    count = 2_000
    Name.compared = 0
    refused, _ = check_topics(MetadataImage(), asked(*(Name(f"t{n}") for n in range(count))), {})
    decided = [TopicErrors(Name(f"d{n}"), Uuid.ZERO, [(0, NONE)]) for n in range(count)]
    assert len(merge_errors(refused, decided)) == 2 * count
    assert Name.compared < 10 * count
