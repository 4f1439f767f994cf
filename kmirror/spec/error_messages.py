"""Messages that a broker sends with errors that have no particular message; a client may show them to its user.

Kafka's words, for the errors that are sent like this. All others have only the text of `ErrorCode`, which is ours.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.spec.error_codes import ErrorCode

MESSAGES: Mapping[ErrorCode, str] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
    ErrorCode.UNKNOWN_TOPIC_ID: "This server does not host this topic ID.",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Transactional Id authorization failed.",
}


def default_message(error: ErrorCode) -> str:
    """Return the message that a broker sends with this error."""
    return MESSAGES.get(error, error.text)
