"""From the facts in schemas/ to the modules in kmirror/protocol/gen/; `python -m codegen --help` says how."""
