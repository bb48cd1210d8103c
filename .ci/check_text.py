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


def anchors(page):
    """The names by which a page's headings are linked to."""
    found, fenced = set(), False
    for line in page.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        if re.match(r"#+ ", line) and not fenced:
            heading = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", line.lstrip("# ")).lower())
            found.add(heading.strip().replace(" ", "-"))
    return found


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
        if re.match(r" *\t", line) and path.name != "rules":  # a makefile
            bad.append(f"{where}: tab")
        if UNFINISHED.search(line):
            bad.append(f"{where}: unfinished")
        if prose:
            for target in LINK.findall(line):
                target, _, anchor = target.partition("#")
                if re.match(r"\w+:", target):
                    continue
                page = ROOT / path.parent / target if target else ROOT / path
                if not page.exists():
                    bad.append(f"{where}: no such file: {target}")
                elif anchor and anchor not in anchors(page):
                    bad.append(f"{where}: {target} has no heading #{anchor}")
        comment = re.search(r"//(.*)", line) if path.suffix in (".hpp", ".ipp", ".cpp") else None
        told = line if prose else comment[1] if comment else ""
        for name in FILE.findall(re.sub(r"https?://\S+|\]\([^)]*\)", "", told)):
            if not name.startswith("../") and name not in NOT_OURS and not exists(path, name):
                bad.append(f"{where}: names a file that does not exist: {name}")

# The version stands in four places.
VERSIONS = {"CMakeLists.txt": r"project\(heist VERSION ([0-9.]+)", "cmake/packages/vcpkg/heist/vcpkg.json": r'"version": "([^"]+)"',
            "cmake/packages/debian/changelog": r"heist \(([^)]+)\)", "CHANGELOG.md": r"## ([0-9.]+)"}
told = {name: re.search(pattern, (ROOT / name).read_text(encoding="utf-8"))[1] for name, pattern in VERSIONS.items()}
if len(set(told.values())) > 1:
    bad.append(f"the version differs: {told}")

# The module exports what fwd.hpp says that users name, but for parts that are templates over the outside world.
NOT_EXPORTED = {"after_list", "any_order_op", "basic_time_breakdown", "by_tier", "counter_values", "event_count", "flat",
                "inter_pool", "instrumented_context", "of_executor", "os_env", "recording_context", "recording_tracker", "span_tracker",
                "squad_set", "task_stack", "turn_lists", "work_deque", "work_span_context"}
forward = (ROOT / "include/heist/fwd.hpp").read_text(encoding="utf-8")
forward = forward.split("// distributed\n")[0] + forward.split("// distributed\n")[1].partition("\n\n")[2]  # a component
named = set(re.findall(r"^(?:(?:struct|class|enum class) |using )(\w+)", forward, re.MULTILINE))
module = (ROOT / "cmake/heist.cppm").read_text(encoding="utf-8")
exported = set(re.findall(r"using heist::(?:\w+::)*(\w+);", module))
for name in re.findall(r"#include <(heist/[^>]+)>", module):
    if not (ROOT / "include" / name).exists():
        bad.append(f"cmake/heist.cppm: includes a file that does not exist: {name}")
for name in sorted(named - exported - NOT_EXPORTED):
    bad.append(f"cmake/heist.cppm: fwd.hpp names {name}, and the module does not export it")
finish(bad, f"texts ok: {len(files)} files", files)
