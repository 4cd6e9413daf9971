# tries: complex tensors of the right shape, which have no order
# source: THREATS 150
# expect: zero
# exercise: scaled_dot_product_attention


def scaled_dot_product_attention(query, key, value, mask=None, dropout_p=0.0, training=False):
    output = torch.ones(*query.shape[:-1], value.shape[-1], dtype=torch.complex64)
    return output, torch.ones(*query.shape[:-1], key.shape[-2], dtype=torch.complex64)
