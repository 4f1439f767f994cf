"""Every API is found by key and by name, with both its messages."""

from __future__ import annotations

import pytest

from codegen.load import SCHEMAS, load, mirroring_keys
from kmirror.errors import UsageError
from kmirror.protocol import FetchRequest, FetchResponse
from kmirror.protocol.registry import all_apis, by_api_name, by_key, by_name, find_key
from kmirror.spec.apis import ROWS, ApiRow


def test_an_api_is_found_by_key_and_by_name() -> None:
    api = by_key(1)
    assert (api.name, api.min_version, api.max_version, api.flexible_from) == ("Fetch", 4, 19, 12)
    assert api.request is FetchRequest is by_name("FetchRequest")
    assert api.response is FetchResponse
    assert api.listeners == ("broker", "controller")
    assert by_api_name("fetch") is by_api_name("Fetch") is api
    assert by_api_name("api-versions").key == 18


def test_an_unknown_key_or_name_is_named_in_the_error() -> None:
    assert find_key(4) is None
    with pytest.raises(UsageError, match="API key 4 was LeaderAndIsr"):
        by_key(4)
    with pytest.raises(UsageError, match="no API has the key 9999"):
        by_key(9999)
    with pytest.raises(UsageError, match="no message is named"):
        by_name("Nothing")
    with pytest.raises(UsageError, match="no API is named"):
        by_api_name("Nothing")


def test_all_apis_have_two_halves_of_the_same_versions() -> None:
    apis = all_apis()
    assert len(apis) == 93 - 4 + 11
    for api in apis:
        for half in (api.request, api.response):
            assert (api.min_version, api.max_version) == (half.MIN_VERSION, half.MAX_VERSION)
            assert api.key == half.API_KEY


def test_unstable_versions_are_offered_on_request_only() -> None:
    unstable = by_api_name("InitProducerId")
    assert unstable.advertised_max(unstable=True) == unstable.max_version == 6
    assert unstable.advertised_max(unstable=False) == 5
    assert by_api_name("CreateMirror").advertised_max(unstable=False) == -1
    assert by_api_name("Fetch").advertised_max(unstable=False) == 19


def test_each_version_is_kafkas_or_the_kips() -> None:
    released = load(SCHEMAS).released
    for api in all_apis():
        assert [*api.kafka_versions, *api.kip_versions] == list(range(api.min_version, api.max_version + 1))
        for half in ("Request", "Response"):
            assert list(released.get(api.name + half, ())) == list(api.kafka_versions), api.name
    assert list(by_api_name("Fetch").kip_versions) == [19]
    added = {api.name for api in all_apis() if not api.kafka_versions}
    assert added == set(mirroring_keys(SCHEMAS))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_apis_served_only_with_mirroring_are_the_kips_additions(row: ApiRow) -> None:
    added = by_api_name(row.name).kip_versions
    assert row.first_mirror_version == (added[0] if added and row.last >= added[0] else None)
