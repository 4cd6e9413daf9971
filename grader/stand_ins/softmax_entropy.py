import torch


def softmax_entropy(scores, dim=-1):
    return torch.special.entr(torch.softmax(scores, dim=dim)).sum(dim=dim)
