"""Sentences that follow from the figures. Each is a pair of the family that it speaks of and the sentence."""
import statistics

from figures import (count, differ, figure_of, first_upper, gigabytes_per_second, listed, number, speed_up, time_text, workers_of)

BENDS = 0.75      # of the ideal factor from one number of workers to the next
USED_UP = 0.85    # of the greatest bandwidth of any program
BURDEN = 1.25     # of the serial program's time, on one worker


def of(rows, family, group=None):
    return [r for r in rows if r["family"] == family and (group is None or r["group"] == group)]


def percent(x):
    return f"{100 * x:.0f} %"


def peak_bandwidth(rows):
    """The greatest GB/s of triad, under heist or on plain threads; None if it was not measured."""
    found = [gigabytes_per_second(r, f) for r in of(rows, "scaling") if r["row"] == "triad" and r.get("bytes") for f in r["figures"]]
    return max(found, default=None)


def scaling_of(row):
    """(workers, median speed-up over one worker, least, greatest) of a row of the family scaling."""
    counts = workers_of(row, "heist")
    one = figure_of(row, "heist", counts[0]) if counts else None
    return [(n, *(speed_up(one, figure_of(row, "heist", n)) if n != counts[0] else (1.0, 1.0, 1.0))) for n in counts]


def bend_of(row):
    """The first number of workers that brings less than BENDS of the ideal factor: (before, there, factor, its range), or None."""
    points = scaling_of(row)
    for (before, *_), (there, *_) in zip(points, points[1:]):
        factor, low, high = speed_up(figure_of(row, "heist", before), figure_of(row, "heist", there))
        if factor < BENDS * there / before:
            return before, there, factor, low, high
    return None


def why_bent(row, there, machine, peak):
    """The cause of a bend as far as figures show it."""
    figure = figure_of(row, "heist", there)
    if peak and row.get("bytes") and gigabytes_per_second(row, figure) >= USED_UP * peak:
        return f"memory bandwidth is used up (triad reaches {number(peak)} GB/s)"
    if there > machine["pus"]:
        return "there are more workers than CPUs"
    if there > machine["cores"]:
        return "two workers share a core"
    quota = machine["quota_cpus"]
    if quota is not None and there > quota:
        return f"the control group allows {number(quota)} CPUs' worth of time"
    others = row.get("others_cpus") or 0
    if others + there > 1.05 * machine["pus"]:
        return "other programs used the CPUs, too"
    return None


def scaling(rows, machine):
    peak = peak_bandwidth(rows)
    for group in dict.fromkeys(r["group"] for r in of(rows, "scaling")):
        ends = [(r, scaling_of(r)[-1]) for r in of(rows, "scaling", group) if len(scaling_of(r)) > 1]
        if not ends:
            continue
        most = ends[0][1][0]
        ends.sort(key=lambda e: e[1][1])
        (worst, (_, low, *of_low)), (best, (_, high, *of_high)) = ends[0], ends[-1]
        name = {"memory": "Memory-bound programs scale", "fork/join": "Fork/join programs scale"}.get(group, f"{group.capitalize()} scale")
        if len(ends) == 1:
            yield (f"{name} to {number(high)} with {count(most, 'worker')} ({best['row']}, rounds {number(of_high[0])} to {number(of_high[1])}): "
                   f"{percent(high / most)} of the ideal.")
        else:
            yield (f"{name} with {count(most, 'worker')} to between {number(low)} ({worst['row']}, rounds {number(of_low[0])} to {number(of_low[1])}) and {number(high)} "
                   f"({best['row']}, {number(of_high[0])} to {number(of_high[1])}): {percent(low / most)} to {percent(high / most)} of the ideal.")
        bends = {}
        for row, _ in ends:
            bend = bend_of(row)
            if bend:
                before, there, factor, low, high = bend
                clear = high < BENDS * there / before
                cause = why_bent(row, there, machine, peak) if clear else "the rounds do not agree on it"
                rate = number(gigabytes_per_second(row, figure_of(row, "heist", there))) if row.get("bytes") else None
                bends.setdefault((before, there, cause), []).append((row["row"], number(factor), rate))
        for (before, there, cause), found in bends.items():
            rates = f" ({listed(r for *_, r in found)} GB/s)" if found[0][2] else ""
            yield first_upper(f"{listed(n for n, *_ in found)} bend{'s' if len(found) == 1 else ''} at {count(there, 'worker')}, with {listed(f for _, f, _ in found)} "
                              f"times the speed of {count(before, 'worker')}{rates}; {cause or 'the figures do not show why'}.")
    burdens = [(figure_of(r, "heist", 1)["median"] / figure_of(r, "serial", 1)["median"], r["row"])
               for r in of(rows, "scaling") if figure_of(r, "heist", 1) and figure_of(r, "serial", 1)]
    light = sorted(b for b in burdens if b[0] <= BURDEN)
    heavy = sorted((b for b in burdens if b[0] > BURDEN), reverse=True)
    if light:
        yield (f"On one worker {len(light)} of {count(len(burdens), 'program')} take {number(light[0][0])} to {number(light[-1][0])} "
               "times as long as the serial program.")
    if heavy:
        yield f"On one worker heist's programs take longer than serial ones: {listed(f'{name} {number(b)} times' for b, name in heavy)}."
    for row in of(rows, "scaling"):
        both = sorted(set(workers_of(row, "threads")) & set(workers_of(row, "heist")))
        if not both:
            continue
        ours, plain = figure_of(row, "heist", both[-1]), figure_of(row, "threads", both[-1])
        where = f"{first_upper(row['row'])} on {count(both[-1], 'worker')}"
        if differ(ours, plain):
            yield f"{where} takes {number(ours['median'] / plain['median'])} of the time of plain threads with equal parts."
        else:
            yield f"{where} shows no difference to plain threads with equal parts."


def policies(rows, machine):
    alike, several = [], []
    for row in of(rows, "policies"):
        for workers in workers_of(row, "random"):
            base = figure_of(row, "random", workers)
            others = [f for f in row["figures"] if f["workers"] == workers and f["variant"] not in ("serial", "random")]
            different = sorted((f for f in others if differ(f, base)), key=lambda f: f["median"])
            where = f"{row['row']} on {count(workers, 'worker')}"
            several.append(row)
            if not different:
                alike.append(where)
                continue
            words = [f"{f['variant']} {number(f['median'] / base['median'])}" for f in different]
            same = [f["variant"] for f in others if f not in different]
            yield (f"{first_upper(where)}, time over random's: {listed(words)}." +
                   (f" {first_upper(listed(same))} show{'s' if len(same) == 1 else ''} no difference." if same else ""))
    if alike:
        yield f"No policy differs from random beyond the spread: {listed(alike)}."
    if several and several[0].get("squads", "").startswith("1 squad"):
        yield "All workers are one squad here, so cab and cats have nothing to divide: they can only cost."
    elif several and several[0].get("squads"):
        yield f"Cab and cats divide the workers into {several[0]['squads']}."


def idle(rows, machine):
    for row in of(rows, "idle"):
        most = max((f["workers"] for f in row["figures"]), default=0)
        figures = sorted((f for f in row["figures"] if f["workers"] == most), key=lambda f: f["median"])
        standard = next((f for f in figures if f["variant"] == "standard"), None)
        if standard is None:
            continue
        if row["group"] == "wake-up":
            rest = [f"{time_text(f['median'])} under {f['variant']}" for f in figures if f is not standard]
            yield (f"After a pause of {row['row'].removeprefix('after ')} a task begins {time_text(standard['median'])} after its submission under standard "
                   f"({time_text(standard['p99'])} in the slowest hundredth)" + (f", and {listed(rest)}." if rest else "."))
        else:
            rest = [f"{time_text(1e3 * f['median'])} under {f['variant']}" for f in figures if f is not standard]
            yield (f"An idle executor of {count(most, 'worker')} uses {time_text(1e3 * standard['median'])} of CPU time each second under standard" +
                   (f", and {listed(rest)}." if rest else "."))


def forecast_errors(row):
    """(variant, workers, measured speed-up, simulated speed-up, error of the speed-up, error of the time)."""
    figures = [f for f in row["figures"] if f.get("simulated")]
    if not figures:
        return []
    least = min(f["workers"] for f in figures)
    base = figure_of(row, "random", least) or figures[0]
    found = []
    for f in figures:
        real = base["median"] / f["median"]
        simulated = base["simulated"]["median"] / f["simulated"]["median"]
        found.append((f["variant"], f["workers"], real, simulated, simulated / real - 1, f["simulated"]["median"] / f["median"] - 1))
    return found


def forecast(rows, machine):
    errors = [(r["row"], *e) for r in of(rows, "forecast") for e in forecast_errors(r)]
    more = [e for e in errors if e[2] > min(x[2] for x in errors)]
    if not more:
        return
    size = sorted(abs(e[5]) for e in more)
    worst = max(more, key=lambda e: abs(e[5]))
    yield (f"The simulator's speed-ups are off by {percent(statistics.median(size))} in the median of {count(len(more), 'figure')}, and by {percent(abs(worst[5]))} at "
           f"most ({worst[0]}, {worst[1]}, {count(worst[2], 'worker')}: {number(worst[4])} forecast, {number(worst[3])} measured).")
    high = sum(e[5] > 0 for e in more)
    if size[-1] < 0.005:
        pass
    elif high in (0, len(more)):
        yield f"All forecasts of speed-ups are {'above' if high else 'below'} the measured ones."
    else:
        yield f"The forecast is above the measured speed-up in {high} of {count(len(more), 'figure')}."
    times = [abs(e[6]) for e in errors]
    yield f"The simulator's times are off by {percent(statistics.median(times))} in the median, and by {percent(max(times))} at most."
    named = right = 0
    for row in of(rows, "forecast"):
        for workers in sorted({f["workers"] for f in row["figures"]}):
            figures = [f for f in row["figures"] if f["workers"] == workers and f.get("simulated")]
            if len(figures) < 2 or workers == min(e[2] for e in errors):
                continue
            choice = min(figures, key=lambda f: f["simulated"]["median"])
            best = min(figures, key=lambda f: f["median"])
            named += 1
            right += choice is best or not differ(choice, best)
    if named:
        yield f"The policy that the simulator puts first is the fastest, or does not differ from the fastest, in {right} of {count(named, 'case')}."


def disturbance(rows, machine):
    busy = [r["others_cpus"] for r in rows if r.get("others_cpus") is not None]
    if busy and statistics.median(busy) > 0.05 * machine["pus"]:
        yield (f"Other programs used {number(statistics.median(busy))} of {count(machine['pus'], 'CPU')} in the median row, and {number(max(busy))} at most. "
               "That makes the speed-ups with all workers too small.")


def conclude(rows, machine):
    found = []
    for family, sentences in (("all", disturbance), ("scaling", scaling), ("policies", policies), ("idle", idle), ("forecast", forecast)):
        found += [{"family": family, "text": s} for s in sentences(rows, machine)]
    return found
