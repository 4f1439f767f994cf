"""Aspect of the metadata image: SCRAM credentials of users. They are stored but not enforced."""

from __future__ import annotations

from collections.abc import Hashable

from kmirror.cluster.images.aspect import KeyedAspect
from kmirror.protocol.gen.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kmirror.protocol.gen.user_scram_credential_record import UserScramCredentialRecord


def _user(record: UserScramCredentialRecord | RemoveUserScramCredentialRecord) -> Hashable:
    return record.name, record.mechanism


SCRAM = KeyedAspect(
    {UserScramCredentialRecord: _user, RemoveUserScramCredentialRecord: _user},
    removes=lambda record: isinstance(record, RemoveUserScramCredentialRecord),
)
