"""`make bench-thousand`: a large class, killed in the middle with kill -9 and begun again.

Prints the throughput at the start and at the end, the memory of the judge at both, what was graded before the kill, and whether
anything of it was lost or graded twice. Writes docs/benchmarks_thousand.md.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from grader import bank, course, release

NOTEBOOK = "00_start_here"
POLL_SECONDS = 0.5
PAGE = course.ROOT / "docs" / "benchmarks_thousand.md"


def main():
    """Lay out the class, grade it with a kill in the middle, print what was seen."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.thousand", description=__doc__)
    parser.add_argument("--submissions", type=int, default=1000)
    count = parser.parse_args().submissions
    with tempfile.TemporaryDirectory(prefix="thousand-") as folder:
        handed_in, out = Path(folder, "class"), Path(folder, "out")
        lay_out(handed_in, count)
        killed = grade(handed_in, out, stop_after=count // 2)
        before = stored(out)
        finished = grade(handed_in, out)
        after = stored(out)
        marks = json.loads((out / "results.json").read_text("utf-8"))["submissions"]
    kept = sum(after.get(name) == moment for name, moment in before.items())
    faults = sum(each["status"] == "grader_fault" for each in marks)
    later = {name: moment for name, moment in after.items() if name not in before}
    lines = [
        "# A large class",
        "",
        f"{count} submissions of {NOTEBOOK} on one job, killed with kill -9 and begun again. `make bench-thousand` repeats it.",
        "",
        f"Graded before the kill: {len(before)}, of which {len(before) - kept} were graded again.",
        f"Graded in the end: {len(marks)}; lost: {count - len(marks)}; grader faults: {faults}.",
        "",
        "| run | submissions a second, at the start | at the end | MiB of judge and worker, at the start | at the end | at most |",
        "| --- | --- | --- | --- | --- | --- |",
        row("first", killed, before),
        row("second", finished, later),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    PAGE.write_text(text, "utf-8")


def row(title, memory, files):
    """One line of the table. memory: MiB at the start, at the end, at most; files: results and their moments."""
    start, end = throughput(files)
    return f"| {title} | {start:.1f} | {end:.1f} | {memory[0]:.0f} | {memory[1]:.0f} | {memory[2]:.0f} |"


def lay_out(folder, count):
    """`count` submissions: references, right and wrong answers of the banks in turn."""
    notebook = course.notebook(NOTEBOOK)
    pools = {
        each.name: [each.source, *(answer.source for kind in ("right", "wrong") for answer in bank.of_exercise(kind, each))]
        for each in notebook.exercises
    }
    blank = json.dumps(release.node_of(notebook))
    for number in range(count):
        node = json.loads(blank)
        for cell in node["cells"]:
            pool = pools.get(cell["metadata"].get("nbgrader", {}).get("grade_id"))
            cell["source"] = pool[number % len(pool)] + f"\n# student {number}\n" if pool else cell["source"]
        path = folder / f"student {number:04}" / f"{NOTEBOOK}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(node), "utf-8")


def grade(submissions, out, stop_after=None):
    """Run the command, killed after `stop_after` results where given. Returns MiB at the start, at the end, at most."""
    command = [sys.executable, "-m", "grader", "grade", str(submissions), "--out", str(out), "--seed", "1"]
    process = subprocess.Popen(command, cwd=course.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    memory = []
    watcher = threading.Thread(target=watch, args=(process, memory))
    watcher.start()
    while process.poll() is None:
        time.sleep(POLL_SECONDS)
        if stop_after and len(stored(out)) >= stop_after:
            process.send_signal(signal.SIGKILL)
    process.wait()
    watcher.join()
    tenth = max(1, len(memory) // 10)
    return statistics.median(memory[tenth : 3 * tenth]), statistics.median(memory[-tenth:]), max(memory)


def watch(process, memory):
    """Note the memory of the judge and the worker together, in MiB, as long as they run."""
    while process.poll() is None:
        memory.append(sum(map(resident, family(process.pid))) / 2**20)
        time.sleep(POLL_SECONDS)


def family(pid):
    """A process and all that it started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(each for child in children for each in family(int(child)))]


def resident(pid):
    """Bytes of memory that belong to a process alone."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")


def stored(out):
    """The results so far: file names and the moments when they were written."""
    found = {}
    for path in (out / ".graded").glob("*.json") if out.exists() else ():
        if not path.name.startswith("."):
            found[path.name] = path.stat().st_mtime
    return found


def throughput(files):
    """Submissions a second in the first and in the last fifth."""
    moments = sorted(files.values())
    fifth = max(2, len(moments) // 5)
    rates = [(len(part) - 1) / (part[-1] - part[0]) for part in (moments[:fifth], moments[-fifth:])]
    return rates[0], rates[1]


if __name__ == "__main__":
    main()
