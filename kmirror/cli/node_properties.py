"""Node described by a `server.properties`: its roles, its listeners, and the controller's address.

The keys and the rules are Kafka's (KafkaConfig). Settings that kmirror lacks are refused: an encrypted or authenticated
listener, more than one listener of a controller, and a quorum of more than one controller.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from kmirror.cli.listeners import PORT_MAX, NamedListener, controller_listener_names, list_entries, listeners_of
from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import Listeners, ListenerSpec
from kmirror.net.node import NodePlan
from kmirror.spec.wire_values import SecurityProtocol

PLAINTEXT = SecurityProtocol.PLAINTEXT.name
_ADDRESS = re.compile(r"\[?(?P<host>[^\]/@]+?)\]?:(?P<port>[0-9]{1,5})")
_PROTOCOLS = {protocol.name: protocol.name for protocol in SecurityProtocol}
_BOOTSTRAP, _VOTERS = "controller.quorum.bootstrap.servers", "controller.quorum.voters"


def node_plan(path: Path, pairs: Mapping[str, str]) -> NodePlan | None:
    """Return the node in `pairs`, or None if they have no `process.roles`; raise UsageError for invalid settings."""
    roles = list_entries(pairs, "process.roles")
    if not roles:
        return None
    if len(set(roles)) < len(roles) or not {"broker", "controller"}.issuperset(roles):
        raise UsageError(f"{path}: process.roles is {','.join(roles)!r}, but must be broker, controller, or both")
    names = controller_listener_names(pairs)
    if not names:
        raise UsageError(f"{path}: controller.listener.names is not set, but each node needs it")
    listeners = listeners_of(path, "listeners", pairs)
    if not listeners and roles == ["broker"]:
        listeners = [NamedListener(PLAINTEXT, Endpoint("", 9092))]
    _check_protocols(path, pairs, [each.name for each in listeners] + names, names)
    advertised = {each.name: each.endpoint for each in listeners_of(path, "advertised.listeners", pairs)}
    specs = [
        ListenerSpec.plain(endpoint, name)._replace(advertised=advertised.get(name, endpoint))
        for name, endpoint in listeners
    ]
    broker_listeners = _role_listeners(path, [each for each in specs if each.name not in names], "broker", roles)
    controller_listeners = _role_listeners(path, [each for each in specs if each.name in names], "controller", roles)
    inter_broker, broker_names = pairs.get("inter.broker.listener.name"), [each.name for each in broker_listeners]
    if inter_broker and broker_names and inter_broker not in broker_names:
        raise UsageError(f"{path}: inter.broker.listener.name is {inter_broker}, but there is no listener of that name")
    unknown = sorted(set(advertised) - {each.name for each in listeners})
    if unknown:
        raise UsageError(f"{path}: advertised.listeners has {unknown[0]}, but listeners has no such name")
    node_id = _node_id(path, pairs)
    return NodePlan(
        node_id=node_id,
        controller=_controller(path, pairs, node_id, is_this_node=bool(controller_listeners)),
        listeners=broker_listeners,
        controller_listener=next(iter(controller_listeners), None),
    )


def _node_id(path: Path, pairs: Mapping[str, str]) -> int:
    text = pairs.get("node.id", pairs.get("broker.id", ""))
    if not re.fullmatch("[0-9]{1,10}", text):
        raise UsageError(
            f"{path}: node.id is {text!r}, but must be an integer, 0 or more, that is unique among the nodes"
        )
    return int(text)


def _check_protocols(path: Path, pairs: Mapping[str, str], names: list[str], controllers: list[str]) -> None:
    """Raise UsageError for a listener with another protocol than PLAINTEXT, the only one that kmirror supports."""
    key = "listener.security.protocol.map"
    protocols = dict(_PROTOCOLS)
    if key in pairs:
        protocols = {name: protocol for name, _, protocol in (each.partition(":") for each in list_entries(pairs, key))}
    else:
        protocols |= {name: PLAINTEXT for name in controllers if name not in protocols}
    for name in names:
        protocol = protocols.get(name)
        if protocol is None:
            raise UsageError(f"{path}: {key} has no protocol for listener {name}: add {name}:{PLAINTEXT}")
        if protocol != PLAINTEXT:
            raise UsageError(f"{path}: listener {name} has protocol {protocol}, but kmirror supports {PLAINTEXT} only")
    inter_broker = pairs.get("security.inter.broker.protocol", PLAINTEXT)
    if inter_broker != PLAINTEXT:
        raise UsageError(
            f"{path}: security.inter.broker.protocol is {inter_broker}, but kmirror supports {PLAINTEXT} only"
        )


def _role_listeners(path: Path, listeners: list[ListenerSpec], role: str, roles: list[str]) -> Listeners:
    """Return the only listener of a role, or None if the node lacks the role; raise UsageError for more, or none."""
    condition = "is in controller.listener.names" if role == "controller" else "is not in controller.listener.names"
    if role not in roles:
        if listeners:
            raise UsageError(
                f"{path}: listeners has {listeners[0].name}, a listener of a {role}, but process.roles is {roles[0]}"
            )
        return ()
    names = [each.name for each in listeners]
    if not listeners or len(set(names)) < len(names) or (role == "controller" and len(listeners) > 1):
        names_text = ", ".join(names) or "none"
        requirement = (
            "exactly one listener" if role == "controller" else "one or more listeners, each with its own name,"
        )
        raise UsageError(f"{path}: a {role} needs {requirement} that {condition}; found: {names_text}")
    return tuple(listeners)


def _controller(path: Path, pairs: Mapping[str, str], node_id: int, *, is_this_node: bool) -> Endpoint | None:
    """Return the address of the controller, or None if it is this node; raise UsageError for several controllers."""
    voters = [(id_, address) for id_, _, address in (each.partition("@") for each in list_entries(pairs, _VOTERS))]
    addresses = [address for _, address in voters] or list_entries(pairs, _BOOTSTRAP)
    key = _VOTERS if voters else _BOOTSTRAP
    if len(addresses) > 1:
        text = f"{path}: {key} names {len(addresses)} controllers, but kmirror supports only a quorum of one"
        raise UsageError(f"{text}: give the cluster's controller only")
    if voters and (voters[0][0] == str(node_id)) is not is_this_node:
        problem = "this node is a controller, but not in it" if is_this_node else "this node is not a controller"
        raise UsageError(f"{path}: {key} is {pairs[key]}, and {problem} (node.id {node_id})")
    if is_this_node:
        return None
    if not addresses:
        raise UsageError(f"{path}: neither {_BOOTSTRAP} nor {_VOTERS} has the controller's address")
    parts = _ADDRESS.fullmatch(addresses[0])
    if parts is None or not 0 < int(parts["port"]) <= PORT_MAX:
        raise UsageError(f"{path}: {key}: {addresses[0]!r} is not an address, such as localhost:9093")
    return Endpoint(parts["host"], int(parts["port"]))
