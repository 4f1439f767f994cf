"""The command line; each command is a module that is imported when it is called."""
