"""Classic groups: members, rebalances and generations of the protocol with JoinGroup and SyncGroup."""
