"""Classic groups: members, rebalances and generations of the protocol of JoinGroup and SyncGroup."""
