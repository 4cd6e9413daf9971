"""Right answers of 02_why_sqrt_dk: other ways that must get full marks."""

import math

import numpy as np
import torch

from grader.bank import right


def seeded(generator):
    """A NumPy generator that depends on the torch generator alone."""
    return np.random.default_rng(torch.randint(2**31, (1,), generator=generator).item())


@right("dot_product_moments")
def keys_first_and_population_variance(d_k, n_samples, generator=None):
    if min(d_k, n_samples) < 1:
        raise ValueError(f"d_k and n_samples must be at least 1, got {d_k} and {n_samples}")
    k = torch.randn(n_samples, d_k, generator=generator)
    q = torch.randn(n_samples, d_k, generator=generator)
    products = torch.einsum("nd,nd->n", q, k)
    return products.mean().item(), products.var(unbiased=False).item()


@right("dot_product_moments")
def squares_minus_squared_mean(d_k, n_samples, generator=None):
    if d_k < 1:
        raise ValueError(f"d_k is {d_k}")
    if n_samples < 1:
        raise ValueError(f"n_samples is {n_samples}")
    both = torch.randn(2, n_samples, d_k, generator=generator, dtype=torch.float64)
    products = both.prod(dim=0).sum(dim=-1)
    mean = products.mean()
    return float(mean), float((products**2).mean() - mean**2)


@right("dot_product_moments")
def one_product_after_the_other(d_k, n_samples, generator=None):
    if d_k < 1 or n_samples < 1:
        raise ValueError(f"{d_k=}, {n_samples=}")
    draw = seeded(generator)
    products = [float(q @ k) for q, k in draw.standard_normal((n_samples, 2, d_k))]
    mean = math.fsum(products) / n_samples
    return mean, math.fsum((x - mean) ** 2 for x in products) / n_samples


@right("dot_product_moments")
def batched_matrix_product(d_k, n_samples, generator=None):
    if d_k < 1 or n_samples < 1:
        raise ValueError("sizes must be positive: " + str((d_k, n_samples)))
    q = torch.normal(0.0, 1.0, (n_samples, 1, d_k), generator=generator)
    k = torch.normal(0.0, 1.0, (n_samples, d_k, 1), generator=generator)
    variance, mean = torch.var_mean((q @ k).flatten(), correction=0)
    return mean.item(), variance.item()


@right("softmax_entropy")
def through_entr(scores, dim=-1):
    return torch.special.entr(torch.softmax(scores, dim=dim)).sum(dim=dim)


@right("softmax_entropy")
def through_the_distribution(scores, dim=-1):
    return torch.distributions.Categorical(logits=scores.movedim(dim, -1)).entropy()


@right("softmax_entropy")
def logarithm_of_sum_minus_mean_score(scores, dim=-1):
    p = torch.softmax(scores, dim)
    finite = scores.masked_fill(p == 0, 0.0)
    return torch.logsumexp(scores, dim) - (p * finite).sum(dim)


@right("softmax_entropy")
def logarithm_with_ones_filled_in(scores, dim=-1):
    p = softmax(scores, dim)
    return -(p * torch.where(p > 0, p, torch.ones_like(p)).log()).sum(dim)


@right("softmax_entropy")
def clamped_logarithm(scores, dim=-1):
    p = torch.softmax(scores, dim=dim)
    return -torch.sum(p * p.clamp(min=1e-30).log(), dim=dim)


@right("softmax_entropy")
def log_softmax_with_infinities_removed(scores, dim=-1):
    log_p = torch.log_softmax(scores, dim)
    return -(log_p.exp() * log_p.clamp(min=torch.finfo(log_p.dtype).min)).sum(dim)


@right("softmax_entropy")
def xlogy(scores, dim=-1):
    p = torch.softmax(scores, dim)
    return -torch.special.xlogy(p, p).sum(dim)


@right("attention_entropy")
def einsum_with_query_divided(d_k, n_keys, n_samples, scaled=True, generator=None):
    if d_k < 1 or n_keys < 1 or n_samples < 1:
        raise ValueError(f"sizes must be at least 1: {d_k=}, {n_keys=}, {n_samples=}")
    keys = torch.randn(n_samples, n_keys, d_k, generator=generator)
    query = torch.randn(n_samples, d_k, generator=generator)
    if scaled:
        query = query * d_k**-0.5
    return softmax_entropy(torch.einsum("nd,nsd->ns", query, keys)).mean().item()


@right("attention_entropy")
def sample_after_sample(d_k, n_keys, n_samples, scaled=True, generator=None):
    for name, size in (("d_k", d_k), ("n_keys", n_keys), ("n_samples", n_samples)):
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
    scores = []
    for _ in range(n_samples):
        query = torch.randn(d_k, generator=generator)
        keys = torch.randn(n_keys, d_k, generator=generator)
        scores.append(keys @ query)
    scores = torch.stack(scores)
    return float(softmax_entropy(scores / (math.sqrt(d_k) if scaled else 1), -1).mean())


@right("attention_entropy")
def batched_product_in_double_precision(d_k, n_keys, n_samples, scaled=True, generator=None):
    if min(d_k, n_keys, n_samples) <= 0:
        raise ValueError(f"got {d_k}, {n_keys}, {n_samples}")
    query = torch.randn(n_samples, 1, d_k, generator=generator, dtype=torch.float64)
    keys = torch.randn(n_samples, d_k, n_keys, generator=generator, dtype=torch.float64)
    scores = torch.bmm(query, keys).squeeze(1)
    if scaled:
        scores = scores / torch.tensor(d_k).sqrt()
    p = torch.softmax(scores, dim=-1)
    return torch.special.entr(p).sum(-1).mean().item()


@right("attention_entropy")
def in_portions(d_k, n_keys, n_samples, scaled=True, generator=None):
    if d_k < 1 or n_keys < 1 or n_samples < 1:
        raise ValueError(f"{d_k} {n_keys} {n_samples}")
    total, left = 0.0, n_samples
    while left:
        portion = min(left, 256)
        query = torch.randn(portion, 1, d_k, generator=generator)
        keys = torch.randn(portion, n_keys, d_k, generator=generator)
        scores = (query * keys).sum(-1)
        total += softmax_entropy(scores / d_k**0.5 if scaled else scores).sum().item()
        left -= portion
    return total / n_samples


@right("attention_entropy")
def through_numpy(d_k, n_keys, n_samples, scaled=True, generator=None):
    if d_k < 1 or n_keys < 1 or n_samples < 1:
        raise ValueError(f"{d_k} {n_keys} {n_samples}")
    draw = seeded(generator)
    query, keys = draw.standard_normal((n_samples, d_k)), draw.standard_normal((n_samples, n_keys, d_k))
    scores = torch.from_numpy((keys @ query[:, :, None])[:, :, 0])
    return float(softmax_entropy(scores / np.sqrt(d_k) if scaled else scores).mean())


@right("softmax_jacobian")
def identity_minus_weights(p):
    return p.unsqueeze(-1) * (torch.eye(p.shape[-1], dtype=p.dtype, device=p.device) - p.unsqueeze(-2))


@right("softmax_jacobian")
def einsum_then_diagonal_added(p):
    jacobian = -torch.einsum("...i,...j->...ij", p, p)
    jacobian.diagonal(dim1=-2, dim2=-1).add_(p)
    return jacobian


@right("softmax_jacobian")
def entry_by_entry(p):
    n = p.shape[-1]
    rows = []
    for i in range(n):
        row = [p[..., i] * (1 - p[..., i]) if i == j else -p[..., i] * p[..., j] for j in range(n)]
        rows.append(torch.stack(row, dim=-1))
    return torch.stack(rows, dim=-2)


@right("softmax_jacobian")
def by_automatic_differentiation(p):
    def one(row):
        return torch.autograd.functional.jacobian(lambda x: torch.softmax(x, dim=-1), row.log())

    flat = p.reshape(-1, p.shape[-1])
    return torch.stack([one(row) for row in flat]).reshape(*p.shape, p.shape[-1])


@right("softmax_jacobian")
def matrix_product(p):
    return torch.diag_embed(p) - p[..., :, None] @ p[..., None, :]
