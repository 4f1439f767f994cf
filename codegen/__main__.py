"""`python -m codegen`: write the generated modules; `--check`: only compare them."""

from __future__ import annotations

import sys

from codegen.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
