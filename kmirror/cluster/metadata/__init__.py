"""The metadata log: its batches, its snapshots and their replay, and the quorum of controllers that writes it."""
