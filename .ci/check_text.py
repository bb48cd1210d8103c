#!/usr/bin/env python3
"""What the texts refer to exists: relative links and file names in READMEs, README names in comments. No file has
trailing blanks, tabs for indentation, unfinished marks or characters outside ASCII."""
import pathlib
import re
import subprocess

from headers import ROOT, finish

listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                        capture_output=True, text=True).stdout.split("\0")
files = [pathlib.PurePosixPath(f) for f in listed if f and (ROOT / f).is_file()]
names = {f.name for f in files}
paths = {f.as_posix() for f in files}
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"(?<![\w/.<*-])((?:[\w.-]+/)*(?:[\w-]+\.(?:hpp|cpp|py|sh)|README\.md))\b")
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
CODE = (".hpp", ".ipp", ".cpp", ".py", ".sh", ".cmake")
NOT_OURS = {"taskflow/taskflow.hpp", "taskflow.hpp", "catch2/catch.hpp", "catch2/catch_all.hpp"}


def exists(here, name):
    """A README of the same folder, or a file named by its path from the top, from the text's own folder, below include/
    or include/heist/, or by the end of its path."""
    if name == "README.md":
        return (ROOT / here.parent / name).exists()
    candidates = [name, (here.parent / name).as_posix(), "include/" + name, "include/heist/" + name]
    return any((ROOT / c).exists() for c in candidates) or any(p.endswith("/" + name) for p in paths)


bad = []
for path in files:
    if path.name == "LICENSE" or path.suffix in (".v", ".xml", ".json"):
        continue
    text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
    prose = path.suffix == ".md"
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path}:{number}"
        if not line.isascii():
            bad.append(f"{where}: not ASCII: {ascii(''.join(c for c in line if not c.isascii()))}")
        if line != line.rstrip() and path.suffix in CODE:
            bad.append(f"{where}: blanks at the end of the line")
        if re.match(r" *\t", line):
            bad.append(f"{where}: tab")
        if UNFINISHED.search(line):
            bad.append(f"{where}: unfinished")
        if prose:
            for target in LINK.findall(line):
                target = target.split("#")[0]
                if target and not re.match(r"\w+:", target) and not (ROOT / path.parent / target).exists():
                    bad.append(f"{where}: no such file: {target}")
        comment = re.search(r"//(.*)", line) if path.suffix in (".hpp", ".ipp", ".cpp") else None
        told = line if prose else comment[1] if comment else ""
        for name in FILE.findall(re.sub(r"https?://\S+|\]\([^)]*\)", "", told)):
            if not name.startswith("../") and name not in NOT_OURS and not exists(path, name):
                bad.append(f"{where}: names a file that does not exist: {name}")
finish(bad, f"texts ok: {len(files)} files", files)
