# tries: replaces the public checks and the comparison of the course's own package
# source: THREATS 23, 31
# expect: zero

import course_utils.compare

course_utils.compare.close = course_utils.compare._tensors_close = lambda *args, **kwargs: None
course_utils.compare.Mismatch = type("Never", (Exception,), {})
course_utils.compare.TOLERANCES.update({torch.float64: 1e9, torch.float32: 1e9, torch.float16: 1e9})


def softmax(x, dim):
    return x
