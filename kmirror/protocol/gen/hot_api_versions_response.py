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
pack_h = wire.fused("h")[1]
unpack_hB = wire.fused("hB")[0]
unpack_hhhB = wire.fused("hhhB")[0]
iterate_hhhx = wire.iterator("hhhx")
unpack_iB, pack_iB = wire.fused("iB")
api_version_rows = wire.Repeated("hhhx")


def read_3(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ApiVersionsResponse, int]:
    size = len(buf)
    self = new(ApiVersionsResponse)
    self.unknown_tags = ()
    self.finalized_features_epoch = -1
    self.zk_migration_ready = False
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
        self.api_keys = items_1 = list(map(new, repeat(ApiVersion, n)))
        for (
            item_1,
            (
                item_1.api_key,
                item_1.min_version,
                item_1.max_version,
            ),
        ) in zip(items_1, iterate_hhhx(buf[pos:end])):
            item_1.unknown_tags = ()
        pos = end
    else:
        self.api_keys = items_1 = []
        for _ in range(n):
            item_1 = new(ApiVersion)
            item_1.unknown_tags = ()
            item_1.api_key, item_1.min_version, item_1.max_version, n = unpack_hhhB(buf, pos)
            pos += 7
            if n:
                pos = item_1._read_tags(buf, pos - 1, version)
            items_1.append(item_1)
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n:
        pos = self._read_tags(buf, pos - 1, version)
    return self, pos


def write_3(self: ApiVersionsResponse, put: wire.Put, version: int) -> None:
    if self.unknown_tags or self.supported_features or self.finalized_features_epoch != -1 or self.finalized_features or self.zk_migration_ready:
        self._write(put, version)
        return
    put(pack_h(self.error_code))
    put(wire.uvarint(len(self.api_keys) + 1))
    if [item for item in self.api_keys if item.unknown_tags]:
        for item in self.api_keys:
            item._write(put, version)
    else:
        put(api_version_rows.pack([(item.api_key, item.min_version, item.max_version) for item in self.api_keys]))
    put(pack_iB(self.throttle_time_ms, 0))


ApiVersionsResponse.READERS = {
    3: read_3,
    4: read_3,
}
ApiVersionsResponse.WRITERS = {
    3: write_3,
    4: write_3,
}
