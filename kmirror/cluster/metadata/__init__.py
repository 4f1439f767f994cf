"""The metadata log: its batches, snapshots and replay, and the quorum of controllers that writes it."""
