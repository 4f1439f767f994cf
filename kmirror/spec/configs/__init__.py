"""Config keys of brokers, topics and mirrors: one row each, in the file of its owner, with reading and checks.

A new key is one row in one file. A key without an effect in kmirror has a row with the reason in `no_effect`: it can be
set and is described as by a real broker, so that Kafka's properties files and scripts work unchanged.
"""

from __future__ import annotations

from kmirror.spec.configs.checks import BOUNDS, problem_with
from kmirror.spec.configs.key import LONG_MAX, MINUTE_MS, ConfigKey, Kind, Scope
from kmirror.spec.configs.reading import Configs, broker_configs
from kmirror.spec.configs.registry import KEYS, config_keys, default_of

__all__ = [
    "BOUNDS",
    "KEYS",
    "LONG_MAX",
    "MINUTE_MS",
    "ConfigKey",
    "Configs",
    "Kind",
    "Scope",
    "broker_configs",
    "config_keys",
    "default_of",
    "problem_with",
]
