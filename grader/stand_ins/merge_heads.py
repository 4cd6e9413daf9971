def merge_heads(x):
    return x.transpose(-3, -2).flatten(-2)
