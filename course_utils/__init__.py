"""What the course's notebooks import: `from course_utils import check, hint, needs, plots, progress`."""

from course_utils import plots
from course_utils.feedback import check, hint, needs, progress

__all__ = ["check", "hint", "needs", "plots", "progress"]
