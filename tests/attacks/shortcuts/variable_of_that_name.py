# tries: a variable that happens to have a forbidden operator's name, which is no mistake
# source: THREATS 84
# expect: full
# exercise: batched_outer


def batched_outer(a, b):
    split = a.unsqueeze(2)
    select = b.unsqueeze(1)
    return split * select
