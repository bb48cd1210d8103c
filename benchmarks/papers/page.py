#!/usr/bin/env python3
"""Runs the commands whose output stands in README.md and writes it anew.

page.py PROGRAMS [COMMAND...]: PROGRAMS is the folder with bench_papers and bench_corun; without commands all are run. In the page
a command's output stands between `<!-- begin COMMAND OPTIONS -->` and `<!-- end -->`."""
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent / "README.md"
BLOCK = re.compile(r"<!-- begin (\S+)([^\n]*?) -->\n(?:.*?\n)??<!-- end -->", re.S)


def output_of(programs, command, options):
    call = [programs / "bench_corun"] if command == "corun" else [programs / "bench_papers", command]
    done = subprocess.run([*call, *options], stdout=subprocess.PIPE, text=True, check=True)
    # The program's headings are parts of the page's sections.
    return re.sub(r"^### (.*)$", r"**\1**", done.stdout.strip(), flags=re.M)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: page.py PROGRAMS [COMMAND...]; PROGRAMS is the folder with bench_papers and bench_corun")
    programs, wanted = pathlib.Path(sys.argv[1]).resolve(), set(sys.argv[2:])
    text = PAGE.read_text(encoding="utf-8")
    unknown = wanted - {m[1] for m in BLOCK.finditer(text)}
    if unknown:
        sys.exit(f"page.py: README.md has no place for {', '.join(sorted(unknown))}")
    for command, options in [(m[1], m[2]) for m in BLOCK.finditer(text)]:
        if wanted and command not in wanted:
            continue
        print(command, flush=True)
        new = f"<!-- begin {command}{options} -->\n{output_of(programs, command, options.split())}\n<!-- end -->"
        text = BLOCK.sub(lambda m: new if m[1] == command else m[0], text)
        PAGE.write_text(text, encoding="utf-8")  # after each: a run that is broken off keeps what it has


if __name__ == "__main__":
    main()
