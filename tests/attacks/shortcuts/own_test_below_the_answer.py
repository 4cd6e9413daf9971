# tries: an attention with a small test of the learner's own below it, which is no mistake
# source: THREATS 84
# expect: full
# exercise: scaled_dot_product_attention


def scaled_dot_product_attention(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"the mask must be boolean, got {mask.dtype}")
    weights = softmax(scores if mask is None else scores.masked_fill(~mask, float("-inf")), -1)
    return torch.nn.functional.dropout(weights, dropout_p, training) @ value, weights


x = torch.ones(2, 3)
output, weights = scaled_dot_product_attention(x, x, x)
assert output.shape == x.shape
