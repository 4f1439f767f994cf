"""What Kafka's dump tool prints."""
