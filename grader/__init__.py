"""Grades submissions with hidden checks. Run `python -m grader` from the project's root."""
