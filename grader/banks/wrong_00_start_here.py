"""Wrong answers of 00_start_here: misconceptions that people have."""

import torch

from grader.bank import wrong


def safe(total):
    return torch.where(total == 0, 1.0, total)


def largest(x, dim):
    """The largest score along dim; 0 where there is none but minus infinity."""
    top = x.amax(dim, keepdim=True)
    return torch.where(top == float("-inf"), 0.0, top)


@wrong(
    "softmax",
    caught_by="huge_scores_are_no_trouble",
    says="The exponential of a large score overflows. Subtract the largest score along dim before you take it,"
    " and mind rows without any finite score.",
)
def as_in_the_formula(x, dim):
    e = torch.exp(x)
    return e / e.sum(dim=dim, keepdim=True)


@wrong(
    "softmax",
    caught_by="huge_scores_are_no_trouble",
    says="The exponential of a large score overflows. Subtract the largest score along dim before you take it.",
)
def no_maximum_subtracted(x, dim):
    e = torch.exp(x)
    return e / safe(e.sum(dim=dim, keepdim=True))


@wrong(
    "softmax",
    caught_by="huge_scores_are_no_trouble",
    says="You subtract the largest score of the whole tensor. A row far below it underflows: take the largest "
    "along dim, with keepdim=True.",
)
def largest_of_all_subtracted(x, dim):
    e = torch.exp(x - x.max())
    return e / e.sum(dim=dim, keepdim=True)


@wrong(
    "softmax",
    caught_by="huge_scores_are_no_trouble",
    says="Clamping the scores changes the weights of all scores beyond the limit. Subtract the largest score "
    "along dim; nothing needs a clamp then.",
)
def scores_clamped(x, dim):
    e = torch.exp(x.clamp(-50, 50))
    return e / e.sum(dim=dim, keepdim=True)


@wrong(
    "softmax",
    caught_by="huge_scores_are_no_trouble",
    says="You divide the scores by the largest one. That changes their differences, and the weights with them: subtract it.",
)
def divided_by_the_largest(x, dim):
    e = torch.exp(x / x.abs().amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@wrong(
    "softmax",
    caught_by="huge_scores_are_no_trouble",
    says="You subtract the mean. A score far above the mean still overflows: subtract the largest score.",
)
def mean_subtracted(x, dim):
    e = torch.exp(x - x.mean(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@wrong(
    "softmax",
    caught_by="weights_are_right_along_every_dimension",
    says="Your weights always sum to one along the last dimension. Use the argument dim in each step.",
)
def always_the_last_dimension(x, dim):
    e = torch.exp(x - largest(x, -1))
    return e / safe(e.sum(-1, keepdim=True))


@wrong(
    "softmax",
    caught_by="weights_are_right_along_every_dimension",
    says="Your weights always sum to one along the first dimension. Use the argument dim in each step.",
)
def always_the_first_dimension(x, dim):
    e = torch.exp(x - largest(x, 0))
    return e / safe(e.sum(0, keepdim=True))


@wrong(
    "softmax",
    caught_by="weights_are_right_along_every_dimension",
    says="Your weights sum to one over the whole tensor. The sum in the denominator runs along dim only.",
)
def one_sum_for_everything(x, dim):
    e = torch.exp(x - largest(x, dim))
    return e / safe(e.sum())


@wrong(
    "softmax",
    caught_by="weights_are_right_along_every_dimension",
    says="The sum lost its dimension, so the division lines it up with the wrong one. Keep it: keepdim=True.",
)
def keepdim_forgotten(x, dim):
    e = torch.exp(x - x.max(dim, keepdim=True).values)
    return e / e.sum(dim)


@wrong(
    "softmax",
    caught_by="nothing_but_minus_infinity_becomes_zeros",
    says="A row of nothing but -inf gives NaN: -inf minus -inf, or zero divided by zero. Such a row must become zeros.",
)
def nan_for_empty_rows(x, dim):
    return torch.softmax(x, dim=dim)


@wrong(
    "softmax",
    caught_by="nothing_but_minus_infinity_becomes_zeros",
    says="A row of nothing but -inf gets equal weights. There is nothing to attend to: the weights must be zero.",
)
def equal_weights_for_empty_rows(x, dim):
    x = x.clamp(min=torch.finfo(x.dtype).min)
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@wrong(
    "softmax",
    caught_by="huge_scores_are_no_trouble",
    says="Beside a huge score the logarithm of the sum has few digits left. Subtract the largest score along dim first.",
)
def logarithm_of_the_sum_of_unshifted_scores(x, dim):
    total = torch.logsumexp(x, dim=dim, keepdim=True)
    return torch.exp(x - total.masked_fill(total == float("-inf"), 0.0))


@wrong(
    "softmax",
    caught_by="the_dtype_of_the_scores_is_kept",
    says="Your result has another dtype than the scores. What comes in as float32 goes out as float32.",
)
def double_precision_returned(x, dim):
    x = x.double()
    e = torch.exp(x - largest(x, dim))
    return e / safe(e.sum(dim, keepdim=True))


@wrong(
    "softmax",
    caught_by="the_dtype_of_the_scores_is_kept",
    says="Your result is float32 whatever comes in. Keep the dtype of the scores.",
)
def single_precision_returned(x, dim):
    x = x.float()
    e = torch.exp(x - largest(x, dim))
    return e / safe(e.sum(dim, keepdim=True))


@wrong(
    "softmax",
    caught_by="gradients_flow_back_to_the_scores",
    says="No gradient reaches the scores: a detach, .data, .item(), a NumPy array or no_grad cut the way back.",
)
def cut_from_the_graph(x, dim):
    x = x.detach()
    e = torch.exp(x - largest(x, dim))
    return e / safe(e.sum(dim, keepdim=True))


@wrong(
    "softmax",
    caught_by="gradients_flow_back_to_the_scores",
    says="The denominator is detached, so the gradient misses that a larger score takes weight away from all others.",
)
def denominator_cut_from_the_graph(x, dim):
    e = torch.exp(x - largest(x, dim))
    return e / safe(e.sum(dim, keepdim=True)).detach()


@wrong(
    "softmax",
    caught_by="a_vector_of_scores_becomes_weights",
    says="You change the scores that the caller passed in (an operation in place, such as -= or exp_). Make a new tensor.",
)
def in_place(x, dim):
    x -= largest(x, dim)
    x.exp_()
    x /= safe(x.sum(dim, keepdim=True))
    return x


@wrong(
    "softmax",
    caught_by="a_vector_of_scores_becomes_weights",
    says="You return logarithms of the weights. The weights themselves are wanted.",
)
def logarithms(x, dim):
    return x - torch.logsumexp(x, dim, keepdim=True)


@wrong(
    "softmax",
    caught_by="a_vector_of_scores_becomes_weights",
    says="You divide the exponentials by the largest of them. Divide by their sum.",
)
def divided_by_the_largest_exponential(x, dim):
    return torch.exp(x - largest(x, dim))


@wrong(
    "softmax",
    caught_by="a_vector_of_scores_becomes_weights",
    says="The small number in your denominator keeps the weights from summing to one. Treat the empty row by itself.",
)
def small_number_in_the_denominator(x, dim):
    e = torch.exp(x - largest(x, dim))
    return e / (e.sum(dim, keepdim=True) + 1e-6)


@wrong(
    "batched_outer",
    caught_by="one_row_alone_gives_every_product",
    says="Your result is turned: place (t, s) of a row belongs to a[t] · b[s], so a counts the rows and b the columns.",
)
def turned(a, b):
    return a[:, None, :] * b[:, :, None]


@wrong(
    "batched_outer",
    caught_by="one_row_alone_gives_every_product",
    says="Without a new dimension the numbers meet in pairs of the same place. Give a a dimension at the end "
    "and b one in the middle.",
)
def no_new_dimension(a, b):
    return a * b


@wrong(
    "batched_outer",
    caught_by="one_row_alone_gives_every_product",
    says="You add the pairs. An outer product multiplies them.",
)
def sums_of_pairs(a, b):
    return a[:, :, None] + b[:, None, :]


@wrong(
    "batched_outer",
    caught_by="every_row_of_a_batch_gives_every_product",
    says="You sum over the batch: the result has no batch dimension any more. Each row of the batch keeps its own matrix.",
)
def summed_over_the_batch(a, b):
    return a.T @ b


@wrong(
    "batched_outer",
    caught_by="every_row_of_a_batch_gives_every_product",
    says="Every matrix is the sum over the batch. Each row of the batch has its own matrix.",
)
def sum_over_the_batch_for_every_row(a, b):
    return (a.T @ b).expand(len(a), -1, -1)


@wrong(
    "batched_outer",
    caught_by="each_row_meets_its_own_partner_only",
    says="Every matrix is that of the first row. Each row of the batch has its own.",
)
def first_row_for_all(a, b):
    return torch.outer(a[0], b[0]).expand(len(a), -1, -1)


@wrong(
    "batched_outer",
    caught_by="every_row_of_a_batch_gives_every_product",
    says="You multiply each row with every row of the other batch: four dimensions. Row i meets row i only.",
)
def every_row_with_every_row(a, b):
    return a[:, :, None, None] * b


@wrong(
    "batched_outer",
    caught_by="every_row_of_a_batch_gives_every_product",
    says="The numbers are right, their places are not: a view or reshape doesn't move dimensions. Use permute "
    "or transpose, or place the new dimensions first.",
)
def reshaped_in_place_of_transposed(a, b):
    return (a.T[:, :, None] * b).reshape(len(a), a.shape[1], b.shape[1])


@wrong(
    "batched_outer",
    caught_by="the_dtype_is_kept",
    says="Your result is float32 whatever comes in. A tensor made by zeros or empty needs dtype=a.dtype; a "
    "product needs no such tensor.",
)
def single_precision(a, b):
    return a.float()[:, :, None] * b.float()[:, None, :]


@wrong(
    "batched_outer",
    caught_by="the_dtype_is_kept",
    says="Your result is float64 whatever comes in. Keep the dtype of the inputs.",
)
def double_precision(a, b):
    return a.double()[:, :, None] * b.double()[:, None, :]


@wrong(
    "batched_outer",
    caught_by="gradients_flow_back_to_both",
    says="No gradient reaches the inputs: a detach, .tolist(), .item() or a NumPy array cut the way back.",
)
def cut_from_the_graph(a, b):
    return a.detach()[:, :, None] * b.detach()[:, None, :]


@wrong(
    "batched_outer",
    caught_by="no_loop_takes_the_rows_one_by_one",
    says="The numbers are right, but a loop takes the rows one by one. One product of a (B, T, 1) with a (B, 1, S) does them all.",
)
def loop_over_the_batch(a, b):
    return torch.stack([torch.outer(a[i], b[i]) for i in range(len(a))])
