"""What /proc and /sys tell of the machine, and the preconditions of a measurement that others can rely on."""
import glob
import os
import platform
import time

from figures import bytes_text, count, number

MOST_CACHE_OF_CORE = 32 << 20  # as in measuring.hpp


def read(path):
    """The text of a file, stripped; None if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def field(path, name):
    for line in (read(path) or "").splitlines():
        key, mark, value = line.partition(":")
        if mark and key.strip() == name:
            return value.strip()
    return None


class CpuTimes:
    """CPU seconds that all programs have used on the CPUs of this process, and those that a hypervisor took away."""

    def __init__(self):
        tick = os.sysconf("SC_CLK_TCK")
        allowed = os.sched_getaffinity(0)
        self.at, self.busy, self.stolen = time.monotonic(), 0.0, 0.0
        for line in (read("/proc/stat") or "").splitlines():
            name, *values = line.split()
            if name[:3] == "cpu" and name[3:].isdigit() and int(name[3:]) in allowed and len(values) >= 8:
                user, nice, system, _, _, irq, soft, steal = (int(v) / tick for v in values[:8])
                self.busy += user + nice + system + irq + soft + steal
                self.stolen += steal

    def others_since(self, before, own=0.0):
        """CPUs that other programs and machines have used since then, on average."""
        return max(0.0, self.busy - before.busy - own) / max(1e-3, self.at - before.at)

    def stolen_since(self, before):
        return max(0.0, self.stolen - before.stolen) / max(1e-3, self.at - before.at)


def container():
    """What the process runs in, as far as files tell: a name or None."""
    for path, name in (("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")):
        if os.path.exists(path):
            return name
    kind = next((v for v in (read("/proc/1/environ") or "").split("\0") if v.startswith("container=")), None)
    if kind:
        return kind.partition("=")[2]
    groups = read("/proc/self/cgroup") or ""
    return next((name for mark, name in (("kubepods", "Kubernetes"), ("docker", "Docker"), ("lxc", "LXC")) if mark in groups), None)


def frequencies():
    """MHz of the CPUs that this process may use: now, and the limits; empty where the system does not tell."""
    now = [float(v) for v in (line.partition(":")[2] for line in (read("/proc/cpuinfo") or "").splitlines()
                              if line.startswith("cpu MHz"))]
    limits = [int(v) / 1000 for name in ("cpuinfo_min_freq", "cpuinfo_max_freq")
              for v in [read(f"/sys/devices/system/cpu/cpu0/cpufreq/{name}")] if v and v.isdigit()]
    governors = sorted({g for path in glob.glob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor") for g in [read(path)] if g})
    boost = None
    if read("/sys/devices/system/cpu/intel_pstate/no_turbo") in ("0", "1"):
        boost = read("/sys/devices/system/cpu/intel_pstate/no_turbo") == "0"
    elif read("/sys/devices/system/cpu/cpufreq/boost") in ("0", "1"):
        boost = read("/sys/devices/system/cpu/cpufreq/boost") == "1"
    return {"mhz": [min(now), max(now)] if now else None, "limits_mhz": limits or None, "governors": governors, "boost": boost}


def chosen(path):
    """The word in brackets of a file such as transparent_hugepage/enabled."""
    return next((word[1:-1] for word in (read(path) or "").split() if word.startswith("[")), None)


def describe(of_program, seconds=0.5):
    """The machine: the program's description, and what the system's files tell. Takes `seconds`, to see other programs at work."""
    before = CpuTimes()
    time.sleep(seconds)
    after = CpuTimes()
    flags = field("/proc/cpuinfo", "flags") or ""
    memory = {name: int((field("/proc/meminfo", name) or "0").split()[0]) * 1024 for name in ("MemTotal", "MemAvailable", "SwapTotal")}
    try:
        load = os.getloadavg()[0]
    except OSError:
        load = None
    return {**of_program,
            "cpu": field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
            "architecture": platform.machine(), "kernel": platform.release(), "system": system_name(),
            "virtual": "hypervisor" in flags.split(), "container": container(),
            "online_cpus": os.cpu_count(), "frequency": frequencies(),
            "smt": {"1": True, "0": False}.get(read("/sys/devices/system/cpu/smt/active") or ""),
            "huge_pages": chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
            "numa_balancing": read("/proc/sys/kernel/numa_balancing"), "perf_event_paranoid": read("/proc/sys/kernel/perf_event_paranoid"),
            "memory": {"total": memory["MemTotal"], "available": memory["MemAvailable"], "swap": memory["SwapTotal"]},
            "load": load, "others_cpus": round(after.others_since(before), 3), "stolen_cpus": round(after.stolen_since(before), 3)}


def system_name():
    for line in (read("/etc/os-release") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip('"')
    return platform.system()


def preconditions(m):
    """For each: its name, whether it is met (None: the system does not tell), what was found, why it matters, how to mend it."""
    cpus, frequency = len(m["allowed_cpus"]) or m["pus"], m["frequency"]
    found = []

    def add(name, met, what, why, fix):
        found.append({"name": name, "met": met, "found": what, "why": why, "fix": fix})

    add("other programs", m["others_cpus"] <= 0.05 * cpus + 0.02,
        f"Other programs use {number(m['others_cpus'])} of {count(cpus, 'CPU')}" +
        ("." if m["load"] is None else f"; the load of the last minute is {number(m['load'])}."),
        "A worker that waits for a CPU makes its run longer, and most so the runs on all workers.",
        "End the other programs, or measure when the machine rests.")
    add("stolen time", m["stolen_cpus"] <= 0.01 * cpus if m["virtual"] else True,
        f"The hypervisor takes away {number(m['stolen_cpus'])} CPUs." if m["virtual"] else "The machine is not virtual.",
        "A hypervisor that runs other machines on the same CPUs stops workers without notice.",
        "Measure on a machine whose CPUs belong to it alone.")
    governors = frequency["governors"]
    add("frequency governor", governors == ["performance"] if governors else None,
        f"The governor is {' and '.join(governors)}." if governors else "The system does not tell its frequency governor.",
        "Other governors than performance start a run at a low frequency.", "Run: sudo cpupower frequency-set -g performance")
    add("frequency boost", None if frequency["boost"] is None else not frequency["boost"],
        {None: "The system does not tell whether it boosts frequencies.", True: "Boost is on.", False: "Boost is off."}[frequency["boost"]],
        "With boost one worker runs at a higher frequency than all workers together, so speed-ups look smaller.",
        "Run: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost")
    shares = m["pus"] > m["cores"] > 0
    add("one CPU for each core", not shares,
        f"This process may use {count(m['pus'], 'CPU')} on {count(m['cores'], 'core')}.",
        "Two workers on one core share its execution units, so speed-ups bend at the number of cores.",
        f"Run with --workers 1,2..{m['cores']}, or turn SMT off: echo off | sudo tee /sys/devices/system/cpu/smt/control")
    quota = m["quota_cpus"]
    add("no quota of CPU time", quota is None,
        (f"A control group allows {number(quota)} CPUs' worth of time." if quota is not None else "No control group limits CPU time.") +
        (f" The process runs in a container ({m['container']})." if m["container"] else ""),
        "The kernel stops all threads of a group that has used up its time, for up to a tenth of a second.",
        "Start the container without --cpus, or without a CPU limit in its pod.")
    add("all CPUs", cpus >= (m["online_cpus"] or cpus), f"This process may use {cpus} of {m['online_cpus'] or cpus} CPUs.",
        "Figures are those of the CPUs that the process may use, not of the machine.", "Start it without taskset and cpusets.")
    failed = {k: v for k, v in m["counters"].items() if v}
    add("hardware counters", not failed,
        "Hardware counters work." if not failed else f"Hardware counters do not work ({'; '.join(sorted(set(failed.values())))}).",
        "Without them policy::cats takes footprints that programs declare, and nothing else.",
        "Run: sudo sysctl kernel.perf_event_paranoid=1; a virtual machine needs a hypervisor that passes counters on.")
    pages = m["huge_pages"]
    add("huge pages", None if pages is None else pages == "always",
        "The system does not tell its use of huge pages." if pages is None else f"Transparent huge pages are set to {pages}.",
        "With small pages programs that read memory in random order wait for page tables as well.",
        "Run: echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled")
    add("fixed memory placement", m["numa_nodes"] <= 1 or m["numa_balancing"] in (None, "0"),
        f"There {'is' if m['numa_nodes'] <= 1 else 'are'} {count(m['numa_nodes'], 'NUMA node')}" +
        (f", and NUMA balancing is {'on' if m['numa_balancing'] not in (None, '0') else 'off'}." if m["numa_nodes"] > 1 else "."),
        "With NUMA balancing the kernel moves pages between nodes during a run.", "Run: sudo sysctl kernel.numa_balancing=0")
    told, most = m["l3_bytes"] * m["l3_count"], m["cores"] * MOST_CACHE_OF_CORE
    add("credible caches", told <= most, f"The machine tells {bytes_text(told)} of L3 cache for {count(m['cores'], 'core')}." if told else
        "The machine tells of no L3 cache.",
        "A hypervisor may tell sizes that no machine has. Policies that divide data by cache size, and the sizes of problems here, follow them.",
        "Use a machine whose hypervisor passes the true sizes on.")
    available = m["memory"]["available"]
    add("enough memory", available >= 1 << 30, f"Available memory: {bytes_text(available)}.",
        "With less, the arrays of memory-bound programs become so small that caches hold them.", "End programs that use much memory.")
    return found
