"""Aspect of the metadata image: delegation tokens. They are stored but not enforced."""

from __future__ import annotations

from kmirror.cluster.images.aspect import KeyedAspect
from kmirror.protocol.gen.delegation_token_record import DelegationTokenRecord
from kmirror.protocol.gen.remove_delegation_token_record import RemoveDelegationTokenRecord

DELEGATION_TOKENS = KeyedAspect(
    {
        DelegationTokenRecord: lambda record: record.token_id,
        RemoveDelegationTokenRecord: lambda record: record.token_id,
    },
    removes=lambda record: isinstance(record, RemoveDelegationTokenRecord),
)
