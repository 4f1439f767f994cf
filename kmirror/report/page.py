"""Frame of a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from kmirror.errors import UsageError

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1180px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-size: .82rem; display: block; overflow-x: auto; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap;
  vertical-align: top; }
td.prose { white-space: normal; overflow-wrap: anywhere; min-width: 16rem; }
th { cursor: pointer; background: var(--soft); } td.text, th.text, td.prose, th.prose { text-align: left; }
img { max-width: 100%; background: #fff; border-radius: 6px; margin: .4rem 0; }
code, pre { font-size: .82rem; background: var(--soft); border-radius: 4px; padding: .1rem .3rem; }
pre { padding: .6rem; overflow-x: auto; } .bad { color: #d1495b; font-weight: 600; } .good { color: #3a7d44; }
"""
# A click on a column head sorts by that column.
SCRIPT = """
document.querySelectorAll('th').forEach(head => head.addEventListener('click', () => {
  const body = head.closest('table').tBodies[0], at = head.cellIndex, up = head.dataset.up !== '1';
  head.dataset.up = up ? '1' : '0';
  const key = row => { const t = row.cells[at].textContent, n = parseFloat(t); return isNaN(n) ? t : n; };
  [...body.rows].sort((a, b) => (key(a) > key(b) ? 1 : key(a) < key(b) ? -1 : 0) * (up ? 1 : -1))
    .forEach(row => body.appendChild(row));
}));
"""


def page(title: str, body: str, style: str = "", script: str = SCRIPT) -> str:
    """Return a complete HTML page."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head>\n"
        f"<body>{body}<script>{script}</script></body></html>\n"
    )


def table(
    head: Sequence[str], rows: Iterable[Sequence[object]], text: Sequence[int] = (), prose: Sequence[int] = ()
) -> str:
    """Return an HTML table; columns in `text` are left-aligned, and those in `prose` also wrap."""

    def cell(at: int, value: object, tag: str) -> str:
        css_class = " class=prose" if at in prose else " class=text" if at in text else ""
        return f"<{tag}{css_class}>{escape(str(value))}</{tag}>"

    def cells(values: Sequence[object], tag: str) -> str:
        return "".join(cell(at, value, tag) for at, value in enumerate(values))

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def write_page(file: Path, text: str) -> None:
    """Write a page; raise UsageError if it cannot be written."""
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
