"""Quotas of clients, users and addresses, and SCRAM credentials of users, in `kmirror configs`."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from itertools import zip_longest
from typing import Final

from kmirror.admin.client import AsyncAdmin
from kmirror.cli.cluster_client import raise_for_code
from kmirror.cli.config_task import CLIENTS, IPS, USERS, ConfigTask
from kmirror.client.scram import HASHES, ITERATIONS_MIN
from kmirror.errors import UsageError
from kmirror.kernel.java import double
from kmirror.protocol.gen import alter_client_quotas_request as altering
from kmirror.protocol.gen.alter_client_quotas_response import AlterClientQuotasResponse
from kmirror.protocol.gen.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kmirror.protocol.gen.alter_user_scram_credentials_response import AlterUserScramCredentialsResponse
from kmirror.protocol.gen.describe_client_quotas_request import ComponentData, DescribeClientQuotasRequest
from kmirror.protocol.gen.describe_client_quotas_response import DescribeClientQuotasResponse, EntryData
from kmirror.protocol.gen.describe_user_scram_credentials_request import DescribeUserScramCredentialsRequest, UserName
from kmirror.protocol.gen.describe_user_scram_credentials_response import DescribeUserScramCredentialsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

ENTITIES: Final[Mapping[str, str]] = {USERS: "user", CLIENTS: "client-id", IPS: "ip"}
"""Entity type of the command line to that of the protocol."""
PRINTED_NAMES: Final[Mapping[str, str]] = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}
"""Entity type of the protocol to its printed name, in the order of output."""
EXACT, DEFAULT, ANY = 0, 1, 2
"""Match types of DescribeClientQuotas: one name, the default, any entity with a quota."""
CLIENT_QUOTAS: Final = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
IP_QUOTAS: Final = ("connection_creation_rate",)
DEFAULT_ITERATIONS: Final = 4096
SALT_BYTES: Final = 16
MECHANISMS: Final[Mapping[str, int]] = {name: number for number, name in enumerate(HASHES, 1)}
"""Mechanism to its number in the protocol."""
_CREDENTIAL: Final = re.compile(r"(?:iterations=(-?[0-9]*),)?password=(.*)")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?")


# -- describe ---------------------------------------------------------------------------------


async def describe_quotas(admin: AsyncAdmin, task: ConfigTask) -> int:
    """Print the matching quotas, and the credentials of users if no clients are given; return 0."""
    for entry in await _read_quotas(admin, task):
        names = {part.entity_type: part.entity_name for part in entry.entity}
        if task.as_json:
            print(json.dumps({"entity": names, "quotas": {value.key: value.value for value in entry.values}}))
            continue
        entity_text = ", ".join(
            f"{label} '{names[kind]}'" if names[kind] is not None else f"the default {label}"
            for kind, label in PRINTED_NAMES.items()
            if kind in names
        )
        quotas = ", ".join(f"{value.key}={double(value.value)}" for value in entry.values)
        print(f"Quota configs for {entity_text} are {quotas}")
    if task.kinds == (USERS,) and "" not in task.names:
        await _describe_credentials(admin, task)
    return 0


async def _read_quotas(admin: AsyncAdmin, task: ConfigTask) -> list[EntryData]:
    components = [
        ComponentData(ENTITIES[kind], ANY if name is None else EXACT if name else DEFAULT, name or None)
        for kind, name in zip_longest(task.kinds, task.names)
    ]
    reply = await admin.ask(DescribeClientQuotasRequest(components, strict=True))
    assert isinstance(reply, DescribeClientQuotasResponse), "the answer to its request"
    raise_for_code(reply.error_code, reply.error_message)
    return reply.entries or []


async def _describe_credentials(admin: AsyncAdmin, task: ConfigTask) -> None:
    request = DescribeUserScramCredentialsRequest([UserName(name) for name in task.names] or None)
    reply = await admin.ask(request)
    assert isinstance(reply, DescribeUserScramCredentialsResponse), "the answer to its request"
    raise_for_code(reply.error_code, reply.error_message)
    names = {number: name for name, number in MECHANISMS.items()}
    for result in reply.results:
        if result.error_code == ErrorCode.RESOURCE_NOT_FOUND:
            continue
        raise_for_code(result.error_code, result.error_message)
        found = {names.get(info.mechanism, "UNKNOWN"): info.iterations for info in result.credential_infos}
        if task.as_json:
            print(json.dumps({"entity": {"user": result.user}, "scram_iterations": found}))
        else:
            texts = ", ".join(f"{name}=iterations={iterations}" for name, iterations in found.items())
            print(f"SCRAM credential configs for user-principal '{result.user}' are {texts}")


# -- alter ------------------------------------------------------------------------------------


async def alter_quotas(admin: AsyncAdmin, task: ConfigTask) -> None:
    """Alter quotas or credentials; raise UsageError for invalid ones, KafkaError if the cluster refuses."""
    if _alters_credentials(task):
        await _alter_credentials(admin, task)
        return
    ops = [
        *(altering.OpData(key, _quota(key, value), False) for key, value in task.added.items()),
        *(altering.OpData(key, 0.0, True) for key in task.deleted),
    ]
    known = {value.key for entry in await _read_quotas(admin, task) for value in entry.values}
    unknown = [key for key in task.deleted if key not in known]
    if unknown:
        raise UsageError(f"Invalid config(s): {','.join(unknown)}")
    entity = [
        altering.EntityData(ENTITIES[kind], name or None) for kind, name in zip(task.kinds, task.names, strict=True)
    ]
    reply = await admin.ask(altering.AlterClientQuotasRequest([altering.EntryData(entity, ops)]))
    assert isinstance(reply, AlterClientQuotasResponse), "the answer to its request"
    for row in reply.entries:
        raise_for_code(row.error_code, row.error_message)


def _alters_credentials(task: ConfigTask) -> bool:
    """Return whether the configs are credentials rather than quotas; raise UsageError for other configs, or both."""
    kind = task.kinds[0] if len(task.kinds) == 1 else CLIENTS
    if kind == IPS:
        _check_keys((*task.added, *task.deleted), IP_QUOTAS, "Only connection quota configs can be added for 'ips'")
        return False
    if kind == CLIENTS:
        _check_keys(task.added, CLIENT_QUOTAS, f"Only quota configs can be added for '{CLIENTS}'")
        _check_keys(task.deleted, CLIENT_QUOTAS, f"Only quota configs can be deleted for '{CLIENTS}'")
        return False
    allowed = (*CLIENT_QUOTAS, *MECHANISMS)
    _check_keys(task.added, allowed, f"Only quota and SCRAM credential configs can be added for '{USERS}'")
    _check_keys(task.deleted, allowed, f"Only quota and SCRAM credential configs can be deleted for '{USERS}'")
    keys = {*task.added, *task.deleted}
    if not keys & set(MECHANISMS):
        return False
    if "" in task.names:
        raise UsageError(
            "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials using "
            "--bootstrap-server."
        )
    if keys & set(CLIENT_QUOTAS):
        raise UsageError(
            f"Cannot alter both quota and SCRAM credential configs simultaneously for '{USERS}' using "
            "--bootstrap-server."
        )
    return True


def _check_keys(keys: Iterable[str], known: Collection[str], rule: str) -> None:
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise UsageError(f"{rule} using --bootstrap-server. Unexpected config names: {','.join(unknown)}")


def _quota(key: str, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise UsageError(f"Cannot parse quota configuration value for {key}: {text}")
    return float(text.rstrip("fFdD"))


async def _alter_credentials(admin: AsyncAdmin, task: ConfigTask) -> None:
    user = task.names[0]
    request = AlterUserScramCredentialsRequest(
        [ScramCredentialDeletion(user, MECHANISMS[mechanism]) for mechanism in task.deleted],
        [credential(user, mechanism, text) for mechanism, text in task.added.items()],
    )
    reply = await _ask_controller(admin, request)
    assert isinstance(reply, AlterUserScramCredentialsResponse), "the answer to its request"
    for row in reply.results:
        raise_for_code(row.error_code, row.error_message)


def credential(user: str, mechanism: str, text: str) -> ScramCredentialUpsertion:
    """Return the salted form of the password in `text` for the request; raise UsageError for an invalid text."""
    found = _CREDENTIAL.fullmatch(text)
    if found is None:
        raise UsageError(f"Invalid credential property {mechanism}: it is [iterations=NUMBER,password=PASSWORD]")
    iterations = DEFAULT_ITERATIONS if found[1] in (None, "", "-1") else int(found[1])
    if iterations < ITERATIONS_MIN:
        raise UsageError(f"Iterations {iterations} is less than the minimum {ITERATIONS_MIN} required for {mechanism}")
    salt = secrets.token_bytes(SALT_BYTES)
    salted = hashlib.pbkdf2_hmac(HASHES[mechanism], found[2].encode(), salt, iterations)
    return ScramCredentialUpsertion(user, MECHANISMS[mechanism], iterations, salt, salted)


async def _ask_controller(admin: AsyncAdmin, request: Message) -> Message:
    """Return the response of the first broker that is not NOT_CONTROLLER: with ZooKeeper only one broker decides."""
    reply: Message | None = None
    for broker_id in await admin.brokers():
        reply = await admin.ask(request, broker_id=broker_id)
        assert isinstance(reply, AlterUserScramCredentialsResponse), "the answer to its request"
        if any(row.error_code != ErrorCode.NOT_CONTROLLER for row in reply.results):
            break
    assert reply is not None, "a cluster that answers has a broker"
    return reply
