# tries: a boolean tensor of the right shape, which arithmetic in a check may choke on
# source: THREATS 150
# expect: zero
# exercise: scaled_dot_product_attention


def scaled_dot_product_attention(query, key, value, mask=None, dropout_p=0.0, training=False):
    output = torch.ones(*query.shape[:-1], value.shape[-1], dtype=torch.bool)
    return output, torch.ones(*query.shape[:-1], key.shape[-2], dtype=torch.bool)
