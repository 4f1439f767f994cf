"""Journals of nodes: records of their events and effects, written by any runner, and the replay of these journals."""
