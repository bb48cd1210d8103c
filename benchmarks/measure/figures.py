"""Figures and how they are compared: medians of rounds with their range, units, and when two figures differ."""

FEW_ROUNDS = 5

DIFFERENCE = ("Two figures differ if the ranges of their rounds, least to greatest, do not overlap. A smaller difference is called "
              f"none. With fewer than {FEW_ROUNDS} rounds each range is first widened by its own width on both sides; one round has no range, "
              "and shows no difference.")


def span(figure):
    """The range that a figure stands for."""
    low, high = figure["min"], figure["max"]
    if len(figure["samples"]) < FEW_ROUNDS:
        low, high = low - (high - low), high + (high - low)
    return low, high


def differ(a, b):
    if min(len(a["samples"]), len(b["samples"])) < 2:
        return False
    (a_low, a_high), (b_low, b_high) = span(a), span(b)
    return a_high < b_low or b_high < a_low


def figure_of(row, variant, workers):
    for f in row["figures"]:
        if f["variant"] == variant and f["workers"] == workers:
            return f
    return None


def workers_of(row, variant):
    return sorted(f["workers"] for f in row["figures"] if f["variant"] == variant)


def speed_up(one, many):
    """Median, least and greatest speed-up from one figure to another."""
    return one["median"] / many["median"], one["min"] / many["max"], one["max"] / many["min"]


def number(x):
    """Three digits."""
    if x == 0:
        return "0"
    size = abs(x)
    return f"{x:.0f}" if size >= 100 else f"{x:.1f}" if size >= 10 else f"{x:.2f}" if size >= 0.01 else f"{x:.2g}"


def time_text(ns):
    for limit, unit in ((1e3, "ns"), (1e6, "us"), (1e9, "ms")):
        if abs(ns) < limit:
            return f"{number(ns * 1e3 / limit)} {unit}"
    return f"{number(ns / 1e9)} s"


def value_text(value, unit):
    if unit == "ns":
        return time_text(value)
    if unit == "us/s":
        return time_text(value * 1e3) + " a second"
    return f"{number(value)} {unit}"


def bytes_text(n):
    for size, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n >= size:
            return f"{number(n / size)} {unit}"
    return f"{n} bytes"


def duration_text(seconds):
    seconds = max(0, round(seconds))
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60:02d} s"


def gigabytes_per_second(row, figure):
    return row["bytes"] / figure["median"]


def count(n, noun):
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def first_upper(text):
    return text[:1].upper() + text[1:]


def listed(items):
    items = list(items)
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
