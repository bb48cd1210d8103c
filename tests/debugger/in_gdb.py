"""Runs in gdb, on stands_still: compares what the commands of heist-gdb.py print. run.py says on what, by the variable
`mode`: live, core, crash or corrupt."""
import random
import re

import gdb

failures = []


def say(command):
    text = gdb.execute(command, to_string=True)
    print(f"(gdb) {command}\n{text}", end="")
    if "Python Exception" in text or "Traceback" in text:
        failures.append(f"{command}: a traceback")
    return text


def expect(command, *lines):
    """Each of the regular expressions is found in what the command prints. Returns that."""
    text = say(command)
    for line in lines:
        if not re.search(line, text, re.MULTILINE):
            failures.append(f"{command}: no line matches {line}")
    return text


def number_of(task):
    """The number of a parked task in info heist tasks."""
    found = re.search(rf"^ +(\d+) +{task} waits", say("info heist tasks"), re.MULTILINE)
    if found is None:
        failures.append(f"info heist tasks: no parked {task}")
        return 0
    return int(found[1])


AGO = r"( \(for \d+\.\d s( or more)?\))?$"


def still():
    """What all cases of stands_still look like, in the process or its core."""
    expect("info heist", r"^executor 1: policy::random, 2 workers, at 0x", r"^  worker 0 \(thread \d+\): sleeps$",
           r"^  1 parked, 1 other wait, 0 queued$", r"^  0 parked, 2 other waits, 0 queued$",
           r"^  3 parked, 0 other waits, 0 queued$")
    expect("info heist tasks",
           r"^ +\d+  async report waits for a run of the graph orders" + AGO,
           r"^     -  event reply of the graph orders waits to be fulfilled" + AGO,
           r"^     -  task copy to tape of the graph devices waits for a limiter of 1, of which 0 are free" + AGO,
           r"^     -  task copy to disk of the graph devices waits for a limiter of 1, of which 0 are free" + AGO,
           r"^ +\d+  async producer waits for a future" + AGO,
           r"^ +\d+  async \(flow_case::.*\) waits for an event" + AGO,
           r"^ +\d+  async adder waits for a coroutine" + AGO,
           r"^     -  a coroutine waits for a channel that is empty" + AGO,
           r"^ +\d+  task transfer of the graph bank waits for a mutex journal, held by parked task \d+" + AGO,
           r"^ +\d+  task audit of the graph bank waits for a mutex accounts, held by parked task \d+" + AGO,
           r"^ +\d+  async parent waits for the tasks that it has forked, to be ended by parked task \d+" + AGO,
           r"^ +\d+  a forked task waits for the task server, to be ended by parked task \d+" + AGO,
           r"circle, and none of them will ever end: task copy to (tape|disk) .*, task copy to (tape|disk) ",
           r"circle, and none of them will ever end: \d+ \(task \w+ of the graph bank\), \d+ \(task \w+ of the graph bank\)$")
    expect("info heist graph", "^graph orders, 4 tasks, 3 edges, runs$", "^graph devices, 5 tasks, 4 edges, runs$",
           "^graph bank, 2 tasks, 0 edges, runs$")
    expect("info heist graph orders", "^  load   done$", "^  reply  waits to be fulfilled$",
           "^  price  waits for 1 of its 2 predecessors$", "^  send   waits for 1 predecessor$",
           "^  1 of 4 tasks have ended$")
    expect("info heist graph devices", "^  both mounted  done$",
           "^  copy to tape  waits for a limiter of 1, of which 0 are free$", "^  3 of 5 tasks have ended$")
    expect("info heist graph mutexes_one->graph", r"^  transfer  waits for a mutex journal.* \(parked task \d+\)$")
    expect("info heist graph no_such_graph", "^heist: no graph named no_such_graph is known to run; .*\\.$")
    expect("print mutexes_one->graph", "graph bank, 2 tasks, 0 edges, runs$")
    expect("print event_one->reply", "reply of the graph orders$")
    expect("print event_one->run", "run of the graph orders, in progress or in line$")
    expect("print event_one->waits", "not ready$")
    expect("print event_one->ex", "executor, policy::random, 2 workers$")


def stacks():
    backtrace = expect("heist bt " + str(number_of("task transfer of the graph bank")),
                       r"^    \(\d+ frames of heist\)$", r"^#\d+ .*\bheist::mutex::lock \(",
                       r"^#\d+ .*mutexes_case::transfer \(.*amount=700.*stands_still\.cpp:\d+$")
    frame = re.search(r"^#(\d+) .*::transfer \(", backtrace, re.MULTILINE)
    if frame is not None:
        expect(f"heist apply {number_of('task transfer of the graph bank')} frame apply level {frame[1]} info locals",
               "^fee = 7$")
    expect(f"heist bt {number_of('a forked task')} all", r"^#1 ", r"stands_still\.cpp:\d+$", r"worker_loop")
    expect("heist bt 99", "^heist: there is no parked task 99; ")
    expect("heist bt", "^heist: heist bt N needs the number of a parked task")


def corrupt():
    """Writes random words over what heist keeps, one object after the other: no command may print a traceback."""
    commands = ["info heist", "info heist tasks", "info heist graph", "info heist graph bank", "heist bt 1", "heist bt 2",
                "print mutexes_one->ex", "print mutexes_one->graph", "print mutexes_one->run"]
    core = "((heist::detail::core*)heist::detail::all_live_cores.at[0])"
    graph = "mutexes_one->graph.data_.graph_"
    places = {"the list of executors": ("&heist::detail::all_live_cores", 528), "the executor": (core, 2560),
              "the workers": (f"*(long*)&{core}->workers", 16), "a worker": (f"**(long**)&{core}->workers", 1152),
              "a fiber": (f"*(long*)&{core}->fibers_", 744), "the graph": (graph, 800),
              "its tasks": (f"{graph}->records", 64), "its run": (f"{graph}->current", 256)}
    inferior = gdb.selected_inferior()
    chance = random.Random(1)
    for what, (expression, size) in places.items():
        at = int(gdb.parse_and_eval(f"(long)({expression})"))
        before = bytes(inferior.read_memory(at, size))
        for turn in range(4):
            words = bytearray(before)
            for i in range(0, size - 7, 8):
                if chance.random() < (0.1, 0.3, 1, 0.02)[turn]:
                    word = chance.choice((0, 1, chance.getrandbits(64), at, 0x7FFF00000000 + chance.getrandbits(20)))
                    words[i:i + 8] = word.to_bytes(8, "little")
            inferior.write_memory(at, bytes(words))
            for command in commands:
                try:
                    text = gdb.execute(command, to_string=True)
                except gdb.error as e:  # a sentence of gdb's own
                    text = str(e)
                if "Python Exception" in text or "Traceback" in text:
                    failures.append(f"{what}, turn {turn}: {command}: {text}")
        inferior.write_memory(at, before)
    still_mutexes()


def still_mutexes():
    expect("info heist tasks", r"^ +\d+  task transfer of the graph bank waits for a mutex journal, held by")


def live():
    expect("heist bt 1", "^heist: ")  # not started
    gdb.execute("break stands_still")
    gdb.execute("run", to_string=True)
    registers = gdb.execute("info registers", to_string=True)
    still()
    if has_stacks:
        stacks()
    if gdb.execute("info registers", to_string=True) != registers:
        failures.append("the registers are others than before")
    expect("bt 1", r"^#0  .*stands_still \(\)")
    gdb.execute("continue", to_string=True)
    expect("print $_exitcode", "= 0$")


def core():
    still()
    if has_stacks:
        stacks()


def crash():
    gdb.execute("run", to_string=True)
    expect("info heist", r"^  worker 0 \(thread \d+\): runs task scale of the graph image$",
           "^  1 parked, 0 other waits, 2 queued$", r"^thread 1 waits for a run of the graph image")
    expect("info heist tasks", "^ +1  async client waits for an event",
           "^        queued for worker 0: task rotate of the graph image$", "^        queued for worker 0: async save$")
    expect("info heist graph image", "^  decode  done$", "^  scale   runs on worker 0 of executor 1$",
           "^  rotate  is ready$")


def run_to_the_end_of(function):
    try:
        function()
    except gdb.error as e:
        failures.append(f"gdb: {e}")
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"heist: {len(failures)} checks failed in mode {mode}")


if mode == "corrupt":
    gdb.execute("break stands_still")
    gdb.execute("run", to_string=True)
run_to_the_end_of({"live": live, "core": core, "crash": crash, "corrupt": corrupt}[mode])
