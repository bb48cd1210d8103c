#!/usr/bin/env python3
"""Writes the page of a file of results: tables of what `bench_scheduling --json FILE` or `bench_sync --json FILE` has measured.

    python3 page.py 2026-11-26-epyc-2-cores.json > 2026-11-26-epyc-2-cores.md

The file is named after the day and the machine. Its `"about"`, added by hand, says what was measured, and with what.
"""
import json
import sys


def cell(result):
    if "ratio" in result:
        return f"{result['ratio']:.2f}"
    return f"{result['median']:.1f}" if result["median"] < 100 else f"{result['median']:.0f}"


def over_best(of):
    """heist over the best of the others."""
    others = [r["median"] for library, r in of.items() if library != "heist"]
    return f"{of['heist']['median'] / min(others):.2f}" if "heist" in of and others else ""


def tables(rows):
    for workers in sorted({r["workers"] for r in rows}):
        here = [r for r in rows if r["workers"] == workers]
        libraries = list(dict.fromkeys(r["library"] for r in here))
        compares = "median" in here[0]
        yield f"## {workers} workers\n"
        yield "| row | " + " | ".join(libraries) + (" | heist over the best |" if compares else " |")
        yield "|---|" + "---|" * (len(libraries) + compares)
        for row in dict.fromkeys(r["row"] for r in here):
            of = {r["library"]: r for r in here if r["row"] == row}
            unit = next(iter(of.values())).get("unit")
            cells = [cell(of[l]) if l in of else "" for l in libraries] + ([over_best(of)] if compares else [])
            yield f"| {row}{f', {unit}' if unit else ''} | " + " | ".join(cells) + " |"
        yield ""


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        results = json.load(file)
    if isinstance(results, list):  # as --json writes it
        results = {"about": [], "rows": results}
    print(f"# {sys.argv[1].rsplit('/', 1)[-1].removesuffix('.json')}\n")
    print("\n".join(results["about"]) + "\n")
    print("\n".join(tables(results.get("rows") or results["scheduling"])).rstrip())


main()
