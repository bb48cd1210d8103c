#!/usr/bin/env python3
"""How plain our English is: sentences of more than 25 words, and sentences that name no actor, by group of texts. The shares
may fall and not rise above .ci/prose.json. Subjects of new commits have 70 characters at most.

    python3 .ci/check_prose.py                fails if a share has risen
    python3 .ci/check_prose.py --worst N      the N longest and the N first vague sentences of each group
    python3 .ci/check_prose.py --write        notes today's shares: part of a commit that lowers them
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTED = ROOT / ".ci" / "prose.json"
GROUPS = {
    "README.md": ["README.md"],
    "docs": ["docs/*.md"],
    "changes": ["CHANGELOG.md"],
    "components": ["include/heist/**/README.md"],
    "headers": ["include/heist/**/*.hpp", "include/heist/**/*.ipp"],
    "examples": ["examples/**/*.md"],
    "tests": ["tests/**/*.md"],
    "benchmarks": ["benchmarks/*.md", "benchmarks/*/*.md"],
}
LONG = 25
NO_ACTOR = re.compile(r"\b(?:somebody|nobody|everybody|anybody|whoever|another's|others'|what there is)\b|\bwho\b(?! is\b)", re.I)
BEGINS_WITH_CLAUSE = re.compile(r"^(?:what|whatever|whoever|of (?:those|these|what)|that which)\b", re.I)
SLACK = 0.003  # of all sentences: a text may be reworded


def paragraphs_of(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        found = [""]
        for line in text.splitlines():
            before, mark, comment = line.partition("//")
            if not mark:
                found.append("")
                continue
            if before.strip():
                found.append("")  # behind code: by itself
            found[-1] += " " + comment.lstrip("/<")
            if before.strip():
                found.append("")
        return found
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    text = re.sub(r"^<!-- begin .*?^<!-- end[^\n]*$", "", text, flags=re.S | re.M)  # what programs print
    text = re.sub(r"^(?: {4,}|\t).*$", "", text, flags=re.M)
    text = re.sub(r"^[|].*$", lambda m: "\n\n" + "\n\n".join(m.group(0).strip("|").split("|")) + "\n\n", text, flags=re.M)
    text = re.sub(r"^\s*(?:[-*#]|\d+\.)+\s", "\n\n", text, flags=re.M)
    return re.split(r"\n\s*\n", text)


def sentences_of(path):
    for paragraph in paragraphs_of(path):
        text = re.sub(r"`[^`]*`", "CODE", paragraph)
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
        text = " ".join(re.sub(r"[*_]", "", text).split())
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z(\"])", text):
            if len(re.findall(r"[A-Za-z]{2,}", sentence)) > 2:
                yield sentence


def measured():
    found = {}
    for group, patterns in GROUPS.items():
        all_of, long, vague = 0, [], []
        for path in sorted({p for pattern in patterns for p in ROOT.glob(pattern)}):
            if "results" in path.parts or "build" in path.relative_to(ROOT).parts:
                continue
            for s in sentences_of(path):
                all_of += 1
                words = len(s.split())
                if words > LONG:
                    long.append((words, f"{path.relative_to(ROOT)}: {s}"))
                if NO_ACTOR.search(s) or BEGINS_WITH_CLAUSE.search(s):
                    vague.append(f"{path.relative_to(ROOT)}: {s}")
        found[group] = (all_of, sorted(long, reverse=True), vague)
    return found


def long_subjects():
    try:
        log = subprocess.run(["git", "-C", str(ROOT), "log", "-20", "--no-merges", "--format=%h %s"], capture_output=True,
                             text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []  # no repository
    return [line for line in log.splitlines() if len(line.split(" ", 1)[1]) > 70]


def main():
    found = measured()
    shares = {g: {"long": round(len(long) / n, 4), "vague": round(len(vague) / n, 4)} for g, (n, long, vague) in found.items()}
    if sys.argv[1:] == ["--write"]:
        NOTED.write_text(json.dumps(shares, indent=2) + "\n")
        return
    if len(sys.argv) == 3 and sys.argv[1] == "--worst":
        for group, (n, long, vague) in found.items():
            print(f"{group}: {n} sentences, {len(long)} long, {len(vague)} vague")
            for text in [t for _, t in long[:int(sys.argv[2])]] + vague[:int(sys.argv[2])]:
                print(f"  {text[:240]}")
        return
    noted = json.loads(NOTED.read_text())
    bad = [f"{line}: a commit's subject of more than 70 characters; fix it by git commit --amend" for line in long_subjects()]
    for group, now in shares.items():
        for kind, share in now.items():
            if share > noted[group][kind] + SLACK:
                bad.append(f"{group}: {100 * share:.1f} % of the sentences are {kind}, and there were "
                           f"{100 * noted[group][kind]:.1f}; fix it by shorter sentences that name their actor "
                           "(python3 .ci/check_prose.py --worst 20 shows some)")
    if bad:
        sys.exit("\n".join(bad))
    print("prose ok: " + ", ".join(f"{g} {100 * s['long']:.0f} % long, {100 * s['vague']:.0f} % vague" for g, s in shares.items()))


main()
