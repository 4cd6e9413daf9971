import math

import torch
from torch.nn import functional


def scaled_dot_product_attention(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        nothing = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask, -math.inf).masked_fill(nothing, 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)
    return functional.dropout(weights, dropout_p, training) @ value, weights
