"""Whole runs and what they come to: the demo, the failover experiment, sweep files, results, estimates."""
