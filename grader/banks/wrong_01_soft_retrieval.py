"""Wrong answers of notebook 01: what people really write, the check that sees it, the sentence that names it."""

import math

import torch
import torch.nn.functional as F

from grader.bank import wrong


def scores_of(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def finish(scores, value, mask, dropout_p, training):
    """The right second half of attention."""
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        scores = scores.masked_fill(~mask, -math.inf)
    weights = softmax(scores, -1)
    return F.dropout(weights, dropout_p, training) @ value, weights


# hard_lookup


@wrong(
    "hard_lookup",
    caught_by="takes_the_value_of_the_best_key",
    says="You take the key with the smallest dot product; the largest one is asked for.",
)
def smallest_product(query, keys, values):
    return values[(keys @ query).argmin()]


@wrong(
    "hard_lookup",
    caught_by="judges_keys_by_the_dot_product",
    says="You compare angles (cosine similarity): you divide the dot products by lengths, but the plain dot product counts.",
)
def cosine(query, keys, values):
    return values[F.cosine_similarity(keys, query[None, :], dim=-1).argmax()]


@wrong(
    "hard_lookup",
    caught_by="judges_keys_by_the_dot_product",
    says="You take the key at the smallest distance from the query; the largest dot product is another thing.",
)
def nearest_key(query, keys, values):
    return values[(keys - query).norm(dim=-1).argmin()]


@wrong(
    "hard_lookup",
    caught_by="judges_keys_by_the_dot_product",
    says="You take the longest key and never look at the query.",
)
def longest_key(query, keys, values):
    return values[keys.norm(dim=-1).argmax()]


@wrong(
    "hard_lookup",
    caught_by="takes_the_value_of_the_best_key",
    says="You return the best key itself. The label was only for finding the place: return the value that stands there.",
)
def returns_the_key(query, keys, values):
    return keys[(keys @ query).argmax()]


@wrong(
    "hard_lookup",
    caught_by="takes_the_value_of_the_best_key",
    says="You return the place of the best key; return the value that stands at this place.",
)
def returns_the_index(query, keys, values):
    return (keys @ query).argmax()


@wrong(
    "hard_lookup",
    caught_by="takes_the_value_of_the_best_key",
    says="You return the largest score. Use it to find the place, and return the value that stands there.",
)
def returns_the_score(query, keys, values):
    return (keys @ query).max()


@wrong(
    "hard_lookup",
    caught_by="takes_the_first_of_equals",
    says="Of keys with equal scores you take the last; the first is asked for.",
)
def last_of_equals(query, keys, values):
    best = 0
    scores = keys @ query
    for place in range(len(keys)):
        if scores[place] >= scores[best]:
            best = place
    return values[best]


@wrong(
    "hard_lookup",
    caught_by="takes_the_first_of_equals",
    says="Where keys tie you add all their values up; take the first one alone.",
)
def sum_of_the_best(query, keys, values):
    scores = keys @ query
    return (scores == scores.max()).to(values.dtype) @ values


@wrong(
    "hard_lookup",
    caught_by="finds_the_best_of_bad_keys",
    says="Your search starts from a best score of 0, so it finds nothing where all dot products are negative.",
)
def search_starts_at_zero(query, keys, values):
    best, best_score = 0, 0.0
    for place, key in enumerate(keys):
        if key @ query > best_score:
            best, best_score = place, key @ query
    return values[best]


@wrong(
    "hard_lookup",
    caught_by="passes_gradients_to_the_value_it_takes",
    says="The value you return is a copy cut off from the graph, so no gradient reaches `values`: pick it by indexing.",
)
def copied_out_of_the_graph(query, keys, values):
    return torch.tensor(values[(keys @ query).argmax()].tolist(), dtype=values.dtype)


# soft_lookup


def positive(temperature):
    if temperature <= 0:
        raise ValueError(f"temperature must be positive, got {temperature}")


@wrong(
    "soft_lookup",
    caught_by="temperature_acts_on_the_scores",
    says="You multiply the scores by the temperature; divide by it, so that a low temperature makes the choice sharper.",
)
def multiplied_by_temperature(query, keys, values, temperature):
    positive(temperature)
    return softmax(keys @ query * temperature, 0) @ values


@wrong(
    "soft_lookup",
    caught_by="of_equal_keys_is_the_mean_of_the_values",
    says="You divide by the temperature after the softmax, so the weights no longer sum to one; it belongs on the scores.",
)
def temperature_after_softmax(query, keys, values, temperature):
    positive(temperature)
    return softmax(keys @ query, 0) / temperature @ values


@wrong(
    "soft_lookup",
    caught_by="temperature_acts_on_the_scores",
    says="Your answer never uses the temperature.",
)
def temperature_ignored(query, keys, values, temperature):
    positive(temperature)
    return softmax(keys @ query, 0) @ values


@wrong(
    "soft_lookup",
    caught_by="of_equal_keys_is_the_mean_of_the_values",
    says="Your weights are exponentials that nobody divided by their sum, so they don't sum to one.",
)
def not_normalised(query, keys, values, temperature):
    positive(temperature)
    return torch.exp(keys @ query / temperature) @ values


@wrong(
    "soft_lookup",
    caught_by="weighs_by_dot_products",
    says="You divide the scores by their sum without the exponential: weights can be negative and the temperature cancels.",
)
def divided_by_the_sum_of_scores(query, keys, values, temperature):
    positive(temperature)
    scores = keys @ query / temperature
    return scores / scores.sum() @ values


@wrong(
    "soft_lookup",
    caught_by="weighs_by_dot_products",
    says="You compare angles (cosine similarity); the plain dot product counts, long keys and all.",
)
def cosine_scores(query, keys, values, temperature):
    positive(temperature)
    return softmax(F.cosine_similarity(keys, query[None, :], dim=-1) / temperature, 0) @ values


@wrong(
    "soft_lookup",
    caught_by="weighs_by_dot_products",
    says="You also divide by √D. That belongs to attention; here the temperature is the only scale.",
)
def scaled_as_well(query, keys, values, temperature):
    positive(temperature)
    return softmax(keys @ query / math.sqrt(len(query)) / temperature, 0) @ values


@wrong(
    "soft_lookup",
    caught_by="temperature_acts_on_the_scores",
    says="You keep the temperature from falling below some limit. Any positive temperature must act as it is.",
)
def temperature_with_a_floor(query, keys, values, temperature):
    temperature = max(positive(temperature), 0.01)
    return softmax(keys @ query / temperature, 0) @ values


@wrong(
    "soft_lookup",
    caught_by="stays_finite_when_cold",
    says="The exponential overflows at low temperatures. Use the course's `softmax`, which subtracts the largest score first.",
)
def overflows_when_cold(query, keys, values, temperature):
    positive(temperature)
    e = torch.exp(keys @ query / temperature)
    return e / e.sum() @ values


@wrong(
    "soft_lookup",
    caught_by="of_one_key_is_its_value",
    says="You return the weights; mix the values with them.",
)
def returns_the_weights(query, keys, values, temperature):
    positive(temperature)
    return softmax(keys @ query / temperature, 0)


@wrong(
    "soft_lookup",
    caught_by="of_one_key_is_its_value",
    says="You mix the keys; the weights are for the values.",
)
def mixes_the_keys(query, keys, values, temperature):
    positive(temperature)
    return softmax(keys @ query / temperature, 0) @ keys


@wrong(
    "soft_lookup",
    caught_by="refuses_a_temperature_that_is_not_positive",
    says="A temperature of 0 or below goes through: a negative one prefers the worst key. Raise a ValueError.",
)
def any_temperature(query, keys, values, temperature):
    return softmax(keys @ query / temperature, 0) @ values


@wrong(
    "soft_lookup",
    caught_by="refuses_a_temperature_that_is_not_positive",
    says="Your ValueError doesn't say which temperature it got.",
)
def error_without_the_number(query, keys, values, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be positive")
    return softmax(keys @ query / temperature, 0) @ values


@wrong(
    "soft_lookup",
    caught_by="refuses_a_temperature_that_is_not_positive",
    says="You refuse a negative temperature, but 0 goes through and divides by zero.",
)
def zero_goes_through(query, keys, values, temperature):
    if temperature < 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    return softmax(keys @ query / temperature, 0) @ values


@wrong(
    "soft_lookup",
    caught_by="refuses_a_temperature_that_is_not_positive",
    says="`assert` raises an AssertionError and vanishes under `python -O`: raise a ValueError that names the temperature.",
)
def asserts_the_temperature(query, keys, values, temperature):
    assert temperature > 0, f"temperature must be positive, got {temperature}"
    return softmax(keys @ query / temperature, 0) @ values


# scaled_dot_product_attention


@wrong(
    "scaled_dot_product_attention",
    caught_by="weights_follow_the_scaled_scores",
    says="The scores are not scaled: divide them by √D, the root of the width of a query.",
)
def no_scale(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(query @ key.transpose(-2, -1), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="weights_follow_the_scaled_scores",
    says="You divide the scores by D; divide by its square root.",
)
def divided_by_d(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(query @ key.transpose(-2, -1) / query.shape[-1], value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="weights_follow_the_scaled_scores",
    says="You multiply the scores by √D; divide by it.",
)
def multiplied_by_the_root(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(query @ key.transpose(-2, -1) * math.sqrt(query.shape[-1]), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="weights_follow_the_scaled_scores",
    says="You scale by the root of the value width E; the scores come from queries and keys, so their width D counts.",
)
def scaled_by_value_width(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(query @ key.transpose(-2, -1) / math.sqrt(value.shape[-1]), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="weights_follow_the_scaled_scores",
    says="You scale by the root of the number of keys; the width D of a query counts.",
)
def scaled_by_number_of_keys(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(query @ key.transpose(-2, -1) / math.sqrt(key.shape[-2]), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="weights_follow_the_scaled_scores",
    says="You scale by the root of the number of queries; their width D counts.",
)
def scaled_by_number_of_queries(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-2]), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="one_key_gives_its_value",
    says="Your softmax runs over the queries: each column sums to one. Each query needs weights over the keys that sum to one.",
)
def softmax_over_queries(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = scores_of(query, key)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        scores = scores.masked_fill(~mask, -math.inf)
    weights = softmax(scores, -2)
    return F.dropout(weights, dropout_p, training) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="weights_follow_the_scaled_scores",
    says="`reshape` gives the keys the right shape with their numbers in the wrong order: swap the last two axes instead.",
)
def reshaped_instead_of_transposed(query, key, value, mask=None, dropout_p=0.0, training=False):
    turned = key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])
    return finish(query @ turned / math.sqrt(query.shape[-1]), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="takes_any_leading_dimensions",
    says="`.T` turns all axes round. With leading dimensions only the last two may be swapped.",
)
def transposed_all_axes(query, key, value, mask=None, dropout_p=0.0, training=False):
    turned = key.permute(*range(key.dim() - 1, -1, -1))
    return finish(query @ turned / math.sqrt(query.shape[-1]), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="attends_only_where_the_mask_is_true",
    says="Your mask is inverted: True means that a query may attend the key, and you hide just those.",
)
def mask_inverted(query, key, value, mask=None, dropout_p=0.0, training=False):
    if mask is not None and mask.dtype == torch.bool:
        mask = ~mask
    return finish(scores_of(query, key), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="attends_only_where_the_mask_is_true",
    says="Your answer never uses the mask.",
)
def mask_ignored(query, key, value, mask=None, dropout_p=0.0, training=False):
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"the mask must be boolean, got {mask.dtype}")
    return finish(scores_of(query, key), value, None, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="gives_zeros_to_a_query_with_no_key",
    says="A query that may attend nothing comes out as NaN: a row of only -inf has no softmax in PyTorch. It should be zeros.",
)
def nan_rows(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = scores_of(query, key)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, -1)
    return F.dropout(weights, dropout_p, training) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="gradients_stay_finite_through_masked_rows",
    says="You mend NaN after the softmax: the numbers look right, but the gradient is still NaN. Never let a NaN arise.",
)
def nan_mended_afterwards(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = scores_of(query, key)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        scores = scores + torch.zeros_like(scores).masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    return F.dropout(weights, dropout_p, training) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="gives_zeros_to_a_query_with_no_key",
    says="You fill with -1e9: a query that may attend nothing then attends everything alike, and half precision can't hold it.",
)
def filled_with_a_billion(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = scores_of(query, key)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        scores = scores.masked_fill(~mask, -1e9)
    weights = softmax(scores, -1)
    return F.dropout(weights, dropout_p, training) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="gives_zeros_to_a_query_with_no_key",
    says="You add -1e9 to the hidden scores: a query that may attend nothing keeps its old weights. Fill with -inf instead.",
)
def added_a_billion(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = scores_of(query, key)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        scores = scores + (~mask).to(scores.dtype) * -1e9
    weights = softmax(scores, -1)
    return F.dropout(weights, dropout_p, training) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="attends_only_where_the_mask_is_true",
    says="You set hidden weights to 0 after the softmax, so the others no longer sum to one. Mask the scores, before it.",
)
def masked_after_softmax(query, key, value, mask=None, dropout_p=0.0, training=False):
    weights = softmax(scores_of(query, key), -1)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        weights = weights.masked_fill(~mask, 0.0)
    return F.dropout(weights, dropout_p, training) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="masked_keys_may_hold_anything",
    says="You mask after the softmax and divide again: a hidden key with a huge score leaves nothing for the others. Mask before.",
)
def masked_and_divided_again(query, key, value, mask=None, dropout_p=0.0, training=False):
    weights = softmax(scores_of(query, key), -1)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        weights = weights.masked_fill(~mask, 0.0)
        total = weights.sum(-1, keepdim=True)
        weights = weights / torch.where(total == 0, 1.0, total)
    return F.dropout(weights, dropout_p, training) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="attends_only_where_the_mask_is_true",
    says="You multiply the scores with the mask. A score of 0 still gets a weight, since exp(0) = 1: hidden scores need -inf.",
)
def scores_times_mask(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = scores_of(query, key)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        scores = scores * mask
    weights = softmax(scores, -1)
    return F.dropout(weights, dropout_p, training) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="refuses_a_mask_that_is_not_boolean",
    says="A mask of numbers goes through. An additive mask would be read the wrong way round without a word: raise a TypeError.",
)
def any_mask_goes_through(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = scores_of(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    weights = softmax(scores, -1)
    return F.dropout(weights, dropout_p, training) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="refuses_a_mask_that_is_not_boolean",
    says="A mask of another dtype should raise a TypeError; yours raises a ValueError.",
)
def value_error_for_a_mask(query, key, value, mask=None, dropout_p=0.0, training=False):
    if mask is not None and mask.dtype != torch.bool:
        raise ValueError(f"the mask must be boolean, got {mask.dtype}")
    return finish(scores_of(query, key), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="returns_the_weights_before_dropout",
    says="You return the weights after dropout. Their rows no longer sum to one: return those from before.",
)
def weights_after_dropout(query, key, value, mask=None, dropout_p=0.0, training=False):
    _, weights = finish(scores_of(query, key), value, mask, 0.0, False)
    weights = F.dropout(weights, dropout_p, training)
    return weights @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="drops_nothing_outside_training",
    says="Your dropout also acts when `training` is False.",
)
def drops_always(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(scores_of(query, key), value, mask, dropout_p, True)


@wrong(
    "scaled_dot_product_attention",
    caught_by="dropout_keeps_the_expected_output",
    says="Your dropout doesn't scale the survivors: divide them by 1 - p, so that the output stays the same on average.",
)
def survivors_not_scaled(query, key, value, mask=None, dropout_p=0.0, training=False):
    _, weights = finish(scores_of(query, key), value, mask, 0.0, False)
    kept = (torch.rand(weights.shape) >= dropout_p) if training else torch.ones_like(weights)
    return (weights * kept) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="dropout_keeps_the_expected_output",
    says="You keep a weight with probability p; p is the probability of dropping it.",
)
def keeps_with_probability_p(query, key, value, mask=None, dropout_p=0.0, training=False):
    _, weights = finish(scores_of(query, key), value, mask, 0.0, False)
    dropped = weights
    if training and dropout_p > 0:
        dropped = weights * (torch.rand(weights.shape) < dropout_p) / (1 - dropout_p)
    return dropped @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="each_call_drops_other_weights",
    says="You set a seed before dropout, so that every call drops the same weights. Leave the seed to whoever calls.",
)
def seeds_its_dropout(query, key, value, mask=None, dropout_p=0.0, training=False):
    torch.manual_seed(0)
    return finish(scores_of(query, key), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="dropout_takes_single_weights_and_scales_the_rest",
    says="Your answer never drops anything, whatever `dropout_p` and `training` say.",
)
def never_drops(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(scores_of(query, key), value, mask, 0.0, False)


@wrong(
    "scaled_dot_product_attention",
    caught_by="one_key_gives_its_value",
    says="You return the output alone; return the output and the weights.",
)
def returns_the_output_alone(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(scores_of(query, key), value, mask, dropout_p, training)[0]


@wrong(
    "scaled_dot_product_attention",
    caught_by="one_key_gives_its_value",
    says="You return the weights first; the output comes first, then the weights.",
)
def returns_the_weights_first(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(scores_of(query, key), value, mask, dropout_p, training)[::-1]


@wrong(
    "scaled_dot_product_attention",
    caught_by="is_written_by_hand",
    says="PyTorch's own attention does the work here. It is the one thing that this exercise forbids: write it by hand.",
)
def the_library_does_it(query, key, value, mask=None, dropout_p=0.0, training=False):
    _, weights = finish(scores_of(query, key), value, mask, 0.0, False)
    p = dropout_p if training else 0.0
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=p), weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="passes_gradients_to_query_key_and_value",
    says="Your weights are cut off from the graph (detach or no_grad), so query and key get no gradient.",
)
def detached_weights(query, key, value, mask=None, dropout_p=0.0, training=False):
    _, weights = finish(scores_of(query, key), value, mask, 0.0, False)
    weights = weights.detach()
    return F.dropout(weights, dropout_p, training) @ value, weights


@wrong(
    "scaled_dot_product_attention",
    caught_by="keeps_the_dtype",
    says="You compute in float64 and return float64: the results should have the dtype of the inputs.",
)
def float64_results(query, key, value, mask=None, dropout_p=0.0, training=False):
    query, key, value = query.double(), key.double(), value.double()
    return finish(scores_of(query, key), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="attends_only_where_the_mask_is_true",
    says="Every key that is allowed gets the same weight: the scores of query and key never reach the softmax.",
)
def the_same_weight_for_all_allowed(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(0.0 * (query @ key.transpose(-2, -1)), value, mask, dropout_p, training)


@wrong(
    "scaled_dot_product_attention",
    caught_by="dropout_keeps_the_expected_output",
    says="The more a query is like a key, the less weight it gives: a minus stands before the scores.",
)
def minus_before_the_scores(query, key, value, mask=None, dropout_p=0.0, training=False):
    return finish(-(query @ key.transpose(-2, -1)) / math.sqrt(query.shape[-1]), value, mask, dropout_p, training)


# causal_mask


@wrong(
    "causal_mask",
    caught_by="allows_everything_earlier_and_nothing_later",
    says="Your mask allows everything, the future too: only the lower triangle may be True.",
)
def everything_allowed(length, device=None):
    return torch.ones(length, length, dtype=torch.bool, device=device)


@wrong(
    "causal_mask",
    caught_by="of_many_positions_is_right_to_the_last",
    says="Your mask lets each position attend itself alone; everything earlier is allowed, too.",
)
def itself_alone(length, device=None):
    return torch.eye(length, dtype=torch.bool, device=device)


@wrong(
    "causal_mask",
    caught_by="allows_each_position_itself",
    says="Your mask leaves out the diagonal: a position may attend itself, else the first one has nothing to attend.",
)
def strictly_lower(length, device=None):
    return torch.ones(length, length, dtype=torch.bool, device=device).tril(-1)


@wrong(
    "causal_mask",
    caught_by="allows_everything_earlier_and_nothing_later",
    says="Your mask allows the future and hides the past: the allowed places lie below the diagonal, not above.",
)
def upper_triangle(length, device=None):
    return torch.ones(length, length, dtype=torch.bool, device=device).triu()


@wrong(
    "causal_mask",
    caught_by="allows_everything_earlier_and_nothing_later",
    says="Your mask is True where attention is forbidden, as nn.MultiheadAttention reads it. In this course True means may attend.",
)
def true_means_hidden(length, device=None):
    return torch.ones(length, length, dtype=torch.bool, device=device).triu(1)


@wrong(
    "causal_mask",
    caught_by="is_boolean_and_two_dimensional",
    says="The places are right, but the mask holds floats; make it boolean.",
)
def ones_and_zeros(length, device=None):
    return torch.ones(length, length, device=device).tril()


@wrong(
    "causal_mask",
    caught_by="allows_everything_earlier_and_nothing_later",
    says="Your mask is additive, 0 and -inf. In this course a mask is boolean: True where a query may attend.",
)
def additive(length, device=None):
    return torch.full((length, length), -math.inf, device=device).triu(1)


@wrong(
    "causal_mask",
    caught_by="is_boolean_and_two_dimensional",
    says="Your mask has extra axes of size 1; (T, T) is asked for, broadcasting does the rest.",
)
def four_axes(length, device=None):
    return torch.ones(1, 1, length, length, dtype=torch.bool, device=device).tril()


@wrong(
    "causal_mask",
    caught_by="allows_everything_earlier_and_nothing_later",
    says="Your mask also allows the next position: one place of the future leaks.",
)
def one_step_ahead(length, device=None):
    return torch.ones(length, length, dtype=torch.bool, device=device).tril(1)


@wrong(
    "causal_mask",
    caught_by="of_many_positions_is_right_to_the_last",
    says="Your positions are numbers of 8 bits: beyond 127 they start again below zero. Use torch.arange as it is.",
)
def positions_of_eight_bits(length, device=None):
    place = torch.arange(length, device=device).to(torch.int8)
    return place[:, None] >= place


@wrong(
    "causal_mask",
    caught_by="is_made_on_the_device_asked_for",
    says="Your mask ignores `device` and always lies on the CPU; give the device to the call that makes the tensor.",
)
def device_ignored(length, device=None):
    return torch.ones(length, length, dtype=torch.bool).tril()


# padding_mask


def checked(lengths, max_length):
    for length in lengths.tolist():
        if not 0 <= length <= max_length:
            raise ValueError(f"length {length} is not in 0..{max_length}")


def allowed(lengths, max_length):
    checked(lengths, max_length)
    return (torch.arange(max_length, device=lengths.device) < lengths[:, None])[:, None, None, :]


@wrong(
    "padding_mask",
    caught_by="allows_the_tokens_and_not_the_padding",
    says="Your mask is True on the padding. In this course True means may attend, so it belongs on the tokens.",
)
def true_on_padding(lengths, max_length):
    return ~allowed(lengths, max_length)


@wrong(
    "padding_mask",
    caught_by="allows_the_tokens_and_not_the_padding",
    says="Off by one: places count from 0, so a length of 3 allows 0, 1 and 2. Yours allows 3 as well.",
)
def one_too_many(lengths, max_length):
    checked(lengths, max_length)
    return (torch.arange(max_length, device=lengths.device) <= lengths[:, None])[:, None, None, :]


@wrong(
    "padding_mask",
    caught_by="allows_the_tokens_and_not_the_padding",
    says="Off by one: a length of 3 allows the places 0, 1 and 2. Yours stops before the last token.",
)
def one_too_few(lengths, max_length):
    checked(lengths, max_length)
    return (torch.arange(1, max_length + 1, device=lengths.device) < lengths[:, None])[:, None, None, :]


@wrong(
    "padding_mask",
    caught_by="allows_the_tokens_and_not_the_padding",
    says="Your mask allows the end of each row. The padding comes last in this course, the tokens first.",
)
def padding_first(lengths, max_length):
    return allowed(lengths, max_length).flip(-1)


@wrong(
    "padding_mask",
    caught_by="broadcasts_over_heads_and_queries",
    says="Your mask is (B, S): against (B, H, T, S) it would be read as (queries, keys). Shape it (B, 1, 1, S).",
)
def two_axes(lengths, max_length):
    return allowed(lengths, max_length)[:, 0, 0]


@wrong(
    "padding_mask",
    caught_by="broadcasts_over_heads_and_queries",
    says="Your mask is (B, 1, S): against (B, H, T, S) the batch would meet the heads. Shape it (B, 1, 1, S).",
)
def three_axes(lengths, max_length):
    return allowed(lengths, max_length)[:, 0]


@wrong(
    "padding_mask",
    caught_by="broadcasts_over_heads_and_queries",
    says="Your mask is (B, 1, S, 1): it hides queries. Padding is hidden as keys, so S belongs on the last axis.",
)
def hides_the_queries(lengths, max_length):
    return allowed(lengths, max_length).transpose(-2, -1)


@wrong(
    "padding_mask",
    caught_by="is_boolean",
    says="The places are right, but the mask holds numbers; make it boolean.",
)
def numbers(lengths, max_length):
    return allowed(lengths, max_length).long()


@wrong(
    "padding_mask",
    caught_by="refuses_a_length_out_of_range",
    says="A length beyond `max_length` or below 0 goes through without a word: raise a ValueError with the numbers.",
)
def any_length(lengths, max_length):
    return (torch.arange(max_length, device=lengths.device) < lengths[:, None])[:, None, None, :]


@wrong(
    "padding_mask",
    caught_by="refuses_a_length_out_of_range",
    says="Your ValueError doesn't name the length and `max_length`.",
)
def error_without_the_numbers(lengths, max_length):
    if (lengths < 0).any() or (lengths > max_length).any():
        raise ValueError("a length is out of range")
    return allowed(lengths, max_length)


@wrong(
    "padding_mask",
    caught_by="refuses_a_length_out_of_range",
    says="You refuse lengths that are too long, but a negative one goes through.",
)
def negative_goes_through(lengths, max_length):
    if (lengths > max_length).any():
        raise ValueError(f"length {lengths.max()} is not in 0..{max_length}")
    return (torch.arange(max_length, device=lengths.device) < lengths[:, None])[:, None, None, :]


@wrong(
    "padding_mask",
    caught_by="takes_empty_and_full_sequences",
    says="You refuse a length of 0 or of `max_length`: an empty and a full sequence are both allowed.",
)
def refuses_the_ends(lengths, max_length):
    if (lengths <= 0).any() or (lengths >= max_length).any():
        raise ValueError(f"a length of {lengths.tolist()} is not in 0..{max_length}")
    return allowed(lengths, max_length)
