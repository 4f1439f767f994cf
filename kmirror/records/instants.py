"""Timestamps as text."""

from __future__ import annotations

from typing import Final

_MS_A_DAY: Final = 86_400_000


def utc_text(timestamp_ms: int) -> str:
    """Return a timestamp (ms since 1970) as ISO 8601 in UTC, such as `2023-11-14T22:13:20.000Z`.

    Accepts every int64: a year above 9999 or below 0 has a sign, as in `java.time.Instant`.
    """
    days, rest = divmod(timestamp_ms, _MS_A_DAY)
    year, month, day = _date(days)
    seconds, milliseconds = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    year_text = f"{year:04}" if 0 <= year <= 9999 else f"{year:+05}"
    return f"{year_text}-{month:02}-{day:02}T{minutes // 60:02}:{minutes % 60:02}:{second:02}.{milliseconds:03}Z"


def _date(days: int) -> tuple[int, int, int]:
    """Return year, month and day of the day that is `days` after 1970-01-01.

    Years are counted from 1 March: the leap day is then the last day of a year, and the months repeat in groups of five
    with 153 days.
    """
    era, day_of_era = divmod(days + 719_468, 146_097)  # An era is 400 years, counted from 0000-03-01.
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    months = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * months + 2) // 5 + 1
    month = months + 3 if months < 10 else months - 9
    return era * 400 + year_of_era + (month <= 2), month, day
