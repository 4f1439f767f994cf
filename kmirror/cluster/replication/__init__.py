"""Replication of a broker's partitions: leadership, ISR changes, follower fetches, truncation."""
