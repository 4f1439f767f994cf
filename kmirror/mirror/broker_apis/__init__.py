"""APIs about mirrors that a broker serves (KIP-1279), one file for each."""
