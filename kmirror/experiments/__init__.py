"""Whole runs and their results: the demo, the failover experiment, sweep files, results, estimates."""
