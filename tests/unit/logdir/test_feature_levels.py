"""The feature levels of a folder whose controller does not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.assembly.nodes import formatted_records
from kmirror.logdir.feature_levels import check_levels, feature_levels
from kmirror.logdir.format import MetaProperties, format_folder, random_uuid
from kmirror.net.cluster import TcpCluster
from kmirror.protocol.gen.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kmirror.spec.features import ELIGIBLE_VERSION, FORMAT_LEVELS, MIRROR_VERSION
from kmirror.spec.wire_values import UpgradeType

SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "1"}


@pytest.mark.decision("D71")
def test_the_last_level_counts_in_a_snapshot_and_behind_it(tmp_path: Path) -> None:
    with TcpCluster(brokers=1, data=tmp_path, configs=SNAPSHOTS) as cluster:
        assert feature_levels(tmp_path) == FORMAT_LEVELS
        lower = FeatureUpdateKey(ELIGIBLE_VERSION, 0, upgrade_type=UpgradeType.SAFE_DOWNGRADE)
        cluster.order(UpdateFeaturesRequest(feature_updates=[lower]))
        log = tmp_path / "__cluster_metadata-0"
        cluster.until(lambda: len(list(log.glob("*.checkpoint"))) > 1, what="a snapshot")
        cluster.kill(1)
        cluster.kill(100)
    assert feature_levels(tmp_path) == {**FORMAT_LEVELS, ELIGIBLE_VERSION: 0}
    with next(log.glob("*.log")).open("ab") as end:
        end.write(b"torn")
    assert feature_levels(tmp_path)[ELIGIBLE_VERSION] == 0
    check_levels(tmp_path, {ELIGIBLE_VERSION: 0, MIRROR_VERSION: 1})


def test_a_folder_never_served_has_the_levels_of_its_format(tmp_path: Path) -> None:
    assert feature_levels(tmp_path) == {}
    format_folder(tmp_path, MetaProperties("c", 1, random_uuid()), formatted_records(0), now_ms=0, controller=None)
    assert feature_levels(tmp_path) == {
        name: level for name, level in FORMAT_LEVELS.items() if name != ELIGIBLE_VERSION
    }
    check_levels(tmp_path / "not there", {ELIGIBLE_VERSION: None, MIRROR_VERSION: None})
