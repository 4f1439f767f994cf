"""The protocol fuzzer, for decoders, brokers and clients."""
