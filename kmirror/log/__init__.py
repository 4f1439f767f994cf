"""Storage of one partition: segments, leader epochs, producer state, appends and truncation."""
