"""The page: one HTML file without scripts and links, for light and dark, for screens and phones."""
import charts
from charts import esc
from conclusions import forecast_errors, scaling_of
from figures import (DIFFERENCE, bytes_text, count, differ, duration_text, figure_of, first_upper, gigabytes_per_second, number, time_text,
                     value_text, workers_of)
from picture import picture

STYLE = """
:root { color-scheme: light dark; --ground: #fff; --ink: #1c2024; --faint: #59626b; --line: #d5dade; --card: #f5f7f8; --box: #eef2f5;
 --good: #18794e; --bad: #b4232a; --c0: #0068a8; --c1: #c2500a; --c2: #00835c; --c3: #b0559a; --c4: #a87900; --c5: #3c8fc4; --c6: #555; --c7: #7d7d1f; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --ink: #e6e9eb; --faint: #9aa4ad; --line: #343b41; --card: #1b1f23;
 --box: #20262b; --good: #4cc38a; --bad: #ff7a7f; --c0: #52a9e8; --c1: #f08c4a; --c2: #3fc594; --c3: #df8fcb; --c4: #e0b13c; --c5: #8fd0f5; --c6: #b5b5b5; --c7: #c6c65c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 1rem 1rem 4rem; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 1rem 0 .25rem; } h2 { font-size: 1.25rem; margin: 2.6rem 0 .6rem; border-top: 1px solid var(--line); padding-top: 1.4rem; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .4rem; } p { margin: .5rem 0; max-width: 75ch; } .faint { color: var(--faint); font-size: .92rem; }
ul { padding-left: 1.2rem; margin: .4rem 0; } li { margin: .35rem 0; max-width: 78ch; } a { color: var(--c0); }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; margin: .8rem 0; font-size: .95rem; }
.grid-of { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); gap: 1rem; margin: .8rem 0; }
figure { margin: 0; padding: .7rem .8rem; background: var(--card); border-radius: 8px; } figcaption { font-weight: 600; font-size: .95rem; margin-bottom: .3rem; }
figure > svg { width: 100%; height: auto; display: block; } svg text { font: 14px system-ui, sans-serif; fill: var(--faint); }
.grid { stroke: var(--line); } .ideal { stroke: var(--faint); stroke-dasharray: 3 4; fill: none; } .line { fill: none; stroke-width: 2; } .dashed { stroke-dasharray: 6 4; }
.whisker { stroke-width: 1.5; opacity: .7; } .range { stroke: var(--ink); stroke-width: 1.5; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem .9rem; font-size: .86rem; margin: .3rem 0 0; } .key { display: inline-flex; align-items: center; gap: .35rem; } .swatch { width: 22px; height: 10px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; } th, td { padding: .28rem .7rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; color: var(--faint); } th:first-child, td:first-child { text-align: left; } td.text { text-align: left; white-space: normal; min-width: 14rem; } .best { font-weight: 700; } .none { color: var(--faint); }
.checks { display: grid; gap: .5rem; padding: 0; list-style: none; } .checks li { background: var(--card); border-radius: 8px; padding: .5rem .8rem; border-left: 4px solid var(--faint); max-width: none; }
.checks .unmet { border-color: var(--bad); } .checks .met { border-color: var(--good); } .checks b { margin-right: .4rem; }
.picture { max-width: none; height: auto; } .picture text { fill: var(--ink); font-size: 12px; } .part { fill: var(--box); stroke: var(--faint); } .core { fill: var(--card); stroke: var(--faint); } .cpu { fill: var(--ground); stroke: var(--c0); }
details { margin: .6rem 0; } summary { cursor: pointer; font-weight: 600; } .notice { border: 1px solid var(--bad); border-radius: 8px; padding: .6rem .9rem; }
code { font-size: .9em; overflow-wrap: anywhere; }
""" + "".join(f".line.c{i}, .whisker.c{i} {{ stroke: var(--c{i}); }} .dot.c{i}, .bar.c{i} {{ fill: var(--c{i}); }}\n" for i in range(8))

TITLES = {"scaling": "From one worker to all", "policies": "Policies beside each other", "idle": "Idle workers",
          "forecast": "The simulator's forecast"}
GROUPS = {"fork/join": "Fork/join", "graphs": "Task graphs", "loops": "Loops", "sorts": "Sorts", "memory": "Memory-bound programs"}


def table(heads, rows):
    head = "".join(f"<th>{esc(h)}</th>" for h in heads)
    body = "".join("<tr>" + "".join(c if c.startswith("<td") else f"<td>{c}</td>" for c in cells) + "</tr>\n" for cells in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>\n'


def ranged(median, low, high, text):
    return f'{esc(text(median))} <span class="faint">{esc(text(low))} to {esc(text(high))}</span>'


def conclusions_of(result, family):
    found = [c["text"] for c in result["conclusions"] if c["family"] == family]
    return "<ul>" + "".join(f"<li>{esc(t)}</li>" for t in found) + "</ul>\n" if found else ""


def bandwidth_chart(rows):
    series = []
    for r in rows:
        for variant, more in (("heist", ""), ("threads", ", plain threads")):
            points = [(f["workers"], gigabytes_per_second(r, f), r["bytes"] / f["max"], r["bytes"] / f["min"])
                      for n in workers_of(r, variant) for f in [figure_of(r, variant, n)]]
            if points:
                series.append((r["row"] + more, points))
    return charts.lines("Bandwidth of memory-bound programs", "GB/s", series, dashed=[n for n, _ in series if n.endswith("threads")])


def scaling_section(rows):
    out = ['<div class="grid-of">']
    groups = {group: [r for r in rows if r["group"] == group] for group in dict.fromkeys(r["group"] for r in rows)}
    for group, here in groups.items():
        out.append(charts.lines(f"{GROUPS.get(group, group)}: speed-up over one worker", "speed-up", [(r["row"], scaling_of(r)) for r in here], ideal=True))
    out.append(bandwidth_chart([r for r in rows if r.get("bytes")]))
    out.append('</div><p class="faint">Vertical lines reach from the least to the greatest quotient of rounds. Tables have the time of a run and the speed-up.</p>')
    for group, here in groups.items():
        out.append(f"<h3>{esc(GROUPS.get(group, group))}</h3>\n")
        counts = sorted({n for r in here for n in workers_of(r, "heist")})
        cells = []
        for r in here:
            serial, points = figure_of(r, "serial", 1), {p[0]: p for p in scaling_of(r)}
            line = [esc(r["row"]), time_text(serial["median"]) if serial else ""]
            for n in counts:
                f = figure_of(r, "heist", n)
                line.append("" if f is None else f"{time_text(f['median'])} <span class=\"faint\">{number(points[n][1])}</span>")
            cells.append(line)
        out.append(table(["program", "serial"] + [count(n, "worker") for n in counts], cells))
        out.append('<ul class="faint">' + "".join(f"<li><b>{esc(r['row'])}</b>: {esc(r['what'])}; {esc(r.get('size', ''))}.</li>" for r in here) + "</ul>\n")
    return "".join(out)


def policies_section(rows):
    out = ['<p class="faint">Bars show the time of a step over the time under random. The thin lines reach from the least to the '
           'greatest round.</p><div class="grid-of">']
    for r in rows:
        for n in workers_of(r, "random"):
            base = figure_of(r, "random", n)["median"]
            figures = [f for f in r["figures"] if f["workers"] == n and f["variant"] != "serial"]
            out.append(charts.bars(f"{r['row']}, {count(n, 'worker')}", "", [(f["variant"], f["median"] / base, f["min"] / base, f["max"] / base)
                                                                            for f in figures], mark=1, text=lambda v: f"{v:.2f}"))
    out.append("</div>")
    names = list(dict.fromkeys(f["variant"] for r in rows for f in r["figures"]))
    cells = []
    for r in rows:
        for n in workers_of(r, "random"):
            base, line = figure_of(r, "random", n), [esc(f"{r['row']}, {count(n, 'worker')}")]
            fastest = min((f["median"] for f in r["figures"] if f["workers"] == n and f["variant"] != "serial"), default=0)
            for name in names:
                f = figure_of(r, name, 1 if name == "serial" else n)
                kind = "" if f is None else "best" if f["median"] == fastest else "none" if f is not base and not differ(f, base) else ""
                line.append("<td></td>" if f is None else f'<td class="{kind}">{time_text(f["median"])}</td>')
            cells.append(line)
    out.append(table(["a step of"] + names, cells))
    out.append('<p class="faint">Bold: the least median. Grey: no difference to random.</p>')
    notes = [(r["row"], name, text) for r in rows for name, text in r.get("explained", {}).items()]
    out.append('<ul class="faint">' + "".join(f"<li><b>{esc(r['row'])}</b>: {esc(r['what'])}; {esc(r.get('size', ''))}.</li>" for r in rows) + "</ul>\n")
    if notes:
        out.append("<details><summary>How the policies divided the programs</summary><ul>" +
                   "".join(f"<li>{esc(row)}, {esc(name)}: {esc(text)}</li>" for row, name, text in notes) + "</ul></details>\n")
    return "".join(out)


def idle_section(rows):
    out = ['<div class="grid-of">']
    for r in rows:
        for n in sorted({f["workers"] for f in r["figures"]}):
            figures = [f for f in r["figures"] if f["workers"] == n]
            if r["group"] == "wake-up":
                out.append(charts.bars(f"{first_upper(r['row'])}: time until a task begins, {count(n, 'worker')}", "",
                                       [(f["variant"], f["median"], f["median"], f["p99"]) for f in figures], logarithmic=True, text=time_text))
            else:
                out.append(charts.bars(f"CPU time that an idle executor uses each second, {count(n, 'worker')}", "",
                                       [(f["variant"], 1e3 * f["median"], 1e3 * f["min"], 1e3 * f["max"]) for f in figures], logarithmic=True, text=time_text))
    out.append('</div><p class="faint">Bars are medians on a logarithmic scale. For wake-ups the thin line reaches to the slowest hundredth.</p>')
    cells = [[esc(r["row"]), str(f["workers"]), esc(f["variant"]), ranged(f["median"], f["min"], f["max"], lambda v, r=r: value_text(v, r["unit"])),
              time_text(f["p99"]) if "p99" in f else "", str(f.get("posts", ""))] for r in rows for f in r["figures"]]
    out.append("<details><summary>All figures of idle workers</summary>" + table(["row", "workers", "idle policy", "median and range of rounds", "99 %", "posts"], cells) + "</details>\n")
    return "".join(out)


def forecast_section(rows):
    out = ['<p class="faint">A program is recorded on one worker and simulated with heist\'s policies on this machine. Speed-ups are over random on the '
           'fewest workers. Solid: measured; dashed: simulated.</p><div class="grid-of">']
    for r in rows:
        errors, series, dashed = forecast_errors(r), [], []
        for name in dict.fromkeys(e[0] for e in errors):
            here = sorted(e for e in errors if e[0] == name)
            base = figure_of(r, "random", min(e[1] for e in errors))
            series.append((name, [(e[1], e[2], base["min"] / figure_of(r, name, e[1])["max"], base["max"] / figure_of(r, name, e[1])["min"]) for e in here]))
            dashed.append((name, [(e[1], e[3], e[3], e[3]) for e in here]))
        out.append(charts.lines(r["row"], "speed-up", series, ideal=True, second=dashed))
    out.append("</div>")
    cells = [[esc(f"{r['row']}, {v}"), str(n), number(real), number(simulated), f"{100 * error:+.0f} %", f"{100 * of_time:+.0f} %"]
             for r in rows for v, n, real, simulated, error, of_time in forecast_errors(r)]
    out.append(table(["program, policy", "workers", "measured speed-up", "simulated", "its error", "error of the time"], cells))
    out.append('<ul class="faint">' + "".join(f"<li><b>{esc(r['row'])}</b>: {esc(r['what'])}; {esc(r.get('size', ''))}. Recorded: {esc(r.get('recorded', ''))}.</li>" for r in rows) + "</ul>\n")
    return "".join(out)


SECTIONS = {"scaling": scaling_section, "policies": policies_section, "idle": idle_section, "forecast": forecast_section}


def streams_text(s):
    """The speeds of the memory."""
    return (f"a line of 64 bytes takes {number(s['private_line'])} ns from a core's own cache, {number(s['shared_line'])} from the squad's, "
            f"{number(s['memory_line'])} from memory" + (f", {number(s['far_line'])} from another node's" if s["far_line"] else "") +
            f"; {limit_text('all cores of a node', s['memory_bandwidth'])} from its memory, {limit_text('a squad', s['shared_bandwidth'])} from its cache")


def limit_text(who, bandwidth):
    return f"{who} read{'s' if who.startswith('a ') else ''} " + (f"{number(bandwidth / 1000)} GB/s" if bandwidth else "as fast as one core each")


def machine_section(m):
    frequency, cells = m["frequency"], []
    speed = "not told"
    if frequency["mhz"]:
        low, high = frequency["mhz"]
        speed = f"{low:.0f} MHz" if high - low < 1 else f"{low:.0f} to {high:.0f} MHz"
        if frequency["limits_mhz"] and len(frequency["limits_mhz"]) == 2:
            speed += " now, limits {:.0f} and {:.0f} MHz".format(*frequency["limits_mhz"])
    for name, value in (("processor", m["cpu"]), ("topology", m["text"]), ("frequency", speed),
                        ("governor, boost", f"{', '.join(frequency['governors']) or 'not told'}; " +
                         {None: "not told", True: "on", False: "off"}[frequency["boost"]]),
                        ("SMT", {None: "not told", True: "on", False: "off"}[m["smt"]]),
                        ("memory", f"{bytes_text(m['memory']['total'])}, {bytes_text(m['memory']['available'])} available"),
                        ("NUMA", count(m["numa_nodes"], "node")),
                        ("caches", f"L1d {bytes_text(m['l1d_bytes'])}, {m['l2_count']} L2 of {bytes_text(m['l2_bytes'])}, {m['l3_count']} L3 of {bytes_text(m['l3_bytes'])}"),
                        ("huge pages", m["huge_pages"] or "not told"),
                        ("virtual machine, container", f"{'yes' if m['virtual'] else 'no'}, {m['container'] or 'no'}"),
                        ("quota of CPU time", "none" if m["quota_cpus"] is None else f"{number(m['quota_cpus'])} CPUs"),
                        ("CPUs of this process", f"{m['pus']} of {m['online_cpus']}"), ("load before", "not told" if m["load"] is None else number(m["load"])),
                        ("hardware counters", "work" if not any(m["counters"].values()) else "do not work"),
                        *([("reading forwards", streams_text(m["streams"]))] if m.get("streams") else []),
                        ("a look at the clock", f"{number(m['clock_ns'])} ns"), ("system", f"{m['system']}, kernel {m['kernel']}, {m['architecture']}"),
                        ("heist", f"{m['heist']}{', commit ' + m['commit'] if m.get('commit') else ''}; {m['compiler']}; {m['build']}")):
        cells.append([esc(name), f'<td class="text">{esc(value)}</td>'])
    return picture(m["hwloc"]) + table(["", ""], cells).replace("<thead><tr><th></th><th></th></tr></thead>", "")


def checks(result):
    kinds = {True: ("met", "&#10003;"), False: ("unmet", "&#10007;"), None: ("unknown", "?")}
    out = ['<ul class="checks">']
    for p in sorted(result["preconditions"], key=lambda p: {False: 0, None: 1, True: 2}[p["met"]]):
        kind, sign = kinds[p["met"]]
        more = "" if p["met"] else f" {esc(p['why'])}<br><span class=\"faint\">{esc(p['fix'])}</span>"
        out.append(f'<li class="{kind}"><b>{sign} {esc(first_upper(p["name"]))}.</b> {esc(p["found"])}{more}</li>')
    return "".join(out) + "</ul>\n"


def page(result):
    m, run, rows = result["machine"], result["run"], result["rows"]
    families = [f for f in TITLES if any(r["family"] == f for r in rows)]
    unmet = [p["name"] for p in result["preconditions"] if p["met"] is False]
    out = [f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">\n'
           f'<title>heist on {esc(m["cpu"])}</title>\n<style>{STYLE}</style></head><body>\n<h1>heist on {esc(m["cpu"])}</h1>\n'
           f'<p class="faint">{esc(m["text"])}. {esc(run["mode"].capitalize())} run of {esc(run["date"])}, {count(run["rounds"], "round")} of each figure, {duration_text(run["seconds"])}.</p>\n'
           f'<nav><a href="#machine">Machine</a><a href="#checks">Preconditions</a>' +
           "".join(f'<a href="#{f}">{esc(TITLES[f])}</a>' for f in families) + '<a href="#about">How it was measured</a></nav>\n']
    if run["ended"] != "finished":
        left = len(result["left_out"])
        missing = f'{count(left, "row")} {"is" if left == 1 else "are"} missing; all others are complete.' if left else "The rows that it has are complete."
        out.append(f'<p class="notice">The measurement {"has" if run["ended"].startswith("not") else "was"} {esc(run["ended"])}. {missing}</p>\n')
    if unmet:
        out.append(f'<p class="notice">Not met: {esc(", ".join(unmet))}. <a href="#checks">What that means</a></p>\n')
    out.append("<h2>What follows</h2>\n" + conclusions_of(result, "all"))
    for f in families:
        if conclusions_of(result, f):
            out.append(f"<h3>{esc(TITLES[f])}</h3>\n" + conclusions_of(result, f))
    out.append('<h2 id="machine">The machine</h2>\n' + machine_section(m))
    out.append('<h2 id="checks">Preconditions</h2>\n' + checks(result))
    for f in families:
        out.append(f'<h2 id="{f}">{esc(TITLES[f])}</h2>\n' + SECTIONS[f]([r for r in rows if r["family"] == f]))
    out.append('<h2 id="about">How it was measured</h2>\n<ul>'
               f'<li>A figure is the median of {count(run["rounds"], "round")}. The variants of a row take turns in each round. Every result was checked.</li>'
               f"<li>{esc(DIFFERENCE)}</li>"
               "<li>A speed-up is the time on one worker over the time on several, both under heist. Its range goes from the least to the greatest quotient of rounds.</li>"
               "<li>GB/s count the bytes that a program reads and writes, without those that a cache reads before it writes a line.</li>"
               f'<li>Workers: {esc(", ".join(map(str, run["workers"])))}. Command: <code>measure.py {esc(" ".join(run["arguments"]))}</code></li>'
               "<li>Nothing was sent anywhere. This page and its JSON file name neither the machine nor its user, and load nothing.</li>"
               "<li><code>measure.py compare A.json B.json</code> compares this measurement with another machine's or another version's.</li></ul>\n")
    if result["left_out"]:
        out.append("<details><summary>Rows that are missing</summary><ul>" + "".join(f'<li>{esc(x["family"])}, {esc(x["row"])}: {esc(x["why"])}</li>' for x in result["left_out"]) + "</ul></details>\n")
    out.append("</body></html>\n")
    return "".join(out)
