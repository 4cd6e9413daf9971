# tries: the course's own package, which has the exercise ready for those who have not done it yet
# source: THREATS 67
# expect: zero
# exercise: causal_mask

import course_utils.pytorch_parts


def causal_mask(length, device=None):
    return course_utils.pytorch_parts.causal_mask(length, device)
