"""Where does a broker of ours answer otherwise than Kafka's, and why? What has a reason here is no finding."""

from __future__ import annotations

from kmirror.fuzz.answers import api_of
from kmirror.fuzz.differential.reasons import Reason
from kmirror.spec.apis import versions_disabled


def _is_of_the_kip(data: bytes) -> bool:
    key, version = api_of(data)
    first, last = versions_disabled("broker", mirror=False).get(key, (0, -1))
    return first <= version <= last


BROKER_REASONS: tuple[Reason, ...] = (
    Reason(
        r"\w+: answers with .* by ours, closes the link by theirs",
        "A version, or an API, that KIP-1279 adds, while mirror.version is 0",
        "Ours knows it, does not tell it, and answers UNSUPPORTED_VERSION; Kafka has never heard of it",
        _is_of_the_kip,
    ),
)
