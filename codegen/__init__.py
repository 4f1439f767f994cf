"""Generator of the modules in kmirror/protocol/gen/ from the schemas in schemas/; see `python -m codegen --help`."""
