#!/usr/bin/env python3
"""The simulator and the model checker repeat some functions by hand. tests/model/twins.txt pairs each with its original, and
has a fingerprint of both. Who changes one reads the other, changes it too where it must, and then has the fingerprints
written anew: check_twins.py --write."""
import hashlib
import re
import sys

from headers import ROOT, code_of, finish

LIST = ROOT / "tests" / "model" / "twins.txt"
DEFINITION = r"(?<![\w.>]){name}\s*\((?:[^;{{}}()]|\((?:[^()]|\([^()]*\))*\))*\)[^;{{}}]*(?:\{{[^{{}};]*\}}[^;{{}}]*)*?\{{"


def tokens_of(name, path):
    """The tokens of all functions of that name in the file."""
    code = code_of((ROOT / path).read_text(encoding="utf-8"))
    found = []
    for m in re.finditer(DEFINITION.format(name=re.escape(name)), code):
        end, depth = m.end(), 1
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        found += re.findall(r"\w+|[^\w\s]", code[m.start():end])
    return found


def fingerprint(name, path):
    tokens = tokens_of(name, path)
    return hashlib.sha256(" ".join(tokens).encode()).hexdigest()[:8] if tokens else "missing"


bad, checked, out = [], 0, []
for number, line in enumerate(LIST.read_text(encoding="utf-8").splitlines(), 1):
    fields = line.split()
    if not fields or line.startswith("#"):
        out.append(line)
        continue
    path, name, twin_path, twin, *known = fields
    now = [fingerprint(name, path), fingerprint(twin, twin_path)]
    out.append(" ".join([path, name, twin_path, twin, *now]))
    checked += 1
    for what, where, is_now, was in zip((name, twin), (path, twin_path), now, known or ["", ""]):
        if is_now == "missing":
            bad.append(f"twins.txt:{number}: {where} has no function {what}; fix it by naming the one that took its place")
        elif is_now != was and "--write" not in sys.argv:
            other, there = (twin, twin_path) if what == name and where == path else (name, path)
            bad.append(f"twins.txt:{number}: {what} in {where} has changed; read {other} in {there}, change it if it must, "
                       "then: python3 .ci/check_twins.py --write")
if "--write" in sys.argv:
    LIST.write_text("\n".join(out) + "\n", encoding="utf-8")
finish(bad, f"twins ok: {checked} pairs", checked)
