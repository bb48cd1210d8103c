#!/usr/bin/env python3
"""Every atomic operation names its memory order, and every order carries its reason: an edge (E1) that the file or the
header of its bodies declares, a step (S1) of the folder's README, or `relaxed: why`, on its statement or right above.
seq_cst is for fences only."""
import re

from headers import atomic_members, code_of, finish, headers, line_of

SEAM = ("core/base/env.hpp", "core/base/park_word.hpp")  # defines the orders' operations; the reasons are with the callers
ORDER = re.compile(r"\bmemory_order(?:_|::)(\w+)")
REASON = re.compile(r"//.*\b([A-Z]\d+|relaxed|acquire|release|acq_rel|seq_cst|as (?:above|below|in|the))\b")
EDGE = re.compile(r"^\s*//+\s*(E\d+)\b.*\s<?->\s")
FENCE = re.compile(r"fence\s*\(\s*(?:std::)?memory_order(?:_|::)seq_cst\s*\)$")
OPERATION = re.compile(r"(?:\.|->)\s*(load|store|exchange|fetch_(?:add|sub|and|or|xor)|compare_exchange_(?:weak|strong)"
                       r"|test_and_set)\s*\(")
LEAST_ARGUMENTS = {"load": 1, "test_and_set": 1, "compare_exchange_weak": 3, "compare_exchange_strong": 3}  # others: 2


def statement(lines, i):
    """The lines of the statement around line i, with the comment block right above it."""
    first = last = i
    while first > 0 and not re.search(r"[;{}:]\s*(//.*)?$|^\s*(//|$)", lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and ";" not in lines[last].split("//")[0] and "{" not in lines[last].split("//")[0]:
        last += 1
    while first > 0 and lines[first - 1].lstrip().startswith("//"):
        first -= 1
    return lines[first:last + 1]


def arguments(code, start):
    """The arguments of a call, from the position after its opening parenthesis."""
    depth, parts = 0, [""]
    for c in code[start:]:
        if c in ")]}" and depth == 0:
            break
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


atomics = set().union(*(atomic_members(code_of(text), "park_word") for _, text in headers()))
bad, checked, texts = [], 0, dict(headers())
for name, text in headers():
    lines, code = text.splitlines(), code_of(text)
    with_header = lines + texts.get(name.replace(".ipp", ".hpp"), "").splitlines()
    declared = {m[1] for line in with_header if (m := EDGE.match(line))}
    for m in ORDER.finditer(code):
        checked += 1
        where = f"{name}:{line_of(code, m.start())}"
        if m[1] == "consume":
            bad.append(f"{where}: memory_order_consume is not allowed")
        compared = re.search(r"[=!]=\s*(?:std::)?$", code[:m.start()])
        call = code[code.rfind("\n", 0, m.start()) + 1:code.find(")", m.end()) + 1]
        if m[1] == "seq_cst" and not compared and not FENCE.search(call):
            bad.append(f"{where}: seq_cst outside a fence; use Env::fence() and say which edge it is")
        if name in SEAM:
            continue
        near = statement(lines, line_of(code, m.start()) - 1)
        if not any(REASON.search(line) for line in near):
            bad.append(f"{where}: memory order without a reason")
        comments = [line.partition("//")[2] for line in near if not EDGE.match(line)]
        cited = {edge for comment in comments for edge in re.findall(r"\bE\d+\b", comment)}
        bad += [f"{where}: edge {edge} is not declared in this file" for edge in sorted(cited - declared)]
    for m in OPERATION.finditer(code):
        receiver = re.search(r"(\w+)$", code[:m.start()].rstrip())
        if receiver and receiver[1] not in atomics:
            continue  # a member function of some other class
        if len(arguments(code, m.end())) < LEAST_ARGUMENTS.get(m[1], 2):
            bad.append(f"{name}:{line_of(code, m.start())}: {m[1]}() does not name its memory order")
    for member in atomic_members(code):
        for m in re.finditer(rf"(?:\+\+|--)\s*{member}\b|\b{member}\s*(?:\+\+|--|[-+|&^]?=(?!=))", code):
            if re.search(r"[\w*&]\s*$|[^-]>\s*$", code[:m.start()]):
                continue  # the declaration of another variable of that name
            bad.append(f"{name}:{line_of(code, m.start())}: '{m[0]}' on an atomic has a hidden seq_cst order")
finish(bad, f"orders ok: {checked} named", checked)
