"""Detection of rings: whether a topic's source was fed by its own destination, from observed mirror states (D58)."""

from __future__ import annotations

from kmirror.histories.checkers.facts import Facts
from kmirror.histories.checkers.sessions import FOLLOWING, NEVER, MirrorSession
from kmirror.kernel.clock import Instant


def is_in_a_ring(facts: Facts, session: MirrorSession) -> bool:
    """Return whether the destination fed the source during all the time in which `session` could cut for its source.

    A mirror counts while its observed state is one in which it follows its source. A topic that the mirror created here
    had nothing to cut.
    """
    if facts.is_absent((session.destination, session.tp), session.began_at):
        return False
    links = _upstream_links(facts, session)
    until = session.cutting_until
    places = dict.fromkeys((link.destination, link.tp) for link in links)
    moments = [session.began_at, *(link.removed_at for link in links)]
    moments += [row.at for place in places for row in facts.states.get(place, [])]
    return all(_is_fed_by_destination(facts, links, session, at) for at in moments if session.began_at <= at <= until)


def _upstream_links(facts: Facts, session: MirrorSession) -> list[MirrorSession]:
    """Return the sessions of the source's partition, of its sources' partitions, and so on."""
    found, clusters, searched = [], [session.source], 0
    while searched < len(clusters):
        for link in facts.sessions((clusters[searched], session.tp)):
            if link.mirroring_at == NEVER or not _has_one_source(facts, link):
                continue
            found.append(link)
            if link.source not in clusters:
                clusters.append(link.source)
        searched += 1
    return found


def _has_one_source(facts: Facts, link: MirrorSession) -> bool:
    """Return whether the mirror never pointed elsewhere; otherwise it is uncertain which source it follows (D16)."""
    names = {p.source for p in facts.servers_changes if (p.destination, p.mirror) == (link.destination, link.mirror)}
    return len(names) <= 1


def _is_fed_by_destination(facts: Facts, links: list[MirrorSession], session: MirrorSession, at: Instant) -> bool:
    """Return whether the destination feeds the source at a moment."""
    upstream_clusters = [session.source]
    for cluster in upstream_clusters:
        for link in links:
            place = (link.destination, link.tp)
            follows = link.mirroring_at <= at < link.removed_at and facts.state_at(place, at, link.mirror) in FOLLOWING
            if link.destination == cluster and follows and link.source not in upstream_clusters:
                upstream_clusters.append(link.source)
    return session.destination in upstream_clusters
