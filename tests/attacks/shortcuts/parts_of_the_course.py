# tries: the course's own package, which has attention for those who have not done it yet
# source: THREATS 67, 75
# expect: zero
# exercise: scaled_dot_product_attention

from course_utils import parts

scaled_dot_product_attention = getattr(parts, "scaled_dot" + "_product_attention")
