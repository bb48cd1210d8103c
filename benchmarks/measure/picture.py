"""The machine as nested boxes: packages, caches, cores and CPUs as hwloc has found them."""
from charts import esc
from figures import bytes_text

PAD, GAP, HEAD = 7, 6, 19
CPU_WIDTH, CPU_HEIGHT = 56, 26
NAMES = {"PU": "CPU", "L1Cache": "L1d", "L2Cache": "L2", "L3Cache": "L3", "L4Cache": "L4", "NUMANode": "NUMA node"}


def label(node):
    kind = NAMES.get(node["type"], node["type"])
    if node["type"] == "PU":
        return f"{kind} {node.get('os_index', node['index'])}"
    if node["type"] == "Machine":
        return kind
    size = f", {bytes_text(node['bytes'])}" if node.get("bytes") else ""
    return f"{kind} {node['index']}{size}" if "Cache" not in node["type"] else f"{kind}{size}"


def merged(node):
    """A node and its only children, one inside the other, are one box with several labels."""
    labels, inner = [label(node)] + [label(m) for m in node.get("memory", [])], node
    while len(inner.get("children", [])) == 1 and inner["children"][0]["type"] != "PU":
        inner = inner["children"][0]
        labels += [label(inner)] + [label(m) for m in inner.get("memory", [])]
    return labels, inner.get("children", [])


def cpus(node):
    return 1 if node["type"] == "PU" else sum(cpus(c) for c in node.get("children", []))


def text_width(text):
    return 6.4 * len(text) + 2 * PAD


def layout(node, most_width):
    """Width, height and a function (x, y) that draws."""
    if node["type"] == "PU":
        def draw_cpu(x, y):
            return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{CPU_WIDTH}" height="{CPU_HEIGHT}" rx="3" class="cpu"/>'
                    f'<text x="{x + CPU_WIDTH / 2:.1f}" y="{y + 17:.1f}" text-anchor="middle">{esc(label(node))}</text>')
        return CPU_WIDTH, CPU_HEIGHT, draw_cpu
    labels, children = merged(node)
    inner_width = most_width - 2 * PAD
    placed, x, y, row_height, widest = [], 0, 0, 0, 0
    for child in children:
        w, h, draw = layout(child, inner_width)
        if x > 0 and x + w > inner_width:
            x, y, row_height = 0, y + row_height + GAP, 0
        placed.append((x, y, draw))
        x, row_height = x + w + GAP, max(row_height, h)
        widest = max(widest, x - GAP)
    lines = []  # of labels, as many in one as fit
    room = max(widest, min(inner_width, 110))
    for text in labels:
        if lines and text_width(lines[-1] + ", " + text) - 2 * PAD <= room:
            lines[-1] += ", " + text
        else:
            lines.append(text)
    head = HEAD * len(lines) if lines else 0
    width = max(widest, max((text_width(t) - 2 * PAD for t in lines), default=0)) + 2 * PAD
    height = head + y + row_height + 2 * PAD
    kind = "core" if node["type"] == "Core" or labels[-1].startswith("Core") else "part"

    def draw_all(left, top):
        texts = "".join(f'<text x="{left + PAD:.1f}" y="{top + PAD + 12 + HEAD * i:.1f}">{esc(t)}</text>' for i, t in enumerate(lines))
        inside = "".join(draw(left + PAD + cx, top + PAD + head + cy) for cx, cy, draw in placed)
        return (f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" class="{kind}"/>{texts}{inside}')
    return width, height, draw_all


def picture(tree):
    """Inline SVG; empty where hwloc has no tree."""
    if not tree or cpus(tree) == 0:
        return ""
    width, height, draw = layout(tree, 420 if cpus(tree) <= 16 else 860)
    return (f'<div class="wide"><svg class="picture" viewBox="-1 -1 {width + 2:.0f} {height + 2:.0f}" style="width:{width:.0f}px" '
            f'role="img" aria-label="The machine as hwloc sees it">{draw(0, 0)}</svg></div>')
