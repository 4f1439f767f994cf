"""Who reads the same bytes otherwise? Our decoders beside those of others, Kafka's own among them."""
