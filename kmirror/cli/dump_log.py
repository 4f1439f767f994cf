"""`kmirror dump-log`: kafka-dump-log, its flags and its text, for the files of a log directory.

Rule 1: stdout is what Kafka's tool prints, byte for byte, and UTF-8 whatever the terminal says.
Rule 2: where Kafka's tool ends with a stack trace, so much text is printed as it prints before, then one line of
error with file and position on stderr; the exit code is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from kmirror.cli.output import Output
from kmirror.net.tools.dump_decoders import (
    DEFAULT_DECODER,
    Decoder,
    coordinator_decoder,
    decode_cluster_metadata,
    decode_remote_log_metadata,
    plain_decoder,
)
from kmirror.net.tools.dump_log import MAX_BYTES, MAX_MESSAGE_SIZE, Dump, DumpOptions
from kmirror.net.tools.dump_printers import JsonPrinter, Printer, TextPrinter
from kmirror.protocol.records import CONSUMER_OFFSETS, MIRROR_STATE, SHARE_GROUP_STATE, TRANSACTION_STATE

KAFKA_VERSION = "4.3.1"

# In the order in which Kafka's tool looks at them when several are given.
DECODERS: dict[str, Callable[[], Decoder]] = {
    "offsets_decoder": partial(coordinator_decoder, CONSUMER_OFFSETS),
    "transaction_log_decoder": partial(coordinator_decoder, TRANSACTION_STATE),
    "cluster_metadata_decoder": lambda: decode_cluster_metadata,
    "remote_log_metadata_decoder": lambda: decode_remote_log_metadata,
    "share_group_state_decoder": partial(coordinator_decoder, SHARE_GROUP_STATE),
    "mirror_state_decoder": partial(coordinator_decoder, MIRROR_STATE),
}


def _flag(name: str, text: str) -> Callable[[Any], Any]:
    return click.option(f"--{name}", is_flag=True, help=text)


def _class(name: str, what: str) -> Callable[[Any], Any]:
    text = f"Deserializer of the {what}: one of Kafka's own classes in org.apache.kafka.tools.api."
    return click.option(f"--{name}", is_flag=False, flag_value=DEFAULT_DECODER, metavar="[CLASS]", help=text)


@click.command("dump-log")
@click.option("--files", required=True, metavar="FILE,FILE...", help="The files of logs and indexes to dump.")
@_flag("print-data-log", "Print the messages' content; any decoder option sets it.")
@_flag("deep-iteration", "Print each record, not only each batch; --print-data-log sets it.")
@_flag("skip-record-metadata", "Print only the content of records; control records are left out.")
@_flag("verify-index-only", "Verify an index against its log without printing it.")
@_flag("index-sanity-check", "Check an index as a broker does when it starts, without printing it.")
@click.option("--max-message-size", type=int, default=MAX_MESSAGE_SIZE, show_default=True, help="Of the largest batch.")
@click.option("--max-bytes", type=int, default=MAX_BYTES, show_default=True, help="How much of a .log file to read.")
@_class("value-decoder-class", "values")
@_class("key-decoder-class", "keys")
@_flag("offsets-decoder", "The log is of __consumer_offsets.")
@_flag("transaction-log-decoder", "The log is of __transaction_state.")
@_flag("cluster-metadata-decoder", "The log, or snapshot, is of __cluster_metadata.")
@_flag("remote-log-metadata-decoder", "The log is of __remote_log_metadata.")
@_flag("share-group-state-decoder", "The log is of __share_group_state.")
@_flag("mirror-state-decoder", "The log is of __mirror_state (KIP-1279).")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: a line a thing.")
@click.option("--text", "as_text", is_flag=True, help="With -o json: keys and values that are UTF-8 as text.")
@click.version_option(KAFKA_VERSION, message="%(version)s", help="Print the version of Kafka whose text this is.")
def command(files: str, output: str, as_text: bool, **flags: Any) -> int:
    """Print what log segments, indexes and snapshots hold, as kafka-dump-log does."""
    with Output() as out:
        own = next((make for name, make in DECODERS.items() if flags[name]), None)
        classes = flags["key_decoder_class"], flags["value_decoder_class"]
        prints_data = flags["print_data_log"] or own is not None or any(classes)
        key_class, value_class = (name or DEFAULT_DECODER for name in classes)
        options = DumpOptions(
            decoder=own or partial(plain_decoder, key_class, value_class),
            prints_data=prints_data,
            is_deep=flags["deep_iteration"] or prints_data,
            verifies_only=flags["verify_index_only"],
            checks_sanity=flags["index_sanity_check"],
            max_message_size=flags["max_message_size"],
            max_bytes=flags["max_bytes"],
        )
        printer: Printer = TextPrinter(out.write, skip_record_metadata=flags["skip_record_metadata"])
        if output == "json":
            printer = JsonPrinter(out.write, text=as_text, is_decoded=own is not None)
        Dump(options, printer, out.complain).run(_split(files))
    return 0


def _split(files: str) -> list[str]:
    """Split at commas, as Java does: empty names at the end do not count."""
    return files.rstrip(",").split(",")
