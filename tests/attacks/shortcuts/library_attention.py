# tries: the library's attention in place of one's own
# source: THREATS 75
# expect: zero
# says: uses scaled_dot_product_attention
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
    one = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-2], -1, -1)
    weights = F.scaled_dot_product_attention(query, key, one, allowed)
    return _finished(weights, empty, value, dropout_p, training)
