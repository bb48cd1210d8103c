#!/usr/bin/env python3
"""A header as the reference shows it: without the public members that only heist's own code uses, and without overloads that
refuse a call. The former stand behind a comment that says so, and before the next access label or the end of the class. An
overload that refuses stands behind a comment that begins with "Refused:", and before an empty line.

  docs_filter.py HEADER     prints it; Doxygen calls it (INPUT_FILTER)
"""
import re
import sys

OWN = re.compile(r"\s*// (?:For the code of heist|How executors start runs)\b")
END = re.compile(r"\s?(?:public|protected|private):|\};")
REFUSED = re.compile(r"\s*// Refused:")
EMPTY = re.compile(r"\s*$")

end = None  # of what is hidden
for line in open(sys.argv[1], encoding="utf-8"):
    if end and end.match(line):
        end = None
    if not end:
        end = END if OWN.match(line) else EMPTY if REFUSED.match(line) else None
    print("" if end else line.rstrip("\n"))
