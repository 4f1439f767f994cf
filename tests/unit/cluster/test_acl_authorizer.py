"""Rights by ACLs, by the rules of Kafka's StandardAuthorizer, and the version of rights."""

from __future__ import annotations

import pytest

from kmirror.cluster.acl_authorizer import ALL, AclAuthorizer, authorizer_of
from kmirror.cluster.authorizer import ALLOW_ALL, CLUSTER, UNLIMITED, AllowAll, Resource, Rights
from kmirror.cluster.images import Delta, MetadataImage
from kmirror.errors import UsageError
from kmirror.kernel.ids import ANONYMOUS, Principal
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.access_control_entry_record import AccessControlEntryRecord
from kmirror.protocol.gen.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kmirror.protocol.message import Message
from kmirror.spec.configs import broker_configs
from kmirror.spec.wire_values import AclOperation as Op
from kmirror.spec.wire_values import AclPatternType, AclPermission, AclResourceType
from tests.acls import ACL_CONFIGS, acl, deny

ALICE, ROOT, HOST = Principal("User", "alice"), Principal("User", "root"), "10.0.0.1"
PREFIXED, TOPIC = AclPatternType.PREFIXED, AclResourceType.TOPIC
CONFIGS = {**ACL_CONFIGS, "allow.everyone.if.no.acl.found": "false", "super.users": "User:root; User:CN=a:b"}


def apply(image: MetadataImage, *records: Message) -> MetadataImage:
    for record in records:
        image.apply(record, Delta())
    return image


def rights(*records: Message, of: Principal = ALICE, configs: dict[str, str] | None = None) -> Rights:
    """Return the rights of a principal after these records."""
    image = apply(MetadataImage(), *records)
    return Rights(authorizer_of(broker_configs(configs or CONFIGS, {}), image, None), of, HOST)


def may(operation: Op, name: str, *records: Message, of: Principal = ALICE) -> bool:
    return rights(*records, of=of).allow(operation, Resource.topic(name))


def test_without_rights_nothing_is_permitted_unless_everyone_may() -> None:
    assert not may(Op.READ, "t")
    open_to_all = rights(acl(1, Op.READ, "known", principal="User:bob"), configs=ACL_CONFIGS)
    assert open_to_all.allow(Op.READ, Resource.topic("t")) and open_to_all.allow(Op.CLUSTER_ACTION, CLUSTER)
    assert not open_to_all.allow(Op.READ, Resource.topic("known")), "an ACL is about it"


@pytest.mark.parametrize(
    ("allowed", "record"),
    [
        (True, acl(1, Op.READ, "t", principal="User:alice")),
        (True, acl(1, Op.READ, "*")),
        (True, acl(1, ALL, "t", host=HOST)),
        (True, acl(1, Op.READ, "t", pattern=PREFIXED)),
        (False, acl(1, Op.READ, "t", principal="User:bob")),
        (False, acl(1, Op.READ, "t", principal="Group:*")),
        (False, acl(1, Op.READ, "t", host="10.0.0.2")),
        (False, acl(1, Op.WRITE, "t")),
        (False, acl(1, Op.READ, "tt")),
        (False, acl(1, Op.READ, "tt", pattern=PREFIXED)),
        (False, acl(1, Op.READ, "t", kind=AclResourceType.GROUP)),
    ],
)
def test_an_acl_is_about_a_principal_a_host_an_operation_and_a_resource(
    allowed: bool, record: AccessControlEntryRecord
) -> None:
    assert may(Op.READ, "t", record) is allowed


def test_deny_takes_precedence_over_allow() -> None:
    assert may(Op.READ, "ab", acl(1, Op.READ, "a", pattern=PREFIXED))
    assert not may(Op.READ, "ab", acl(1, Op.READ, "a", pattern=PREFIXED), deny(2, Op.READ, "ab"))
    assert not may(Op.READ, "ab", deny(2, Op.READ, "*"), acl(1, Op.READ, "ab"))


def test_operations_imply_to_describe_only_where_they_are_allowed() -> None:
    for operation in (Op.READ, Op.WRITE, Op.DELETE, Op.ALTER):
        assert may(Op.DESCRIBE, "t", acl(1, operation, "t"))
    assert may(Op.DESCRIBE_CONFIGS, "t", acl(1, Op.ALTER_CONFIGS, "t"))
    assert not may(Op.DESCRIBE, "t", acl(1, Op.ALTER_CONFIGS, "t"))
    assert may(Op.DESCRIBE, "t", deny(1, Op.READ, "t"), acl(2, Op.DESCRIBE, "t"))


def test_a_super_user_may_do_everything() -> None:
    assert may(Op.READ, "t", deny(1, Op.READ, "t"), of=ROOT)
    assert may(Op.READ, "t", of=Principal("User", "CN=a:b"))
    found = rights(deny(1, Op.WRITE, "*"), of=ROOT)
    assert found.allow_any(Op.WRITE, TOPIC) and found.version == UNLIMITED


@pytest.mark.parametrize(
    ("allowed", "records"),
    [
        (False, []),
        (True, [acl(1, Op.WRITE, "t")]),
        (True, [acl(1, Op.WRITE, "*"), deny(2, Op.WRITE, "t")]),
        (True, [acl(1, Op.WRITE, "t", pattern=PREFIXED), deny(2, Op.WRITE, "t")]),
        (False, [acl(1, Op.WRITE, "t"), deny(2, Op.WRITE, "t")]),
        (False, [acl(1, Op.WRITE, "t"), deny(2, Op.WRITE, "*")]),
        (False, [acl(1, Op.WRITE, "tu"), acl(2, Op.WRITE, "t", AclPermission.DENY, pattern=PREFIXED)]),
        (False, [acl(1, Op.WRITE, "t", principal="User:bob")]),
        (False, [acl(1, Op.READ, "t")]),
    ],
)
def test_a_right_on_any_resource_is_one_that_is_not_denied(allowed: bool, records: list[Message]) -> None:
    assert rights(*records).allow_any(Op.WRITE, TOPIC) is allowed


def test_an_acl_that_is_removed_is_no_acl_any_more() -> None:
    image = apply(MetadataImage(), acl(1, Op.READ, "t"), acl(2, Op.READ, "p", pattern=PREFIXED))
    found = Rights(AclAuthorizer(image, frozenset(), allows_without_acl=False), ALICE, HOST)
    before = found.version
    assert found.allow(Op.READ, Resource.topic("t")) and found.allow(Op.READ, Resource.topic("pq"))
    apply(image, *(RemoveAccessControlEntryRecord(id=Uuid.from_ints(3, number)) for number in (1, 2)))
    assert not found.allow(Op.READ, Resource.topic("t")) and not found.allow(Op.READ, Resource.topic("pq"))
    assert found.version != before


def test_an_image_read_from_a_snapshot_has_another_version_if_its_acls_are_others() -> None:
    image = apply(MetadataImage(), acl(1, Op.READ, "t"))
    found = Rights(AclAuthorizer(image, frozenset(), allows_without_acl=False), ALICE, HOST)
    before = found.version
    image.replace_by(apply(MetadataImage(), acl(1, Op.READ, "t")))
    assert found.version == before
    image.replace_by(apply(MetadataImage(), acl(1, Op.READ, "u")))
    assert found.version != before and found.allow(Op.READ, Resource.topic("u"))
    assert not found.allow(Op.READ, Resource.topic("t"))


def test_rights_of_others_have_another_version() -> None:
    image = MetadataImage()
    authorizer = AclAuthorizer(image, frozenset([ROOT]), allows_without_acl=True)
    versions = [
        Rights(authorizer, who, host).version for who, host in ((ALICE, HOST), (ALICE, "::1"), (ANONYMOUS, HOST))
    ]
    assert len(set(versions)) == 3 and UNLIMITED not in versions


def test_only_unrestricted_operations_need_no_check() -> None:
    assert Rights(ALLOW_ALL, ALICE, HOST).version == UNLIMITED

    class Denies(AllowAll):
        def authorize(self, *_: object) -> bool:
            return False

    assert Rights(Denies(), ALICE, HOST).version is None
    assert Rights(Denies(), ALICE, HOST).denied_topics(Op.READ, ["t"])


def test_the_configs_of_a_node_choose_its_authorizer() -> None:
    image, plugged = MetadataImage(), AllowAll()
    assert authorizer_of(broker_configs({}, {}), image, None) is ALLOW_ALL
    assert isinstance(authorizer_of(broker_configs(CONFIGS, {}), image, None), AclAuthorizer)
    assert authorizer_of(broker_configs(CONFIGS, {}), image, plugged) is plugged
    with pytest.raises(UsageError, match=r"super\.users has 'alice', expected type:name"):
        authorizer_of(broker_configs({**CONFIGS, "super.users": "alice"}, {}), image, None)
