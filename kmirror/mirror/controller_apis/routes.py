"""Requests that a controller decides for mirroring, and their handlers."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.controller.decisions import Decide
from kmirror.mirror.controller_apis import (
    add_topics_to_mirror,
    alter_configs,
    bump_leader_epochs,
    create_mirror,
    create_partitions,
    create_topics,
    delete_mirror,
    delete_topics,
    incremental_alter_configs,
    pause_mirror_topics,
    remove_topics_from_mirror,
    resume_mirror_topics,
    update_features,
)
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest
from kmirror.protocol.gen.create_mirror_request import CreateMirrorRequest
from kmirror.protocol.gen.create_partitions_request import CreatePartitionsRequest
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest
from kmirror.protocol.gen.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kmirror.protocol.gen.pause_mirror_topics_request import PauseMirrorTopicsRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.protocol.gen.resume_mirror_topics_request import ResumeMirrorTopicsRequest
from kmirror.protocol.gen.update_features_request import UpdateFeaturesRequest
from kmirror.protocol.message import Message

DECISIONS: Mapping[type[Message], Decide] = {
    # These replace the cluster's own handlers: the first two know resource type MIRROR, the others mirrored topics.
    AlterConfigsRequest: alter_configs.decide,
    IncrementalAlterConfigsRequest: incremental_alter_configs.decide,
    CreateTopicsRequest: create_topics.decide,
    CreatePartitionsRequest: create_partitions.decide,
    DeleteTopicsRequest: delete_topics.decide,
    UpdateFeaturesRequest: update_features.decide,
    CreateMirrorRequest: create_mirror.decide,
    AddTopicsToMirrorRequest: add_topics_to_mirror.decide,
    RemoveTopicsFromMirrorRequest: remove_topics_from_mirror.decide,
    PauseMirrorTopicsRequest: pause_mirror_topics.decide,
    ResumeMirrorTopicsRequest: resume_mirror_topics.decide,
    DeleteMirrorRequest: delete_mirror.decide,
    BumpLeaderEpochsRequest: bump_leader_epochs.decide,
}
