"""Client that sends unusual or wrong requests: rows of QUESTIONS, drawn by their weights.

The option `about` selects categories, of reads, groups, transactions, orders and nodes; by default all.
"""

from __future__ import annotations

from kmirror.histories import asking_groups, asking_nodes, asking_orders, asking_reads, asking_transactions
from kmirror.histories.asker import Asker, Question
from kmirror.histories.producing import Desk
from kmirror.histories.scripts import Script

QUESTIONS: tuple[Question, ...] = (
    *asking_reads.QUESTIONS,
    *asking_groups.QUESTIONS,
    *asking_transactions.QUESTIONS,
    *asking_orders.QUESTIONS,
    *asking_nodes.QUESTIONS,
)
ABOUT: tuple[str, ...] = tuple(dict.fromkeys(row.about for row in QUESTIONS))


def asking(desk: Desk) -> Script[None]:
    """Send requests until producers stop."""
    asker = Asker(desk)
    about = str(desk.plan.options.get("about", ",".join(ABOUT))).split(",")
    deck = [row for row in QUESTIONS if row.about in about for _ in range(row.weight)]
    while desk.goes_on():
        yield from asker.rng.choice(deck).ask(asker)
        yield desk.pause()
