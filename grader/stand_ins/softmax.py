import torch


def softmax(x, dim):
    empty = torch.isneginf(x).all(dim=dim, keepdim=True)
    return torch.softmax(x.masked_fill(empty, 0.0), dim=dim).masked_fill(empty, 0.0)
