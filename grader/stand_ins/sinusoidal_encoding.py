import torch


def sinusoidal_encoding(max_len, d_model):
    positions = torch.arange(max_len, dtype=torch.float64)[:, None]
    pairs = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    angles = positions / 10000 ** (2 * pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model].float()
