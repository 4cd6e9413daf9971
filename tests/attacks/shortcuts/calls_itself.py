# tries: an attention that calls itself for leading dimensions, which is no mistake
# source: THREATS 84
# expect: full
# exercise: scaled_dot_product_attention


def scaled_dot_product_attention(query, key, value, mask=None, dropout_p=0.0, training=False):
    if mask is None:
        mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)
        return scaled_dot_product_attention(query, key, value, mask, dropout_p, training)
    if mask.dtype != torch.bool:
        raise TypeError(f"the mask must be boolean, got {mask.dtype}")
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = softmax(scores.masked_fill(~mask, float("-inf")), -1)
    return torch.nn.functional.dropout(weights, dropout_p, training) @ value, weights
