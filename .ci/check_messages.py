#!/usr/bin/env python3
"""Every message of the library that says how to fix something has its line in docs/troubleshooting.md."""
import re

from headers import ROOT, finish, headers, line_of

LITERALS = re.compile(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*')
PAGE = re.sub(r"\s+", " ", (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8").replace("`", ""))


def key_of(message):
    """What the page must quote: the longest stretch without values before the advice."""
    told = re.split(r"[;:.,]?\s*[Ff]ix it", message)[0].removeprefix("heist: ")
    return max(re.split(r"\{[^}]*\}|%[a-z]+", told), key=len).strip(" ;:.,").replace("`", "")


bad, checked = [], 0
for name, text in headers():
    code = re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), text)
    for found in LITERALS.finditer(code):
        message = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', found[0])).replace('\\"', '"').replace("\\n", " ")
        if not re.search(r"[Ff]ix it", message):
            continue
        key = key_of(message)
        if len(key) < 12:
            continue
        checked += 1
        if key not in PAGE:
            bad.append(f"{name}:{line_of(code, found.start())}: docs/troubleshooting.md does not tell of: {key}")
finish(bad, f"messages ok: {checked} told of", [checked])
