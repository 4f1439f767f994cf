"""What may stand between any Kafka client and any broker? A proxy: transparent, but for the faults that rules order."""
