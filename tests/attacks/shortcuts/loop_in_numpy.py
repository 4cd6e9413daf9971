# tries: a loop over the rows in numpy, which no watch on torch sees
# source: THREATS 78
# expect: partial
# exercise: batched_outer

import numpy as np


def batched_outer(a, b):
    return torch.from_numpy(np.stack([np.outer(*rows) for rows in zip(a.detach().numpy(), b.detach().numpy(), strict=True)]))
