"""The rule machine of mirrors with two clusters behind ports."""

from __future__ import annotations

from contextlib import closing
from random import Random

from kmirror.fuzz.sessions.links import PortLink
from kmirror.fuzz.sessions.mirrors import MACHINE
from kmirror.fuzz.sessions.session import RandomChoices, run_session
from kmirror.testing.clusters import cluster
from tests.net.wire import parse_endpoint

STEPS = 30


def test_two_clusters_agree_with_the_model() -> None:
    with cluster(name="a") as a, cluster(name="b") as b:
        endpoints = {"a1": parse_endpoint(a.bootstrap_servers), "b1": parse_endpoint(b.bootstrap_servers)}
        with closing(PortLink({name: (one.host, one.port) for name, one in endpoints.items()})) as link:
            for seed in (2, 3):
                draw = RandomChoices(Random(seed).random)
                session = run_session(MACHINE, link, f"s{seed}", [draw] * STEPS)
                assert any("AddTopicsToMirror" in line for line in session.story)
