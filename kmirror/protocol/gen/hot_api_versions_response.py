"""ApiVersionsResponse in straight lines, version by version; the plain form stands beside it.

Generated from schemas/kafka/ApiVersionsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.gen.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
)

new = object.__new__
uvarint = wire.uvarint
pack_h = wire.fused("h")[1]
unpack_hB = wire.fused("hB")[0]
unpack_hhhB, pack_hhhB = wire.fused("hhhB")
iterate_hhhx = wire.iterator("hhhx")
unpack_iB, pack_iB = wire.fused("iB")


def read_3(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ApiVersionsResponse, int]:
    size = len(buf)
    self = new(ApiVersionsResponse)
    self._tagged = 0
    self.error_code, n = unpack_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 6 <= size - pos:
        raise wire.Malformed
    end = pos + 7 * n
    if end <= size and buf[pos + 6 : end : 7].count(0) == n:
        api_version_items: list[ApiVersion] = list(map(new, repeat(ApiVersion, n)))
        self.api_keys = api_version_items
        api_version: ApiVersion
        for (
            api_version,
            (
                api_version.api_key,
                api_version.min_version,
                api_version.max_version,
            ),
        ) in zip(api_version_items, iterate_hhhx(buf[pos:end])):
            api_version._tagged = 0
        pos = end
    else:
        api_version_items = []
        self.api_keys = api_version_items
        for _ in range(n):
            api_version = new(ApiVersion)
            api_version._tagged = 0
            (
                api_version.api_key,
                api_version.min_version,
                api_version.max_version,
                n,
            ) = unpack_hhhB(buf, pos)
            pos += 7
            if n:
                pos = api_version._read_tags(buf, pos - 1, version)
            api_version_items.append(api_version)
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n:
        pos = self._read_tags(buf, pos - 1, version)
    return self, pos


def write_3(self: ApiVersionsResponse, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    chunks += (pack_h(self.error_code), uvarint(len(self.api_keys) + 1))
    try:
        rows = [
            pack_hhhB(item.api_key, item.min_version, item.max_version, item._tagged)
            for item in self.api_keys
        ]
        put(b"".join(rows))
    except wire.PACK_ERRORS:
        for api_version in self.api_keys:
            api_version._write(put, version)
    put(pack_iB(self.throttle_time_ms, 0))


ApiVersionsResponse.READERS = {
    3: read_3,
    4: read_3,
}
ApiVersionsResponse.WRITERS = {
    3: write_3,
    4: write_3,
}
