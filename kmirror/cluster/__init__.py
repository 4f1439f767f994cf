"""One Kafka cluster: controller, brokers, replication, coordinators; knows nothing of mirroring."""
