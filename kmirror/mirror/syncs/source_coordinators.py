"""Check that a broker of the source still coordinates a group, as a deposed broker lists it, too (D60)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from kmirror.client.remote_cluster import RemoteCluster
from kmirror.client.witnesses import Witnesses
from kmirror.kernel.ids import Endpoint
from kmirror.mirror.syncs.batches import in_batches
from kmirror.mirror.syncs.scripts import ScriptRequest, SourceRequest, WitnessRequest
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import FindCoordinatorResponse
from kmirror.spec.wire_values import CoordinatorType

GROUPS_MAX = 100
"""Groups in one request."""
MANY_GROUPS_VERSION = 4
"""First version with several groups in a request."""
NO_COORDINATOR = -1


def coordinated_by(
    broker_id: int, groups: Sequence[str], source: RemoteCluster
) -> Generator[Sequence[ScriptRequest], Sequence[Any], tuple[set[str], bool]]:
    """Return the `groups` that `broker_id` coordinates according to all witnesses, and whether witnesses exist.

    A part of a script. If the coordinator changes later, the new one continues from the offsets that this one has
    returned.
    """
    witnesses: Witnesses = (yield [WitnessRequest()])[0]
    coordinated = set(groups)
    for endpoint in witnesses.endpoints:
        found = yield from _find_coordinators(endpoint, groups, source)
        coordinated = {group for group in coordinated if found.get(group) == broker_id}
    are_valid = witnesses.are_valid(source)
    return (coordinated if are_valid else set()), are_valid


def _find_coordinators(
    endpoint: Endpoint, groups: Sequence[str], source: RemoteCluster
) -> Generator[Sequence[ScriptRequest], Sequence[Any], Mapping[str, int]]:
    """Return the coordinator of each group according to one broker; NO_COORDINATOR if it returns none."""
    takes_many = (source.version(endpoint, FindCoordinatorRequest) or 0) >= MANY_GROUPS_VERSION
    batches = in_batches(groups, GROUPS_MAX if takes_many else 1)
    responses = yield [SourceRequest(_request(batch, takes_many), endpoint) for batch in batches]
    found: dict[str, int] = {}
    for batch, response in zip(batches, responses, strict=True):
        if not isinstance(response, FindCoordinatorResponse):
            continue
        if takes_many:
            found.update({row.key: NO_COORDINATOR if row.error_code else row.node_id for row in response.coordinators})
        else:
            found[batch[0]] = NO_COORDINATOR if response.error_code else response.node_id
    return found


def _request(groups: Sequence[str], takes_many: bool) -> FindCoordinatorRequest:
    if takes_many:
        return FindCoordinatorRequest(key_type=CoordinatorType.GROUP, coordinator_keys=list(groups))
    return FindCoordinatorRequest(key=groups[0], key_type=CoordinatorType.GROUP)
