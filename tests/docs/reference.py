#!/usr/bin/env python3
"""Makes the reference and looks whether every name that users write has its page there, and a sentence on it: the names of
heist/fwd.hpp and those that the module exports. Whether classes have the members of their bases and the examples of the
cookbook. And whether the links of our pages lead somewhere there.

  reference.py DOXYGEN DOXYFILE SOURCE WORK
"""
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

doxygen, doxyfile, source, work = sys.argv[1], *map(pathlib.Path, sys.argv[2:])


def names_of_fwd():
    inside = []
    for line in (source / "include/heist/fwd.hpp").read_text(encoding="utf-8").splitlines():
        if opened := re.match(r"namespace (\w+) \{", line):
            inside.append(opened[1])
        elif line.startswith("}"):
            inside.pop()
        elif (name := re.match(r"(?:struct|class|enum class|enum|using) (\w+)", line)) and "detail" not in inside:
            yield "::".join([*inside, name[1]])


def names_of_module():
    return re.findall(r"^using (heist::[\w:]+);", (source / "cmake/heist.cppm").read_text(encoding="utf-8"), re.MULTILINE)


def says_something(what):
    return any("".join(text.itertext()).strip() for text in (what.find("briefdescription"), what.find("detaileddescription"))
               if text is not None)


work.mkdir(parents=True, exist_ok=True)
config = doxyfile.read_text(encoding="utf-8") + f'OUTPUT_DIRECTORY = "{work}"\nWARN_LOGFILE = "{work}/warnings.txt"\n'
subprocess.run([doxygen, "-q", "-"], input=config, cwd=source, check=True, text=True)

recipes = (source / "docs/cookbook.md").read_text(encoding="utf-8")
examples = {f"heist::{name}" for line in re.findall(r"^<!-- example: (.*) -->$", recipes, re.MULTILINE) for name in line.split()}
without = set(examples)
bad = []

found = {}  # name -> whether it has a sentence
for compound in xml.parse(work / "xml/index.xml").getroot():
    kind, ref, name = compound.get("kind"), compound.get("refid"), compound.findtext("name")
    if kind not in ("class", "struct", "concept", "namespace") or not name.startswith("heist"):
        continue
    page = work / "html" / f"{ref}.html"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    whole = xml.parse(work / "xml" / f"{ref}.xml").getroot().find("compounddef")
    if text and kind != "namespace":
        found[name] = found.get(name, False) or says_something(whole)
        if "<dt>Example</dt>" in text:
            without.discard(name)
        bad += [f"{name} is without the members of {base.text}; mark that class as a base that the reference shows"
                for base in whole.iter("basecompoundref")
                if base.get("prot") == "public" and base.get("refid") is None and not base.text.startswith("std::")
                and base.text not in ("T", "graph_listener")]  # a parameter; what heist calls, not the user
    if kind == "namespace":
        for member in whole.iter("memberdef"):
            if f'id="{member.get("id").rpartition("_1")[2]}"' in text:
                of = f"{name}::{member.findtext('name')}"
                found[of] = found.get(of, False) or says_something(member)

wanted = sorted({*names_of_fwd(), *names_of_module()})
bad += [f"{name} has no page" for name in wanted if name not in found]
bad += [f"{name} has a page that says nothing; write a comment (///) above it" for name in wanted if found.get(name) is False]
bad += [f"{name} has an example in the cookbook, but not on its page" for name in sorted(without)]
links = subprocess.run([sys.executable, source / "cmake/docs_links.py", source, work], stdout=subprocess.PIPE, text=True)
if links.returncode != 0:
    bad += links.stdout.splitlines()
bad += [f"{page.name}: Doxygen has not understood it" for page in (work / "html").glob("*.html")
        if re.search("^@(section|verbatim)", page.read_text(encoding="utf-8"), re.MULTILINE)]
print("\n".join(bad) or f"{len(wanted)} names, each with a page and a sentence")
sys.exit(bool(bad))
