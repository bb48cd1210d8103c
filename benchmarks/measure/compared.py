"""Two result files beside each other: a table of ratios, and what changed beyond the spread."""
import statistics

from conclusions import scaling_of
from figures import DIFFERENCE, count, differ, number, value_text

FACTS = (("processor", lambda r: r["machine"]["cpu"]), ("topology", lambda r: r["machine"]["text"]),
         ("usable workers", lambda r: r["machine"]["usable_workers"]), ("quota of CPU time", lambda r: r["machine"]["quota_cpus"] or "none"),
         ("governor", lambda r: ", ".join(r["machine"]["frequency"]["governors"]) or "not told"), ("kernel", lambda r: r["machine"]["kernel"]),
         ("huge pages", lambda r: r["machine"]["huge_pages"]),
         ("heist", lambda r: r["machine"]["heist"] + (" " + r["machine"]["commit"] if r["machine"].get("commit") else "")),
         ("compiler", lambda r: r["machine"]["compiler"]), ("rounds", lambda r: r["run"]["rounds"]), ("ended", lambda r: r["run"]["ended"]),
         ("CPUs of other programs", lambda r: number(statistics.median([x["others_cpus"] for x in r["rows"]] or [0]))),
         ("not met", lambda r: ", ".join(p["name"] for p in r["preconditions"] if p["met"] is False) or "nothing"))


def keyed(result):
    """Figures by family, row, variant and number of workers, each with its row."""
    return {(r["family"], r["row"], f["variant"], f["workers"]): (r, f) for r in result["rows"] for f in r["figures"]}


def print_table(heads, rows):
    widths = [max(len(str(line[i])) for line in [heads, *rows]) for i in range(len(heads))]
    for line in [heads, ["-" * w for w in widths], *rows]:
        print("| " + " | ".join(str(c).ljust(w) for c, w in zip(line, widths)) + " |")


def compare(a, b, name_a, name_b):
    """Prints the comparison."""
    print(f"A: {name_a}\nB: {name_b}\n")
    facts = [(name, of(a), of(b)) for name, of in FACTS]
    different = [(name, x, y) for name, x, y in facts if x != y]
    if different:
        print_table(["what differs", "A", "B"], different)
    else:
        print("Machine, versions and preconditions are the same.")
    print()
    in_a, in_b = keyed(a), keyed(b)
    both = [k for k in in_a if k in in_b]
    of_sizes = [k for k in both if in_a[k][0].get("size") != in_b[k][0].get("size")]
    common = [k for k in both if k not in of_sizes]
    changed, rows = {"faster": [], "slower": []}, []
    for key in common:
        (row, x), (_, y) = in_a[key], in_b[key]
        ratio = y["median"] / x["median"] if x["median"] else float("inf")
        verdict = "none"
        if differ(x, y):
            verdict = "faster" if ratio < 1 else "slower"
            changed[verdict].append((ratio, key))
        family, name, variant, workers = key
        rows.append([f"{family}, {name}", variant, workers, value_text(x["median"], row["unit"]), value_text(y["median"], row["unit"]),
                     f"{ratio:.3g}", verdict])
    if not rows:
        print("The two files have no figure in common.")
        return
    print_table(["row", "variant", "workers", "A", "B", "B / A", "change"], rows)
    print(f"\n{DIFFERENCE}\n")
    print(f"Of {count(len(common), 'figure')} {len(changed['faster'])} are lower in B and {len(changed['slower'])} are higher; "
          f"{len(common) - len(changed['faster']) - len(changed['slower'])} show no change beyond the spread.")
    for verdict, word in (("faster", "lower"), ("slower", "higher")):
        most = sorted(changed[verdict], key=lambda c: c[0], reverse=verdict == "slower")[:5]
        for ratio, (family, name, variant, workers) in most:
            print(f"- {word}: {family}, {name}, {variant} on {count(workers, 'worker')}: {number(ratio)} of A.")
    for row in a["rows"]:
        other = next((r for r in b["rows"] if (r["family"], r["row"]) == (row["family"], row["row"])), None)
        if row["family"] != "scaling" or other is None:
            continue
        (n, s, low, high), (m, t, low_b, high_b) = scaling_of(row)[-1], scaling_of(other)[-1]
        if n != m or high < low_b or high_b < low:
            print(f"- speed-up of {row['row']}: {number(s)} with {count(n, 'worker')} in A, {number(t)} with {count(m, 'worker')} in B.")
    if of_sizes:
        names = dict.fromkeys(f"{k[0]}, {k[1]}" for k in of_sizes)
        print(f"\nNot compared, because their problems have another size: {'; '.join(names)}.")
    only = [(name, len([k for k in x if k not in y])) for name, x, y in (("A", in_a, in_b), ("B", in_b, in_a))]
    for name, n in only:
        if n:
            print(f"{count(n, 'figure')} {'is' if n == 1 else 'are'} in {name} only.")
