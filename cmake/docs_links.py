#!/usr/bin/env python3
"""Links of our pages (*.md) that Doxygen leaves as they are, to a chapter of another page or to a file, lead to where those
are in the reference. What has no page there is copied to it.

  docs_links.py SOURCE DOCS     DOCS: the folder with html/ and xml/. Prints the links that lead nowhere.
"""
import html
import os
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree as xml

source, docs = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
site = docs / "html"


def pages():
    """Source file -> its page."""
    found = {}
    for compound in sorted(xml.parse(docs / "xml/index.xml").getroot(), key=lambda c: c.get("kind")):  # files, then pages
        if compound.get("kind") in ("file", "page"):
            ref = compound.get("refid")
            location = xml.parse(docs / f"xml/{ref}.xml").getroot().find("compounddef/location")
            page = site / ("index.html" if ref == "indexpage" else f"{ref}.html")
            if location is not None and page.exists():
                for folder in (source / "include", source):
                    found[(folder / location.get("file")).resolve()] = page
    return found


def chapters(page):
    """What a heading is called in links -> its id."""
    found = {}
    for name, heading in re.findall(r'<h\d><a class="anchor" id="([^"]+)"></a>\s*(.*?)</h\d>', page.read_text(encoding="utf-8"), re.DOTALL):
        text = html.unescape(re.sub(r"<[^>]+>", "", heading)).strip().lower()
        found[re.sub(r"[^\w\- ]", "", text).replace(" ", "-")] = name
    return found


page_of = pages()
lost = []


def mended(link, page, origin):
    file, _, chapter = html.unescape(link).partition("#")
    if re.match(r"\w+:", link) or not file or (page.parent / file).exists():
        return link
    target = (origin.parent / file).resolve()
    if target.is_dir() and (target / "README.md").exists():
        target = target / "README.md"
    if target in page_of:
        name = chapters(page_of[target]).get(chapter, "") if chapter else ""
        if chapter and not name:
            lost.append(f"{origin}: {link}")
        return page_of[target].name + (f"#{name}" if name else "")
    if target.is_file() and source in target.parents:
        copy = site / "files" / target.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, copy)
        return os.path.relpath(copy, page.parent)
    lost.append(f"{origin}: {link}")
    return link


for origin, page in page_of.items():
    if origin.suffix == ".md" and origin.exists():
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r'(href|src)="([^"]+)"', lambda m: f'{m[1]}="{html.escape(mended(m[2], page, origin))}"', text), encoding="utf-8")
print("\n".join(f"leads nowhere: {line}" for line in lost) or "all links of our pages lead somewhere")
sys.exit(bool(lost))
