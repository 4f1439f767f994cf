"""What a test of Kafka code may want: strategies for messages, and fixtures."""
