"""Command line of kmirror; the module of a command is imported when the command is called."""
