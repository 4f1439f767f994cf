"""Clients that ask and order: clusters and mirrors over asyncio, and for callers that block."""
