import torch


def rotary_embedding(x, positions, base=10000.0):
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"the width must be even, got {width}")
    pairs = torch.arange(width // 2, dtype=torch.float64)
    angles = positions.cpu().double()[:, None] * base ** (-2 * pairs / width)
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
