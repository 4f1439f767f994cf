"""Syncs of the source's metadata (D17): one file for each, run by the cycle."""
