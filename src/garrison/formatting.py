"""How numbers, durations and counts are written, everywhere."""

UNITS = (("", 1.0), (" k", 1e3), (" M", 1e6), (" G", 1e9))


def short(number: float) -> str:
    """Write a number with three significant digits.

    >>> short(1_234_567), short(950), short(152_300), short(0.0123)
    ('1.23 M', '950', '152 k', '0.0123')
    """
    for unit, size in UNITS[:-1]:
        if abs(number) < 999.5 * size:
            return f"{number / size:.3g}{unit}"
    unit, size = UNITS[-1]
    return f"{number / size:.3g}{unit}"


def ratio(value: float) -> str:
    """Write a ratio: three significant digits below a hundred, whole numbers with commas above.

    >>> ratio(1.234), ratio(20834.2)
    ('1.23', '20,834')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def duration(seconds: float) -> str:
    """Write a short time in its unit.

    >>> duration(0.00123), duration(2e-8)
    ('1.23 ms', '20 ns')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def microseconds(seconds: float) -> str:
    """Write a short time in microseconds, for tables of one unit.

    >>> microseconds(1.2e-5), microseconds(0.0123456)
    ('12.0', '12,346')
    """
    return f"{1e6 * seconds:,.1f}" if seconds < 1e-4 else f"{1e6 * seconds:,.0f}"


def clock(seconds: float) -> str:
    """Write a long time as h:mm:ss or m:ss.

    >>> clock(75), clock(3675)
    ('1:15', '1:01:15')
    """
    minutes, rest = divmod(round(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def plural(number: int, noun: str) -> str:
    """Write a count with its noun.

    >>> plural(1, "worker"), plural(3, "worker")
    ('1 worker', '3 workers')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def cell(value: object, missing: str = "-") -> str:
    """Write a table's value: two decimals for floats, commas for whole numbers, `missing` for None.

    >>> cell(1234.5), cell(1234), cell(None), cell("ppo")
    ('1,234.50', '1,234', '-', 'ppo')
    """
    if value is None:
        return missing
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
