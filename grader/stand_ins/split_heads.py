def split_heads(x, n_heads):
    width = x.shape[-1]
    if width % n_heads:
        raise ValueError(f"a width of {width} can't be split into {n_heads} equal heads")
    return x.reshape(*x.shape[:-1], n_heads, width // n_heads).transpose(-3, -2)
