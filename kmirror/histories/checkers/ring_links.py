"""Detection of rings: whether a topic's source was fed by its own destination, from observed mirror states (D58)."""

from __future__ import annotations

from kmirror.histories.checkers.facts import Facts
from kmirror.histories.checkers.sessions import FOLLOWING, NEVER, MirrorSession
from kmirror.kernel.clock import Instant


def is_in_a_ring(facts: Facts, stay: MirrorSession) -> bool:
    """Return whether the destination fed the source during all the time in which `stay` could cut for its source.

    A mirror counts while its observed state is one in which it follows its source. A topic that the mirror created here
    had nothing to cut.
    """
    if facts.is_absent((stay.destination, stay.tp), stay.began):
        return False
    links = _links_behind(facts, stay)
    until = stay.cutting_until
    places = dict.fromkeys((link.destination, link.tp) for link in links)
    moments = [stay.began, *(link.removed for link in links)]
    moments += [row.at for place in places for row in facts.states.get(place, [])]
    return all(_feeds(facts, links, stay, at) for at in moments if stay.began <= at <= until)


def _links_behind(facts: Facts, stay: MirrorSession) -> list[MirrorSession]:
    """Return the stays of the source's partition, of that of its sources, and so on."""
    found, clusters, asked = [], [stay.source], 0
    while asked < len(clusters):
        for link in facts.stays((clusters[asked], stay.tp)):
            if link.mirroring == NEVER or not _is_of_one_source(facts, link):
                continue
            found.append(link)
            if link.source not in clusters:
                clusters.append(link.source)
        asked += 1
    return found


def _is_of_one_source(facts: Facts, link: MirrorSession) -> bool:
    """Return whether the mirror never pointed elsewhere; otherwise it is uncertain which source it follows (D16)."""
    names = {p.to for p in facts.pointings if (p.destination, p.mirror) == (link.destination, link.mirror)}
    return len(names) <= 1


def _feeds(facts: Facts, links: list[MirrorSession], stay: MirrorSession, at: Instant) -> bool:
    """Return whether the destination feeds the source at a moment."""
    fed = [stay.source]
    for cluster in fed:
        for link in links:
            place = (link.destination, link.tp)
            follows = link.mirroring <= at < link.removed and facts.state_at(place, at, link.mirror) in FOLLOWING
            if link.destination == cluster and follows and link.source not in fed:
                fed.append(link.source)
    return stay.destination in fed
