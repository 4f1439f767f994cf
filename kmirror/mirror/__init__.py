"""KIP-1279: states, coordinator, fetchers and cuts, plugged into a broker and a controller as components."""
