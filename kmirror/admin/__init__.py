"""Admin clients for clusters and mirrors, for programs on asyncio and for scripts that block."""
