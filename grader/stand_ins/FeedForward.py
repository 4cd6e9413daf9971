import torch
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
        super().__init__()
        if activation not in ("relu", "gelu", "swiglu"):
            raise ValueError(f"activation must be relu, gelu or swiglu, got {activation!r}")
        self.activation, self.dropout = activation, nn.Dropout(dropout)
        if activation == "swiglu":
            hidden = round(2 / 3 * d_ff)
            self.gate = nn.Linear(d_model, hidden, bias=False)
            self.up = nn.Linear(d_model, hidden, bias=False)
            self.down = nn.Linear(hidden, d_model, bias=False)
        else:
            self.linear1 = nn.Linear(d_model, d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        if self.activation == "swiglu":
            return self.down(self.dropout(nn.functional.silu(self.gate(x)) * self.up(x)))
        hidden = getattr(torch.nn.functional, self.activation)(self.linear1(x))
        return self.linear2(self.dropout(hidden))
