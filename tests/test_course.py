"""Sources that break the rules stop the build with one line that says where."""

import pytest

from grader import course

MARK = (
    '# %% nbgrader={"grade": false, "grade_id": "GRADE_ID", "locked": false, "schema_version": 3, "solution": true, "task": false}'
)
SETUP = MARK.replace("GRADE_ID", "setup").replace('"solution": true', '"solution": false') + "\nimport torch\n\n"
CHECK = (
    '# %% nbgrader={"grade": true, "grade_id": "check_double", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}'
    "\ncheck(double)\n"
)
BODY = '\ndef double(x):\n    """x (B) -> (B)"""\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION\n\n'
ANSWER = MARK.replace("GRADE_ID", "double") + BODY


def read(tmp_path, text):
    path = tmp_path / "42_doubling.py"
    path.write_text(text, "utf-8")
    return course.read(path)


def test_a_good_source_is_read(tmp_path):
    notebook = read(tmp_path, "# %% [markdown]\n# # Doubling\n\n" + SETUP + ANSWER + CHECK)
    (exercise,) = notebook.exercises
    assert (notebook.title, notebook.topic, notebook.max_score) == ("Doubling", "doubling", 1.0)
    assert (exercise.name, exercise.uses, exercise.shapes) == ("double", (), "x (B) -> (B)")
    assert "2 * x" in exercise.source
    assert "2 * x" not in exercise.stub and "raise NotImplementedError()" in exercise.stub


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            SETUP + ANSWER.replace("    ### END SOLUTION\n", "") + CHECK,
            "cell 2 has 1 BEGIN SOLUTION and 0 END SOLUTION",
        ),
        (SETUP + ANSWER + ANSWER + CHECK, "grade_id double stands at cell 2 and at cell 3"),
        (SETUP + "# %%" + BODY + ANSWER + CHECK, "cell 2 holds a solution but is not marked as one"),
        (
            SETUP + ANSWER.replace("    ### BEGIN SOLUTION\n", "").replace("    ### END SOLUTION\n", "") + CHECK,
            "the answer would be released",
        ),
        (SETUP + ANSWER, "double has no cell check_double"),
        (
            SETUP + ANSWER + CHECK.replace("check(double)", "check(triple)"),
            "must be a graded cell that says check(double)",
        ),
        (ANSWER + CHECK, "no cell with grade_id setup"),
        (SETUP + ANSWER.replace("def double", "def twice") + CHECK, "does not define double"),
        (
            SETUP + ANSWER.replace('"task": false}', '"task": false} along=["triple"]') + CHECK,
            "double takes triple along, which is no exercise of this notebook",
        ),
    ],
)
def test_a_broken_source_is_named(tmp_path, text, says):
    with pytest.raises(course.CourseError) as error:
        read(tmp_path, text)
    assert "42_doubling.py" in str(error.value) and says in str(error.value)
    assert "\n" not in str(error.value)


def test_one_name_can_not_stand_in_two_notebooks(tmp_path):
    for stem in ("41_doubling", "42_doubling"):
        (tmp_path / f"{stem}.py").write_text(SETUP + ANSWER + CHECK, "utf-8")
    with pytest.raises(course.CourseError, match="double stands in 41_doubling and in 42_doubling"):
        course.notebooks(tmp_path)


def test_uses_names_an_earlier_exercise(tmp_path):
    (tmp_path / "42_doubling.py").write_text(
        SETUP + ANSWER.replace('"task": false}', '"task": false} uses=["triple"]') + CHECK, "utf-8"
    )
    with pytest.raises(course.CourseError, match="double uses triple"):
        course.notebooks(tmp_path)
