#!/usr/bin/env python3
"""Runs the commands whose output is in the pages (*.md) of this folder, and replaces that output.

page.py PROGRAMS [COMMAND...]: PROGRAMS is the folder with bench_papers and bench_corun; without commands all are run. In a page
a command's output stands between `<!-- begin COMMAND OPTIONS -->` and `<!-- end -->`."""
import pathlib
import re
import subprocess
import sys

PAGES = sorted(pathlib.Path(__file__).resolve().parent.glob("*.md"))
BLOCK = re.compile(r"<!-- begin (\S+)([^\n]*?) -->\n(?:.*?\n)??<!-- end -->", re.S)


def blocks():
    """The page, the command and the options of each block."""
    return [(page, m[1], m[2]) for page in PAGES for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def output_of(programs, command, options):
    call = [programs / "bench_corun"] if command == "corun" else [programs / "bench_papers", command]
    done = subprocess.run([*call, *options], stdout=subprocess.PIPE, text=True, check=True)
    # The program's headings are parts of the page's sections.
    return re.sub(r"^### (.*)$", r"**\1**", done.stdout.strip(), flags=re.M)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: page.py PROGRAMS [COMMAND...]; PROGRAMS is the folder with bench_papers and bench_corun")
    programs, wanted = pathlib.Path(sys.argv[1]).resolve(), set(sys.argv[2:])
    found = blocks()
    unknown = wanted - {command for _, command, _ in found}
    if unknown:
        sys.exit(f"page.py: no page has a place for {', '.join(sorted(unknown))}; add the marks to the page of its paper")
    for page, command, options in found:
        if wanted and command not in wanted:
            continue
        print(f"{command}: {page.name}", flush=True)
        new = f"<!-- begin {command}{options} -->\n{output_of(programs, command, options.split())}\n<!-- end -->"
        text = page.read_text(encoding="utf-8")
        # Written after each command: an interrupted run keeps the output of the finished commands.
        page.write_text(BLOCK.sub(lambda m: new if m[1] == command else m[0], text), encoding="utf-8")


if __name__ == "__main__":
    main()
