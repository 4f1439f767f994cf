"""What members of classic groups ask: one file for each API."""
