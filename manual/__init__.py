"""Tools for the manual in docs/: run its examples, generate its tables, build its pages.

python -m manual            # renew the tables in docs/
python -m manual --check    # compare them
python -m manual run docs/start.md
python -m manual build      # the site, in build/manual; warnings are errors
"""
