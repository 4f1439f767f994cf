"""Comparison of the logs in two folders."""
