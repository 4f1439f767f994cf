"""Cached Metadata responses, encoded, valid until the image changes.

Clients repeat the same request, and a change of the image affects one topic of thousands. Two things are cached until
the image changes: the encoded part of each topic, and whole responses, shared by all clients with the same rights. A
broker that dies or returns may change every topic's part, because a part says which leaders and replicas are alive.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import RightsVersion
from kmirror.cluster.images import Delta, TopicImage
from kmirror.protocol.gen.metadata_response import MetadataResponseTopic
from kmirror.protocol.wire import Put

BYTES_MAX = 16 << 20
"""Limit in bytes for the parts, and for the responses with their keys; 100,000 partitions x 3 replicas use a third."""

PartKey = tuple[int, str]
"""(version of the response, listener of the client)"""
CacheKey = tuple[int, str, RightsVersion, bytes]
"""(version, listener, rights of the client, body of the request): the cache key of a response."""


class EncodedTopic(MetadataResponseTopic):
    """A topic's part of a response, already encoded for the same version; it has no other fields."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self._tagged = 1  # Makes the response writer call `_write` of this class.
        self.data = data

    def _write(self, put: Put, version: int) -> None:
        put(self.data)


class MetadataResponseCache:
    """Cache of Metadata responses; call `apply` with every change of the image, before the next request."""

    def __init__(self) -> None:
        self._parts: dict[str, dict[PartKey, EncodedTopic]] = {}
        """Parts by topic, then by version and listener."""
        self._parts_bytes = 0
        self._responses: dict[CacheKey, bytes] = {}
        self._responses_bytes = 0

    def apply(self, delta: Delta) -> None:
        """Drop the entries that `delta` may have changed."""
        changed = {
            **delta.topics_created,
            **dict.fromkeys(delta.topics_deleted),
            **dict.fromkeys(tp.topic for tp in delta.partitions),
        }
        if delta.brokers or changed:
            self._responses.clear()
            self._responses_bytes = 0
        if delta.brokers:
            self._parts.clear()
            self._parts_bytes = 0
        for topic in changed:
            for part in self._parts.pop(topic, {}).values():
                self._parts_bytes -= len(part.data)

    def part(self, topic: TopicImage, key: PartKey) -> EncodedTopic | None:
        """Return the cached part of a topic, or None."""
        return self._parts.get(topic.name, {}).get(key)

    def add_part(self, topic: TopicImage, key: PartKey, topic_response: MetadataResponseTopic) -> EncodedTopic:
        """Encode a topic's part and cache it."""
        chunks: list[bytes | memoryview] = []
        topic_response._write(chunks.append, key[0])
        part = EncodedTopic(b"".join(chunks))
        if self._parts_bytes + len(part.data) > BYTES_MAX:
            self._parts.clear()
            self._parts_bytes = 0
        self._parts.setdefault(topic.name, {})[key] = part
        self._parts_bytes += len(part.data)
        return part

    def response(self, key: CacheKey) -> bytes | None:
        """Return the cached response body for `key`, or None."""
        return self._responses.get(key)

    def add_response(self, key: CacheKey, response: bytes) -> None:
        """Cache a response that is not cached yet; evict the oldest ones above `BYTES_MAX`."""
        self._responses[key] = response
        self._responses_bytes += _size(key, response)
        while self._responses_bytes > BYTES_MAX:
            oldest = next(iter(self._responses))
            self._responses_bytes -= _size(oldest, self._responses.pop(oldest))


def _size(key: CacheKey, response: bytes) -> int:
    return len(key[-1]) + len(response)
