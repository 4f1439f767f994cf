"""APIs about mirrors that a controller decides (KIP-1279), one file for each."""
