"""Files beside the notebook: written whole or not at all, with plain words for what goes wrong in them."""

import os
import traceback


def write_whole(path, text):
    """Write text to path so that a crash leaves the old file or the new one, never half of it. Raises OSError."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def explain(error, path=None):
    """One line for an exception: its type, the line of `path` where it arose, and the first line of its message."""
    if isinstance(error, SyntaxError):
        message, line = error.msg, error.lineno
    else:
        message = _message(error)
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno for frame in reversed(frames) if path and frame.filename == str(path)), None)
    place = f" in line {line}" if line and path else ""
    return f"{type(error).__name__}{place}" + (f": {message}" if message else "")


def _message(error):
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        return "(its message can't be shown)"
    return lines[0][:300] if lines else ""
