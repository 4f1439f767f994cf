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
LASTS_MS = (20, 1_200)


def outages(application: Application) -> Script[None]:
    """Repeatedly take down the line between a client and one broker of its cluster, both ways or one way."""
    scene, world = application.scene, application.scene.simulation.world
    rng = scene.rng(f"outages {application.plan.name}")
    while application.goes_on():
        yield Sleep(rng.between(*PAUSE_MS))
        cluster = scene.clusters[application.cluster]
        client = f"{application.plan.name}@{application.cluster}"
        broker = cluster.process(rng.choice(cluster.broker_ids))
        there, back = (client, broker), (broker, client)
        ways = rng.choice(((there,), (back,), (there, back)))
        for way in ways:
            world.network.take_down(*way)
        yield Sleep(rng.between(*LASTS_MS))
        for way in ways:
            world.network.bring_up(*way)
        world.reset_links(client, broker)
