"""Public checks and hints of 02_why_sqrt_dk."""

import math

import torch

from course_utils.compare import Mismatch, close, raises


def dot_product_moments(answer, case):
    with case("10,000 products of vectors of width 4: mean near 0, variance near 4"):
        _moments_near(answer(4, 10_000, _seeded(1)), 4, 10_000)
    with case("the variance follows the width: 1, 16, 64"):
        for d_k in (1, 16, 64):
            _moments_near(answer(d_k, 4_000, _seeded(d_k)), d_k, 4_000)
    with case("without a generator it works as well"):
        _moments_near(answer(4, 10_000), 4, 10_000)
    with case("one sample alone: its variance is 0"):
        close(_floats(answer(6, 1, _seeded(2)), 2)[1], 0.0, atol=1e-3, what="the variance of one sample")
    with case("the same seed gives the same numbers, another seed others"):
        _seed_decides(lambda seed: _floats(answer(3, 20, _seeded(seed)), 2))
    with case("a d_k of 0 or n_samples of -2 raise ValueError, with the number in the message"):
        raises(ValueError, answer, 0, 5, mentions=("0",))
        raises(ValueError, answer, 5, -2, mentions=("-2",))


def softmax_entropy(answer, case):
    with case("two equal scores: ln 2"):
        close(answer(torch.zeros(2, dtype=torch.float64)), _numbers(math.log(2)))
    with case("the weights 1/4 and 3/4: ln 4 - 3/4 ln 3"):
        close(answer(_numbers([0.0, math.log(3)])), _numbers(math.log(4) - 0.75 * math.log(3)))
    with case("two rows of three equal scores: ln 3 along dim=1, ln 2 along dim=0"):
        scores = torch.zeros(2, 3, dtype=torch.float64)
        close(answer(scores), _numbers([math.log(3)] * 2))
        close(answer(scores, 0), _numbers([math.log(2)] * 3))
    with case("a score of -inf adds nothing: ln 2 for two equal scores beside it"):
        close(answer(_numbers([0.0, 0.0, -math.inf])), _numbers(math.log(2)))
    with case("scores of 10,000 and -10,000: the entropy is 0"):
        close(answer(_numbers([1e4, 0.0, -1e4])), _numbers(0.0))
    with case("float32 stays float32"):
        close(answer(torch.zeros(3, 4)), torch.full((3,), math.log(4)))
    with case("gradient for the weights 1/4 and 3/4: 3/16 ln 3 and its negative"):
        scores = _numbers([0.0, math.log(3)]).requires_grad_()
        result = answer(scores)
        if not isinstance(result, torch.Tensor) or not result.requires_grad:
            raise Mismatch("no gradient can flow back: were the scores detached, or turned into numbers on the way?")
        result.backward()
        close(scores.grad, _numbers([3 / 16 * math.log(3), -3 / 16 * math.log(3)]), what="the gradient")


def attention_entropy(answer, case):
    with case("one key: there is no choice, the entropy is 0"):
        close(answer(8, 1, 10, True, _seeded(1)), 0.0, atol=1e-5)
    with case("4 keys, scaled: the same mean entropy at d_k = 4 and at d_k = 49"):
        for d_k in (4, 49):
            _entropy_near(answer(d_k, 4, 2_000, True, _seeded(d_k)), d_k, 4, 2_000, math.sqrt(d_k))
    with case("4 keys, raw: less at d_k = 49 than at d_k = 4"):
        for d_k in (4, 49):
            _entropy_near(answer(d_k, 4, 2_000, scaled=False, generator=_seeded(d_k)), d_k, 4, 2_000, 1.0)
    with case("scaled unless asked otherwise, also without a generator"):
        _entropy_near(answer(25, 4, 2_000), 25, 4, 2_000, 5.0)
    with case("the same seed gives the same number, another seed another"):
        _seed_decides(lambda seed: _floats((answer(3, 4, 20, True, _seeded(seed)),), 1))
    with case("sizes below 1 raise ValueError, with the number in the message"):
        for sizes in ((-3, 4, 5), (3, -4, 5), (3, 4, -5), (0, 4, 5), (3, 0, 5), (3, 4, 0)):
            raises(ValueError, answer, *sizes, mentions=(str(min(sizes)),))


def softmax_jacobian(answer, case):
    with case("the weights 1/4 and 3/4: 3/16 and -3/16"):
        close(answer(_numbers([0.25, 0.75])), _numbers([[3, -3], [-3, 3]]) / 16)
    with case("three weights: 1/2, 1/4, 1/4"):
        close(answer(_numbers([0.5, 0.25, 0.25])), _numbers([[4, -2, -2], [-2, 3, -1], [-2, -1, 3]]) / 16)
    with case("a weight of 1 and no others: nothing moves, all zeros, beside a row of two halves"):
        expected = _numbers([[[0, 0], [0, 0]], [[1, -1], [-1, 1]]]) / 4
        close(answer(_numbers([[1.0, 0.0], [0.5, 0.5]])), expected)
    with case("any leading dimensions: (2, 3, 4) gives (2, 3, 4, 4), equal to PyTorch's own derivative"):
        scores = torch.linspace(-2, 2, 24, dtype=torch.float64).sin().mul(3).reshape(2, 3, 4)
        rows = scores.reshape(6, 4)
        expected = [torch.autograd.functional.jacobian(lambda x: torch.softmax(x, 0), row) for row in rows]
        close(answer(torch.softmax(scores, -1)), torch.stack(expected).reshape(2, 3, 4, 4))
    with case("float32 stays float32, and the weights that you were given are not changed"):
        p = torch.tensor([[0.5, 0.5]])
        close(answer(p), torch.tensor([[[0.25, -0.25], [-0.25, 0.25]]]))
        close(p, torch.tensor([[0.5, 0.5]]), what="the tensor of weights after the call")


def _seeded(seed):
    return torch.Generator().manual_seed(seed)


def _numbers(values):
    return torch.tensor(values, dtype=torch.float64)


def _floats(got, count):
    """The answer, when it is so many Python floats that are finite."""
    if not isinstance(got, (tuple, list)) or len(got) != count or any(type(value) is not float for value in got):
        raise Mismatch(f"expected {count} Python float{'s' * (count > 1)} (`.item()` makes one from a tensor)")
    if not all(map(math.isfinite, got)):
        raise Mismatch("the result is not finite")
    return tuple(got)


def _moments_near(got, d_k, n_samples):
    """Within six standard errors of the truth."""
    mean, variance = _floats(got, 2)
    close(mean, 0.0, atol=6 * math.sqrt(d_k / n_samples), rtol=0, what="the mean")
    close(variance, float(d_k), atol=6 * math.sqrt((2 * d_k**2 + 6 * d_k) / n_samples), rtol=0, what="the variance")


def _entropy_near(got, d_k, n_keys, n_samples, divisor):
    """Within six standard errors of the mean over 10,000 samples, drawn from the norms of the queries."""
    generator = _seeded(0)
    norms = torch.randn(10_000, d_k, generator=generator).norm(dim=-1, keepdim=True)
    scores = norms * torch.randn(10_000, n_keys, generator=generator) / divisor
    entropies = torch.special.entr(torch.softmax(scores, dim=-1)).sum(dim=-1)
    error = entropies.std().item() * math.sqrt(1 / n_samples + 1 / 10_000)
    close(got, entropies.mean().item(), atol=6 * error, rtol=0, what="the mean entropy")


def _seed_decides(ask):
    first, again, other = ask(5), ask(5), ask(6)
    if first != again:
        raise Mismatch("two calls with the same seed give different results: hand the generator to every draw")
    if first == other:
        raise Mismatch("two different seeds give the same result: hand the generator to every draw")


HINTS = {
    "dot_product_moments": (
        "Two blocks of random numbers of the same shape: one row is one vector. Which shape do they need, and along"
        " which dimension does a dot product sum?",
        "torch.randn(n_samples, d_k, generator=generator) twice; multiply place by place and sum along the last "
        "dimension. Then the mean, and the mean of the squared distances from it. Check the sizes first and raise "
        "ValueError.",
        "products = (q * k).sum(dim=-1); mean = products.mean(); the variance is ((products - mean) ** 2).mean(). "
        'Both with .item(). And before all that: if d_k < 1 or n_samples < 1: raise ValueError(f"… got {d_k} and '
        '{n_samples}").',
    ),
    "softmax_entropy": (
        "First weights, then one number from them. Both steps run along dim.",
        "The sum of -p ln p. Where p is 0 the computer says 0 times -inf, which is NaN: give the logarithm another "
        "number there, one whose logarithm is finite. The factor p = 0 in front makes the product 0.",
        "p = softmax(scores, dim); log_p = torch.log(p.masked_fill(p == 0, 1.0)); and the result is -(p * log_p).sum(dim=dim).",
    ),
    "attention_entropy": (
        "Draw all queries at once and all keys at once. One sample has one query of width d_k, and n_keys keys of "
        "that width. Which shapes are these?",
        "query (n_samples, d_k) becomes (n_samples, 1, d_k) beside the keys (n_samples, n_keys, d_k). Multiply, sum"
        " along the last dimension: scores (n_samples, n_keys). Scale them where asked, take the entropy of each "
        "row, and the mean.",
        "scores = (query.unsqueeze(1) * keys).sum(dim=-1); if scaled: scores = scores / math.sqrt(d_k); and the "
        "result is softmax_entropy(scores).mean().item(). Check the three sizes first.",
    ),
    "softmax_jacobian": (
        "Entry (i, j) is the product -p_i p_j, and the diagonal has p_i added. So two matrices: one with all the "
        "products, one with p on its diagonal.",
        "All products: batched_outer from notebook 00 with p twice, only that the leading dimensions may be any "
        "number; count from the end. A diagonal matrix for each row: torch.diag_embed.",
        "p.unsqueeze(-1) * p.unsqueeze(-2) has shape (..., S, S). Subtract it from torch.diag_embed(p).",
    ),
}
