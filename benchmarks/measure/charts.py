"""Charts as inline SVG, without scripts. Colours are classes of the page's style sheet, so that a page follows light and dark."""
import html
import math

WIDTH, HEIGHT = 440, 270
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 14, 44


def esc(text):
    return html.escape(str(text), quote=True)


def tidy(x):
    return f"{x:g}" if abs(x) < 1e4 else f"{x:.0f}"


def steps(low, high, most=6):
    """Round numbers from low to high."""
    width = (high - low) or 1
    decade = 10 ** math.floor(math.log10(width / most))
    step = next(decade * d for d in (1, 2, 5, 10) if width / (decade * d) <= most)
    first = math.floor(low / step) * step
    return [first + i * step for i in range(int((high - first) / step + 1.999))]


def legend(names, dashed=(), ideal=False):
    items = "".join(f'<span class="key"><svg viewBox="0 0 22 10" class="swatch"><path d="M1 5H21" class="line c{i % 8}'
                    f'{" dashed" if name in dashed else ""}"/></svg>{esc(name)}</span>' for i, name in enumerate(names))
    if ideal:
        items += '<span class="key"><svg viewBox="0 0 22 10" class="swatch"><path d="M1 5H21" class="ideal"/></svg>ideal</span>'
    return f'<p class="legend">{items}</p>'


def lines(title, y_title, series, ideal=False, x_title="workers", dashed=(), second=()):
    """`series`: pairs of a name and points (x, y, low, high), over a logarithmic x. With `ideal` y is logarithmic, too, and a line shows y = x.
    `second`: dashed lines in the colours of the first."""
    points = [p for _, ps in [*series, *second] for p in ps]
    if not points:
        return ""
    xs = sorted({p[0] for p in points})
    low_x, high_x = math.log2(xs[0]), math.log2(xs[-1])
    top = max(max(p[3] for p in points), max(p[1] for p in points))
    if ideal:
        least = min(min(p[2] for p in points if p[2] > 0), 1)
        first, last = math.floor(math.log2(least)), max(1, math.ceil(math.log2(max(top, xs[-1])) - 0.05))
        marks = [2.0 ** i for i in range(first, last + 1)]
    else:
        marks = steps(0, top)
    bottom, top = marks[0], marks[-1]

    def x_at(x):
        return LEFT + 10 + (WIDTH - LEFT - RIGHT - 20) * ((math.log2(x) - low_x) / (high_x - low_x) if high_x > low_x else 0.5)

    def y_at(y):
        y = min(max(y, bottom), top)
        share = math.log2(y / bottom) / math.log2(top / bottom) if ideal else y / top
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)

    out = []
    for mark in marks:
        out.append(f'<path d="M{LEFT} {y_at(mark):.1f}H{WIDTH - RIGHT}" class="grid"/>'
                   f'<text x="{LEFT - 6}" y="{y_at(mark) + 4:.1f}" text-anchor="end">{tidy(mark)}</text>')
    for x in xs:
        out.append(f'<text x="{x_at(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tidy(x)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{esc(x_title)}</text>'
               f'<text transform="translate(13 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{esc(y_title)}</text>')
    if ideal:
        out.append(f'<path d="M{x_at(xs[0]):.1f} {y_at(1):.1f}L{x_at(xs[-1]):.1f} {y_at(xs[-1] / xs[0]):.1f}" class="ideal"><title>ideal</title></path>')
    for i, (name, ps) in enumerate(series):
        colour = f"c{i % 8}"
        shift = (i - (len(series) - 1) / 2) * 3  # error bars beside one another
        path = "L".join(f"{x_at(x):.1f} {y_at(y):.1f}" for x, y, _, _ in ps)
        out.append(f'<path d="M{path}" class="line {colour}{" dashed" if name in dashed else ""}"/>')
        for x, y, low, high in ps:
            out.append(f'<path d="M{x_at(x) + shift:.1f} {y_at(low):.1f}V{y_at(high):.1f}" class="whisker {colour}"/>'
                       f'<circle cx="{x_at(x):.1f}" cy="{y_at(y):.1f}" r="3.2" class="dot {colour}">'
                       f"<title>{esc(name)}, {tidy(x)} {esc(x_title)}: {y:.3g} ({low:.3g} to {high:.3g})</title></circle>")
    for i, (_, ps) in enumerate(second):
        out.append(f'<path d="M{"L".join(f"{x_at(x):.1f} {y_at(y):.1f}" for x, y, _, _ in ps)}" class="line c{i % 8} dashed"/>')
    return figure(title, "".join(out), HEIGHT, legend([n for n, _ in series], dashed, ideal))


def bars(title, unit, rows, mark=None, logarithmic=False, text=None, colours=None):
    """`rows`: (name, value, low, high). Lying bars, a thin line from low to high; `mark`: a line across at this value."""
    if not rows:
        return ""
    text = text or (lambda v: f"{v:.3g}")
    name_width, bar_height = 96, 28
    right = WIDTH - 84
    top_value = max(max(v, h) for _, v, _, h in rows) or 1
    least = min((v for _, v, _, _ in rows if v > 0), default=1)
    floor = 10 ** math.floor(math.log10(least) - 0.3) if logarithmic else 0

    def x_at(v):
        if logarithmic:
            v = max(v, floor)
            return name_width + (right - name_width) * (math.log10(v / floor) / max(1e-9, math.log10(top_value / floor)))
        return name_width + (right - name_width) * max(0, v) / top_value

    out = []
    for i, (name, value, low, high) in enumerate(rows):
        y = 8 + i * bar_height
        out.append(f'<text x="{name_width - 6}" y="{y + 14}" text-anchor="end">{esc(name)}</text>'
                   f'<rect x="{name_width}" y="{y}" width="{max(0.5, x_at(value) - name_width):.1f}" height="18" rx="2" class="bar c{(colours[i] if colours else i) % 8}">'
                   f"<title>{esc(name)}: {esc(text(value))} ({esc(text(low))} to {esc(text(high))})</title></rect>"
                   f'<path d="M{x_at(low):.1f} {y + 9}H{x_at(high):.1f}" class="range"/>'
                   f'<text x="{max(x_at(value), x_at(high)) + 6:.1f}" y="{y + 14}">{esc(text(value))}</text>')
    height = 12 + len(rows) * bar_height
    if mark is not None:
        out.append(f'<path d="M{x_at(mark):.1f} 2V{height - 2}" class="ideal"/>')
    return figure(f"{title}{f', {unit}' if unit else ''}", "".join(out), height, "")


def figure(title, body, height, below):
    return (f'<figure><figcaption>{esc(title)}</figcaption><svg viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-label="{esc(title)}">{body}</svg>{below}</figure>')
