"""Wrong answers of 02_why_sqrt_dk: misconceptions that people have."""

import math

import torch

from grader.bank import wrong


def refuse(**sizes):
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


def products(d_k, n_samples, generator):
    refuse(d_k=d_k, n_samples=n_samples)
    q = torch.randn(n_samples, d_k, generator=generator)
    k = torch.randn(n_samples, d_k, generator=generator)
    return (q * k).sum(dim=-1)


def random_scores(d_k, n_keys, n_samples, generator):
    refuse(d_k=d_k, n_keys=n_keys, n_samples=n_samples)
    query = torch.randn(n_samples, d_k, generator=generator)
    keys = torch.randn(n_samples, n_keys, d_k, generator=generator)
    return (query[:, None, :] * keys).sum(dim=-1)


def entropy(p, dim=-1):
    return torch.special.entr(p).sum(dim)


@wrong(
    "dot_product_moments",
    caught_by="the_variance_of_short_vectors_is_right",
    says="Your second number is the standard deviation. The variance is its square.",
)
def standard_deviation(d_k, n_samples, generator=None):
    x = products(d_k, n_samples, generator)
    return x.mean().item(), x.std(correction=0).item()


@wrong(
    "dot_product_moments",
    caught_by="one_sample_has_variance_zero",
    says="You divide by n - 1, as Tensor.var does unless told otherwise. Here the variance divides by n.",
)
def divided_by_n_minus_one(d_k, n_samples, generator=None):
    x = products(d_k, n_samples, generator)
    return x.mean().item(), ((x - x.mean()).square().sum() / (n_samples - 1)).item()


@wrong(
    "dot_product_moments",
    caught_by="the_mean_scatters_as_a_mean_of_products",
    says="These are the moments of the numbers in q. Those of the products q · k are asked for.",
)
def moments_of_the_entries(d_k, n_samples, generator=None):
    refuse(d_k=d_k, n_samples=n_samples)
    q = torch.randn(n_samples, d_k, generator=generator)
    return q.mean().item(), q.var(correction=0).item()


@wrong(
    "dot_product_moments",
    caught_by="the_mean_scatters_as_a_mean_of_products",
    says="These are the moments of the numbers q_i k_i, before they are summed. A dot product is their sum over d_k.",
)
def products_not_summed(d_k, n_samples, generator=None):
    refuse(d_k=d_k, n_samples=n_samples)
    x = torch.randn(n_samples, d_k, generator=generator) * torch.randn(n_samples, d_k, generator=generator)
    return x.mean().item(), x.var(correction=0).item()


@wrong(
    "dot_product_moments",
    caught_by="the_variance_of_short_vectors_is_right",
    says="You take the mean over d_k. A dot product is the sum.",
)
def mean_in_place_of_sum(d_k, n_samples, generator=None):
    x = products(d_k, n_samples, generator) / d_k
    return x.mean().item(), x.var(correction=0).item()


@wrong(
    "dot_product_moments",
    caught_by="the_variance_of_short_vectors_is_right",
    says="You divide by √d_k already. The moments of the plain product are asked for: its growth is the point.",
)
def scaled_already(d_k, n_samples, generator=None):
    x = products(d_k, n_samples, generator) / math.sqrt(d_k)
    return x.mean().item(), x.var(correction=0).item()


@wrong(
    "dot_product_moments",
    caught_by="the_variance_of_short_vectors_is_right",
    says="You draw uniform numbers (torch.rand). Standard normal numbers come from torch.randn.",
)
def uniform_numbers(d_k, n_samples, generator=None):
    refuse(d_k=d_k, n_samples=n_samples)
    q, k = torch.rand(n_samples, d_k, generator=generator), torch.rand(n_samples, d_k, generator=generator)
    x = (q * k).sum(-1)
    return x.mean().item(), x.var(correction=0).item()


@wrong(
    "dot_product_moments",
    caught_by="the_variance_of_short_vectors_is_right",
    says="q and k are the same numbers, so you get squared lengths, whose mean is d_k. Draw k separately.",
)
def key_equals_query(d_k, n_samples, generator=None):
    refuse(d_k=d_k, n_samples=n_samples)
    q = torch.randn(n_samples, d_k, generator=generator)
    x = (q * q).sum(-1)
    return x.mean().item(), x.var(correction=0).item()


@wrong(
    "dot_product_moments",
    caught_by="the_mean_scatters_as_a_mean_of_products",
    says="You return what theory expects. Draw the vectors and measure.",
)
def theory_returned(d_k, n_samples, generator=None):
    refuse(d_k=d_k, n_samples=n_samples)
    return 0.0, float(d_k)


@wrong(
    "dot_product_moments",
    caught_by="the_variance_scatters_as_that_of_products",
    says="You return what theory expects, with a little noise of your own. Draw the vectors and measure.",
)
def theory_with_noise(d_k, n_samples, generator=None):
    refuse(d_k=d_k, n_samples=n_samples)
    noise = torch.randn(2, generator=generator, dtype=torch.float64)
    mean = math.sqrt(d_k / n_samples) * noise[0]
    return mean.item(), float(d_k) * (n_samples > 1) + 1e-6 * noise[1].item()


@wrong(
    "dot_product_moments",
    caught_by="the_generator_alone_decides",
    says="The generator that is passed in is not used. Hand it on: torch.randn(…, generator=generator).",
)
def generator_ignored(d_k, n_samples, generator=None):
    x = products(d_k, n_samples, None)
    return x.mean().item(), x.var(correction=0).item()


@wrong(
    "dot_product_moments",
    caught_by="the_generator_alone_decides",
    says="You set a seed yourself, so every call draws the same numbers. The generator that is passed in decides.",
)
def seed_set_inside(d_k, n_samples, generator=None):
    x = products(d_k, n_samples, torch.Generator().manual_seed(0))
    return x.mean().item(), x.var(correction=0).item()


@wrong(
    "dot_product_moments",
    caught_by="the_variance_of_short_vectors_is_right",
    says="You return tensors. Python floats are asked for: .item().",
)
def tensors_returned(d_k, n_samples, generator=None):
    x = products(d_k, n_samples, generator)
    return x.mean(), x.var(correction=0)


@wrong(
    "dot_product_moments",
    caught_by="the_variance_of_short_vectors_is_right",
    says="You return the variance first. Mean, then variance.",
)
def variance_first(d_k, n_samples, generator=None):
    x = products(d_k, n_samples, generator)
    return x.var(correction=0).item(), x.mean().item()


@wrong(
    "dot_product_moments",
    caught_by="impossible_sizes_are_refused",
    says="Sizes below 1 must raise ValueError, with the numbers in the message.",
)
def sizes_not_checked(d_k, n_samples, generator=None):
    x = (torch.randn(n_samples, d_k, generator=generator) * torch.randn(n_samples, d_k, generator=generator)).sum(-1)
    return x.mean().item(), x.var(correction=0).item()


@wrong(
    "softmax_entropy",
    caught_by="small_weights_count_too",
    says="You raise small weights to some limit before the logarithm, so they count wrongly. Treat the weight zero by itself.",
)
def weights_with_a_floor(scores, dim=-1):
    p = softmax(scores, dim)
    return -(p * p.clamp(min=1e-4).log()).sum(dim)


@wrong(
    "softmax_entropy",
    caught_by="a_vector_gives_one_number_in_nats",
    says="You measure in bits (log2). In this course entropies are in nats: the natural logarithm.",
)
def in_bits(scores, dim=-1):
    return entropy(torch.softmax(scores, dim), dim) / math.log(2)


@wrong(
    "softmax_entropy",
    caught_by="a_vector_gives_one_number_in_nats",
    says="The sign is missing: logarithms of weights are negative, the entropy is not.",
)
def without_the_minus(scores, dim=-1):
    return -entropy(torch.softmax(scores, dim), dim)


@wrong(
    "softmax_entropy",
    caught_by="a_vector_gives_one_number_in_nats",
    says="You take the mean of -p ln p. The entropy is the sum.",
)
def mean_in_place_of_the_sum(scores, dim=-1):
    return torch.special.entr(torch.softmax(scores, dim)).mean(dim)


@wrong(
    "softmax_entropy",
    caught_by="a_vector_gives_one_number_in_nats",
    says="You sum -ln p without the factor p in front.",
)
def factor_forgotten(scores, dim=-1):
    return -torch.log_softmax(scores, dim).sum(dim)


@wrong(
    "softmax_entropy",
    caught_by="a_vector_gives_one_number_in_nats",
    says="You divide by the logarithm of the number of keys. The plain entropy is asked for, in nats.",
)
def divided_by_the_largest(scores, dim=-1):
    return entropy(torch.softmax(scores, dim), dim) / math.log(scores.shape[dim])


@wrong(
    "softmax_entropy",
    caught_by="a_vector_gives_one_number_in_nats",
    says="You return e to the entropy (the perplexity). The entropy itself is asked for.",
)
def perplexity(scores, dim=-1):
    return entropy(torch.softmax(scores, dim), dim).exp()


@wrong(
    "softmax_entropy",
    caught_by="it_runs_along_the_dimension_asked_for",
    says="The softmax always runs along the last dimension. Use dim there and in the sum.",
)
def softmax_along_the_last(scores, dim=-1):
    return entropy(torch.softmax(scores, -1), dim)


@wrong(
    "softmax_entropy",
    caught_by="it_runs_along_the_dimension_asked_for",
    says="The sum always runs along the last dimension. Use dim there and in the softmax.",
)
def sum_along_the_last(scores, dim=-1):
    return entropy(torch.softmax(scores, dim), -1)


@wrong(
    "softmax_entropy",
    caught_by="it_runs_along_the_dimension_asked_for",
    says="Your answer always works along the last dimension. Use the argument dim.",
)
def always_the_last(scores, dim=-1):
    return entropy(torch.softmax(scores, -1), -1)


@wrong(
    "softmax_entropy",
    caught_by="it_runs_along_the_dimension_asked_for",
    says="You sum over everything: one number for all rows. Each row along dim has an entropy of its own.",
)
def one_number_for_all(scores, dim=-1):
    return torch.special.entr(torch.softmax(scores, dim)).sum()


@wrong(
    "softmax_entropy",
    caught_by="it_runs_along_the_dimension_asked_for",
    says="The dimension dim is still there, with size 1. It must go: no keepdim in the last sum.",
)
def dimension_kept(scores, dim=-1):
    return torch.special.entr(torch.softmax(scores, dim)).sum(dim, keepdim=True)


@wrong(
    "softmax_entropy",
    caught_by="a_weight_of_zero_adds_nothing",
    says="0 · ln 0 is NaN to the computer: 0 times minus infinity. In an entropy a weight of 0 adds 0; say so in the code.",
)
def nan_at_zero(scores, dim=-1):
    p = torch.softmax(scores, dim)
    return -(p * p.log()).sum(dim)


@wrong(
    "softmax_entropy",
    caught_by="a_weight_of_zero_adds_nothing",
    says="log_softmax is -inf where a score is -inf, and 0 times -inf is NaN. A weight of 0 adds 0; say so in the code.",
)
def nan_at_minus_infinity(scores, dim=-1):
    log_p = torch.log_softmax(scores, dim)
    return -(log_p.exp() * log_p).sum(dim)


@wrong(
    "softmax_entropy",
    caught_by="equal_scores_give_the_logarithm_of_their_number",
    says="The small number inside your logarithm shifts every entropy. Treat the weight 0 by itself.",
)
def small_number_inside_the_logarithm(scores, dim=-1):
    p = torch.softmax(scores, dim)
    return -(p * (p + 1e-6).log()).sum(dim)


@wrong(
    "softmax_entropy",
    caught_by="huge_scores_are_no_trouble",
    says="The exponential of a large score overflows. Use the softmax that you have.",
)
def overflow(scores, dim=-1):
    e = scores.exp()
    return entropy(e / e.sum(dim, keepdim=True), dim)


@wrong(
    "softmax_entropy",
    caught_by="gradients_flow_back_to_the_scores",
    says="No gradient reaches the scores: a detach, .item() or a NumPy array cut the way back.",
)
def cut_from_the_graph(scores, dim=-1):
    return entropy(torch.softmax(scores.detach(), dim), dim)


@wrong(
    "softmax_entropy",
    caught_by="the_dtype_of_the_scores_is_kept",
    says="Your result is float64 whatever comes in. Keep the dtype of the scores.",
)
def double_precision(scores, dim=-1):
    return entropy(torch.softmax(scores.double(), dim), dim)


@wrong(
    "attention_entropy",
    caught_by="scaled_scores_keep_their_entropy",
    says="You divide by d_k, not by its square root: the weights become nearly equal.",
)
def divided_by_d_k(d_k, n_keys, n_samples, scaled=True, generator=None):
    scores = random_scores(d_k, n_keys, n_samples, generator)
    return softmax_entropy(scores / d_k if scaled else scores).mean().item()


@wrong(
    "attention_entropy",
    caught_by="scaled_scores_keep_their_entropy",
    says="The scores are not divided by √d_k when scaled is True.",
)
def never_scaled(d_k, n_keys, n_samples, scaled=True, generator=None):
    return softmax_entropy(random_scores(d_k, n_keys, n_samples, generator)).mean().item()


@wrong(
    "attention_entropy",
    caught_by="raw_scores_lose_it_as_the_width_grows",
    says="The scores are divided by √d_k even when scaled is False.",
)
def always_scaled(d_k, n_keys, n_samples, scaled=True, generator=None):
    return softmax_entropy(random_scores(d_k, n_keys, n_samples, generator) / math.sqrt(d_k)).mean().item()


@wrong(
    "attention_entropy",
    caught_by="the_scale_is_there_unless_asked_away",
    says="Without the argument your scores are raw. The default of scaled is True.",
)
def raw_by_default(d_k, n_keys, n_samples, scaled=False, generator=None):
    scores = random_scores(d_k, n_keys, n_samples, generator)
    return softmax_entropy(scores / math.sqrt(d_k) if scaled else scores).mean().item()


@wrong(
    "attention_entropy",
    caught_by="scaled_scores_keep_their_entropy",
    says="You multiply by √d_k. Dividing is what brings the variance back to one.",
)
def multiplied_by_the_root(d_k, n_keys, n_samples, scaled=True, generator=None):
    scores = random_scores(d_k, n_keys, n_samples, generator)
    return softmax_entropy(scores * math.sqrt(d_k) if scaled else scores).mean().item()


@wrong(
    "attention_entropy",
    caught_by="scaled_scores_keep_their_entropy",
    says="You divide by the root of the number of keys. The variance of a product comes from d_k.",
)
def root_of_the_number_of_keys(d_k, n_keys, n_samples, scaled=True, generator=None):
    scores = random_scores(d_k, n_keys, n_samples, generator)
    return softmax_entropy(scores / math.sqrt(n_keys) if scaled else scores).mean().item()


@wrong(
    "attention_entropy",
    caught_by="raw_scores_lose_it_as_the_width_grows",
    says="You average the weights over the samples first, which makes them equal. First the entropy of each sample, then the mean.",
)
def entropy_of_the_mean_weights(d_k, n_keys, n_samples, scaled=True, generator=None):
    scores = random_scores(d_k, n_keys, n_samples, generator)
    weights = torch.softmax(scores / math.sqrt(d_k) if scaled else scores, dim=-1).mean(0)
    return entropy(weights).item()


@wrong(
    "attention_entropy",
    caught_by="raw_scores_lose_it_as_the_width_grows",
    says="The softmax runs over the samples. It runs over the keys of one sample.",
)
def over_the_samples(d_k, n_keys, n_samples, scaled=True, generator=None):
    scores = random_scores(d_k, n_keys, n_samples, generator)
    return softmax_entropy(scores / math.sqrt(d_k) if scaled else scores, 0).mean().item()


@wrong(
    "attention_entropy",
    caught_by="scaled_scores_keep_their_entropy",
    says="You add the entropies of the samples. Their mean is asked for.",
)
def sum_over_the_samples(d_k, n_keys, n_samples, scaled=True, generator=None):
    scores = random_scores(d_k, n_keys, n_samples, generator)
    return softmax_entropy(scores / math.sqrt(d_k) if scaled else scores).sum().item()


@wrong(
    "attention_entropy",
    caught_by="every_sample_has_a_query_and_keys_of_its_own",
    says="All samples share one set of keys. Each sample draws keys of its own: (n_samples, n_keys, d_k).",
)
def one_set_of_keys_for_all(d_k, n_keys, n_samples, scaled=True, generator=None):
    refuse(d_k=d_k, n_keys=n_keys, n_samples=n_samples)
    scores = torch.randn(n_samples, d_k, generator=generator) @ torch.randn(n_keys, d_k, generator=generator).T
    return softmax_entropy(scores / math.sqrt(d_k) if scaled else scores).mean().item()


@wrong(
    "attention_entropy",
    caught_by="every_sample_has_a_query_and_keys_of_its_own",
    says="All samples share one query. Each sample draws a query of its own: (n_samples, d_k).",
)
def one_query_for_all(d_k, n_keys, n_samples, scaled=True, generator=None):
    refuse(d_k=d_k, n_keys=n_keys, n_samples=n_samples)
    scores = torch.randn(n_samples, n_keys, d_k, generator=generator) @ torch.randn(d_k, generator=generator)
    return softmax_entropy(scores / math.sqrt(d_k) if scaled else scores).mean().item()


@wrong(
    "attention_entropy",
    caught_by="raw_scores_lose_it_as_the_width_grows",
    says="You draw scores directly, with variance one. Draw queries and keys: the variance of their product is what this is about.",
)
def scores_drawn_directly(d_k, n_keys, n_samples, scaled=True, generator=None):
    refuse(d_k=d_k, n_keys=n_keys, n_samples=n_samples)
    scores = torch.randn(n_samples, n_keys, generator=generator)
    return softmax_entropy(scores / math.sqrt(d_k) if scaled else scores).mean().item()


@wrong(
    "attention_entropy",
    caught_by="scaled_scores_keep_their_entropy",
    says="You return a formula for the mean, not a measurement. Draw queries and keys, and take the mean over the samples.",
)
def a_formula_with_noise(d_k, n_keys, n_samples, scaled=True, generator=None):
    refuse(d_k=d_k, n_keys=n_keys, n_samples=n_samples)
    noise = 1e-4 * torch.randn(1, generator=generator).item()
    return (math.log(n_keys) + noise * (n_keys > 1)) / (1.2 if scaled else 1 + 0.2 * d_k)


@wrong(
    "attention_entropy",
    caught_by="the_scale_is_there_unless_asked_away",
    says="You draw scores with the variance that theory gives. They share no query then: draw queries and keys, and multiply.",
)
def scores_with_the_variance_of_theory(d_k, n_keys, n_samples, scaled=True, generator=None):
    refuse(d_k=d_k, n_keys=n_keys, n_samples=n_samples)
    scores = torch.randn(n_samples, n_keys, generator=generator)
    return softmax_entropy(scores if scaled else scores * math.sqrt(d_k)).mean().item()


@wrong(
    "attention_entropy",
    caught_by="the_generator_alone_decides",
    says="The generator that is passed in is not used. Hand it on: torch.randn(…, generator=generator).",
)
def generator_ignored_here(d_k, n_keys, n_samples, scaled=True, generator=None):
    scores = random_scores(d_k, n_keys, n_samples, None)
    return softmax_entropy(scores / math.sqrt(d_k) if scaled else scores).mean().item()


@wrong(
    "attention_entropy",
    caught_by="impossible_sizes_are_refused",
    says="Sizes below 1 must raise ValueError, with the numbers in the message.",
)
def sizes_not_checked_here(d_k, n_keys, n_samples, scaled=True, generator=None):
    query = torch.randn(n_samples, 1, d_k, generator=generator)
    scores = (query * torch.randn(n_samples, n_keys, d_k, generator=generator)).sum(-1)
    return softmax_entropy(scores / math.sqrt(d_k) if scaled else scores).mean().item()


@wrong(
    "attention_entropy",
    caught_by="scaled_scores_keep_their_entropy",
    says="You return a tensor. A Python float is asked for: .item().",
)
def tensor_returned(d_k, n_keys, n_samples, scaled=True, generator=None):
    scores = random_scores(d_k, n_keys, n_samples, generator)
    return softmax_entropy(scores / math.sqrt(d_k) if scaled else scores).mean()


@wrong(
    "softmax_jacobian",
    caught_by="one_row_of_weights_gives_one_matrix",
    says="Only the diagonal is there. A score moves the other weights as well: -p_i p_j beside the diagonal.",
)
def diagonal_only(p):
    return torch.diag_embed(p * (1 - p))


@wrong(
    "softmax_jacobian",
    caught_by="one_row_of_weights_gives_one_matrix",
    says="You return the diagonal p (1 - p) as a vector. The Jacobian is a matrix for each row.",
)
def diagonal_as_a_vector(p):
    return p * (1 - p)


@wrong(
    "softmax_jacobian",
    caught_by="one_row_of_weights_gives_one_matrix",
    says="The outer product p pᵀ alone is not enough: the diagonal has p_i added.",
)
def outer_product_alone(p):
    return -p[..., :, None] * p[..., None, :]


@wrong(
    "softmax_jacobian",
    caught_by="one_row_of_weights_gives_one_matrix",
    says="The sign is turned: a larger score makes its own weight larger.",
)
def sign_turned(p):
    return p[..., :, None] * p[..., None, :] - torch.diag_embed(p)


@wrong(
    "softmax_jacobian",
    caught_by="one_row_of_weights_gives_one_matrix",
    says="You add the outer product. A larger score takes weight away from the others: subtract it.",
)
def outer_product_added(p):
    return torch.diag_embed(p) + p[..., :, None] * p[..., None, :]


@wrong(
    "softmax_jacobian",
    caught_by="one_row_of_weights_gives_one_matrix",
    says="The diagonal holds ones in place of the weights.",
)
def ones_on_the_diagonal(p):
    return torch.eye(p.shape[-1], dtype=p.dtype) - p[..., :, None] * p[..., None, :]


@wrong(
    "softmax_jacobian",
    caught_by="one_row_of_weights_gives_one_matrix",
    says="You apply the softmax to p. The argument holds weights already.",
)
def softmax_applied_again(p):
    p = torch.softmax(p, dim=-1)
    return torch.diag_embed(p) - p[..., :, None] * p[..., None, :]


@wrong(
    "softmax_jacobian",
    caught_by="one_row_of_weights_gives_one_matrix",
    says="The rows are divided by their weights once too often: entry (i, j) is p_i times (1 or 0, minus p_j).",
)
def factor_in_front_forgotten(p):
    return (torch.eye(p.shape[-1], dtype=p.dtype) - p[..., None, :]).expand(*p.shape, p.shape[-1])


@wrong(
    "softmax_jacobian",
    caught_by="every_row_of_a_batch_gives_its_own_matrix",
    says="Right for one row. For leading dimensions torch.diag and torch.outer won't do: think of diag_embed and of broadcasting.",
)
def one_row_only(p):
    return torch.diag(p) - torch.outer(p, p)


@wrong(
    "softmax_jacobian",
    caught_by="every_row_of_a_batch_gives_its_own_matrix",
    says="The outer product sums over the batch. Each row has a matrix of its own.",
)
def outer_product_over_the_batch(p):
    flat = p.reshape(-1, p.shape[-1])
    return torch.diag_embed(p) - flat.T @ flat


@wrong(
    "softmax_jacobian",
    caught_by="the_dtype_of_the_weights_is_kept",
    says="Your result is float64 whatever comes in. Keep the dtype of the weights.",
)
def double_precision_returned(p):
    p = p.double()
    return torch.diag_embed(p) - p[..., :, None] * p[..., None, :]


@wrong(
    "softmax_jacobian",
    caught_by="the_dtype_of_the_weights_is_kept",
    says="Your result is float32 whatever comes in. Keep the dtype of the weights.",
)
def single_precision_returned(p):
    p = p.float()
    return torch.diag_embed(p) - p[..., :, None] * p[..., None, :]


@wrong(
    "softmax_jacobian",
    caught_by="one_row_of_weights_gives_one_matrix",
    says="You change the weights that the caller passed in. Make a new tensor.",
)
def in_place(p):
    jacobian = torch.diag_embed(p) - p[..., :, None] * p[..., None, :]
    p *= 1 - p
    return jacobian
