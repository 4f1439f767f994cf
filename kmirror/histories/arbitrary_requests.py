"""Client that sends unusual or wrong requests: rows of REQUEST_KINDS, drawn by their weights.

The option `about` selects categories, of reads, groups, transactions, orders and nodes; by default all.
"""

from __future__ import annotations

from kmirror.histories import (
    arbitrary_admin_requests,
    arbitrary_group_requests,
    arbitrary_node_requests,
    arbitrary_read_requests,
    arbitrary_transaction_requests,
)
from kmirror.histories.producing import Application
from kmirror.histories.request_client import RequestClient, RequestKind
from kmirror.histories.scripts import Script

REQUEST_KINDS: tuple[RequestKind, ...] = (
    *arbitrary_read_requests.REQUEST_KINDS,
    *arbitrary_group_requests.REQUEST_KINDS,
    *arbitrary_transaction_requests.REQUEST_KINDS,
    *arbitrary_admin_requests.REQUEST_KINDS,
    *arbitrary_node_requests.REQUEST_KINDS,
)
CATEGORIES: tuple[str, ...] = tuple(dict.fromkeys(row.category for row in REQUEST_KINDS))


def send_arbitrary_requests(application: Application) -> Script[None]:
    """Send requests until producers stop."""
    client = RequestClient(application)
    about = str(application.plan.options.get("about", ",".join(CATEGORIES))).split(",")
    deck = [row for row in REQUEST_KINDS if row.category in about for _ in range(row.weight)]
    while application.is_writing():
        yield from client.rng.choice(deck).send(client)
        yield application.pause()
