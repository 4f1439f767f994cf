"""What any node is: events in, effects out; no clock, socket, file or global randomness."""
