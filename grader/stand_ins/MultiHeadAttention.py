import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model} can't be split into n_heads = {n_heads} equal heads")
        self.d_model, self.n_heads, self.dropout = d_model, n_heads, dropout
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, mask=None):
        def heads(x):
            return x.reshape(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

        q, k, v = heads(self.w_q(query)), heads(self.w_k(key)), heads(self.w_v(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            if mask.dtype != torch.bool:
                raise TypeError(f"the mask must be boolean, got {mask.dtype}")
            mask = mask[:, None] if mask.dim() == 3 else mask
            nothing = ~mask.any(-1, keepdim=True)
            scores = scores.masked_fill(~mask, -math.inf).masked_fill(nothing, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)
        mixed = nn.functional.dropout(weights, self.dropout, self.training) @ v
        return self.w_o(mixed.transpose(1, 2).reshape(query.shape)), weights
