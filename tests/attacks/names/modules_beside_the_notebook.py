# tries: files that Python, pytest or a grader might load from beside the notebook
# source: THREATS 40, 41; REPORTS R17
# expect: full

from attacks.suite import write

EVIL = b"open('/tmp/left_by_an_attack_module', 'w').close()\nraise SystemExit\n"
FILES = ("torch.py", "random.py", "typing.py", "sitecustomize.py", "usercustomize.py", "student.py", "my_transformer.py")


def arrange(folder, notebook):
    write(folder, notebook)
    for name in (*FILES, "conftest.py", "tests/test_all.py", "tests/conftest.py", "course_utils/__init__.py", "grader/__init__.py"):
        write((folder / name).parent, EVIL, name.split("/")[-1])
    write(folder, b"[pytest]\naddopts = --collect-only\n", "pytest.ini")
    write(folder, b'[tool.pytest.ini_options]\naddopts = "-k nothing"\n', "pyproject.toml")
    write(folder, b"import os; os.abort()\n", "evil.pth")
