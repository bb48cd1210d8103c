#!/usr/bin/env python3
"""docs/api.txt: all public names with their declarations, read from the headers.

    python3 .ci/api.py           fails if the file is not what the headers declare
    python3 .ci/api.py --write   writes it

Public are classes that fwd.hpp declares, with their public members, and what stands outside of classes in namespace heist
but in no namespace named detail. Of the folders that users do not meet (INSIDE) only such classes are listed. Bodies of
functions, comments, friends and the project's macros are left out. A change of docs/api.txt is a change for users: it
needs a line in CHANGELOG.md.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.txt"
INSIDE = re.compile(r"heist/core/(base/(?!errors)|sync|memory|fiber|scheduler|fork)")
TOKEN = re.compile(r'R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|[A-Za-z_]\w*|\d[\w.\']*|::|->\*?|\.\.\.|<=>|&&|\|\||'
                   r'[=!<>]=|\+\+|--|[^\s\w]', re.S)
OPENS, CLOSES = {"(", "[", "{"}, {")", "]", "}"}
CLASSES = ("class", "struct", "union")


def tokens_of(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", text, flags=re.M)
    return [t for t in TOKEN.findall(text) if not re.fullmatch(r"HEIST_[A-Z_]+", t)]


def after_group(tokens, at):
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(tokens):
        depth += tokens[at] in OPENS
        depth -= tokens[at] in CLOSES
        at += 1
        if depth == 0:
            return at
    return at


def without_template(declaration):
    """The declaration behind its template<...> in front."""
    at = 0
    while at < len(declaration) and declaration[at] == "template":
        depth, at = 0, at + 1
        while at < len(declaration):
            if declaration[at] in OPENS:
                at = after_group(declaration, at)
                continue
            depth += declaration[at] == "<"
            depth -= declaration[at] == ">"
            at += 1
            if depth == 0:
                break
    return declaration[at:]


def assigns(declaration):
    """Is there a = outside of brackets and operators' names?"""
    at = 0
    while at < len(declaration):
        if declaration[at] in OPENS:
            at = after_group(declaration, at)
            continue
        if declaration[at] == "=" and declaration[at - 1] != "operator":
            return True
        at += 1
    return False


def begins_requirement(head):
    """Is the brace that comes next that of a requires expression?"""
    if head[-1:] == ["requires"]:
        return True
    if head[-1:] != [")"]:
        return False
    depth, at = 0, len(head) - 1
    while at > 0:
        depth += head[at] in CLOSES
        depth -= head[at] in OPENS
        if depth == 0:
            break
        at -= 1
    return at > 0 and head[at - 1] == "requires" and head[at - 2] in ("requires", "=", "&&", "||", "(", "!", ">")


def text_of(declaration):
    text = " ".join(declaration)
    for pattern, by in ((r"\s*::\s*", "::"), (r"\s+([,;)\]>.&*]|\.\.\.|&&)", r"\1"), (r"(\w)\s+([(\[<])", r"\1\2"),
                        (r"([(\[~!]|\w<)\s+", r"\1"), (r"template < ", "template <"), (r"(\w)\. (\w)", r"\1.\2"), (r"operator (\S+) \(", r"operator\1("), (r"\b(template|requires|noexcept|return)([<(])", r"\1 \2"),
                        (r">\s*(\w)", r"> \1"), (r"\[ \[", "[["), (r"\] \]", "]]"), (r"\s+", " ")):
        text = re.sub(pattern, by, text)
    return text.strip()


class Reader:
    def __init__(self, tokens):
        self.tokens, self.at, self.found = tokens, 0, []
        while self.at < len(tokens):
            self.read("", True, "", True)

    def read(self, scope, is_visible, owner, is_public):
        """Until the brace that closes this scope. `owner`: the class that is outermost, if any."""
        tokens = self.tokens
        while self.at < len(tokens):
            if tokens[self.at] == "}":
                self.at += 1
                return
            if tokens[self.at] == ";":
                self.at += 1
            elif owner and tokens[self.at] in ("public", "private", "protected") and tokens[self.at + 1] == ":":
                is_public = tokens[self.at] == "public"
                self.at += 2
            else:
                self.declaration(scope, is_visible and is_public, owner)

    def declaration(self, scope, is_public, owner):
        tokens, head, initialises = self.tokens, [], False
        while self.at < len(tokens):
            token = tokens[self.at]
            if token == ";":
                self.at += 1
                break
            if token in ("(", "["):
                end = after_group(tokens, self.at)
                head += [] if initialises else tokens[self.at:end]
                self.at = end
                continue
            core = without_template(head)
            if token == ":" and ")" in head and core[:1] not in (["class"], ["struct"]):
                initialises = True  # members: no part of the declaration
            if token != "{":
                head += [] if initialises else [token]
                self.at += 1
                continue
            end = after_group(tokens, self.at)
            if core[:1] == ["inline"]:
                core = core[1:]
            if core[:1] == ["namespace"]:
                name = "".join(core[1:])
                self.at += 1
                self.read(f"{scope}::{name}" if scope else name,
                          is_public and name != "", "", True)
                return
            if core[:1] == ["extern"]:
                self.at += 1
                self.read(scope, is_public, owner, True)
                return
            if core[:1] and core[0] in CLASSES:
                name = next((t for t in core[1:] if re.fullmatch(r"[A-Za-z_]\w*", t) and t not in ("nodiscard", "alignas")), "")
                self.emit(scope, head, is_public, owner or name)
                self.at += 1
                self.read(f"{scope}::{name}", is_public, owner or name, core[0] != "class")
                return
            if core[:1] == ["enum"]:
                self.emit(scope, head + tokens[self.at:end], is_public, owner)
                self.at = end
                return
            if begins_requirement(head):
                head += tokens[self.at:end]
            elif initialises and re.fullmatch(r"[A-Za-z_]\w*|>|\.\.\.", tokens[self.at - 1]):
                pass  # a member's value
            elif not initialises and ("(" not in core or assigns(core)):
                pass  # the value of a variable
            else:
                self.at = end  # the body of a function
                break
            self.at = end
        self.emit(scope, head, is_public, owner)

    def emit(self, scope, head, is_public, owner):
        core = without_template(head)
        if not is_public or not core or core[0] in ("friend", "static_assert", "namespace", "extern"):
            return
        if core[0] in CLASSES + ("enum",) and len(core) == 2 or core[:2] == ["using", "namespace"]:
            return  # declared here, defined elsewhere
        first = core.index("(") if "(" in core else 0
        if not owner and (core[first - 2:first - 1] == ["::"] or "detail" in core[1:2]):
            return  # a member's definition
        self.found.append((scope, text_of(head), owner))


def forms_of(source):
    """How the objects of a header are called, from the comments before them: `name(on, range, ...)`."""
    forms = {}
    for comment, name in re.findall(r"((?:^///.*\n)+)inline constexpr detail::[^\n]*? (\w+)\{\};", source, re.M):
        text = " ".join(line.removeprefix("///").strip() for line in comment.splitlines())
        # up to the bracket that closes it, past those of defaults
        forms[name] = [form for form in re.findall(rf"(?<!\w)(?:{name})?\((?:on|ex), (?:[^()]|\(\))*\)", text)]
    return forms


def classes_of_users(read):
    """What fwd.hpp declares, and the classes that they derive from."""
    named = set(re.findall(r"\b(?:class|struct)\s+(\w+)", (ROOT / "include" / "heist" / "fwd.hpp").read_text()))
    for found in read.values():
        for _, declared, owner in found:
            bases = re.search(r"\b(?:class|struct)\s.*? : (.*)$", declared)
            if bases and owner in named:
                named |= set(re.findall(r"\bdetail::(\w+)", bases.group(1)))
    return named


def page():
    paths = [p for p in sorted((ROOT / "include" / "heist").rglob("*.hpp")) if p.name != "fwd.hpp"]
    read = {p.relative_to(ROOT / "include").as_posix(): Reader(tokens_of(p.read_text())).found for p in paths}
    forms = {p.relative_to(ROOT / "include").as_posix(): forms_of(p.read_text()) for p in paths}
    public_classes = classes_of_users(read)
    seen = set()
    lines = ["All public names of heist with their declarations, by header. Made by .ci/api.py; do not edit."]
    for name, found in read.items():
        here, last = [], None
        for scope, declared, owner in found:
            if not scope.startswith("heist") or (scope, declared) in seen:
                continue
            if owner not in public_classes if owner else INSIDE.match(name) or "detail" in scope.split("::"):
                continue
            seen.add((scope, declared))
            here += ([f"{scope}::"] if scope != last else []) + [f"  {declared}"]
            called = forms[name].get(declared.rpartition(" ")[2], []) if declared.startswith("inline constexpr detail::") else []
            here += [f"      {form}" for form in called]
            last = scope
        if here:
            lines += ["", f"# {name}"] + here
    return "\n".join(lines) + "\n"


def main():
    now = page()
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(now)
    elif not PAGE.exists() or PAGE.read_text() != now:
        sys.exit("docs/api.txt is not what the headers declare; fix it by python3 .ci/api.py --write, and tell users of the "
                 "change in CHANGELOG.md")
    print(f"api ok: {sum(line.startswith('  ') and line[2] != ' ' for line in now.splitlines())} declarations")


main()
