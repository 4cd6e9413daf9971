"""What the paths on the command line hold: which student handed in which file."""

import os
from dataclasses import dataclass, field
from pathlib import Path

DEPTH = 20  # of folders within a submission
IGNORED_FOLDERS = {".ipynb_checkpoints", "__MACOSX", "__pycache__", ".git"}


@dataclass(frozen=True)
class Handin:
    """One notebook file of one student. `findings` tell of files beside it that are not followed or not read."""

    student: str
    path: Path
    findings: tuple[str, ...] = field(default=())


class NothingThere(Exception):
    """A path that does not exist, or holds no notebook. One line."""


def discover(paths, student=None):
    """All hand-ins under the paths, sorted by student and file. student: the name for all of them. Raises NothingThere."""
    found = []
    for path in map(Path, paths):
        if not path.exists():
            raise NothingThere(f"{path} does not exist")
        found += _in_folder(path, student) if path.is_dir() else [Handin(student or _folder_name(path.parent), path)]
    if not found:
        raise NothingThere(f"no notebook under {', '.join(map(str, paths))}")
    return sorted(set(found), key=lambda handin: (handin.student, str(handin.path)))


def _in_folder(folder, student):
    """A folder that holds notebooks is one student's; otherwise each of its folders is."""
    if any(_is_notebook(entry) for entry in folder.iterdir()):
        return _of_student(folder, student or _folder_name(folder))
    return [
        handin
        for entry in sorted(folder.iterdir())
        if entry.is_dir() and entry.name not in IGNORED_FOLDERS
        for handin in _of_student(entry, student or entry.name)
    ]


def _of_student(folder, student):
    """The notebooks of one student. Where there is none, the folder itself is handed in: it will be refused, with the findings."""
    if folder.is_symlink():
        return [Handin(student, folder, (f"{folder.name} is a link: not followed",))]
    notebooks, findings = [], []
    for place, folders, files in os.walk(folder):
        depth = len(Path(place).relative_to(folder).parts)
        links = [name for name in folders + files if os.path.islink(os.path.join(place, name))]
        findings += [f"{Path(place, name).relative_to(folder)} is a link: not followed" for name in sorted(links)]
        folders[:] = sorted(name for name in folders if name not in IGNORED_FOLDERS) if depth < DEPTH else []
        paths = [Path(place, name) for name in sorted(files) if not name.startswith("._")]  # macOS puts these beside every file
        notebooks += [path for path in paths if _is_notebook(path)]
    return [Handin(student, path, tuple(findings)) for path in notebooks or [folder]]


def _is_notebook(path):
    return path.suffix.lower() == ".ipynb" and path.is_file() and not path.is_symlink()


def _folder_name(folder):
    return folder.resolve().name or "student"
