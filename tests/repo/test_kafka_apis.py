"""Every API of a Kafka broker is served, or the manual gives the reason."""

from __future__ import annotations

from kmirror.protocol.registry import by_key
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.apis import ROWS
from manual import kafka_apis

SERVED = {row.name: row for row in ROWS if "broker" in row.roles}


def test_unserved_apis_have_a_reason() -> None:
    silent = {api.name for api in kafka_apis.ROWS if not api.omission_reason}
    assert silent - SERVED.keys() == set()


def test_served_apis_have_no_reason() -> None:
    assert [api.name for api in kafka_apis.ROWS if api.omission_reason and api.name in SERVED] == []


def test_no_version_is_served_that_a_real_broker_has_not() -> None:
    for api in kafka_apis.ROWS:
        ours = SERVED.get(api.name)
        if ours is not None:
            last = ours.last if ours.first_mirror_version is None else ours.first_mirror_version - 1
            assert api.first <= ours.first <= last <= api.last, api.name


def test_the_rows_are_in_the_order_of_their_keys() -> None:
    keys = [API_KEYS[api.name] for api in kafka_apis.ROWS]
    assert keys == sorted(set(keys))
    assert [by_key(key).name for key in keys] == [api.name for api in kafka_apis.ROWS]
