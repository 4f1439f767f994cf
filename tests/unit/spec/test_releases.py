"""Versions of earlier releases: each row has all of them, and no API lost a version while it was served."""

from __future__ import annotations

from kmirror.protocol.registry import by_api_name, released_versions
from kmirror.spec.releases import LAST_VERSIONS, NOT_SERVED, RELEASES, last_version


def test_every_row_has_every_release_and_only_grows() -> None:
    for api, row in LAST_VERSIONS.items():
        assert len(row) == len(RELEASES), api
        served = [version for version in row if version != NOT_SERVED]
        assert served and served == sorted(served), api
        assert served[-1] <= max(released_versions(by_api_name(api).request), default=0), f"{api} has newer ones today"


def test_versions_that_brokers_are_known_by() -> None:
    assert last_version("Fetch", "2.1") == 10
    assert last_version("Fetch", "3.9") == 17, "KIP-1166 came with 4.1"
    assert last_version("DescribeCluster", "2.4") == NOT_SERVED, "KIP-700 came with 2.8"
    assert last_version("CreateMirror", "4.0") == NOT_SERVED
