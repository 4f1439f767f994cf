"""Where do we differ from Kafka's own readers, and why? What has a reason here is no finding."""

from __future__ import annotations

import re
from typing import NamedTuple


class Reason(NamedTuple):
    """A difference between ours and Kafka's that is meant: `cause` is how that of its findings begins, as a pattern."""

    cause: str
    what: str
    why: str


REASONS: tuple[Reason, ...] = ()


def reason_of(cause: str) -> Reason | None:
    """Return why a difference of this cause is none to be told; None if it is."""
    return next((row for row in REASONS if re.match(row.cause, cause)), None)
