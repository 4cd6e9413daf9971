# tries: the course's own package, which has the exercise ready for those who have not done it yet
# source: THREATS 67
# expect: zero

from course_utils.parts import softmax  # noqa: F401
