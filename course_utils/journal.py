"""What the learner has tried and passed, kept beside the notebook so that it survives a restart of the kernel."""

import json
import os
from pathlib import Path

from course_utils.files import write_whole

FILE = ".course_progress.json"
PASSED, FAILED = "passed", "failed"


def read():
    """Return ({exercise: {"passed": bool, "newest": "passed" or "failed"}}, note).

    A broken file is set aside under .bak, and the note says so; else the note is "".
    """
    path = Path(FILE)
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["exercises"]
        return {name: {"passed": bool(entry["passed"]), "newest": entry["newest"]} for name, entry in entries.items()}, ""
    except FileNotFoundError:
        return {}, ""
    except OSError as error:
        return {}, f"{FILE} can't be read: {error.strerror}"
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}, _set_aside(path)


def record(name, passed):
    """Note that an exercise passed or failed its public checks. Returns a note for the learner, or ""."""
    entries, note = read()
    before = entries.get(name, {}).get("passed", False)
    entries[name] = {"passed": passed or before, "newest": PASSED if passed else FAILED}
    text = json.dumps({"schema": 1, "exercises": entries}, indent=1) + "\n"
    try:
        write_whole(Path(FILE), text)
    except OSError as error:
        return f"progress is not saved: {FILE} can't be written ({error.strerror})"
    return note


def _set_aside(path):
    try:
        os.replace(path, path.with_name(f"{FILE}.bak"))
    except OSError as error:
        return f"{FILE} is damaged and can't be moved ({error.strerror}): progress starts anew"
    return f"{FILE} was damaged: progress starts anew, the old file is kept as {FILE}.bak"
