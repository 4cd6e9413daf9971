import torch


def causal_mask(length, device=None):
    places = torch.arange(length, device=device)
    return places[None, :] <= places[:, None]
