"""Client that sends unusual or wrong requests: rows of QUESTIONS, drawn by their weights.

The option `about` selects categories, of reads, groups, transactions, orders and nodes; by default all.
"""

from __future__ import annotations

from kmirror.histories import asking_groups, asking_nodes, asking_orders, asking_reads, asking_transactions
from kmirror.histories.asker import RequestClient, RequestKind
from kmirror.histories.producing import Application
from kmirror.histories.scripts import Script

REQUEST_KINDS: tuple[RequestKind, ...] = (
    *asking_reads.REQUEST_KINDS,
    *asking_groups.REQUEST_KINDS,
    *asking_transactions.REQUEST_KINDS,
    *asking_orders.REQUEST_KINDS,
    *asking_nodes.REQUEST_KINDS,
)
ABOUT: tuple[str, ...] = tuple(dict.fromkeys(row.about for row in REQUEST_KINDS))


def asking(application: Application) -> Script[None]:
    """Send requests until producers stop."""
    asker = RequestClient(application)
    about = str(application.plan.options.get("about", ",".join(ABOUT))).split(",")
    deck = [row for row in REQUEST_KINDS if row.about in about for _ in range(row.weight)]
    while application.goes_on():
        yield from asker.rng.choice(deck).ask(asker)
        yield application.pause()
