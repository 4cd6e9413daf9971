# %% [markdown]
# # Why √d_k?
#
# Attention compares a query with keys by dot products, and divides the products by √d_k before the softmax. Why divide
# at all? Why by the root? In this notebook you measure it, and check two sets of figures that circulate in articles.
#
# Four exercises: the moments of a dot product, the entropy of weights, the entropy of attention with and without the
# scale, and the derivative of the softmax (explained there). Between them stand experiments that run on your own
# functions.
#
# Letters: S positions that answer (keys), and d_k, the D of notebook 01: the *width* of a query or key, which says how
# many numbers it has.
#
# The *norm* of a vector is something else: how long it is as an arrow, the root of the sum of its squares.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch

from course_utils import check, hint, needs, plots, progress
from course_utils.parts import softmax

# %% [markdown]
# ## A dot product is a random walk
#
# Start small: vectors of width 2 whose numbers are +1 or -1. There are four such queries and four such keys, so
# sixteen pairs. Which products q · k are possible, and which is the most frequent? Guess, then run.

# %%
signs = [(a, b) for a in (1, -1) for b in (1, -1)]
products = []
for q in signs:
    for k in signs:
        products.append(q[0] * k[0] + q[1] * k[1])
print(sorted(products))

# %% [markdown]
# The *mean* is the sum divided by the number n of products. The *variance* is the mean of the squared distances from
# the mean. In this course a variance always divides by n. (Some libraries divide by n - 1 unless told otherwise.)

# %%
mean = sum(products) / len(products)
variance = sum((x - mean) ** 2 for x in products) / len(products)
print("mean", mean, "variance", variance)

# %% [markdown]
# A dot product is a sum of d_k terms. Each term is +1 or -1 here: mean 0, variance 1. Variances of independent terms
# *add*. What will the variance be for width 3? The cell tries all pairs, for several widths.

# %%
from itertools import product

for width in (1, 2, 3, 4):
    vectors = list(product((1, -1), repeat=width))
    products = [sum(a * b for a, b in zip(q, k)) for q in vectors for k in vectors]
    print("width", width, "variance", sum(x * x for x in products) / len(products))

# %% [markdown]
# So the variance grows like the width. The typical size of a product is the root of the variance, the *standard
# deviation*: it grows like √width. It is a random walk: after d steps left or right you are about √d away from home.

# %% [markdown]
# ## Random numbers that can be repeated
#
# Real queries and keys are not signs. As a model take *standard normal* numbers, mean 0 and variance 1, from
# `torch.randn`. A `torch.Generator` with a seed makes an experiment repeatable: same seed, same numbers.

# %%
print(torch.randn(3, generator=torch.Generator().manual_seed(1)))
print(torch.randn(3, generator=torch.Generator().manual_seed(1)))
print(torch.randn(3, generator=torch.Generator().manual_seed(2)))

# %% [markdown]
# `generator=None` is allowed as well: then PyTorch's own global generator is used. A function that draws random
# numbers takes a generator as an argument and hands it to *every* draw. It never sets a seed itself.
#
# A measured mean is never exact. It scatters around the truth, and the typical distance is the *standard error*: the
# standard deviation of one sample divided by √n. Four times the samples, half the error. Which of the means below
# lies nearest to 0?

# %%
generator = torch.Generator().manual_seed(0)
for n in (100, 10_000, 1_000_000):
    mean = torch.randn(n, generator=generator).mean().item()
    print(f"n = {n:9,}   mean {mean:+.5f}   standard error {1 / math.sqrt(n):.5f}")

# %% [markdown]
# ## Exercise: mean and variance of q · k
#
# Write `dot_product_moments(d_k, n_samples, generator=None)`. Draw n_samples pairs of vectors q and k of width d_k,
# all numbers standard normal and independent, and measure mean and variance of the n_samples products q · k. The
# rules:
#
# * Return two Python floats, mean first. The variance divides by n, so it is 0 for a single sample.
# * Measure, and don't return what theory expects. Every draw uses the generator that is passed in.
# * A d_k or n_samples below 1 raises ValueError with the number in its message; where both are, either may be named.
#
# The checks judge by statistics: within six standard errors, in any order of draws. They ask for at most 20,000
# samples at d_k 3, and fewer at larger widths up to 64.

# %% nbgrader={"grade": false, "grade_id": "dot_product_moments", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dot_product_moments(d_k, n_samples, generator=None):
    """Mean and variance of q · k over random pairs of standard normal vectors.

    d_k, n_samples -> (float, float)
    """
    ### BEGIN SOLUTION
    if d_k < 1 or n_samples < 1:
        raise ValueError(f"d_k and n_samples must be at least 1, got {d_k} and {n_samples}")
    q = torch.randn(n_samples, d_k, generator=generator)
    k = torch.randn(n_samples, d_k, generator=generator)
    products = (q * k).sum(dim=-1)
    return products.mean().item(), products.var(correction=0).item()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_dot_product_moments", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(dot_product_moments)

# %%
# hint(dot_product_moments)  # remove the first "#", run, and run again for the next hint

# %% [markdown]
# Now the measurement: 20,000 products for each width, seed 0. The claim is that the variance *is* d_k. The last
# column is the distance from that claim, in standard errors; numbers up to 2 or 3 are ordinary luck.

# %%
with needs(dot_product_moments):
    for d_k in (4, 16, 64, 256):
        mean, variance = dot_product_moments(d_k, 20_000, torch.Generator().manual_seed(0))
        error = math.sqrt((2 * d_k**2 + 6 * d_k) / 20_000)
        print(f"d_k {d_k:4}   mean {mean:+.3f}   variance {variance:8.2f} ± {error:.2f}   off by {(variance - d_k) / error:+.1f}")

# %% [markdown]
# The claim holds. The formula for the error comes from the fourth moment of the products, 3 d_k² + 6 d_k; you need
# not know it to go on.
#
# With a single sample, the mean *is* one product. So your function can fill a histogram. How much wider is it at 64
# than at 4?

# %%
with needs(dot_product_moments):
    generator = torch.Generator().manual_seed(1)
    samples = {f"d_k = {d_k}": [dot_product_moments(d_k, 1, generator)[0] for _ in range(4_000)] for d_k in (4, 16, 64)}
    plots.histogram(
        samples,
        title="Products q · k of random vectors, 4,000 for each width",
        alt="Three bells around zero, each twice as wide as the one before and half as high: most products lie within ±4 "
        "at d_k = 4, within ±16 at d_k = 64.",
        xlabel="q · k",
        bins=60,
    )
    for label, values in samples.items():
        print(label, f"  standard deviation {torch.tensor(values).std(correction=0):.2f}")

# %% [markdown]
# At four times the width the bell is twice as wide. So from 4 to 64, sixteen times the width, it becomes four times as
# wide.
#
# ## A shorter way to the same numbers
#
# Keep one query fixed. Then q · k is a sum of normal numbers k_i, each with a factor q_i. Such a sum is normal again,
# and its variance is the sum of the squared factors: the squared *norm* of q. So a product can be drawn without its
# key.

# %%
def random_scores(d_k, n_keys, n_samples, seed):
    """Scores of n_samples random queries, n_keys each, drawn from the norms of the queries. -> (n_samples, n_keys)"""
    generator = torch.Generator().manual_seed(seed)
    norms = torch.randn(n_samples, d_k, generator=generator).norm(dim=-1, keepdim=True)
    return norms * torch.randn(n_samples, n_keys, generator=generator)

# %% [markdown]
# No key is drawn here, only its product with the query. The experiments below use this function. Does it agree with
# your measurement?

# %%
for d_k in (4, 64, 256):
    scores = random_scores(d_k, n_keys=1, n_samples=20_000, seed=0)
    print(f"d_k {d_k:4}   mean {scores.mean():+.3f}   variance {scores.var(correction=0):8.2f}")

# %% [markdown]
# ## A claim to test: the largest of 10,000 products
#
# The first set of figures says: the largest of 10,000 products is 21.2 at d_k = 64, 45 at 256, 63 at 512 and 89 at
# 1024. Is that plausible? The standard deviation at 64 is 8, so 21.2 is not even three deviations away from 0.
#
# Of 10,000 normal numbers, how many lie further out? `math.erfc(z / √2)` is the share of normal numbers more than z
# deviations away from 0, on both sides; half of it lies above.

# %%
beyond = 0.5 * math.erfc(21.2 / 8 / math.sqrt(2))
print(f"normal numbers beyond 21.2: {10_000 * beyond:.0f} of 10,000")

# %% [markdown]
# So dozens of products should be larger than the "largest". Measure it: ten times 10,000 products for each width. The
# cell prints the mean of the ten maxima, and how far they scatter. It takes a few seconds.

# %%
claimed = {64: 21.2, 256: 45, 512: 63, 1024: 89}
for d_k, claim in claimed.items():
    largest = torch.stack([random_scores(d_k, 1, 10_000, seed).max() for seed in range(10)])
    print(f"d_k {d_k:4}   claimed {claim:5}   measured {largest.mean():6.1f}, from {largest.min():.1f} to {largest.max():.1f}")

# %% [markdown]
# Not one of the ten maxima is as small as the claim, at any width. The figures are false; the statement behind them,
# that products get large, is true, and even more so.

# %% [markdown]
# ## What large scores do to the softmax
#
# Take three scores, 0, 1 and 2, and multiply them by a factor: all their distances grow. How much weight does the
# largest score get at factor 8? Guess first.

# %%
for factor in (0, 1, 2, 4, 8):
    weights = softmax(factor * torch.tensor([0.0, 1.0, 2.0]), 0)
    print(factor, [round(weight, 4) for weight in weights.tolist()])

# %% [markdown]
# With the factor 0 the three share evenly; with 8 one takes nearly all. The softmax is *saturated*: a soft choice has
# become a hard one. We need one number that says how soft a choice is.

# %% [markdown]
# ## Entropy
#
# That number is the *entropy*. A weight p carries the surprise -ln p; the entropy is the mean surprise, weighted by
# p:
#
# $$H(p) = -\sum_i p_i \ln p_i$$
#
# With the natural logarithm its unit is the *nat*. Two halves: -2 · ½ ln ½ = ln 2, about 0.69.

# %%
def entropy_by_hand(weights):
    total = 0.0
    for p in weights:
        total -= p * math.log(p)
    return total


print("two halves:", entropy_by_hand([0.5, 0.5]), "  1/4 and 3/4:", entropy_by_hand([0.25, 0.75]))
print("four quarters:", entropy_by_hand([0.25] * 4), " ln 4 =", math.log(4))
for weights in ([0.5, 0.5], [0.25, 0.75], [0.25] * 4):
    print("e to the entropy:", round(math.exp(entropy_by_hand(weights)), 2), "for", weights)

# %% [markdown]
# Equal weights give the largest entropy, ln n for n keys. One sure choice gives 0. So e to the entropy says among how
# many keys the attention is spread: four for four quarters. And what does the loop say to a weight of exactly 0?

# %%
try:
    print(entropy_by_hand([1.0, 0.0]))
except ValueError as error:
    print("ValueError:", error)
p = torch.tensor([1.0, 0.0])
print("and tensors:", -(p * p.log()).sum())

# %% [markdown]
# The logarithm of 0 is minus infinity, and 0 times infinity is NaN. Yet p ln p goes to 0 as p goes to 0, which the
# next cell shows. So by definition a weight of 0 adds nothing to an entropy.

# %%
for p in (0.1, 0.001, 1e-6, 1e-12):
    print(f"p = {p:<6g}   -p ln p = {-p * math.log(p):.2e}")

# %% [markdown]
# ## Exercise: the entropy of a softmax
#
# Write `softmax_entropy(scores, dim=-1)`: the entropy of softmax(scores) along dim. The rules:
#
# * The result is a tensor without the dimension dim: scores (4, 7) with dim=-1 give a shape (4,), with dim=0 a shape
#   (7,).
# * In nats, and exact: in float64 the result may be off by 1e-9, an absolute bound, however small the entropy is. A
#   small number inside the logarithm, such as 1e-8, shows.
# * A weight of 0 adds 0, be it from a score of -inf or from scores up to ±10,000. Each row holds at least one finite
#   score.
# * float32 and float64 are kept, and gradients flow back to the scores. (Gradients are asked for moderate scores
#   only.)
#
# `softmax(x, dim)` is there: your own if it has passed its checks, or the course's stand-in until then.

# %% nbgrader={"grade": false, "grade_id": "softmax_entropy", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["softmax"]
def softmax_entropy(scores, dim=-1):
    """Entropy of the softmax of `scores` along `dim`, in nats; `dim` is gone from the result.

    scores (...) -> (...)
    """
    ### BEGIN SOLUTION
    p = softmax(scores, dim)
    # Where p is 0 the logarithm is taken of 1 instead, so that the product is 0 and not NaN.
    return -(p * torch.log(p.masked_fill(p == 0, 1.0))).sum(dim=dim)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_softmax_entropy", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(softmax_entropy)

# %%
# hint(softmax_entropy)  # remove the first "#", run, and run again for the next hint

# %% [markdown]
# See it: the scores 0, 1, 2, 3 times a factor. Where does the curve begin, and where does it end?

# %%
factors = torch.linspace(0, 4, 41)
with needs(softmax_entropy):
    plots.curves(
        factors,
        {"four scores, 0 to 3": softmax_entropy(factors[:, None] * torch.arange(4.0))},
        title="Scores further apart, less entropy",
        alt="A falling curve: from ln 4 = 1.39 at factor 0 down to nearly 0 at factor 4.",
        xlabel="factor on the scores",
        ylabel="entropy in nats",
        levels={"ln 4, all equal": math.log(4)},
    )

# %% [markdown]
# ## Which divisor?
#
# Now put both together. Scores have the standard deviation √d_k. Divide them by √d_k, and the standard deviation is 1
# at every width. Divide by d_k, and it is 1/√d_k: smaller and smaller. What will the entropies of the three choices
# be like?

# %%
with needs(softmax_entropy):
    print("ln 10 =", round(math.log(10), 3))
    for d_k in (16, 64, 256):
        scores = random_scores(d_k, n_keys=10, n_samples=4_000, seed=0)
        by = {"1": 1, "√d_k": math.sqrt(d_k), "d_k": d_k}
        print(d_k, {name: round(softmax_entropy(scores / divisor).mean().item(), 3) for name, divisor in by.items()})

# %% [markdown]
# Divided by 1, the choice hardens with the width. Divided by d_k, the entropy comes close to ln 10: every key gets
# nearly the same weight, and attention prefers nothing. Divided by √d_k it hardly depends on the width.

# %% [markdown]
# ## Exercise: the entropy of attention
#
# Write `attention_entropy(d_k, n_keys, n_samples, scaled=True, generator=None)`. Each sample has one query and n_keys
# keys of its own, all numbers standard normal. Its scores are the products of the query with each key, divided by
# √d_k if scaled. The rules:
#
# * Return the mean of the samples' softmax entropies, as a Python float, in nats. First the entropy of each sample,
#   then the mean.
# * Draw queries and keys with the generator that is passed in; no two samples share a query or a key. The order of
#   draws is yours: the checks judge by statistics, as before.
# * A d_k, n_keys or n_samples below 1 raises ValueError with the number in its message; where several are, any of them
#   may be named.
#
# Mind the memory: the keys alone are n_samples × n_keys × d_k numbers of 4 bytes. How much is that for 2,000 samples
# of 10 keys at d_k = 1024? The cell says it. The checks ask for much less: at most 2,000 samples, 7 keys, d_k 49.

# %%
print(f"{2_000 * 10 * 1024 * 4 / 2**20:.0f} MiB")

# %% nbgrader={"grade": false, "grade_id": "attention_entropy", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["softmax_entropy"]
def attention_entropy(d_k, n_keys, n_samples, scaled=True, generator=None):
    """Mean entropy of the attention weights of a random query over n_keys random keys.

    d_k, n_keys, n_samples -> float
    """
    ### BEGIN SOLUTION
    if d_k < 1 or n_keys < 1 or n_samples < 1:
        raise ValueError(f"d_k, n_keys and n_samples must be at least 1, got {d_k}, {n_keys} and {n_samples}")
    query = torch.randn(n_samples, 1, d_k, generator=generator)
    keys = torch.randn(n_samples, n_keys, d_k, generator=generator)
    scores = (query * keys).sum(dim=-1)
    if scaled:
        scores = scores / math.sqrt(d_k)
    return softmax_entropy(scores).mean().item()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_attention_entropy", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(attention_entropy)

# %%
# hint(attention_entropy)  # remove the first "#", run, and run again for the next hint

# %% [markdown]
# ## A second claim to test
#
# The second set of figures gives entropies for 10 keys without the scale: 0.847 at d_k = 64, 0.234 at 256, 0.089 at
# 512 and 0.023 at 1024.
#
# You can measure them. Ten runs of 500 samples each also show how far a result scatters. It takes a few seconds.

# %%
def ten_runs(d_k, scaled):
    """Mean of ten runs with seeds 0 to 9, and its standard error."""
    runs = [attention_entropy(d_k, 10, 500, scaled, torch.Generator().manual_seed(seed)) for seed in range(10)]
    runs = torch.tensor(runs)
    return runs.mean().item(), runs.std(correction=0).item() / math.sqrt(10)


claimed = {64: 0.847, 256: 0.234, 512: 0.089, 1024: 0.023}
with needs(attention_entropy, softmax_entropy):
    for d_k, claim in claimed.items():
        mean, error = ten_runs(d_k, scaled=False)
        print(f"d_k {d_k:4}   claimed {claim:.3f}   measured {mean:.3f} ± {error:.3f}   apart: {(claim - mean) / error:+.0f} errors")

# %% [markdown]
# The figures are false at every width: too large at first, too small at the end. The direction holds, the entropy falls.
# But it falls slowly, and no noise explains the difference. A figure in an article deserves a cell that recomputes
# it.
#
# Now the picture: entropy against width, raw and scaled, 10 keys, with bands of one standard error. It takes a few
# seconds. Before you run it: will the scaled curve lie *on* ln 10 or below, and why?

# %%
widths = [1, 4, 16, 64, 256, 1024]
with needs(attention_entropy, softmax_entropy):
    raw, scaled = (torch.tensor([ten_runs(d_k, scaled) for d_k in widths]) for scaled in (False, True))
    plots.curves(
        widths,
        {"raw": (raw[:, 0], raw[:, 1]), "divided by √d_k": (scaled[:, 0], scaled[:, 1])},
        title="Entropy of attention over 10 random keys, 10 × 500 samples",
        alt="Both curves begin at 2.0. The scaled one stays nearly flat, at 1.9, below the level of ln 10 = 2.30. The raw "
        "one falls to below 0.1 at d_k = 1024.",
        xlabel="d_k",
        ylabel="entropy in nats",
        xlog=True,
        levels={"ln 10, all equal": math.log(10)},
    )
    print("scaled:", [round(value, 3) for value in scaled[:, 0].tolist()])
    print(f"largest standard error: {max(raw[:, 1].max(), scaled[:, 1].max()):.4f}")

# %% [markdown]
# The bands are there, but too thin to see: the errors are that small.
#
# Scaled scores still differ, with a standard deviation of 1. So some keys get more weight than others, and the entropy
# lies below ln 10. That is a good start: a preference that training can still change in either direction.

# %% [markdown]
# ## What is left of the gradient
#
# Why is a hard choice at the start of training bad? Because little can be learned from it. If a weight is practically
# 1, a small change of the scores changes nothing.
#
# How much do the weights move when one score moves? The change of a weight, divided by the small change of the score, is
# a *derivative*. Try it by hand first.

# %%
scores = torch.tensor([0.0, math.log(3)], dtype=torch.float64)
before = softmax(scores, 0)
after = softmax(scores + torch.tensor([1e-6, 0.0], dtype=torch.float64), 0)
print("weights:", before.tolist())
print("change of each weight per change of the first score:", ((after - before) / 1e-6).tolist())

# %% [markdown]
# The weights are 1/4 and 3/4, the changes 3/16 and -3/16. What the first weight wins, the second loses. In general,
# from the derivative of the formula:
#
# $$\frac{\partial p_i}{\partial x_j} = p_i (1 - p_i) \;\text{ if } i = j, \qquad -p_i\, p_j \;\text{ otherwise}$$
#
# Check with 1/4 and 3/4: on the diagonal 1/4 · 3/4 = 3/16.
#
# All derivatives together are a matrix, the *Jacobian*: row i belongs to weight i, column j to score j. As a loop,
# for the weights 1/2, 1/4, 1/4:

# %%
p = [0.5, 0.25, 0.25]
for i in range(3):
    print([p[i] * (1 - p[i]) if i == j else -p[i] * p[j] for j in range(3)])

# %% [markdown]
# Each row sums to 0: add the same number to all scores, and nothing moves. Each column sums to 0: the weights always
# sum to 1. And what would the matrix be for the weights 1, 0, 0?
#
# A tool for the next exercise: `torch.diag_embed` puts each row of numbers on the diagonal of a matrix of its own.
# Which shape will come out?

# %%
print(torch.diag_embed(torch.tensor([[1, 2], [3, 4], [5, 6]])))

# %% [markdown]
# ## Exercise: the Jacobian of the softmax
#
# Write `softmax_jacobian(p)` for weights p of shape (…, S): the result has shape (…, S, S), one matrix for each row
# of weights. Look for a form without a loop: one matrix that has all the products, and one that has only a diagonal.
# The rules:
#
# * p holds weights, not scores: the rows sum to 1, and weights of exactly 0 or 1 may occur.
# * Any number of leading dimensions, also none.
# * float32 and float64 are kept.

# %% nbgrader={"grade": false, "grade_id": "softmax_jacobian", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax_jacobian(p):
    """Derivative of each weight with respect to each score, for weights `p` that sum to one along the last dimension.

    p (..., S) -> (..., S, S)
    """
    ### BEGIN SOLUTION
    return torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_softmax_jacobian", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(softmax_jacobian)

# %%
# hint(softmax_jacobian)  # remove the first "#", run, and run again for the next hint

# %% [markdown]
# For the weights 1, 0, 0 every product p_i p_j and every p_i (1 - p_i) is 0: the whole matrix is 0, and nothing moves.
#
# Three Jacobians side by side: the scores 0, 1, 2, 3 times 0.3, times 1 and times 6. Where is there most to learn,
# and where is nothing left?

# %%
with needs(softmax_jacobian):
    factors = (0.3, 1, 6)
    weights = softmax(torch.tensor(factors)[:, None] * torch.arange(4.0), 1)
    plots.heatmaps(
        {f"scores times {factor}": matrix for factor, matrix in zip(factors, softmax_jacobian(weights))},
        title="How each weight (row) moves with each score (column)",
        alt="Three four-by-four matrices, blue (positive) on the diagonal and red (negative) beside it. Strong colours for "
        "the factors 0.3 and 1; for the factor 6 all entries are nearly zero, and the matrix is white.",
        xlabel="score",
        ylabel="weight",
        diverging=True,
    )

# %% [markdown]
# One number for the size of a matrix is its *Frobenius norm*: square all entries, add them, take the root. It bounds
# the gradient: what arrives at the scores is at most this norm times as long as what came to the weights.
#
# So a norm near 0 lets nothing through. Predict the order of the four: equal weights, two halves, a nearly hard choice
# and a hard one.

# %%
with needs(softmax_jacobian):
    for p in ([0.25] * 4, [0.5, 0.5, 0.0, 0.0], [0.97, 0.01, 0.01, 0.01], [1.0, 0.0, 0.0, 0.0]):
        print(p, "norm", round(softmax_jacobian(torch.tensor(p)).square().sum().sqrt().item(), 4))

# %% [markdown]
# Two halves have a larger norm than four equal weights: 0.5 against 0.433. Of the four, the choice between two moves
# most, then the equal weights; the hard choice doesn't move at all.
#
# Now for random attention: 10 keys, 4,000 samples for each width, seed 0. The cell prints mean and median. The median
# is the norm of a typical sample: half lie below it. Will raw mean and median be alike?

# %%
def gradient_norms(d_k, scaled):
    """Frobenius norms of the softmax Jacobian for 4,000 random queries over 10 keys. -> (4000,)"""
    scores = random_scores(d_k, n_keys=10, n_samples=4_000, seed=0)
    weights = softmax(scores / math.sqrt(d_k) if scaled else scores, 1)
    return softmax_jacobian(weights).square().sum(dim=(-2, -1)).sqrt()


with needs(softmax_jacobian):
    for d_k in (64, 256, 512, 1024):
        raw, scaled = gradient_norms(d_k, scaled=False), gradient_norms(d_k, scaled=True)
        share = raw.topk(400).values.sum() / raw.sum()
        print(f"d_k {d_k:4}   raw mean {raw.mean():.3f}, median {raw.median():.6f}, largest tenth has {share:.0%} of the sum")
        print(f"      scaled mean {scaled.mean():.3f}, median {scaled.median():.3f}")

# %% [markdown]
# The raw mean falls, but the raw *median* collapses: at large widths a typical query passes on almost no gradient. The
# mean lives on a few queries, as the share of the largest tenth shows. Scaled, mean and median agree, and stay.

# %%
widths = [4, 16, 64, 256, 512, 1024]
with needs(softmax_jacobian):
    raw, scaled = ([gradient_norms(d_k, choice) for d_k in widths] for choice in (False, True))
    lines = {
        "raw, mean": torch.stack([norms.mean() for norms in raw]),
        "raw, median": torch.stack([norms.median() for norms in raw]),
        "scaled, median": torch.stack([norms.median() for norms in scaled]),
    }
    plots.curves(
        widths,
        lines,
        title="Norm of the softmax Jacobian, 10 keys, 4,000 samples",
        alt="On logarithmic axes: the median of the scaled norms is flat at about a third. The raw mean falls slowly, to below "
        "0.05; the raw median falls by about five powers of ten.",
        xlabel="d_k",
        ylabel="Frobenius norm",
        xlog=True,
        ylog=True,
    )

# %% [markdown]
# ## Does training fail without it?
#
# So the gradient through the softmax vanishes without the scale: that claim holds. From there it is often said that a
# Transformer *can't be trained* without √d_k. That is another claim, and a larger one.
#
# An honest word: a small task can be learned without the scale. The queries and keys of a real layer come from weight
# matrices, and training can make those smaller by itself. A later notebook, where you sort numbers, trains both ways
# and measures it.
#
# Remember the difference. Experiments like these tell what a mechanism does at the start of training. Whether a model
# trains in the end depends on more, and a model that trains is no proof that each of its parts is right. That is what
# checks are for.

# %% [markdown]
# ## What you found
#
# * The variance of q · k is d_k, for independent numbers of mean 0 and variance 1. Its root is the size of a typical
#   score.
# * Dividing by √d_k gives scores of standard deviation 1 at every width. Dividing by d_k flattens the weights.
# * Raw scores saturate the softmax: its entropy falls, and its typical gradient all but vanishes.
# * Two sets of figures that circulate in articles don't survive a measurement.

# %%
progress()

# %% [markdown]
# To hand in, save the notebook and send it under its own name, `02_why_sqrt_dk.ipynb`. Next, in
# `03_positional_encoding`: attention can't tell the order of its keys. What can be done about it?
