"""Hidden checks of 02_why_sqrt_dk.

The random exercises are judged by statistics. Every tolerance is six standard errors, from formulas or from samples of
the check's own, so a right answer fails once in some hundred million runs. `noise` tells the diagnosis how far two
right answers usually lie apart.
"""

import math

import pytest
import torch

from course_utils.compare import Mismatch, close, raises

SIGMAS = 6
MINUS_INFINITY = float("-inf")


@pytest.mark.random
@pytest.mark.noise(0.05)
def test_dot_product_moments__the_variance_of_short_vectors_is_right(student, draw):
    for d_k in (1, 3):
        _check_moments(student.dot_product_moments(d_k, 20_000, draw.generator()), d_k, 20_000)
    _few_samples_scatter(student, draw)


@pytest.mark.random
@pytest.mark.noise(0.05)
def test_dot_product_moments__the_variance_grows_with_the_width(student, draw):
    _check_moments(student.dot_product_moments(12, 16_000, draw.generator()), 12, 16_000)
    _check_moments(student.dot_product_moments(40, 4_000), 40, 4_000)
    _few_samples_scatter(student, draw)


@pytest.mark.random
@pytest.mark.noise(0.05)
def test_dot_product_moments__the_mean_scatters_as_a_mean_of_products(student, draw):
    """The sum of 30 squared means, over their expectation d_k / n, is chi-squared but for a slightly heavier tail."""
    d_k, n_samples, repeats = 9, 5, 30
    means = [_pair(student.dot_product_moments(d_k, n_samples, draw.generator()))[0] for _ in range(repeats)]
    spread = sum(mean * mean for mean in means) / repeats / (d_k / n_samples)
    if not 0.15 < spread < 4:
        raise Mismatch("over many calls the means lie too close together or too far apart")


@pytest.mark.random
@pytest.mark.noise(0.05)
def test_dot_product_moments__the_variance_scatters_as_that_of_products(student, draw):
    """Few samples: their variance is small on average, (n - 1) / n of d_k, and scatters widely, with a long tail to the right."""
    d_k, n_samples, repeats = 4, 3, 150
    queries, keys = draw.normal(4_000, n_samples, d_k), draw.normal(4_000, n_samples, d_k)
    expected = (queries * keys).sum(-1).var(-1, correction=0)
    got = [_pair(student.dot_product_moments(d_k, n_samples, draw.generator()))[1] for _ in range(repeats)]
    got = torch.tensor(got, dtype=torch.float64)
    for share in (0.25, 0.5, 0.75):
        below = (got < expected.quantile(share)).double().mean().item()
        if abs(below - share) > SIGMAS * math.sqrt(share * (1 - share) / repeats):
            raise Mismatch("over many calls with few samples the variances are not spread as those of products are")


@pytest.mark.random
@pytest.mark.noise(20)
def test_dot_product_moments__one_sample_has_variance_zero(student, draw):
    mean, variance = _pair(student.dot_product_moments(8, 1, draw.generator()))
    close(variance, 0.0, atol=1e-3, what="the variance of one sample")
    # The sum of 20 squared products has the expectation 20 · 8.
    squares = [mean**2] + [_pair(student.dot_product_moments(8, 1, draw.generator()))[0] ** 2 for _ in range(19)]
    if not 5 < sum(squares) < 1_500:
        raise Mismatch("the means of one sample each are not those of products of random vectors")


@pytest.mark.random
@pytest.mark.noise(0.05)
def test_dot_product_moments__the_generator_alone_decides(student, draw):
    _generator_decides(lambda generator: _pair(student.dot_product_moments(5, 50, generator)), draw)
    _few_samples_scatter(student, draw)


@pytest.mark.random
@pytest.mark.noise(0.05)
def test_dot_product_moments__impossible_sizes_are_refused(student, draw):
    _check_moments(student.dot_product_moments(6, 5_000, draw.generator()), 6, 5_000)
    _few_samples_scatter(student, draw)
    bad = -draw.number(11, 99)
    raises(ValueError, student.dot_product_moments, bad, 7, mentions=(str(bad),))
    raises(ValueError, student.dot_product_moments, 7, bad, mentions=(str(bad),))
    raises(ValueError, student.dot_product_moments, 0, 7, mentions=("0",))
    raises(ValueError, student.dot_product_moments, 7, 0, mentions=("0",))


def test_softmax_entropy__a_vector_gives_one_number_in_nats(student, reference, draw):
    scores = draw.normal(draw.number(3, 9))
    close(student.softmax_entropy(scores), reference.softmax_entropy(scores))


def test_softmax_entropy__it_runs_along_the_dimension_asked_for(student, reference, draw):
    scores = draw.normal(*draw.sizes(3))
    close(student.softmax_entropy(scores), reference.softmax_entropy(scores))
    for dim in draw.shuffled([0, 1, 2, -2]):
        close(student.softmax_entropy(scores, dim), reference.softmax_entropy(scores, dim))


def test_softmax_entropy__equal_scores_give_the_logarithm_of_their_number(student, draw):
    rows, columns = draw.sizes(2)
    scores = draw.normal(rows, 1).expand(rows, columns).contiguous()
    close(student.softmax_entropy(scores), torch.full((rows,), math.log(columns), dtype=torch.float64))


def test_softmax_entropy__a_weight_of_zero_adds_nothing(student, reference, draw):
    rows, columns = draw.sizes(2, low=4)
    keep = draw.mask(rows, columns)
    keep[:, 0], keep[:, 1] = True, False
    scores = draw.normal(rows, columns).masked_fill(~keep, MINUS_INFINITY)
    close(student.softmax_entropy(scores), reference.softmax_entropy(scores))


def test_softmax_entropy__small_weights_count_too(student, reference, draw):
    rows, columns = draw.sizes(2, low=4)
    scores = draw.normal(rows, columns)
    scores[:, 0] += draw.uniform(10.0, 16.0, rows)
    close(student.softmax_entropy(scores), reference.softmax_entropy(scores))


def test_softmax_entropy__huge_scores_are_no_trouble(student, reference, draw):
    rows, columns = draw.sizes(2, low=3)
    levels = torch.tensor(draw.shuffled([1e4, -1e4] + [0.0] * (rows - 2)), dtype=torch.float64)
    for scores in (levels[:, None] + draw.normal(rows, columns), draw.uniform(-1e4, 1e4, rows, columns)):
        close(student.softmax_entropy(scores), reference.softmax_entropy(scores))


def test_softmax_entropy__the_dtype_of_the_scores_is_kept(student, reference, draw):
    for dtype in (torch.float32, torch.float64):
        scores = draw.normal(*draw.sizes(2), dtype=dtype)
        close(student.softmax_entropy(scores), reference.softmax_entropy(scores))


def test_softmax_entropy__gradients_flow_back_to_the_scores(student, reference, draw):
    scores = draw.normal(*draw.sizes(3))
    expected = reference.gradients("softmax_entropy", scores, 1, wrt=(0,))
    close(student.gradients("softmax_entropy", scores, 1, wrt=(0,)), expected, what="the gradient")


@pytest.mark.random
@pytest.mark.noise(0.02)
def test_attention_entropy__scaled_scores_keep_their_entropy(student, draw):
    for d_k in (4, 36):
        entropy = student.attention_entropy(d_k, 7, 1_500, True, draw.generator())
        _check_entropy(entropy, d_k, 7, 1_500, math.sqrt(d_k), draw)
    _single_samples_scatter(student, draw)


@pytest.mark.random
@pytest.mark.noise(0.02)
def test_attention_entropy__raw_scores_lose_it_as_the_width_grows(student, draw):
    for d_k in (4, 36):
        entropy = student.attention_entropy(d_k, 7, 1_500, scaled=False, generator=draw.generator())
        _check_entropy(entropy, d_k, 7, 1_500, 1.0, draw)
    _single_samples_scatter(student, draw)


@pytest.mark.random
@pytest.mark.noise(0.02)
def test_attention_entropy__the_scale_is_there_unless_asked_away(student, draw):
    for d_k, n_keys in ((25, 5), (16, 20), (1, 3)):
        _check_entropy(student.attention_entropy(d_k, n_keys, 1_500), d_k, n_keys, 1_500, math.sqrt(d_k), draw)


@pytest.mark.random
@pytest.mark.noise(0.02)
def test_attention_entropy__one_key_leaves_no_choice(student, draw):
    close(student.attention_entropy(9, 1, 20, True, draw.generator()), 0.0, atol=1e-5, what="the entropy over one key")
    _check_entropy(student.attention_entropy(9, 2, 1_500, True, draw.generator()), 9, 2, 1_500, 3.0, draw)
    _single_samples_scatter(student, draw)


@pytest.mark.random
@pytest.mark.noise(0.02)
def test_attention_entropy__every_sample_has_a_query_and_keys_of_its_own(student, draw):
    """Means of independent samples scatter by their standard error; of samples that share something, much further."""
    d_k, n_keys, n_samples, repeats = 2, 6, 400, 20
    entropies = [student.attention_entropy(d_k, n_keys, n_samples, False, draw.generator()) for _ in range(repeats)]
    _check_entropy(entropies[0], d_k, n_keys, n_samples, 1.0, draw, sigmas=40)
    entropies = torch.tensor(entropies, dtype=torch.float64)
    _, deviation = _entropies(d_k, n_keys, 1.0, draw)
    spread = entropies.var(correction=0).item() / (deviation**2 / n_samples)
    if not 0.05 < spread < 4.5:
        raise Mismatch("over many calls the means lie too close together or too far apart")


@pytest.mark.random
@pytest.mark.noise(0.02)
def test_attention_entropy__the_generator_alone_decides(student, draw):
    _generator_decides(lambda generator: (student.attention_entropy(5, 4, 30, True, generator),), draw)
    _single_samples_scatter(student, draw)


@pytest.mark.random
@pytest.mark.noise(0.02)
def test_attention_entropy__impossible_sizes_are_refused(student, draw):
    _check_entropy(student.attention_entropy(6, 3, 1_500, True, draw.generator()), 6, 3, 1_500, math.sqrt(6), draw)
    _single_samples_scatter(student, draw)
    bad = -draw.number(11, 99)
    raises(ValueError, student.attention_entropy, bad, 4, 5, mentions=(str(bad),))
    raises(ValueError, student.attention_entropy, 3, bad, 5, mentions=(str(bad),))
    raises(ValueError, student.attention_entropy, 3, 4, bad, mentions=(str(bad),))
    for sizes in ((0, 4, 5), (3, 0, 5), (3, 4, 0)):
        raises(ValueError, student.attention_entropy, *sizes, mentions=("0",))


def test_softmax_jacobian__one_row_of_weights_gives_one_matrix(student, reference, draw):
    p = torch.softmax(draw.normal(draw.number(3, 9)), dim=0)
    close(student.softmax_jacobian(p), reference.softmax_jacobian(p))


def test_softmax_jacobian__it_is_the_derivative_of_the_softmax(student, draw):
    scores = draw.normal(draw.number(3, 9))
    expected = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, dim=0), scores)
    close(student.softmax_jacobian(torch.softmax(scores, dim=0)), expected)


def test_softmax_jacobian__every_row_of_a_batch_gives_its_own_matrix(student, reference, draw):
    batch, queries, keys = draw.sizes(3)
    for shape in ((batch, keys), (batch, queries, keys)):
        p = draw.probabilities(*shape)
        close(student.softmax_jacobian(p), reference.softmax_jacobian(p))


def test_softmax_jacobian__weights_of_zero_and_one_are_welcome(student, reference, draw):
    rows, keys = draw.sizes(2, low=4)
    p = draw.probabilities(rows, keys)
    p[0] = torch.nn.functional.one_hot(torch.tensor(draw.number(0, keys - 1)), keys)
    p[1, 0] = 0.0
    p[1] /= p[1].sum()
    close(student.softmax_jacobian(p), reference.softmax_jacobian(p))


def test_softmax_jacobian__the_dtype_of_the_weights_is_kept(student, reference, draw):
    batch, keys = draw.sizes(2)
    for dtype in (torch.float32, torch.float64):
        p = draw.probabilities(batch, keys, dtype=dtype)
        close(student.softmax_jacobian(p), reference.softmax_jacobian(p))


def _pair(got):
    """The answer as two floats."""
    if not isinstance(got, (tuple, list)) or len(got) != 2 or any(type(value) is not float for value in got):
        raise Mismatch("expected two floats, the mean and the variance (`.item()` makes a Python float)")
    if not all(map(math.isfinite, got)):
        raise Mismatch("the mean or the variance is not finite")
    return tuple(got)


def _check_moments(got, d_k, n_samples):
    """A product has variance d_k, its square 2 d_k² + 6 d_k."""
    mean, variance = _pair(got)
    if mean == 0 or variance == d_k:
        raise Mismatch("the mean or the variance is exactly what theory expects: that of random samples never is")
    close(mean, 0.0, atol=SIGMAS * math.sqrt(d_k / n_samples), rtol=0, what="the mean")
    error = math.sqrt((2 * d_k**2 + 6 * d_k) / n_samples)
    # A sample variance leans to the right, so the last sigma on that side is worth less.
    close(variance, float(d_k), atol=SIGMAS * error, rtol=0, what="the variance")


def _few_samples_scatter(student, draw):
    """The variance of two products is a square: among twenty, the largest is many times the smallest."""
    variances = [_pair(student.dot_product_moments(6, 2, draw.generator()))[1] for _ in range(20)]
    if not max(variances) > 4 * abs(min(variances)):
        raise Mismatch("few samples give nearly the same variance again and again: were they drawn?")


def _entropies(d_k, n_keys, divisor, draw, n_samples=3_000):
    """Mean and deviation of the entropy, over samples of its own: given its query, a product is normal."""
    lengths = draw.normal(n_samples, d_k).norm(dim=-1, keepdim=True)
    weights = torch.softmax(lengths * draw.normal(n_samples, n_keys) / divisor, dim=-1)
    entropies = torch.special.entr(weights).sum(dim=-1)
    return entropies.mean().item(), entropies.std().item()


def _check_entropy(got, d_k, n_keys, n_samples, divisor, draw, sigmas=SIGMAS):
    mean, deviation = _entropies(d_k, n_keys, divisor, draw)
    error = deviation * math.sqrt(1 / n_samples + 1 / 3_000)
    close(got, mean, atol=sigmas * error, rtol=0, what="the mean entropy")


def _single_samples_scatter(student, draw):
    """One sample's entropy lies anywhere between 0 and the logarithm: a formula for the mean doesn't know that."""
    entropies = [student.attention_entropy(9, 7, 1, False, draw.generator()) for _ in range(20)]
    if any(type(value) is not float for value in entropies):
        raise Mismatch("expected Python floats (`.item()` makes one)")
    # Their deviation is 0.45: twenty of them within 0.15 don't come by chance.
    if not max(entropies) - min(entropies) > 0.15:
        raise Mismatch("single samples give nearly the same entropy again and again: was it drawn?")


def _generator_decides(ask, draw):
    """The same seed gives the same numbers, another seed others: a constant fails, and so does a generator ignored."""
    one, other = draw.generator(), draw.generator()
    first, second, third = ask(one), ask(other), ask(one)
    close(third, first, atol=0, rtol=0, what="a second call with the same generator seed")
    if any(type(value) is not float for value in first):
        raise Mismatch("expected Python floats (`.item()` makes one)")
    if any(a == b for a, b in zip(first, second, strict=True)):
        raise Mismatch("two generators with different seeds give the same result")
