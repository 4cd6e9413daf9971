import math

import torch


def wavelengths(d_model):
    pairs = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    return 2 * math.pi * 10000 ** (2 * pairs / d_model)
