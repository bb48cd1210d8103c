"""The page of peers.py: one HTML file without scripts and links."""
import charts
from charts import esc
from figures import DIFFERENCE, count, duration_text, first_upper, number, time_text
from html_page import STYLE, ranged, table


def page(result):
    m, run, rows, columns = result["machine"], result["run"], result["rows"], result["columns"]
    groups = {g: [r for r in rows if r["group"] == g] for g in dict.fromkeys(r["group"] for r in rows)}
    ids = {g: f"g{i}" for i, g in enumerate(groups)}
    out = ['<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">\n'
           f'<title>heist beside its peers</title>\n<style>{STYLE}</style></head><body>\n<h1>heist beside its peers on {esc(m["cpu"])}</h1>\n'
           f'<p class="faint">{esc(m["system"])}, kernel {esc(m["kernel"])}; {esc(m["compiler"])}{", oneTBB " + esc(m["tbb"]) if m["tbb"] else ""}. '
           f'{count(run["rounds"], "round")}, {duration_text(run["seconds"])}. Other programs used {number(run["others_cpus"])} CPUs.</p>\n<nav>' +
           "".join(f'<a href="#{ids[g]}">{esc(first_upper(g))}</a>' for g in groups) + '<a href="#about">How it was measured</a></nav>\n']
    if run["ended"] != "finished":
        out.append(f'<p class="notice">The measurement {"has" if run["ended"].startswith("not") else "was"} {esc(run["ended"])}.</p>\n')
    out.append("<h2>What follows</h2>\n<ul>" + "".join(f"<li>{esc(s)}</li>" for s in result["summary"]) + "</ul>\n")
    for g, here in groups.items():
        out.append(f'<h2 id="{ids[g]}">{esc(first_upper(g))}</h2>\n<div class="grid-of">')
        for r in here:
            out.append(charts.bars(f"{r['row']}, {count(r['workers'], 'worker')}", f"a {r['unit']}", [(f["variant"], f["median"], f["min"], f["max"]) for f in r["figures"]],
                                   text=time_text, colours=[columns.index(f["variant"]) for f in r["figures"]]))
        out.append("</div>\n")
        cells, used = [], [c for c in columns if any(f["variant"] == c for r in here for f in r["figures"])]
        for r in here:
            figures = {f["variant"]: f for f in r["figures"]}
            cells.append([esc(f"{r['row']}, a {r['unit']}"), str(r["workers"]), number(r["ratio"]) if "best_peer" in r else "", esc(r.get("difference", "")),
                          *(ranged(f["median"], f["min"], f["max"], time_text) if f else "" for f in map(figures.get, used))])
        out.append(table(["row", "workers", "heist / best peer", "heist is", *used], cells))
    out.append('<h2 id="about">How it was measured</h2>\n<ul>'
               "<li>A figure is the median of its rounds. The libraries take turns in each round. Shorter bars are better; thin lines reach from the least to the greatest round.</li>"
               f"<li>{esc(DIFFERENCE)} Each row compares heist with the peer of the least median.</li>"
               "<li>With oneTBB, std::execution::par and OpenMP the calling thread is one of the workers. With heist and Taskflow the calling thread sleeps, and a worker must wake up.</li>"
               "<li>Read build and first run together: a library may do the same work in either of them. One-shot has both.</li>"
               f'<li>Workers: {esc(", ".join(map(str, run["workers"])))}. Nothing was sent anywhere. The page and its JSON file name neither the machine nor its user.</li></ul>\n')
    if result["left_out"]:
        out.append("<details><summary>Left out</summary><ul>" + "".join(f'<li>{esc(x["call"])}: {esc(x["why"])}</li>' for x in result["left_out"]) + "</ul></details>\n")
    out.append("</body></html>\n")
    return "".join(out)
