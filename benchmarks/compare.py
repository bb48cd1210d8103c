#!/usr/bin/env python3
"""Runs the benchmarks of several libraries side by side and prints one Markdown table of figures and ratios.

Every row is a benchmark of its own process, run for each library in turn, round after round, so that whatever else
the machine does hits all of them alike and no row inherits the heap of another. A figure is the median of its rounds.
Where the goal speaks of certain peers ("of Taskflow"), the ratio is to the best of those, by the names given here.

  compare.py --heist build/benchmarks/bench_graph_heist \\
             --peer Taskflow=build/benchmarks/bench_graph_taskflow --peer oneTBB=build/benchmarks/bench_graph_tbb \\
             --json result.json > table.md

  compare.py --heist build/benchmarks/bench_fork_join_heist --sizes usual \\
             --peer Lace=build/benchmarks/bench_fork_join_lace --peer citor=build/benchmarks/bench_fork_join_citor \\
             --peer libfork=build/benchmarks/bench_fork_join_libfork \\
             --peer "libfork lazy=build/benchmarks/bench_fork_join_libfork@lazy_pool" > table.md
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

HEIST, CHILD_FIRST = 'heist', 'heist child-first'  # columns


class Goal:
    """An upper limit for the ratio of a column of heist to the best of some peers."""

    def __init__(self, limit, *peers, column=HEIST):
        self.limit, self.peers, self.column = limit, peers, column

    def speaks_of(self, peer):
        """Whether a peer counts: all do if none is named, otherwise those whose names begin with one of ours."""
        return not self.peers or peer.lower().startswith(tuple(p.lower() for p in self.peers))

    def __str__(self):
        return f'<= {self.limit:.2f}' + (f' of {", ".join(self.peers)}' if self.peers else '')


ANY_PEER = Goal(None)


class Row:
    """The benchmarks that match a pattern, and what is said of each: a counter, divided; goals; an absolute one."""

    def __init__(self, pattern, unit, divisor=1, counter='value', goals=(), ceiling=None, note=''):
        self.pattern, self.unit, self.divisor, self.counter = pattern, unit, divisor, counter
        self.goals, self.ceiling, self.note = goals, ceiling, note


GRAPH = [
    Row(r'rerun/(?:chain|tree|dag)/p\d+', 'ns/node', goals=[Goal(0.25)]),
    Row(r'rerun/wavefront/p\d+', 'ns/node', goals=[Goal(0.40)]),
    Row(r'rerun_counting/chain/p\d+', 'ns/node'),
    Row(r'first_run/\w+/p\d+', 'ns/node'),
    Row(r'one_shot/\w+/p\d+', 'ns/node'),
    Row(r'anew/\w+/p\d+', 'ns/node', goals=[Goal(0.7)]),
    Row(r'anew_run/\w+/p\d+', 'ns/node', goals=[Goal(1.0)]),
    Row(r'build/\w+', 'ns/node', goals=[Goal(0.5)]),
    Row(r'rebuild/\w+', 'ns/node', goals=[Goal(0.5)]),
    Row(r'build \+ first_run/\w+/p\d+', 'ns/node'),
    Row(r'memory/\w+', 'bytes/node', goals=[Goal(0.5)]),
    Row(r'memory/\w+', 'bytes/node', counter='value_after_run', goals=[Goal(0.5)], note=' (after a run)'),
    Row(r'matmul/p\d+', 'ms', 1e6),
    Row(r'async_outside/p\d+', 'ns/task', goals=[Goal(0.5, 'Taskflow')]),
    Row(r'async_future/p\d+', 'ns/task', goals=[Goal(0.5, 'Taskflow')]),
    Row(r'async_inside/p\d+', 'ns/task'),
    Row(r'one_node_latency/p\d+', 'us', 1e3, goals=[Goal(0.8, 'Taskflow')]),
    Row(r'idle_cpu/p\d+', 'us/s', ceiling=100),
    Row(r'long_task_cpu/p\d+', 'us/s', ceiling=100),
    Row(r'corun/copies\d/p\d+', 'ns/node'),
    Row(r'corun/copies\d/p\d+', 'speedup', counter='speedup'),
]

FORK_JOIN = [
    Row(r'fib/p\d+', 'ms', 1e6, goals=[Goal(1.0, 'Lace'), Goal(0.5, 'libfork', column=CHILD_FIRST)]),
    Row(r'skynet/p\d+', 'ms', 1e6, goals=[Goal(0.7, 'citor', 'libfork')]),
    Row(r'nqueens/p\d+', 'ms', 1e6, goals=[Goal(0.9, 'libfork')]),
    Row(r'matmul/p\d+', 'ms', 1e6, goals=[Goal(1.0, 'citor')]),
    Row(r'uts_t3l?/p\d+', 'ms', 1e6, goals=[Goal(1.0, 'Lace')]),
    Row(r'(?!fib|skynet|nqueens|matmul|uts_t3)\w+/p\d+', 'ms', 1e6),
    Row(r'\w+/serial', 'ms', 1e6),
    Row(r'(?:fib|skynet|nqueens)/p\d+', 'MiB', 2**20, 'peak_rss', [Goal(1.0, 'libfork')], note=' (peak memory)'),
    Row(r'(?!fib|skynet|nqueens)\w+/p\d+', 'MiB', 2**20, 'peak_rss', note=' (peak memory)'),
]

# A table, and the beginning of a benchmark's name that only its programs have.
TABLES = {'graph': (GRAPH, 'rerun/'), 'fork_join': (FORK_JOIN, 'fib/')}

COUNTERS = ('value', 'value_after_run', 'heap_built', 'heap_after_run', 'speedup', 'peak_rss')



def clean(name):
    """The name of a benchmark without what Google Benchmark appends to it."""
    return re.sub(r'/(iterations:\d+|min_time:[\d.]+|manual_time)', '', name)


def list_names(program, options=()):
    """The benchmarks of a program, cleaned name -> full name, in its order."""
    text = subprocess.run([program, '--benchmark_list_tests=true', *options], check=True, capture_output=True, text=True).stdout
    return {clean(line): line for line in text.split()}


def table_of(programs):
    """The name of the table that has rows for these programs; None if none has, or several have."""
    names = [name for program in programs for name in list_names(program)]
    fits = [table for table, (_, sign) in TABLES.items() if any(name.startswith(sign) for name in names)]
    return fits[0] if len(fits) == 1 else None


def run_one(program, full_name, options, timeout):
    """The counters of one benchmark, run in a process of its own; None if it failed."""
    command = [program, '--benchmark_filter=^' + re.escape(full_name) + '$', '--benchmark_format=json', *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        print(f'compare: {program} {full_name} was still running after {timeout} s and was ended', file=sys.stderr)
        return None
    try:
        result = json.loads(done.stdout)['benchmarks'][0]
    except (ValueError, LookupError):
        print(f'compare: {program} {full_name} failed: {done.stderr.strip()[-300:]}', file=sys.stderr)
        return None
    if result.get('error_occurred'):
        print(f'compare: {program} {full_name}: {result.get("error_message")}', file=sys.stderr)
        return None
    return {key: result[key] for key in COUNTERS if key in result}


def measure(columns, rounds, only, options, timeout):
    """samples[row name][column][counter] = list of figures, one a round. Serial code is the same in all programs: only
    the first that has it is asked."""
    names = {column: list_names(program, options) for column, (program, _) in columns.items()}
    rows = [n for n in dict.fromkeys(clean(n.split('@')[0]) for c in columns for n in names[c] if '@' not in n)
            if re.search(only, n)]
    samples = {row: {column: {} for column in columns} for row in rows}
    for done in range(rounds):
        for index, row in enumerate(rows):
            for column, (program, suffix) in columns.items():
                full = names[column].get(row + suffix)
                others = (c for c in columns if c != column)
                if full is None or row.endswith('/serial') and any(samples[row][c] for c in others):
                    continue
                if sys.stderr.isatty():
                    text = f'round {done + 1}/{rounds}, row {index + 1}/{len(rows)}: {row}, {column}'
                    print(f'\r{text:80}', end='', file=sys.stderr, flush=True)
                for key, figure in (run_one(program, full, options, timeout) or {}).items():
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


def verdict(figure, ratio, goal, ceiling, slower_than_one):
    """The goal in words, and whether it is reached; both empty where there is none or nothing to compare."""
    if figure is None or (goal.limit is None and ceiling is None):
        return '', ''
    if ceiling is not None:
        return f'<= {ceiling}', 'yes' if figure <= ceiling else 'NO'
    if ratio is None:
        return str(goal), ''
    reached = 'yes' if ratio <= goal.limit else 'NO'
    return str(goal), reached + (', but slower than p1' if slower_than_one else '')


def median(samples, row, column, counter, divisor):
    figures = samples.get(row, {}).get(column, {}).get(counter)
    return statistics.median(figures) / divisor if figures else None


def table(rows, samples, columns, peers):
    """The Markdown lines, and the same as a list of dictionaries. Ratios and goals are those of heist's column and of
    its child-first one, if there."""
    ours = [c for c in (HEIST, CHILD_FIRST) if c in columns] or [HEIST]
    ratio_headers = ['ratio to the best peer', 'child-first ratio'][:len(ours)]
    header = ['row', 'unit', *columns, 'spread of heist', *ratio_headers, 'goal', 'reached']
    lines = ['| ' + ' | '.join(header) + ' |', '|' + '---|' * len(header)]
    results = []
    for spec in rows:
        for row in samples:
            if not re.fullmatch(spec.pattern, row):
                continue
            medians = {c: median(samples, row, c, spec.counter, spec.divisor) for c in columns}
            if all(m is None for m in medians.values()):
                continue
            better = max if spec.counter == 'speedup' else min
            ratios, goals, verdicts = [], [], []
            for column in ours:
                figure = medians.get(column)
                goal = next((g for g in spec.goals if g.column == column), ANY_PEER)
                bars = [medians[p] for p in peers if goal.speaks_of(p) and medians[p] is not None]
                ratio = figure / better(bars) if bars and figure is not None and better(bars) else None
                one = median(samples, re.sub(r'/p\d+$', '/p1', row), column, spec.counter, spec.divisor)
                slower = bool(figure and one and row.startswith('rerun/') and not row.endswith('/p1') and figure > one)
                ceiling = spec.ceiling if column == HEIST else None
                text, reached = verdict(figure, ratio, goal, ceiling, slower)
                ratios.append(ratio)
                goals.append(text and (text if column == HEIST else 'child-first ' + text))
                verdicts.append(reached)
            own = [x / spec.divisor for x in samples[row].get(HEIST, {}).get(spec.counter, [])]
            spread = f'{number(min(own))} .. {number(max(own))}' if own else '-'
            name = row + spec.note
            goal_text, reached = '; '.join(filter(None, goals)), '; '.join(filter(None, verdicts))
            lines.append('| ' + ' | '.join([name, spec.unit, *(number(medians[c]) for c in columns), spread,
                                            *map(number, ratios), goal_text, reached]) + ' |')
            results.append({'row': name, 'unit': spec.unit, 'medians': medians, 'ratio': ratios[0], 'goal': goal_text,
                            'reached': reached, **({'ratio_child_first': ratios[1]} if len(ratios) > 1 else {})})
    return lines, results


def processor():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as info:
            return next(line.split(':')[1].strip() for line in info if line.startswith('model name'))
    except (OSError, StopIteration):
        return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--heist', help='the program bench_graph_heist or bench_fork_join_heist')
    parser.add_argument('--peer', action='append', default=[], metavar='NAME=PROGRAM[@VARIANT]',
                        help='a peer (repeatable), or its rows that end in @VARIANT')
    parser.add_argument('--policy', action='append', default=[], metavar='NAME',
                        help="also a column for heist's rows that end in @NAME, such as adaptive or leapfrog")
    parser.add_argument('--table', choices=TABLES, help='which table, if the programs do not tell')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--only', default='', metavar='REGEX', help='only rows whose name matches')
    parser.add_argument('--nodes', type=int, help='nodes of the big graphs (default 1048576)')
    parser.add_argument('--workers', metavar='LIST', help='numbers of workers (default: 1,2,4..max)')
    parser.add_argument('--sizes', choices=['test', 'usual', 'published'], help='of the fork/join kernels')
    parser.add_argument('--timeout', type=float, default=120, help='seconds that one benchmark may take (default 120)')
    parser.add_argument('--json', metavar='FILE', help='write figures of all rounds and the table')
    parser.add_argument('--note', default='', help='one line below the heading: compiler, flags, versions')
    options = parser.parse_args()

    columns = {HEIST: (options.heist, '')} if options.heist else {}
    if options.heist and any(name.endswith('@child_first') for name in list_names(options.heist)):
        columns[CHILD_FIRST] = (options.heist, '@child_first')
    peers = []
    for peer in options.peer:
        name, _, program = peer.partition('=')
        if not program:
            parser.error(f"--peer wants NAME=PROGRAM, not '{peer}'")
        variant = re.search(r'@\w+$', program) if not os.path.exists(program) else None
        columns[name] = (program[:variant.start()], variant.group()) if variant else (program, '')
        peers.append(name)
    for policy in options.policy:
        if not options.heist:
            parser.error('--policy needs --heist')
        columns[policy] = (options.heist, '@' + policy)
    if not columns:
        parser.error('nothing to run: give --heist or --peer')

    kind = options.table or table_of({program for program, _ in columns.values()})
    if kind is None:
        parser.error('the programs do not tell which table is meant: give --table')
    extra = [f'--nodes={options.nodes}'] if options.nodes else []
    extra += [f'--sizes={options.sizes}'] if options.sizes else []
    extra += [f'--workers={options.workers}'] if options.workers else []
    load = os.getloadavg()[0]
    samples = measure(columns, options.rounds, options.only, extra, options.timeout)
    add_sums(samples)
    lines, results = table(TABLES[kind][0], samples, list(columns), peers)
    about = (f'{datetime.date.today()}, {processor()}, {os.cpu_count()} CPUs, Linux {platform.release()}, '
             f'load {load:.2f} at the start, medians of {options.rounds} alternating rounds.')
    print(about + ('\n' + options.note if options.note else '') + '\n')
    print('\n'.join(lines))
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as out:
            json.dump({'about': about, 'note': options.note, 'table': results, 'samples': samples}, out, indent=1)


if __name__ == '__main__':
    main()
