import math

import torch
from torch import nn


class EncoderLayer(nn.Module):
    """Stands alone: whatever uses it need not bring the parts."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0, norm_first=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model} can't be split into n_heads = {n_heads} equal heads")
        self.n_heads, self.norm_first, self.dropout = n_heads, norm_first, nn.Dropout(dropout)
        self.self_attn = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in ("w_q", "w_k", "w_v", "w_o")})
        self.feed_forward = nn.ModuleDict({"linear1": nn.Linear(d_model, d_ff), "linear2": nn.Linear(d_ff, d_model)})
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.dropout(self.attend(self.norm1(x), mask))
            return x + self.dropout(self.feed(self.norm2(x)))
        x = self.norm1(x + self.dropout(self.attend(x, mask)))
        return self.norm2(x + self.dropout(self.feed(x)))

    def feed(self, x):
        return self.feed_forward["linear2"](self.dropout(torch.relu(self.feed_forward["linear1"](x))))

    def attend(self, x, mask):
        q, k, v = (self.self_attn[name](x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for name in ("w_q", "w_k", "w_v"))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is None:
            mask = torch.ones_like(scores, dtype=torch.bool)
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(-1, keepdim=True)
        weights = torch.softmax(scores.masked_fill(~mask & ~nothing, -math.inf), dim=-1).masked_fill(nothing, 0.0)
        return self.self_attn["w_o"]((self.dropout(weights) @ v).transpose(1, 2).flatten(2))
