"""Presentation of results: plots, tables and self-contained pages. Needs matplotlib and pyarrow.

from kmirror.report.notebook import load
load("wan.results")            # in Jupyter this shows the report
"""
