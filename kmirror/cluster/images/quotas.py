"""Aspect of the metadata image: quotas of clients and users. They are stored but not enforced."""

from __future__ import annotations

from collections.abc import Hashable

from kmirror.cluster.images.aspect import KeyedAspect
from kmirror.protocol.gen.client_quota_record import ClientQuotaRecord
from kmirror.protocol.message import Message


def _key(record: ClientQuotaRecord) -> Hashable:
    return frozenset((part.entity_type, part.entity_name) for part in record.entity), record.key


def _removes(record: Message) -> bool:
    return isinstance(record, ClientQuotaRecord) and record.remove


QUOTAS = KeyedAspect({ClientQuotaRecord: _key}, removes=_removes)
