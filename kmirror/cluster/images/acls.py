"""Aspect of the metadata image: ACLs. They are kept and not enforced (see `controller.py`)."""

from __future__ import annotations

from kmirror.cluster.images.aspect import Latest
from kmirror.protocol.gen.access_control_entry_record import AccessControlEntryRecord
from kmirror.protocol.gen.remove_access_control_entry_record import RemoveAccessControlEntryRecord

ACLS = Latest(
    {AccessControlEntryRecord: lambda record: record.id, RemoveAccessControlEntryRecord: lambda record: record.id},
    removes=lambda record: isinstance(record, RemoveAccessControlEntryRecord),
)
