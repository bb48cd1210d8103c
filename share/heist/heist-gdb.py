"""gdb commands and pretty-printers for programs that use heist. In gdb, or in ~/.gdbinit:

    source <prefix>/share/heist/heist-gdb.py

    info heist               executors, and what each worker does
    info heist tasks         parked tasks by number, what each waits for, and queued tasks
    info heist graph NAME    the state of each task of a graph; without NAME: the known graphs
    heist bt N [all] [ARGS]  the backtrace of parked task N, with 'all' frames of heist, too; ARGS as for gdb's backtrace
    heist apply N COMMAND    a gdb command on the stack of parked task N

They read memory only: the program does not run, and a core file will do. The program needs debug information (-g).
docs/debugging.md explains the output.
"""
import bisect
import re
import struct
import time

import gdb
import gdb.printing
import gdb.unwinder

MOST = 100  # lines of one kind
MOST_LINKS = 1_000_000  # longer chains are taken for corrupted memory


class Unreadable(Exception):
    """The memory or the debug information is not what it should be; the text is one sentence."""


# ---- values of C++ types, with libstdc++ or libc++ ----


def type_of(name):
    try:
        return gdb.lookup_type("heist::" + name)
    except gdb.error:
        raise Unreadable(f"gdb finds no debug information of heist::{name}; compile with -g") from None


def pointer(name):
    return type_of(name).pointer()


def as_pointer(address, name):
    return gdb.Value(int(address)).cast(pointer(name))


def load(atomic):
    """The value of a std::atomic."""
    held = atomic.type.strip_typedefs().template_argument(0)
    return atomic.address.reinterpret_cast(held.pointer()).dereference()


def owned(unique):
    """The pointer in a heist::detail::unique_ptr, which begins with it."""
    held = unique.type.strip_typedefs().template_argument(0).strip_typedefs()
    if held.code == gdb.TYPE_CODE_ARRAY:
        held = held.target()
    return unique.address.reinterpret_cast(held.unqualified().pointer().pointer()).dereference()


def items(vector):
    """The elements of a heist::detail::vector."""
    first, count = vector["elements_"], int(vector["size_"])
    if count >= MOST_LINKS * 16:
        raise Unreadable("a list of heist is corrupted")
    for i in range(count):
        yield (first + i).dereference()


def text_of(string):
    """The text of a std::string."""
    try:
        data, length = string["_M_dataplus"]["_M_p"], int(string["_M_string_length"])
    except gdb.error:
        at = string.address.reinterpret_cast(gdb.lookup_type("unsigned long").pointer())
        data, length = gdb.Value(int(at[0])).cast(gdb.lookup_type("char").pointer()), int(at[1])
    return data.string(errors="replace", length=min(length, 200))


def c_text(value):
    """The text of a char const*, which may be null."""
    return value.string(errors="replace", length=-1)[:200] if int(value) != 0 else ""


def noted(name):
    """The text of a noted_name."""
    raw = bytes(int(name["text"][i]) & 0xFF for i in range(48))
    return raw.split(b"\0")[0].decode(errors="replace")


def chain(first, following):
    """Follows pointers up to a null one."""
    seen = set()
    while int(first) != 0:
        if int(first) in seen or len(seen) == MOST_LINKS:
            raise Unreadable("a list of heist is corrupted")
        seen.add(int(first))
        yield first
        first = following(first)


known_symbols = {}


def symbol(address):
    """The name of the function or variable at an address; empty: none is known."""
    address = int(address)
    if address not in known_symbols:
        text = gdb.execute(f"info symbol {address:#x}", to_string=True)
        known_symbols[address] = "" if text.startswith("No symbol") else re.split(r" in section ", text.strip())[0]
    return known_symbols[address]


def template_arguments(name):
    """Those of the first template in a demangled name."""
    found, depth, begin = [], 0, 0
    for i, c in enumerate(name):
        if c in "<({":
            depth += 1
            if depth == 1:
                begin = i + 1
        elif c in ">)}" and name[i - 1] != "-":
            depth -= 1
            if depth == 0:
                return found + [name[begin:i].strip()]
        elif c == "," and depth == 1:
            found.append(name[begin:i].strip())
            begin = i + 1
    return found


# ---- executors ----


class Executor:
    def __init__(self, number, core):
        self.number = number
        self.core = core
        self.address = int(core.address)

    def policy(self):
        name = symbol(self.core["loop_"])
        at = name.find("scheduler<")
        arguments = template_arguments(name[at:]) if at >= 0 else []
        return arguments[0].replace("heist::", "") if arguments else "unknown policy"

    def workers(self):
        for w in items(self.core["workers"]):
            yield owned(w).dereference()

    def fibers(self):
        """The oldest first."""
        found = [f.dereference() for f in chain(owned(self.core["fibers_"]), lambda f: owned(f["next_of_all"]))]
        return reversed(found)

    def __str__(self):
        return f"executor {self.number}"


def executors():
    """All of the process, as their cores enroll."""
    try:
        cores = gdb.parse_and_eval("'heist::detail::all_live_cores'")
        used = int(load(cores["used"]))
    except gdb.MemoryError:
        raise Unreadable("the program has not started") from None
    except gdb.error:
        raise Unreadable("no debug information of heist in this program; compile with -g, and use an executor") from None
    if used > 64:
        raise Unreadable("the list of executors is corrupted")
    found = []
    for i in range(used):
        core = load(cores["at"][i])
        if int(core) != 0:
            found.append(Executor(len(found) + 1, as_pointer(core, "detail::core").dereference()))
    return found


def threads():
    inferior = gdb.selected_inferior()
    return inferior.threads() if inferior is not None and inferior.pid != 0 else ()


def thread_name(system_number):
    for t in threads():
        if t.ptid[1] == system_number:
            return f"thread {t.num}"
    return "no thread"


stack_pointers = {}


def stack_pointer(t):
    """Of a thread, where it has stopped. Kept for the command."""
    if t.num not in stack_pointers:
        before, frame = gdb.selected_thread(), None
        try:
            frame = gdb.selected_frame()
        except gdb.error:
            pass
        try:
            t.switch()
            stack_pointers[t.num] = int(gdb.newest_frame().read_register("sp"))
        finally:
            before.switch()
            if frame is not None and frame.is_valid():
                frame.select()
    return stack_pointers[t.num]


def thread_with(address):
    """The thread on whose own stack the address lies; null: none is near."""
    near = [(address - stack_pointer(t), t) for t in threads() if 0 <= address - stack_pointer(t) < 64 << 20]
    return min(near, key=lambda n: n[0])[1] if near else None


# ---- tasks ----


def enumerator(value):
    return str(value).rsplit("::", 1)[-1]


def callable_in(run):
    """The user's callable, from the name of the function that runs it; empty: not known."""
    for argument in template_arguments(symbol(run)):
        while argument.startswith("heist::") and template_arguments(argument):  # a wrapper
            argument = template_arguments(argument)[0]
        if "::" in argument and not argument.startswith(("heist::", "std::")):
            return argument.replace("(anonymous namespace)::", "").replace("heist::", "")[:120]
    return ""


def task_of(record):
    """A task of a graph, as (name, graph's name, kind)."""
    built = record["what"].cast(pointer("detail::node"))
    graph = record["graph"]
    operations = built["operations"].cast(pointer("detail::node_operations"))
    return name_in_graph(graph, int(built["index"])), text_of(graph["title"]), enumerator(operations["kind"])


names_of_graphs = {}  # for the time of a command


def name_in_graph(graph, index):
    if int(graph) not in names_of_graphs:
        entries = (owned(e) for e in items(graph["names"]["all_"]))
        names_of_graphs[int(graph)] = {int(e["index"]): text_of(e["text"]) for e in entries}
    return names_of_graphs[int(graph)].get(index, f"#{index}")


def of_graph(title):
    return f"of the graph {title}" if title else "of a graph"


def record_of(runnable):
    """A runnable as a task of a graph; null: it is none."""
    if int(runnable) == 0 or int(runnable["what"]) == 0:
        return None
    if "text_of_node" not in symbol(runnable["what"]["operations"]["to_text"]):
        return None
    return runnable.cast(pointer("detail::record"))


def type_of_task(run):
    """The type that a task's run function belongs to, from its local variables; null: not known."""
    try:
        block = gdb.block_for_pc(int(run))
    except (gdb.error, RuntimeError):
        return None
    for s in block or ():
        if s.name in ("task", "r") and s.type is not None:
            found = s.type
            if found.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF, gdb.TYPE_CODE_PTR):
                found = found.target()
            if "async_task<" in str(found) or "after_task<" in str(found):
                return found.unqualified()
    return None


def name_of_async(runnable):
    """What heist::with names it; empty: nothing."""
    run = runnable["run"]
    if "inherited_stop::run" in symbol(run):
        base = runnable.cast(pointer("detail::async_base"))
        stop = type_of("detail::inherited_stop")
        run = as_pointer(int(base) + int(base["bytes"]) - stop.sizeof, "detail::inherited_stop")["work"]
    found = type_of_task(run)
    if found is None:
        return "", run
    try:
        return c_text(runnable.cast(found.pointer())["extra"]["name_"]), run
    except gdb.error:
        return "", run


def describe(runnable):
    """A runnable in words."""
    if int(runnable) == 0:
        return "a task"
    run = symbol(runnable["run"])
    if "fiber::resume(" in run:
        waits = runnable.cast(pointer("detail::fiber::resumption"))["self"]
        return "a parked task that can resume: " + task_on(waits.dereference())
    if "fiber::run_rest(" in run:
        return "forked tasks of a parked task"
    if "run_most_urgent" in run:
        return "a task of a graph with priorities"
    if int(runnable["what"]) == 0:
        return "a part of a task"
    what = symbol(runnable["what"]["operations"]["to_text"])
    if "text_of_node" in what:
        name, graph, kind = task_of(runnable.cast(pointer("detail::record")))
        called = f" ({callable_in(runnable['run'])})" if name.startswith("#") and callable_in(runnable["run"]) else ""
        return f"{kind} {name} {of_graph(graph)}{called}"
    if "text_of_starter" in what or "text_of_epilogue" in what:
        graph = runnable.cast(pointer("detail::graph_data::starter_item"))["graph"]
        return f"the {'start' if 'starter' in what else 'end'} of a run {of_graph(text_of(graph['title']))}"
    name, begun = name_of_async(runnable) if "text_of_async" in what else ("", runnable["run"])
    kind = {"text_of_async": "async", "text_of_posted": "async", "text_of_line": "a line of a pipeline",
            "text_of_resumption": "a coroutine", "text_of_fork": "a forked task"}
    word = next((k for d, k in kind.items() if d in what), "a task")
    called = callable_in(begun)
    return word + (f" {name}" if name else f" ({called})" if called else "")


def task_on(fiber):
    """What runs, or has parked, on a fiber."""
    running = load(fiber["running"])
    if int(running) != 0:
        return describe(running)
    return "a forked task" if int(fiber["stolen"]) != 0 else "a task"


# ---- waits ----


class Wait:
    """A task, coroutine or thread that waits. Only tasks that have parked have a number and a stack."""

    number = None
    fiber = None
    record = None  # the task of a graph that waits
    end = awaited = owner = limiter = 0  # addresses
    releases = ()

    def __init__(self, who, what, since):
        self.who, self.what, self.since = who, what, since

    def line(self, newest):
        number = f"{self.number:>4}" if self.number else "   -"
        return f"  {number}  {self.who} {self.what}{waited(self.since, newest)}"


def waited(since, newest):
    """How long a wait has lasted: by the clock, if the process is on this machine; otherwise by the newest wait."""
    if since == 0:
        return ""
    live = is_live()
    seconds = max(0, (time.clock_gettime_ns(time.CLOCK_MONOTONIC) if live else newest) - since) / 1e9
    if not live and seconds < 0.01:
        return ""
    return f" (for {seconds:.1f} s{'' if live else ' or more'})"


def is_live():
    connection = getattr(gdb.selected_inferior(), "connection", None)
    return connection is not None and connection.type == "native"


def memory_of(fiber):
    """The lowest address of a fiber's stack, and its size."""
    stack = fiber["fiber_context_"]["memory_"]
    return int(stack["base_"]) + int(stack["guard_"]), int(stack["usable_"])


def has_in_memory(fiber, address):
    bottom, size = memory_of(fiber)
    return bottom <= address < bottom + size


def parked(fiber):
    """The wait of a fiber; null: it waits for nothing."""
    note = fiber["note"]
    what = load(note["what_"])
    if int(what) == 0:
        return None
    kind, name, awaited = enumerator(load(note["kind_"])), noted(note["task_"]), noted(note["awaited_"])
    running = load(fiber["running"])
    who = task_on(fiber)
    if name and record_of(running) is None:
        who = name if kind == "other" else f"{kind} {name}"
    w = Wait(who, f"waits for {c_text(what)}{' ' if awaited else ''}{awaited}", int(load(note["since_"])))
    w.fiber = fiber
    w.end, w.awaited = int(load(note["from_"])), int(load(note["to_"]))
    if int(note["owner_"]) != 0:
        word = int(load(note["owner_"].dereference()))
        w.owner = 0 if word & 2 else word & ~3
    w.record = record_of(running)
    return w


def thread_of_note(note):
    """Notes of threads lie on the threads' stacks."""
    t = thread_with(int(note))
    return f"thread {t.num}" if t is not None else "a thread outside"


def from_note(note):
    """The wait that an outside_note tells of."""
    text, since = symbol(note["text"]), int(note["since"])
    if "event_text" in text:
        event = note.cast(pointer("detail::event_part"))
        name, graph, _ = task_of(event["at"])
        w = Wait(f"event {name} {of_graph(graph)}", "waits to be fulfilled", since)
        w.record = event["at"]
    elif "text_of_limited" in text:
        limited = note.cast(pointer("detail::limited_task"))
        name, graph, _ = task_of(limited["resume"]["task"])
        limiter = load(limited["waits_for"])
        what = "waits for a limiter"
        if int(limiter) != 0:
            free, most = int(limiter["permits_"]["free_"]), int(limiter["permits_"]["most_"])
            what += f" of {most}, of which {free} are free"
        w = Wait(f"task {name} {of_graph(graph)}", what, since)
        w.record = limited["resume"]["task"]
        w.limiter = int(limiter)
        # It takes them in the order of addresses, and holds those before the one that it waits for.
        lacks = {int(a["from"]) for a in items(limited["acquires"]) if int(a["from"]) >= int(limiter)}
        w.releases = {int(a["from"]) for a in items(limited["releases"])} - lacks
    elif "line_awaiter_base" in text:
        why = note.cast(pointer("detail::line_awaiter_base::note"))["why"]
        name = c_text(why["name"])
        w = Wait("a coroutine", f"waits for {c_text(why['what'])}{' ' if name else ''}{name}", since)
        if int(why["owner"]) != 0:
            w.owner = int(load(why["owner"].dereference())) & ~3
    elif "noted_thread" in text:
        thread = note.cast(pointer("detail::noted_thread"))
        name = noted(thread["name_"])
        w = Wait(thread_of_note(note), f"waits for {c_text(thread['what_'])}{' ' if name else ''}{name}", since)
    elif "noted_flow_wait" in text:
        window = int(note.cast(pointer("detail::noted_flow_wait"))["window"])
        w = Wait(thread_of_note(note), f"waits until half of the {window} tasks in a flow's window have ended", since)
    else:
        w = Wait("something", "waits", since)
    return w


def notes_in(notes):
    for note in chain(notes["first_"], lambda n: n["next"]):
        yield from_note(note)


def threads_that_wait():
    try:
        all_of_them = gdb.parse_and_eval("&'heist::detail::threads_that_wait()::all'")
    except gdb.error:
        return []
    return list(notes_in(as_pointer(all_of_them, "detail::outside_waits")))


class Waits:
    """All that waits, by executor."""

    def __init__(self, all_executors):
        self.by_executor, self.outside, self.failed = {}, [], []
        self.stacks = []  # of all fibers, as (lowest address, size, fiber, wait or null)
        number = 0
        for ex in all_executors:
            found = self.by_executor[ex.number] = []
            try:
                for f in ex.fibers():
                    w = parked(f)
                    self.stacks.append((*memory_of(f), f, w))
                    if w is not None:
                        number += 1
                        w.number = number
                        found.append(w)
                found.extend(notes_in(ex.core["outside"]))
            except Exception as e:  # the others can perhaps be read
                self.failed.append(f"{ex} cannot be read to the end: {e}")
        try:
            self.outside = threads_that_wait()
        except Exception as e:  # as above
            self.failed.append(f"the threads that wait cannot be read: {e}")
        self.all = [w for found in self.by_executor.values() for w in found] + self.outside
        self.newest = max((w.since for w in self.all), default=0)
        self.stacks.sort(key=lambda s: s[0])
        self.bottoms = [s[0] for s in self.stacks]
        self.by_end, self.by_limiter = {}, {}
        for w in self.all:
            if w.end:
                self.by_end.setdefault(w.end, []).append(w)
            for limiter in w.releases:
                self.by_limiter.setdefault(limiter, []).append(w)
        for w in self.all:
            if w.owner:
                w.what += ", held by " + self.holder(w.owner)
            ends = [str(o.number) for o in self.by_end.get(w.awaited, ()) if o.number]
            if ends:
                more = " and others" if len(ends) > 5 else ""
                w.what += f", to be ended by parked task{'s' if len(ends) > 1 else ''} {', '.join(ends[:5])}{more}"

    def holder(self, owner):
        if owner == 4:  # owned_by_coroutine
            return "a coroutine"
        stack = self.stack_with(owner)
        if stack is None:
            t = thread_with(owner)
            return f"thread {t.num}" if t is not None else "another stack"
        if stack[3] is not None:
            return f"parked task {stack[3].number}"
        w = stack[2]["worker"]
        return f"what runs on worker {int(w['number'])}" if int(w) != 0 else "a task"

    def stack_with(self, address):
        at = bisect.bisect_right(self.bottoms, address) - 1
        return self.stacks[at] if at >= 0 and address < sum(self.stacks[at][:2]) else None

    def targets(self, w):
        """Those that have to go on before `w` can."""
        stack = self.stack_with(w.owner) if w.owner > 4 else None
        by = [stack[3]] if stack is not None and stack[3] is not None else []
        return by + self.by_end.get(w.awaited, []) + [o for o in self.by_limiter.get(w.limiter, ()) if o is not w]

    def circles(self):
        """Those that wait for each other, one circle after the other. No wait is in two of them."""
        done, found = set(), []
        for root in self.all:
            way, rest = [root], [self.targets(root)]
            while way and id(way[-1]) not in done:
                if not rest[-1]:
                    done.add(id(way.pop()))
                    rest.pop()
                    continue
                following = rest[-1].pop()
                if following in way:
                    found.append(way[way.index(following):])
                    done.update(id(w) for w in way)
                    break
                if id(following) not in done:
                    way.append(following)
                    rest.append(self.targets(following))
        return found

    def numbered(self, number):
        for w in self.all:
            if w.number == number:
                return w
        return None


def queued(ex):
    """What is in the queues of an executor, as (where, runnable)."""
    def lane(injector):
        yield from chain(load(injector["line_"]), lambda n: n["next"])
        yield from reversed(list(chain(load(injector["arrived_"]), lambda n: n["next"])))

    for w in ex.workers():
        deque = w["deque"]
        top, bottom = int(load(deque["top_"])), int(load(deque["bottom_"]))
        if bottom - top > MOST_LINKS:
            raise Unreadable("a deque is corrupted")
        ring = load(deque["ring_"])
        slots, mask = owned(ring["slots"]), int(ring["mask"])
        for i in range(top, bottom):
            yield f"worker {int(w['number'])}", load(slots[i & mask])
        for r in lane(w["own_fibers"]):
            yield f"worker {int(w['number'])} only", r
        for r in lane(w["mailbox"]):
            yield f"worker {int(w['number'])} first", r
    for name in ("high_", "normal_", "low_"):
        for r in lane(ex.core["requests"][name]):
            yield "any worker", r


# ---- stacks ----


def saved_place(fiber):
    """The registers with which a fiber that has been left resumes. Only x86-64 is known."""
    arch = gdb.selected_frame().architecture().name()
    if not arch.startswith("i386:x86-64"):
        raise Unreadable(f"backtraces of parked tasks are not supported on {arch} yet")
    context = fiber["fiber_context_"]
    bottom, size = memory_of(fiber)
    names = [f.name for f in context.type.strip_typedefs().fields()]
    if "where_" in names:
        where = context["where_"]
        place = {"rsp": int(where["sp"]), "rip": int(where["ip"]), "rbp": int(where["bp"]), "rbx": int(where["base"])}
    else:  # Boost.Context: jump_fcontext has pushed them
        sp = int(context["context_"])
        words = struct.unpack("<9Q", bytes(gdb.selected_inferior().read_memory(sp, 72)))
        # Some builds of Boost keep the stack protector's word behind the control words.
        shift = 0 if gdb.execute(f"info symbol {words[7]:#x}", to_string=True).find("No symbol") < 0 else 1
        registers = ("r12", "r13", "r14", "r15", "rbx", "rbp", "rip")
        place = {r: words[1 + shift + i] for i, r in enumerate(registers)}
        place["rsp"] = sp + 64 + 8 * shift
    if not any(bytes(gdb.selected_inferior().read_memory(min(place["rsp"], bottom + size - 512), 512))):
        raise Unreadable("the task's stack is not in the core file; gdb's generate-core-file leaves out stacks with guard "
                         "pages, and core files of the kernel have them")
    if place["rip"] == 0 or not bottom <= place["rsp"] <= bottom + size:
        raise Unreadable("the task's saved registers do not fit its stack, so it runs, or the memory is corrupted")
    if "where_" in names:
        # gdb looks for a caller one byte before its address. There is the jump, at which no caller can be told.
        place["rip"] += 1
    return place


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class FiberUnwinder(gdb.unwinder.Unwinder):
    """While a fiber is shown, the newest frame of the selected thread is called by that fiber's newest frame. So no
    register is written, and a core file will do."""

    def __init__(self):
        super().__init__("heist-fibers")
        self.place = None
        self.at = None

    def __call__(self, pending):
        if self.place is None:
            return None
        try:
            sp, pc = pending.read_register("rsp"), pending.read_register("rip")
            if (int(sp), int(pc)) != self.at:
                return None
            info = pending.create_unwind_info(FrameId(gdb.Value(self.place["rsp"] - 16).cast(sp.type), pc))
            for name, value in self.place.items():
                like = pending.read_register(name)
                info.add_saved_register(name, gdb.Value(value).cast(like.type))
            return info
        except Exception:  # gdb unwinds by itself
            return None

    def show(self, place, act):
        """Calls act(frame), where `frame` is the newest one of the fiber."""
        before = gdb.selected_frame()
        level = before.level() if hasattr(before, "level") else 0
        newest = gdb.newest_frame()
        while newest.type() == gdb.INLINE_FRAME:
            newest = newest.older()
        self.at = (int(newest.read_register("rsp")), int(newest.read_register("rip")))
        try:
            self.place = place
            gdb.invalidate_cached_frames()
            frame = gdb.newest_frame()
            while frame is not None and (int(frame.read_register("rsp")), int(frame.read_register("rip"))) == self.at:
                frame = frame.older()
            if frame is None:
                raise Unreadable("gdb cannot follow the task's stack")
            frame.select()
            return act(frame)
        finally:
            self.place = None
            gdb.invalidate_cached_frames()
            try:
                gdb.execute(f"frame {level}", to_string=True)
            except gdb.error:
                pass


unwinder = FiberUnwinder()


def on_stack_of(number, act):
    """Calls act() where the stack of parked task `number` is the selected one."""
    w = Waits(executors()).numbered(number)
    if w is None:
        raise Unreadable(f"there is no parked task {number}; 'info heist tasks' lists those that there are")
    for t in threads():
        if has_in_memory(w.fiber, stack_pointer(t)):  # a blocking call keeps its thread
            before = gdb.selected_thread()
            try:
                t.switch()
                return w, act(gdb.newest_frame())
            finally:
                before.switch()
    return w, unwinder.show(saved_place(w.fiber), act)


# ---- graphs ----


def known_graphs(all_executors, waits):
    """Those that run, as far as something on a fiber, in a queue or in a line belongs to them; by address."""
    found = {}

    def add(graph):
        if int(graph) == 0 or int(graph) in found:
            return
        found[int(graph)] = graph.dereference()
        for part in items(graph["parts"]):
            add(part["graph"]["graph_"])
        if int(graph["current"]) != 0 and int(graph["current"]["outer"]) != 0:
            add(graph["current"]["outer"]["graph"])

    for ex in all_executors:
        for f in ex.fibers():
            record = record_of(load(f["running"])) if is_used(f) else None
            if record is not None:
                add(record["graph"])
        for _, r in queued(ex):
            record = record_of(r)
            if record is not None:
                add(record["graph"])
    for w in waits.all:
        if w.record is not None:
            add(w.record["graph"])
    return found


def is_used(fiber):
    """Has a worker begun something on it that has not ended?"""
    if int(load(fiber["note"]["what_"])) != 0:
        return True
    w = fiber["worker"]
    return int(w) != 0 and is_active(w) and int(load(w["current"])) == int(fiber.address)


def is_active(worker):
    """Does it run a task? Otherwise what its fiber has run last is no more."""
    return c_text(load(worker["state"])) == "active" and int(load(worker["current"])) != 0


def states_of(graph, all_executors, waits):
    """The state of each task of a graph by its index, as a text."""
    count = int(graph["record_count"])
    if count > MOST_LINKS:
        raise Unreadable("the graph is corrupted")
    current = graph["current"]
    active = {}  # by position
    first = int(graph["records"])
    size = type_of("detail::record").sizeof

    def position(record):
        return (int(record) - first) // size

    for ex in all_executors:
        for w in ex.workers():
            record = record_of(load(load(w["current"])["running"])) if is_active(w) else None
            if record is not None and int(record["graph"]) == int(graph.address):
                active[position(record)] = f"runs on worker {int(w['number'])} of {ex}"
        for _, r in queued(ex):
            record = record_of(r)
            if record is not None and int(record["graph"]) == int(graph.address):
                active[position(record)] = "is ready"
    for w in waits.all:
        if w.record is not None and int(w.record["graph"]) == int(graph.address):
            active[position(w.record)] = w.what + (f" (parked task {w.number})" if w.number else "")
    for part in items(graph["parts"]):
        inner = part["graph"]["graph_"]
        if int(inner["current"]) != 0 and int(inner["current"]["outer"]) != 0:
            outer = inner["current"]["outer"]
            if int(outer["graph"]) == int(graph.address):
                active[position(outer)] = f"runs the graph {text_of(inner['title'])}"

    names = []
    before = [[] for _ in range(count)]
    for i in range(count):
        record = graph["records"] + i
        names.append((int(record["what"].cast(pointer("detail::node"))["index"]), task_of(record)[0]))
        for s in range(int(record["first_successor"]), int((record + 1)["first_successor"])):
            before[int(graph["successors"][s]["bits_"]) & 0x7FFFFFFF].append(i)
    running = bool(load(graph["running"])) and int(current) != 0
    chosen = bool(graph["counts_tokens"])
    states = {}
    pending = set(active)
    changed = running and not chosen
    while changed:  # what comes after something that has not ended has not begun
        changed = False
        for i in range(count):
            if i not in pending and any(p in pending for p in before[i]):
                pending.add(i)
                changed = True
    for i in range(count):
        left = sum(p in pending for p in before[i])
        if i in active:
            text = active[i]
        elif not running:
            text = "does not run"
        elif chosen:
            text = "is not ready"
        elif left:
            of = f" of its {len(before[i])}" if len(before[i]) != left else ""
            text = f"waits for {left}{of} predecessor{'s' if len(before[i]) > 1 else ''}"
        else:
            text = "done"
        states[names[i][0]] = (names[i][1], text)
    return [states[i] for i in sorted(states)]


# ---- commands ----


def guarded(function):
    """Whatever the memory holds: one sentence instead of a traceback."""
    def call(self, argument, from_tty):
        for kept in (stack_pointers, known_symbols, names_of_graphs):
            kept.clear()
        try:
            function(self, argument, from_tty)
        except Unreadable as e:
            print(f"heist: {e}.")
        except gdb.MemoryError as e:
            print(f"heist: the memory cannot be read ({e}); it is not initialised yet, or corrupted.")
        except Exception as e:
            why = str(e).strip().rstrip(".")
            print(f"heist: this cannot be shown ({why}); the memory is corrupted, or heist is of another version.")
    call.__doc__ = function.__doc__
    return call


def activity_of(worker):
    state = c_text(load(worker["state"]))
    if state != "active":
        return {"searching": "searches", "asleep": "sleeps", "awake": "wakes up"}.get(state, state)
    f = load(worker["current"])
    if int(f) == 0:
        return "starts"
    running = load(f["running"])
    if int(running) == 0 and int(f["stolen"]) == 0:
        return "is active"
    return "runs " + task_on(f.dereference())


def print_lines(lines, what):
    for i, line in enumerate(lines):
        if i == MOST:
            print(f"  and more {what}")
            break
        print(line)


class InfoHeist(gdb.Command):
    """Executors of heist, and what each worker does.
info heist tasks: the tasks that wait, and queued tasks.
info heist graph [NAME]: the state of each task of a graph."""

    def __init__(self):
        super().__init__("info heist", gdb.COMMAND_STATUS, prefix=True)

    @guarded
    def invoke(self, argument, from_tty):
        found = executors()
        if not found:
            print("There is no executor.")
        waits = Waits(found)
        for ex in found:
            print(f"{ex}: {ex.policy()}, {counted(int(ex.core['worker_count']), 'worker')}, at {ex.address:#x}")
            try:
                for w in ex.workers():
                    print(f"  worker {int(w['number'])} ({thread_name(int(load(w['thread'])))}): {activity_of(w)}")
                of_it = waits.by_executor[ex.number]
                tasks = sum(w.number is not None for w in of_it)
                other, waiting = len(of_it) - tasks, sum(1 for _ in queued(ex))
                print(f"  {tasks} parked, {counted(other, 'other wait')}, {waiting} queued")
            except Exception as e:
                print(f"  cannot be read to the end: {e}")
        for w in waits.outside:
            print(w.who, w.what + waited(w.since, waits.newest))


class InfoHeistTasks(gdb.Command):
    """Tasks of heist that wait, with their numbers, and queued tasks."""

    def __init__(self):
        super().__init__("info heist tasks", gdb.COMMAND_STATUS)

    @guarded
    def invoke(self, argument, from_tty):
        found = executors()
        waits = Waits(found)
        for ex in found:
            print(f"{ex}:")
            print_lines([w.line(waits.newest) for w in waits.by_executor[ex.number]], "waits")
            try:
                print_lines((f"        queued for {where}: {describe(r)}" for where, r in queued(ex)), "queued tasks")
            except Exception as e:
                print(f"  its queues cannot be read to the end: {e}")
        if waits.outside:
            print("threads outside of all executors:")
            print_lines([w.line(waits.newest) for w in waits.outside], "threads")
        for sentence in waits.failed:
            print(f"heist: {sentence}")
        for circle in waits.circles():
            names = ", ".join(f"{w.number} ({w.who})" if w.number else w.who for w in circle)
            print(f"These wait for each other in a circle, and none of them will ever end: {names}")


class InfoHeistGraph(gdb.Command):
    """The state of each task of a graph of heist: info heist graph NAME
NAME is the graph's name, or an expression that is a heist::task_graph. Without NAME: the known graphs."""

    def __init__(self):
        super().__init__("info heist graph", gdb.COMMAND_STATUS)

    @guarded
    def invoke(self, argument, from_tty):
        name = argument.strip()
        found = executors()
        waits = Waits(found)
        graphs = known_graphs(found, waits)
        if not name:
            for g in graphs.values():
                print(graph_text(g))
            if not graphs:
                print("No graph is known that runs.")
            return
        chosen = [g for g in graphs.values() if text_of(g["title"]) == name]
        if not chosen:
            try:
                value = gdb.parse_and_eval(name)
                if value.type.strip_typedefs().code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
                    value = value.referenced_value()
                chosen = [value["data_"]["graph_"].dereference()]
            except gdb.error:
                raise Unreadable(f"no graph named {name} is known to run; 'info heist graph' lists those that are") from None
        for g in chosen:
            states = states_of(g, found, waits)
            print(f"{graph_text(g)}:")
            width = min(40, max((len(n) for n, _ in states), default=0))
            open_ones = [s for s in states if s[1] != "done"] if len(states) > MOST else states
            print_lines([f"  {n:<{width}}  {text}" for n, text in open_ones], "tasks")
            done = sum(text == "done" for _, text in states)
            if not load(g["running"]):
                print("  no run is in progress")
            elif not g["counts_tokens"]:
                print(f"  {done} of {len(states)} tasks have ended")


class Heist(gdb.Command):
    """Stacks of parked tasks of heist: heist bt N, heist apply N COMMAND."""

    def __init__(self):
        super().__init__("heist", gdb.COMMAND_STACK, prefix=True)


class HeistBacktrace(gdb.Command):
    """The backtrace of a parked task: heist bt N [all] [ARGS]
N is its number in 'info heist tasks', ARGS are those of the command backtrace. With 'all' it has the frames of heist,
too. Frames have the numbers that 'heist apply N frame apply level NUMBER COMMAND' takes."""

    def __init__(self):
        super().__init__("heist bt", gdb.COMMAND_STACK)

    @guarded
    def invoke(self, argument, from_tty):
        number, arguments = number_in(argument, "heist bt N")
        all_of_them = arguments.startswith("all")
        arguments = arguments[3:] if all_of_them else arguments

        def act(frame):
            text = gdb.execute("backtrace " + arguments, to_string=True)
            return frames_in(text, frame.level() if hasattr(frame, "level") else 1)

        w, frames = on_stack_of(number, act)
        print(f"parked task {number}: {w.who} {w.what}")
        left_out = 0
        for frame in frames:
            if not all_of_them and is_of_heist(frame):
                left_out += 1
                continue
            print_left_out(left_out)
            left_out = 0
            print(frame)
        print_left_out(left_out)


def frames_in(text, first):
    """The frames of a printed backtrace from number `first` on, without the base of the stack."""
    frames = []
    for line in text.splitlines():
        level = re.match(r"#(\d+) ", line)
        if level is not None:
            frames.append((int(level[1]), line))
        elif frames and not line.startswith("Backtrace stopped"):
            frames[-1] = (frames[-1][0], frames[-1][1] + "\n" + line)
    return [t for n, t in frames if n >= first and not re.search(r"^#\d+ +0x0+ in \?\?", t)]


def is_of_heist(frame):
    """Is it a frame of heist or of the standard library that users do not know? The names that they know stay."""
    head = frame.split("\n")[0]
    if re.match(r"#\d+ +(0x[0-9a-f]+ in )?heist::(?!detail\b)[\w:]+ \(", head):
        return False
    return "make_fcontext ()" in head or re.search(r" at (\S*/)?(heist/\w+/\w+\.[hi]pp|c\+\+/\S*):\d+$", head) is not None


def print_left_out(count):
    if count:
        print(f"    ({counted(count, 'frame')} of heist)")


class HeistApply(gdb.Command):
    """Runs a gdb command on the stack of a parked task: heist apply N COMMAND
For the locals of frame 7: heist apply 1 frame apply level 7 info locals"""

    def __init__(self):
        super().__init__("heist apply", gdb.COMMAND_STACK)

    @guarded
    def invoke(self, argument, from_tty):
        number, command = number_in(argument, "heist apply N COMMAND")
        if not command:
            raise Unreadable("heist apply N COMMAND needs a command")

        def act(frame):
            try:
                return gdb.execute(command, to_string=True)
            except gdb.error as e:
                raise Unreadable(f"'{command}' fails: {str(e).strip().rstrip('.')}") from None

        _, text = on_stack_of(number, act)
        print(text, end="")


def number_in(argument, usage):
    first, _, rest = argument.strip().partition(" ")
    if not first.isdigit():
        raise Unreadable(f"{usage} needs the number of a parked task, which 'info heist tasks' shows")
    return int(first), rest.strip()


# ---- pretty-printers ----


def graph_text(g):
    title = text_of(g["title"])
    count = sum(1 for _ in items(g["nodes"])) - int(g["erased"])
    edges = sum(1 for _ in items(g["edges"]))
    state = "runs" if load(g["running"]) else "does not run"
    return f"graph {title or 'without a name'}, {counted(count, 'task')}, {counted(edges, 'edge')}, {state}"


def counted(count, what):
    return f"{count} {what}{'s' if count != 1 else ''}"


def show_future(v):
    state = v["state_"]
    if int(state) == 0:
        return "refers to nothing"
    if int(load(state["finished"]["head_"])) != 1:
        return "not ready"
    failed = state["exception"].address.reinterpret_cast(gdb.lookup_type("unsigned long").pointer()).dereference()
    if int(failed) != 0:
        return "has an exception"
    result = state["result"]
    try:
        return f"ready, value {result['value_'].format_string()}" if bool(result["full_"]) else "ready, value taken"
    except gdb.error:
        return "ready"


def show_task(v):
    graph = v["graph_"]
    if int(graph) == 0:
        return "refers to nothing"
    return f"{name_in_graph(graph, int(v['index_']))} {of_graph(text_of(graph['title']))}"


def show_graph(v):
    graph = v["data_"]["graph_"]
    return graph_text(graph) if int(graph) != 0 else "moved from"


def show_run(v):
    state = v["state_"]
    if int(state) == 0:
        return "refers to nothing"
    title = state["title"].string(errors="replace").split("\0")[0]
    text = "has ended" if int(load(state["finished"]["head_"])) == 1 else "in progress or in line"
    why = int(load(state["interrupt"]["why"]))
    failed, stopped = bool(why & 1), bool(why & 2)
    return f"run {of_graph(title)}, {text}{', failed' if failed else ''}{', stopped' if stopped else ''}"


def show_executor(v):
    core = v["scheduler_"].cast(type_of("detail::core"))
    ex = Executor(0, core)
    return f"executor, {ex.policy()}, {counted(int(core['worker_count']), 'worker')}"


class Printer:
    def __init__(self, value, show):
        self.value, self.show = value, show

    def to_string(self):
        names_of_graphs.clear()
        known_symbols.clear()
        try:
            return self.show(self.value)
        except Exception as e:  # gdb would print a traceback
            return f"<cannot be read: {str(e).strip()}>"


def printers():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("heist")
    for name, pattern, show in (
            ("future", r"^heist::(shared_)?future<.*>$", show_future),
            ("task", r"^heist::(task|event)<.*>$", show_task),
            ("task_graph", r"^heist::task_graph$", show_graph),
            ("graph_run", r"^heist::graph_run$", show_run),
            ("executor", r"^heist::executor<.*>$", show_executor)):
        collection.add_printer(name, pattern, lambda v, show=show: Printer(v, show))
    return collection


for command in (InfoHeist, InfoHeistTasks, InfoHeistGraph, Heist, HeistBacktrace, HeistApply):
    command()
gdb.printing.register_pretty_printer(None, printers(), replace=True)
gdb.unwinder.register_unwinder(None, unwinder, replace=True)
