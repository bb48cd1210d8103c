#!/usr/bin/env python3
"""The programs in this folder are those of FOLDER, changed by renames.sed and by nothing else. The headers have each new name.

    python3 renames_check.py FOLDER
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
older = pathlib.Path(sys.argv[1])
headers = "".join(f.read_text() for f in HERE.parents[1].glob("include/heist/**/*.?pp"))
for line in (HERE / "renames.sed").read_text().splitlines():
    for name in re.findall(r"[a-z_]{2,}", line.split("/")[2]) if line.startswith("s/") else ():
        if not re.search(rf"\b{name}\b", headers):
            sys.exit(f"renames.sed makes {name}, and no header has that name; fix it by a name of today: {line}")
if not older.is_dir():
    print(f"skipped: no folder {older} with the programs before the renames")
    sys.exit()
wrong = []
for program in sorted(HERE.glob("*.cpp")):
    made = subprocess.run(["sed", "-f", str(HERE / "renames.sed"), str(older / program.name)], capture_output=True, text=True)
    if made.returncode != 0 or made.stdout != program.read_text():
        wrong.append(program.name)
if wrong:
    sys.exit(f"not what renames.sed makes of the programs in {older}: {', '.join(wrong)}; fix it by changing renames.sed alone")
print("contract programs ok")
