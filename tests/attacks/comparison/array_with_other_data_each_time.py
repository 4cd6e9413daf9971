# tries: an array whose numbers are another's each time it is converted
# source: THREATS 5
# expect: zero
# says: expected a tensor

import numpy as np


class Shifting(np.ndarray):
    def __array__(self, *args, **kwargs):
        return np.zeros(self.shape)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        others = [each for each in inputs if type(each) is not Shifting]
        return others[0] if others else np.zeros(self.shape)


def softmax(x, dim):
    return x.detach().numpy().copy().view(Shifting)
