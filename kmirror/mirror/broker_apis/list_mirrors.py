"""ListMirrors: the mirrors of this cluster, read from the metadata image only.

A mirror that the client may not describe is left out (D18).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.mirror.configs import BOOTSTRAP_SERVERS, mirror_configs, mirror_names
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.warnings import unwritable_states_warning
from kmirror.protocol.gen.list_mirrors_response import ListedMirror, ListMirrorsResponse
from kmirror.protocol.message import Message
from kmirror.spec.wire_values import AclOperation


def handle(context: MirrorContext, now: Instant, inbound: Inbound[Message]) -> None:
    """Respond with every mirror: its source's address and cluster id, and the number of its topics."""
    response = ListMirrorsResponse()
    for mirror in mirror_names(context.broker.image):
        if not inbound.rights.allow(AclOperation.DESCRIBE, Resource.mirror(mirror)):
            continue
        configs = mirror_configs(context.broker.image, mirror)
        assert configs is not None, f"mirror {mirror} is in the image"
        response.mirrors.append(
            ListedMirror(
                mirror_name=mirror,
                source_bootstrap=configs.text(BOOTSTRAP_SERVERS),
                source_cluster_id=context.source_cluster_id(mirror),
                topic_count=len(context.topics_of(mirror)),
                warning=unwritable_states_warning(context, mirror),
            )
        )
    inbound.reply(response)
