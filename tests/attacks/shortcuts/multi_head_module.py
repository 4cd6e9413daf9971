# tries: the library's multi-head module with identities for weights
# source: THREATS 77
# expect: zero
# says: asks you to do without
# exercise: scaled_dot_product_attention

import torch.nn.functional as F


def _prepared(query, key, mask):
    """The mask for the library, and which queries have no key."""
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError("boolean masks only")
    shape = query.shape[-2], key.shape[-2]
    allowed = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(*mask.shape[:-2], *shape)
    return allowed, ~allowed.any(-1, keepdim=True)


def _finished(weights, empty, value, dropout_p, training):
    weights = weights.masked_fill(empty, 0.0)
    return F.dropout(weights, dropout_p, training) @ value, weights


def scaled_dot_product_attention(query, key, value, mask=None, dropout_p=0.0, training=False):
    allowed, empty = _prepared(query, key, mask)
    lead, (T, D), S = query.shape[:-2], query.shape[-2:], key.shape[-2]
    module = getattr(torch.nn, "Multihead" + "Attention")(D, 1, bias=False, batch_first=True, dtype=query.dtype)
    module.in_proj_weight.data = torch.eye(D, dtype=query.dtype).repeat(3, 1)
    flat = query.reshape(-1, T, D), key.reshape(-1, S, D), key.reshape(-1, S, D)
    hidden = ~(allowed | empty).expand(*lead, T, S).reshape(-1, T, S)
    weights = module(*flat, attn_mask=hidden)[1].reshape(*lead, T, S)
    return _finished(weights.masked_fill(~allowed, 0.0), empty, value, dropout_p, training)
