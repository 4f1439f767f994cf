"""Shapes of three and four clusters: the mirrors between them, one row for each shape.

A link is written `mirror topic source>destination`; the topic `*` means the topics of the first line, `a>b`, which
every history has. Links of one topic that meet at one destination exclude each other: the topic moves from one mirror
to another, and an add to the second one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmirror.histories.plan_draft import Line
from kmirror.kernel.rng import Rng

FIRST = "m"
"""The mirror of the first line."""


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    doc: str
    clusters: int
    links: tuple[str, ...]
    """Links in addition to the first line."""
    same_name: bool = False
    """In half of the draws all mirrors have one name; no link can be reversed then."""


# fmt: off
ROWS: tuple[Shape, ...] = (
    Shape("chain", "c mirrors from b, which mirrors from a.", 3, ("m2 * b>c",), same_name=True),
    Shape("fan_out", "Two clusters mirror from one.", 3, ("m2 * a>c",), same_name=True),
    Shape("fan_in", "One cluster mirrors topics from two.", 3, ("m3 t3 c>b",)),
    Shape("ring", "A ring of three: a topic is mirrored from cluster to cluster.", 3, ("m2 * b>c", "m3 * c>a")),
    Shape("ring_of_topics", "Each cluster mirrors a topic of its predecessor.", 3, ("m2 t3 b>c", "m3 t4 c>a")),
    Shape("mesh", "Every pair: c can mirror from a or from b.", 3, ("m2 * b>c", "m3 * a>c")),
    Shape("contest", "Two mirrors of b for the topic of a: one directly, and one through c.", 3,
          ("m1 * a>b", "m2 * a>c", "m3 * c>b")),
    Shape("chain_of_four", "A chain: d mirrors from c, c from b, and b from a.", 4, ("m2 * b>c", "m3 * c>d")),
    Shape("fan_out_of_four", "Three clusters mirror from one.", 4, ("m2 * a>c", "m3 * a>d")),
    Shape("fan_in_of_four", "One cluster mirrors topics from three.", 4, ("m2 t3 c>b", "m3 t4 d>b")),
    Shape("ring_of_four", "A ring of four clusters.", 4, ("m2 * b>c", "m3 * c>d", "m4 * d>a")),
    Shape("mesh_of_four", "Every pair of four clusters.", 4,
          ("m2 * b>c", "m3 * c>d", "m4 * a>c", "m5 * b>d", "m6 * a>d")),
    Shape("diamond", "Two clusters mirror from one, and a fourth from both.", 4,
          ("m2 * a>c", "m3 * b>d", "m4 * c>d")),
)
# fmt: on
SHAPES: dict[str, Shape] = {row.name: row for row in ROWS}
THREE_CLUSTER_SHAPES: Mapping[str, int] = {"chain": 3, "fan_out": 3, "fan_in": 2}
ALL_SHAPES: Mapping[str, int] = {
    **THREE_CLUSTER_SHAPES, "ring": 2, "ring_of_topics": 1, "mesh": 2, "contest": 2, "chain_of_four": 1,
    "fan_out_of_four": 1, "fan_in_of_four": 1, "ring_of_four": 1, "mesh_of_four": 1, "diamond": 1,
}  # fmt: skip
CHAINS: Mapping[str, int] = {"chain": 3, "chain_of_four": 1, "fan_out": 1}
RINGS: Mapping[str, int] = {"ring": 3, "ring_of_four": 1, "mesh": 1, "contest": 1}


def make_lines(shape: Shape, rng: Rng, first: Line, topics: dict[str, str]) -> list[Line]:
    """Return the lines of a shape without `first`; topics of their own are added to `topics`."""
    found = []
    is_same = shape.same_name and rng.chance(1, 2)
    for link in shape.links:
        mirror, topic, ends = link.split()
        source, _, destination = ends.partition(">")
        if topic == "*":
            topic = first.topics
        else:
            topics[topic] = f"1@{source}"
        found.append(Line(FIRST if is_same else mirror, topic, source, destination, is_reversible=not is_same))
    return found
