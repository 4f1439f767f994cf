"""KIP-1279: states, coordinator, fetchers, cuts; plugs into a broker and a controller as components."""
