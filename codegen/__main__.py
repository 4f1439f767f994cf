"""`python -m codegen`: write what is generated; `--check`: only compare."""

from __future__ import annotations

import sys

from codegen.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
