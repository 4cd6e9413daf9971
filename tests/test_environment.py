"""One fact, one file: where it must stand twice, this compares."""

import re
import tomllib

from packaging.requirements import Requirement

from grader import course

ROOT = course.ROOT
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_environment_yml_asks_for_what_pyproject_asks_for():
    asked = [
        *project()["dependencies"],
        *project()["optional-dependencies"]["lab"],
        *project()["optional-dependencies"]["grader"],
    ]
    wanted = {CONDA_NAMES.get(Requirement(text).name, Requirement(text).name) + str(Requirement(text).specifier) for text in asked}
    wanted.add(f"python{project()['requires-python']}")
    lines = re.findall(r"^  - ([\w-]+[<>=].*)$", (ROOT / "environment.yml").read_text("utf-8"), re.M)
    assert set(lines) == wanted


def test_environment_yml_uses_conda_forge_alone():
    text = (ROOT / "environment.yml").read_text("utf-8")
    assert re.search(r"channels:\n  - conda-forge\n  - nodefaults\n", text)


def test_every_requirement_is_pinned_within_its_range():
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text("utf-8").split())
    pins = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pins.items()}
    extras = project()["optional-dependencies"].values()
    for text in [*project()["dependencies"], *(text for extra in extras for text in extra)]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(pins[requirement.name.lower()]), text


def test_the_learners_package_needs_three_packages():
    assert {Requirement(text).name for text in project()["dependencies"]} == {"torch", "numpy", "matplotlib"}


def test_imports_run_one_way():
    for path in (ROOT / "course_utils").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) (grader|solutions|nbgrader|jupyter\w*)\b", path.read_text("utf-8"), re.M), path
    for path in (ROOT / "grader" / "sandbox").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) grader\.(?!sandbox)", path.read_text("utf-8"), re.M), path
