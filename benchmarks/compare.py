#!/usr/bin/env python3
"""Runs the graph benchmarks of several libraries side by side and prints one Markdown table of figures and ratios.

Every row is a benchmark of its own process, run for each library in turn, round after round, so that whatever else
the machine does hits all of them alike and no row inherits the heap of another. A figure is the median of its rounds.
Where the goal speaks of one peer ("of Taskflow"), the ratio is to that peer (to its best column).

  compare.py --heist build/benchmarks/bench_graph_heist \\
             --peer Taskflow=build/benchmarks/bench_graph_taskflow --peer oneTBB=build/benchmarks/bench_graph_tbb \\
             --json result.json > table.md
"""
import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys

# Row (regular expression for its benchmarks), unit, divisor of the counter, counter, goal for the ratio or None,
# absolute goal or None, names of the peers that the goal speaks of ("" = all).
GRAPH, ALL = 'chain|tree|dag', ''
ROWS = [
    (rf'rerun/(?:{GRAPH})/p\d', 'ns/node', 1, 'value', 0.25, None, ALL),
    (r'rerun/wavefront/p\d', 'ns/node', 1, 'value', 0.40, None, ALL),
    (r'rerun_counting/chain/p\d', 'ns/node', 1, 'value', None, None, ALL),
    (r'first_run/\w+/p\d', 'ns/node', 1, 'value', None, None, ALL),
    (r'build/\w+', 'ns/node', 1, 'value', 0.5, None, ALL),
    (r'rebuild/\w+', 'ns/node', 1, 'value', 0.5, None, ALL),
    (r'build \+ first_run/\w+/p\d', 'ns/node', 1, 'value', None, None, ALL),
    (r'memory/\w+', 'bytes/node', 1, 'value', 0.5, None, ALL),
    (r'memory/\w+', 'bytes/node', 1, 'value_after_run', 0.5, None, ALL),
    (r'matmul/p\d', 'ms', 1e6, 'value', None, None, ALL),
    (r'async_outside/p\d', 'ns/task', 1, 'value', 0.5, None, 'Taskflow'),
    (r'async_future/p\d', 'ns/task', 1, 'value', 0.5, None, 'Taskflow'),
    (r'async_inside/p\d', 'ns/task', 1, 'value', None, None, ALL),
    (r'one_node_latency/p\d', 'us', 1e3, 'value', 0.8, None, 'Taskflow'),
    (r'idle_cpu/p\d', 'us/s', 1, 'value', None, 100, ALL),
    (r'long_task_cpu/p\d', 'us/s', 1, 'value', None, 100, ALL),
    (r'corun/copies\d/p\d', 'ns/node', 1, 'value', None, None, ALL),
    (r'corun/copies\d/p\d', 'speedup', 1, 'speedup', None, None, ALL),
]

TIMEOUT = 120  # seconds; the longest benchmark takes a few


def clean(name):
    """The name of a benchmark without what Google Benchmark appends to it."""
    return re.sub(r'/(iterations:\d+|min_time:[\d.]+|manual_time)', '', name)


def list_names(program):
    """The benchmarks of a program, cleaned name -> full name, in its order."""
    text = subprocess.run([program, '--benchmark_list_tests=true'], check=True, capture_output=True, text=True).stdout
    return {clean(line): line for line in text.split()}


def run_one(program, full_name, options):
    """The counters of one benchmark, run in a process of its own; None if it failed."""
    command = [program, '--benchmark_filter=^' + re.escape(full_name) + '$', '--benchmark_format=json', *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        print(f'compare: {program} {full_name} was still running after {TIMEOUT} s and was ended', file=sys.stderr)
        return None
    try:
        result = json.loads(done.stdout)['benchmarks'][0]
    except (ValueError, LookupError):
        print(f'compare: {program} {full_name} failed: {done.stderr.strip()[-300:]}', file=sys.stderr)
        return None
    if result.get('error_occurred'):
        print(f'compare: {program} {full_name}: {result.get("error_message")}', file=sys.stderr)
        return None
    return {key: result[key] for key in ('value', 'value_after_run', 'heap_built', 'heap_after_run', 'speedup')
            if key in result}


def measure(columns, rounds, only, options):
    """samples[row name][column][counter] = list of figures, one a round."""
    names = {column: list_names(program) for column, (program, _) in columns.items()}
    rows = [n for n in dict.fromkeys(clean(n.split('@')[0]) for c in columns for n in names[c] if '@' not in n)
            if re.search(only, n)]
    samples = {row: {column: {} for column in columns} for row in rows}
    for done in range(rounds):
        for index, row in enumerate(rows):
            for column, (program, suffix) in columns.items():
                full = names[column].get(row + suffix)
                if full is None:
                    continue
                if sys.stderr.isatty():
                    text = f'round {done + 1}/{rounds}, row {index + 1}/{len(rows)}: {row}, {column}'
                    print(f'\r{text:80}', end='', file=sys.stderr, flush=True)
                for key, figure in (run_one(program, full, options) or {}).items():
                    samples[row][column].setdefault(key, []).append(figure)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return samples


def add_sums(samples):
    """Rows for a graph's whole way to its first result: a library may do work in either half."""
    for row in [r for r in samples if r.startswith('first_run/')]:
        build = samples.get('build/' + row.split('/')[1])
        if build:
            samples['build + ' + row] = {
                column: {'value': [a + b for a, b in zip(build[column].get('value', []), counters.get('value', []))]}
                for column, counters in samples[row].items()}


def number(x):
    return '-' if x is None else f'{x:.3g}' if abs(x) < 100 else f'{x:.0f}'


def verdict(heist, ratio, goal, ceiling, slower_than_one):
    """The goal in words, and whether it is reached; both empty where there is none or nothing to compare."""
    if heist is None or (goal is None and ceiling is None):
        return '', ''
    if ceiling is not None:
        return f'<= {ceiling}', 'yes' if heist <= ceiling else 'NO'
    if ratio is None:
        return f'<= {goal:.2f}', ''
    reached = 'yes' if ratio <= goal else 'NO'
    return f'<= {goal:.2f}', reached + (', but slower than p1' if slower_than_one else '')


def table(samples, columns, peers):
    """The Markdown lines, and the same as a list of dictionaries."""
    header = ['row', 'unit', *columns, 'spread of heist', 'ratio to the best peer', 'goal', 'reached']
    lines = ['| ' + ' | '.join(header) + ' |', '|' + '---|' * len(header)]
    results = []
    for pattern, unit, divisor, counter, goal, ceiling, speaks_of in ROWS:
        for row in samples:
            if not re.fullmatch(pattern, row):
                continue
            medians = {c: statistics.median(s[counter]) / divisor if (s := samples[row][c]).get(counter) else None
                       for c in columns}
            if all(m is None for m in medians.values()):
                continue
            heist = medians.get('heist')
            bars = [medians[p] for p in peers if p.startswith(speaks_of) and medians[p] is not None]
            better = max if counter == 'speedup' else min
            ratio = heist / better(bars) if bars and heist is not None and better(bars) else None
            own = samples[row].get('heist', {}).get(counter)
            one = samples.get(row.replace('/p2', '/p1'), {}).get('heist', {}).get(counter)
            slower = bool(own and one and row.startswith('rerun/')
                          and statistics.median(own) > statistics.median(one))
            goal_text, reached = verdict(heist, ratio, goal, ceiling, slower)
            if goal_text and speaks_of:
                goal_text += f' of {speaks_of}'
            spread = f'{number(min(own) / divisor)} .. {number(max(own) / divisor)}' if own else '-'
            name = row + (' (after a run)' if counter == 'value_after_run' else '')
            lines.append('| ' + ' | '.join([name, unit, *(number(medians[c]) for c in columns), spread, number(ratio),
                                            goal_text, reached]) + ' |')
            results.append({'row': name, 'unit': unit, 'medians': medians, 'ratio': ratio, 'goal': goal_text,
                            'reached': reached})
    return lines, results


def processor():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as info:
            return next(line.split(':')[1].strip() for line in info if line.startswith('model name'))
    except (OSError, StopIteration):
        return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--heist', help='the program bench_graph_heist')
    parser.add_argument('--peer', action='append', default=[], metavar='NAME=PROGRAM', help='a peer (repeatable)')
    parser.add_argument('--policy', action='append', default=[], metavar='NAME',
                        help='also a column for an idle policy of heist: adaptive, always_awake, balanced')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--only', default='', metavar='REGEX', help='only rows whose name matches')
    parser.add_argument('--nodes', type=int, help='nodes of the big graphs (default 1048576)')
    parser.add_argument('--json', metavar='FILE', help='write figures of all rounds and the table')
    parser.add_argument('--note', default='', help='one line below the heading: compiler, flags, versions')
    options = parser.parse_args()

    columns = {'heist': (options.heist, '')} if options.heist else {}
    peers = []
    for peer in options.peer:
        name, _, program = peer.partition('=')
        if not program:
            parser.error(f"--peer wants NAME=PROGRAM, not '{peer}'")
        columns[name] = (program, '')
        peers.append(name)
    for policy in options.policy:
        if not options.heist:
            parser.error('--policy needs --heist')
        columns[policy] = (options.heist, '@' + policy)
    if not columns:
        parser.error('nothing to run: give --heist or --peer')

    extra = [f'--nodes={options.nodes}'] if options.nodes else []
    load = os.getloadavg()[0]
    samples = measure(columns, options.rounds, options.only, extra)
    add_sums(samples)
    lines, results = table(samples, list(columns), peers)
    about = (f'{datetime.date.today()}, {processor()}, {os.cpu_count()} CPUs, Linux {platform.release()}, '
             f'load {load:.2f} at the start, medians of {options.rounds} alternating rounds.')
    print(about + ('\n' + options.note if options.note else '') + '\n')
    print('\n'.join(lines))
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as out:
            json.dump({'about': about, 'note': options.note, 'table': results, 'samples': samples}, out, indent=1)


if __name__ == '__main__':
    main()
