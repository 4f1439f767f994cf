"""`kmirror dump-log`: kafka-dump-log with its flags and its text, for the files of a log directory.

Rule 1: for the kinds of files that Kafka's tool supports, stdout has its output, byte for byte, in UTF-8 regardless of
the terminal.
Rule 2: where Kafka's tool ends with a stack trace, the same text is printed before it, then one line with file,
position and error on stderr; the exit code is 1.
Rule 3: the command line is parsed as `kafka_options` says. -o, --text and --mirror-state-decoder are not options of
Kafka's tool.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from kmirror.cli.kafka_options import KafkaCommand, OptionRow, ParsedOptions
from kmirror.cli.output import Output
from kmirror.logdir.dump.decoders import (
    DEFAULT_DECODER,
    Decoder,
    coordinator_decoder,
    decode_cluster_metadata,
    decode_remote_log_metadata,
    plain_decoder,
)
from kmirror.logdir.dump.files import MAX_BYTES, MAX_MESSAGE_SIZE, Dump, DumpOptions
from kmirror.logdir.dump.printers import JsonPrinter, Printer, TextPrinter
from kmirror.protocol.keyed_records import CONSUMER_OFFSETS, MIRROR_STATE, SHARE_GROUP_STATE, TRANSACTION_STATE

KAFKA_VERSION = "4.3.1"

# In the order in which Kafka's tool checks them if several are given.
DECODERS: dict[str, Callable[[], Decoder]] = {
    "offsets-decoder": partial(coordinator_decoder, CONSUMER_OFFSETS),
    "transaction-log-decoder": partial(coordinator_decoder, TRANSACTION_STATE),
    "cluster-metadata-decoder": lambda: decode_cluster_metadata,
    "remote-log-metadata-decoder": lambda: decode_remote_log_metadata,
    "share-group-state-decoder": partial(coordinator_decoder, SHARE_GROUP_STATE),
    "mirror-state-decoder": partial(coordinator_decoder, MIRROR_STATE),
}
_CLASS = "one of Kafka's own classes in org.apache.kafka.tools.api."

OPTIONS = (
    OptionRow(("files",), "Log, index and snapshot files to dump.", "FILE,FILE..."),
    OptionRow(("print-data-log",), "Print the content of records; implied by any decoder option."),
    OptionRow(("deep-iteration",), "Print each record, not only each batch; implied by --print-data-log."),
    OptionRow(("skip-record-metadata",), "Print only the content of records; skip control records."),
    OptionRow(("verify-index-only",), "Verify an index against its log without printing it."),
    OptionRow(("index-sanity-check",), "Check an index as a broker does when it starts, without printing it."),
    OptionRow(("max-message-size",), f"Maximum size of a batch; default: {MAX_MESSAGE_SIZE}.", "BYTES"),
    OptionRow(("max-bytes",), "Maximum number of bytes to read from a .log file.", "BYTES"),
    OptionRow(("value-decoder-class",), f"Deserializer of the values: {_CLASS}", "CLASS", is_optional=True),
    OptionRow(("key-decoder-class",), f"Deserializer of the keys: {_CLASS}", "CLASS", is_optional=True),
    OptionRow(("offsets-decoder",), "Decode a log of __consumer_offsets."),
    OptionRow(("transaction-log-decoder",), "Decode a log of __transaction_state."),
    OptionRow(("cluster-metadata-decoder",), "Decode a log or snapshot of __cluster_metadata."),
    OptionRow(("remote-log-metadata-decoder",), "Decode a log of __remote_log_metadata."),
    OptionRow(("share-group-state-decoder",), "Decode a log of __share_group_state."),
    OptionRow(("mirror-state-decoder",), "Decode a log of __mirror_state (KIP-1279)."),
    OptionRow(("output", "o"), "json: one object per line.", "text|json"),
    OptionRow(("text",), "With -o json: print keys and values as text if they are UTF-8."),
)


@click.command("dump-log", cls=KafkaCommand, rows=OPTIONS, required="files", version=KAFKA_VERSION)
def command(parsed: ParsedOptions) -> int:
    """Print the content of log segments, indexes and snapshots, like kafka-dump-log."""
    files = _split_names(parsed.text("files", ""))
    with Output() as out:
        make_decoder = next((make for name, make in DECODERS.items() if parsed.has(name)), None)
        prints_data = parsed.has("print-data-log", "value-decoder-class", "key-decoder-class", *DECODERS)
        options = DumpOptions(
            decoder=make_decoder or partial(_make_plain_decoder, parsed),
            prints_data=prints_data,
            is_deep=parsed.has("deep-iteration") or prints_data,
            verifies_only=parsed.has("verify-index-only"),
            checks_sanity=parsed.has("index-sanity-check"),
            max_message_size=partial(parsed.number, "max-message-size", MAX_MESSAGE_SIZE),
            max_bytes=partial(parsed.number, "max-bytes", MAX_BYTES),
        )
        printer: Printer = TextPrinter(out.write, skip_record_metadata=parsed.has("skip-record-metadata"))
        if parsed.one_of("output", "text", "json") == "json":
            printer = JsonPrinter(out.write, text=parsed.has("text"), is_decoded=make_decoder is not None)
        Dump(options, printer, out.write_stderr).run(files)
    return 0


def _make_plain_decoder(parsed: ParsedOptions) -> Decoder:
    value_class = parsed.text("value-decoder-class", DEFAULT_DECODER)
    return plain_decoder(parsed.text("key-decoder-class", DEFAULT_DECODER), value_class)


def _split_names(files: str) -> list[str]:
    """Split at commas like Java's `String.split`, which drops empty names at the end but keeps a single one."""
    if "," not in files:
        return [files]
    names = files.rstrip(",")
    return names.split(",") if names else []
