"""Aspect of the metadata image: ACLs, indexed by resource pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kmirror.cluster.images.aspect import KeyedAspect, LatestImage
from kmirror.cluster.images.delta import Delta
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.access_control_entry_record import AccessControlEntryRecord
from kmirror.protocol.gen.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kmirror.protocol.message import Message
from kmirror.spec.acls import ANY
from kmirror.spec.wire_values import AclPatternType

ACLS = KeyedAspect(
    {AccessControlEntryRecord: lambda record: record.id, RemoveAccessControlEntryRecord: lambda record: record.id},
    removes=lambda record: isinstance(record, RemoveAccessControlEntryRecord),
)
_LITERAL, _PREFIXED = int(AclPatternType.LITERAL), int(AclPatternType.PREFIXED)
Pattern = tuple[int, int, str]
"""(resource type, pattern type, name)"""


class Acls(LatestImage):
    """The ACLs of a cluster."""

    def __init__(self) -> None:
        super().__init__(ACLS)
        self.version = 0
        """Changes with every change of the ACLs; data derived from the ACLs is valid while this is unchanged."""
        self._by_pattern: dict[Pattern, dict[Uuid, AccessControlEntryRecord]] = {}
        self._prefix_sizes = Counter[int]()

    def put(self, record: Message, value: Message) -> None:
        """Add or remove an ACL."""
        assert isinstance(record, AccessControlEntryRecord | RemoveAccessControlEntryRecord), record
        self._forget(record.id)
        super().put(record, value)
        self.version += 1
        if isinstance(record, AccessControlEntryRecord):
            self._by_pattern.setdefault(_pattern(record), {})[record.id] = record
            if record.pattern_type == _PREFIXED:
                self._prefix_sizes[len(record.resource_name)] += 1

    def _forget(self, acl_id: Uuid) -> None:
        previous = self.latest.get(acl_id)
        if not isinstance(previous, AccessControlEntryRecord):
            return
        pattern = _pattern(previous)
        del self._by_pattern[pattern][acl_id]
        if not self._by_pattern[pattern]:
            del self._by_pattern[pattern]
        if previous.pattern_type == _PREFIXED:
            size = len(previous.resource_name)
            self._prefix_sizes[size] -= 1
            if not self._prefix_sizes[size]:
                del self._prefix_sizes[size]

    def matching(self, resource_type: int, name: str) -> Iterator[AccessControlEntryRecord]:
        """Yield the ACLs whose pattern matches a resource."""
        found = self._by_pattern
        yield from found.get((resource_type, _LITERAL, name), {}).values()
        yield from found.get((resource_type, _LITERAL, ANY), {}).values()
        for size in self._prefix_sizes:
            if size <= len(name):
                yield from found.get((resource_type, _PREFIXED, name[:size]), {}).values()

    def of_type(self, resource_type: int) -> Iterator[AccessControlEntryRecord]:
        """Yield the ACLs for any resource of a type."""
        for pattern, acls in self._by_pattern.items():
            if pattern[0] == resource_type:
                yield from acls.values()

    def add_difference(self, before: LatestImage, delta: Delta) -> None:
        """Continue the version of the earlier image.

        Nothing is added to `delta`, as no part of a node follows these records.
        """
        assert isinstance(before, Acls), before
        self.version = before.version + (self.latest != before.latest)


def _pattern(acl: AccessControlEntryRecord) -> Pattern:
    return acl.resource_type, acl.pattern_type, acl.resource_name
