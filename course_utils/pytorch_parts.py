"""PyTorch's own functions under the names of the exercises, for learners whose own does not pass yet.

Only calls into the library, so that the package holds no answer to copy.
"""

import torch
import torch.nn.functional as F
from torch import nn


def softmax(x, dim):
    """x (...) -> (...), which sum to one along dim; where all scores are -inf, zeros."""
    empty = x.isneginf().all(dim, keepdim=True)
    # Filled before as well as after: a NaN that is covered up afterwards still spoils the gradients.
    return torch.softmax(x.masked_fill(empty, 0.0), dim).masked_fill(empty, 0.0)


def scaled_dot_product_attention(query, key, value, mask=None, dropout_p=0.0, training=False):
    """query (..., T, D), key (..., S, D), value (..., S, E) -> (..., T, E), (..., T, S)

    mask: boolean, True where a query may attend; a query that may attend nowhere gets zeros.
    The weights are those from before dropout.
    """
    if mask is not None and mask.dtype != torch.bool:
        # PyTorch would add the numbers of such a mask to the scores.
        raise TypeError(f"the mask must be boolean, got {mask.dtype}")
    T, S = query.shape[-2], key.shape[-2]
    allowed = query.new_ones(T, S, dtype=torch.bool) if mask is None else mask.expand(*mask.shape[:-2], T, S)
    # Asked for the rows of the identity, attention answers with its weights.
    identity = torch.eye(S, dtype=value.dtype, device=value.device).expand(*key.shape[:-2], S, S)
    weights = F.scaled_dot_product_attention(query, key, identity, allowed)
    weights = weights.masked_fill(~allowed.any(-1, keepdim=True), 0.0)
    output = F.dropout(weights, dropout_p, training) @ value
    return output, weights


def causal_mask(length, device=None):
    """-> (T, T), True where a position may attend: to itself and to what came before."""
    return nn.Transformer.generate_square_subsequent_mask(length, device=device) == 0


def softmax_entropy(scores, dim=-1):
    """scores (...) -> (...) without dim: the entropy of their softmax, in nats."""
    return torch.special.entr(softmax(scores, dim)).sum(dim)


def sinusoidal_encoding(max_len, d_model):
    """-> (max_len, d_model), float32: for each pair of columns the sine and the cosine of one angle, which grows with the row."""
    pairs = (d_model + 1) // 2
    speeds = torch.logspace(0, -8 * (pairs - 1) / d_model, pairs, dtype=torch.float64)
    turns = torch.outer(torch.arange(max_len, dtype=torch.float64), speeds)
    circle = torch.view_as_real(torch.polar(torch.ones_like(turns), turns))
    return circle.flip(-1).flatten(1)[:, :d_model].float()


class MultiHeadAttention(nn.Module):
    """query (B, T, M), key (B, S, M), value (B, S, M) -> (B, T, M), (B, H, T, S)

    mask: boolean, True where a query may attend, (T, S), (B, T, S) or whatever broadcasts to (B, H, T, S).
    The weights are those from before dropout; a query that may attend nowhere has weights of zero.
    """

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model must be a multiple of n_heads, got d_model = {d_model} and n_heads = {n_heads}")
        self.n_heads, self.dropout = n_heads, dropout
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        if mask is not None and mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        (B, T, _), S = query.shape, key.shape[1]
        mask = query.new_ones(T, S, dtype=torch.bool) if mask is None else mask
        mask = (mask[:, None] if mask.dim() == 3 else mask).expand(B, self.n_heads, T, S)
        lost = ~mask.any(-1, keepdim=True)
        # Asked for its weights, PyTorch answers NaN where a query may attend nowhere, and drops weights before it shows them.
        output, _ = self._attend(query, key, value, mask, self.dropout, need_weights=False)
        _, weights = self._attend(query, key, value, mask | lost, 0.0, need_weights=True)
        return output, weights.masked_fill(lost, 0.0)

    def _attend(self, query, key, value, mask, dropout, need_weights):
        projections = self.w_q, self.w_k, self.w_v
        biases = [layer.bias for layer in projections]
        output, weights = F.multi_head_attention_forward(
            query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), query.shape[-1], self.n_heads,
            None, None if biases[0] is None else torch.cat(biases), None, None, False,
            dropout, self.w_o.weight, self.w_o.bias, self.training,
            need_weights=need_weights, attn_mask=~mask.flatten(0, 1), average_attn_weights=False,
            use_separate_proj_weight=True,
            q_proj_weight=self.w_q.weight, k_proj_weight=self.w_k.weight, v_proj_weight=self.w_v.weight,
        )  # fmt: skip
        return output.transpose(0, 1), weights


class LayerNorm(nn.LayerNorm):
    """x (..., M) -> (..., M)"""

    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)


class RMSNorm(nn.RMSNorm):
    """x (..., M) -> (..., M)"""

    def __init__(self, d_model, eps=1e-6):
        super().__init__(d_model, eps)


class FeedForward(nn.TransformerEncoderLayer):
    """x (..., M) -> (..., M): the feed-forward part of PyTorch's layer, without the rest of it."""

    def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
        if activation not in ("relu", "gelu"):
            raise ValueError(f"PyTorch's feed-forward network knows relu and gelu, got {activation!r}; yours may know more")
        super().__init__(d_model, 1, d_ff, dropout, activation)
        del self.self_attn, self.norm1, self.norm2, self.dropout1
        self.dropout2 = nn.Identity()

    def forward(self, x):
        return self._ff_block(x)


class EncoderLayer(nn.TransformerEncoderLayer):
    """x (B, T, M) -> (B, T, M)

    mask: boolean, True where a position may attend, (T, T), (B, T, T) or whatever broadcasts to (B, H, T, T).
    """

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0, norm_first=True):
        super().__init__(d_model, n_heads, d_ff, dropout, batch_first=True, norm_first=norm_first)
        self.n_heads = n_heads

    def forward(self, x, mask=None):
        if mask is None:
            return super().forward(x)
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        (B, T, _), H = x.shape, self.n_heads
        mask = (mask[:, None] if mask.dim() == 3 else mask).expand(B, H, T, T)
        # Without gradients PyTorch takes another way, which answers NaN where a position may attend nowhere.
        with torch.enable_grad():
            output = super().forward(x, ~mask.flatten(0, 1))
        return output if torch.is_grad_enabled() else output.detach()


PARTS = {
    part.__name__: part
    for part in (
        softmax, scaled_dot_product_attention, causal_mask, softmax_entropy, sinusoidal_encoding, MultiHeadAttention, LayerNorm,
        RMSNorm, FeedForward, EncoderLayer,
    )
}  # fmt: skip
