"""One file for each mirror API (KIP-1279)."""
