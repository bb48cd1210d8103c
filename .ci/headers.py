"""What the checks share: the headers of heist, and C++ text without comments and literals."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "heist"

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?![0-9A-Fa-f])', re.S)


def headers():
    """Pairs of the name below include/heist and the text of each header, and of each file of bodies (.ipp)."""
    return [(p.relative_to(INCLUDE).as_posix(), p.read_text(encoding="utf-8")) for p in sorted(INCLUDE.rglob("*"))
            if p.suffix in (".hpp", ".ipp", ".h")]


def code_of(text):
    """The text with comments blanked and literals crossed out; lines keep their numbers."""
    return _NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " " if m[0][0] == "/" else "0", m[0]), text)


def atomic_members(code, also=""):
    """Names of variables that are declared as atomics, directly or by an alias of the same file, or as type `also`."""
    aliases = re.findall(r"\busing (\w+) = [\w:. ]*\batomic<[^;]*>;", code)
    types = r"\batomic<[^;{}()]*>" + (rf"|\b{also}" if also else "") + "".join(rf"|\b{alias}" for alias in aliases)
    return set(re.findall(rf"(?:{types})\s+(\w+)\s*[;{{=]", code))


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def within(name, places):
    """True if a header is one of the places: a file, with its bodies, or a folder that ends with a slash."""
    return any(name.startswith(p) if p.endswith("/") else name.replace(".ipp", ".hpp") == p for p in places)


def finish(bad, fine, checked):
    """Prints the findings and ends the program; having looked at nothing is a finding."""
    if not checked:
        bad = ["nothing was found to check under " + str(INCLUDE.relative_to(ROOT))]
    print("\n".join(bad) or fine)
    sys.exit(bool(bad))
