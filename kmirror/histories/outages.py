"""Outages of a client: for short times it cannot reach one broker, or the broker cannot reach it.

Requests sent meanwhile are lost, and then the connections are reset. So a request may be sent again after it was
carried out, and the response with the result of a batch, or of a fetch session, never arrives.
"""

from __future__ import annotations

from kmirror.histories.producing import Application
from kmirror.histories.scripts import Script, Sleep

OPTION = "outages"
"""Option of a client that has outages."""
PAUSE_MS = (1_500, 6_000)
DURATION_MS = (20, 1_200)


def outages(application: Application) -> Script[None]:
    """Repeatedly take down the line between a client and one broker of its cluster, both ways or one way."""
    scene, world = application.scene, application.scene.simulation.world
    rng = scene.rng(f"outages {application.plan.name}")
    while application.is_writing():
        yield Sleep(rng.between(*PAUSE_MS))
        cluster = scene.clusters[application.cluster]
        client = f"{application.plan.name}@{application.cluster}"
        broker = cluster.process(rng.choice(cluster.broker_ids))
        to_broker, to_client = (client, broker), (broker, client)
        directions = rng.choice(((to_broker,), (to_client,), (to_broker, to_client)))
        for direction in directions:
            world.network.take_down(*direction)
        yield Sleep(rng.between(*DURATION_MS))
        for direction in directions:
            world.network.bring_up(*direction)
        world.reset_links(client, broker)
