"""What every page that the project writes keeps: see Page."""
import html.parser

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Page(html.parser.HTMLParser):
    """Tags are closed in order; there are no scripts and no addresses outside of the page."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.seen = [], set(), set(), {}
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"
        assert self.links <= self.ids, f"links to nothing: {self.links - self.ids}"

    def handle_starttag(self, tag, attributes):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        assert tag != "script"
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            if name in ("href", "src"):
                assert value.startswith("#"), f"refers to {value}"
                self.links.add(value[1:])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen[tag] = self.seen.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()
