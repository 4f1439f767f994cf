"""How the manual in docs/ is kept true: its examples are run, its tables are made from the code, its pages are built.

python -m manual            # renew the tables in docs/
python -m manual --check    # compare them
python -m manual run docs/start.md
python -m manual build      # the site, in build/manual; warnings are errors
"""
