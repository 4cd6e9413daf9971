"""Hidden checks of notebook 01: lookups, attention and its masks."""

import pytest
import torch

from course_utils.compare import Mismatch, close, describe, raises

# The root of D as a float32 tensor is a right answer too: it is 3e-8 off, and scores and gradients multiply that.
LOOSE = {"atol": 1e-6, "rtol": 1e-6}
BY_HAND = (
    "scaled_dot_product_attention",
    "scaled_dot_product_flash_attention",
    "native_multi_head_attention",
    "multi_head_attention_forward",
    "MultiheadAttention",
    "flex_attention",
)


def _pair(result, *shapes):
    """Output and weights, once they are two tensors of these shapes."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise Mismatch(f"expected two values, the output and the weights, got {describe(result)}")
    for name, value, shape in zip(("the output", "the weights"), result, shapes, strict=True):
        _sized(value, shape, name)
    return result


def _sized(value, shape, name):
    if not isinstance(value, torch.Tensor):
        raise Mismatch(f"{name}: expected a tensor, got {describe(value)}")
    if tuple(value.shape) != tuple(shape):
        raise Mismatch(f"{name} has the wrong shape: expected {tuple(shape)}, got {tuple(value.shape)}")
    return value


def _finite(output):
    if not torch.isfinite(output).all():
        raise Mismatch("the output is not finite")


def _orthogonal_to(vector, draw):
    other = draw.normal(len(vector))
    other = other - (other @ vector) / (vector @ vector) * vector
    return other / other.norm() * vector.norm()


def _scores_count(student, draw):
    """A key like the query gets more weight than its opposite, whatever the scale: an answer without scores doesn't know."""
    query, value = draw.normal(1, 5), draw.normal(2, 3)
    result = student.scaled_dot_product_attention(query, torch.cat([-query, query]), value)
    _, weights = _pair(result, (1, 3), (1, 2))
    if not weights[0, 1] > weights[0, 0] + 1e-3:
        raise Mismatch("a key that equals the query should get more weight than its opposite")


def _inputs(draw, *leading, dtype=torch.float64):
    """Query, key and value of pairwise distinct sizes between 4 and 11."""
    queries, keys, depth, width = draw.sizes(4, low=4, high=11)
    return (
        draw.normal(*leading, queries, depth, dtype=dtype),
        draw.normal(*leading, keys, depth, dtype=dtype),
        draw.normal(*leading, keys, width, dtype=dtype),
    )


def _equal_keys(query, key):
    """One key in all places, which every query scores with the same number, well away from 0."""
    towards = torch.linalg.pinv(query) @ torch.full((query.shape[-2], 1), 2.0, dtype=query.dtype)
    return towards.mT.expand_as(key).clone()


def _partial(draw, *shape):
    """A random mask that leaves a first key to every query and takes the last one away."""
    mask = draw.mask(*shape)
    mask[..., 0], mask[..., -1] = True, False
    return mask


# hard_lookup


def test_hard_lookup__takes_the_value_of_the_best_key(student, reference, draw):
    _looks_up(student, reference, draw)


def _looks_up(student, reference, draw):
    """Ordinary lookups, several: one alone may be guessed."""
    for _ in range(5):
        depth, keys, width = draw.sizes(3, low=4)
        args = draw.normal(depth), draw.normal(keys, depth), draw.normal(keys, width)
        close(student.hard_lookup(*args), reference.hard_lookup(*args))


def test_hard_lookup__judges_keys_by_the_dot_product(student, reference, draw):
    depth, width = draw.sizes(2, low=6)
    query = draw.normal(depth)
    aside = _orthogonal_to(query, draw)
    keys = [0.1 * query, query + 0.3 * aside, 2 * query + 3 * aside, 9 * aside, -3 * query]
    args = query, torch.stack(draw.shuffled(keys)), draw.normal(len(keys), width)
    close(student.hard_lookup(*args), reference.hard_lookup(*args))


def test_hard_lookup__takes_the_first_of_equals(student, reference, draw):
    depth, keys, width = draw.sizes(3, low=4)
    query = draw.integers(1, 4, depth).double()
    labels = draw.integers(-3, 4, keys, depth).double()
    labels[1] = labels[2] = labels[-1] = 5.0
    labels[0] = -9.0  # the longest, and the worst
    args = query, labels, draw.normal(keys, width)
    close(student.hard_lookup(*args), reference.hard_lookup(*args))


def test_hard_lookup__finds_the_best_of_bad_keys(student, reference, draw):
    depth, keys, width = draw.sizes(3, low=3)
    labels = -draw.uniform(0.5, 1.5, keys, depth)
    labels[0] = -2.0
    args = draw.uniform(0.5, 1.5, depth), labels, draw.normal(keys, width)
    close(student.hard_lookup(*args), reference.hard_lookup(*args))


def test_hard_lookup__takes_the_only_key_and_keeps_the_dtype(student, reference, draw):
    depth, width = draw.sizes(2)
    args = [draw.normal(*shape, dtype=torch.float32) for shape in ((depth,), (1, depth), (1, width))]
    close(student.hard_lookup(*args), reference.hard_lookup(*args))
    _looks_up(student, reference, draw)


def test_hard_lookup__passes_gradients_to_the_value_it_takes(student, reference, draw):
    depth, keys, width = draw.sizes(3, low=3)
    for _ in range(5):
        args = draw.normal(depth), draw.normal(keys, depth), draw.normal(keys, width)
        close(student.gradients("hard_lookup", *args, wrt=(2,)), reference.gradients("hard_lookup", *args, wrt=(2,)))


# soft_lookup


def _lookup(draw, dtype=torch.float64):
    depth, keys, width = draw.sizes(3, low=3)
    return [draw.normal(*shape, dtype=dtype) for shape in ((depth,), (keys, depth), (keys, width))]


def test_soft_lookup__of_equal_keys_is_the_mean_of_the_values(student, draw):
    query, keys, values = _lookup(draw)
    keys = keys[:1].expand_as(keys).clone()
    close(student.soft_lookup(query, keys, values, draw.number(1.5, 3.0)), values.mean(0), **LOOSE)


def test_soft_lookup__of_one_key_is_its_value(student, draw):
    query, keys, values = _lookup(draw)
    close(student.soft_lookup(query, keys[:1], values[:1], draw.number(1.5, 3.0)), values[0], **LOOSE)


def test_soft_lookup__weighs_by_dot_products(student, reference, draw):
    args = *_lookup(draw), 1.0
    close(student.soft_lookup(*args), reference.soft_lookup(*args), **LOOSE)


def test_soft_lookup__temperature_acts_on_the_scores(student, reference, draw):
    query, keys, values = _lookup(draw)
    for temperature in (draw.number(0.3, 0.6), draw.number(2.0, 4.0)):
        close(
            student.soft_lookup(query, keys, values, temperature), reference.soft_lookup(query, keys, values, temperature), **LOOSE
        )
    shrunk = 1e-4 * query, keys, values, 1e-4 * draw.number(0.5, 2.0)
    close(student.soft_lookup(*shrunk), reference.soft_lookup(*shrunk), **LOOSE)


def test_soft_lookup__stays_finite_when_cold(student, reference, draw):
    query, keys, values = _lookup(draw)
    keys[0] = 2 * query / (query @ query)
    args = query, keys, values, 1e-6
    close(student.soft_lookup(*args), reference.soft_lookup(*args), **LOOSE)


def _goes_by_the_scores(student, draw):
    """Two keys of length 2 at opposite ends: their scores are 4 and -4, and the weights those of a sigmoid of 8 / temperature."""
    query, values, temperature = torch.tensor([0.0, 2.0, 0.0], dtype=torch.float64), draw.normal(2, 5), draw.number(4.0, 6.0)
    share = torch.sigmoid(torch.tensor(8 / temperature, dtype=torch.float64))
    got = student.soft_lookup(query, torch.stack([-query, query]), values, temperature)
    close(got, share * values[1] + (1 - share) * values[0], **LOOSE)


def test_soft_lookup__refuses_a_temperature_that_is_not_positive(student, draw):
    query, keys, values = _lookup(draw)
    _goes_by_the_scores(student, draw)
    temperature = draw.sizes(1)[0] + 0.5
    raises(ValueError, student.soft_lookup, query, keys, values, -temperature, mentions=(str(temperature),))
    raises(ValueError, student.soft_lookup, query, keys, values, 0.0)


def test_soft_lookup__keeps_the_dtype(student, reference, draw):
    args = *_lookup(draw, torch.float32), 0.7
    close(student.soft_lookup(*args), reference.soft_lookup(*args))


def test_soft_lookup__passes_gradients_to_query_keys_and_values(student, reference, draw):
    args = *_lookup(draw), draw.number(0.5, 2.0)
    wrt = (0, 1, 2)
    close(student.gradients("soft_lookup", *args, wrt=wrt), reference.gradients("soft_lookup", *args, wrt=wrt), **LOOSE)


# scaled_dot_product_attention


def test_scaled_dot_product_attention__one_key_gives_its_value(student, draw):
    query, key, value = _inputs(draw)
    queries, width = len(query), value.shape[-1]
    expected = value[:1].expand(queries, width), torch.ones(queries, 1, dtype=query.dtype)
    close(student.scaled_dot_product_attention(query, key[:1], value[:1]), expected, **LOOSE)


def test_scaled_dot_product_attention__equal_keys_give_the_mean_of_the_values(student, draw):
    query, key, value = _inputs(draw)
    (queries, _), (keys, width) = query.shape, value.shape
    expected = value.mean(0).expand(queries, width), torch.full((queries, keys), 1 / keys, dtype=query.dtype)
    close(student.scaled_dot_product_attention(query, key[:1].expand_as(key).clone(), value), expected, **LOOSE)


def test_scaled_dot_product_attention__weights_follow_the_scaled_scores(student, reference, draw):
    query, key, value = _inputs(draw)
    _, expected = reference.scaled_dot_product_attention(query, key, value)
    result = student.scaled_dot_product_attention(query, key, value)
    _, weights = _pair(result, (len(query), value.shape[-1]), expected.shape)
    close(weights, expected, **LOOSE)


def test_scaled_dot_product_attention__takes_any_leading_dimensions(student, reference, draw):
    for leading in ((), (2,), (3, 2), (2, 3, 12)):
        args = _inputs(draw, *leading)
        close(student.scaled_dot_product_attention(*args), reference.scaled_dot_product_attention(*args), **LOOSE)


def test_scaled_dot_product_attention__attends_only_where_the_mask_is_true(student, draw):
    for axes in ("S", "TS", "HTS", "B11S", "B1TS", "BHTS"):
        _obeys_mask(student, draw, axes, "BH")
    _obeys_mask(student, draw, "BTS", "B")
    _scores_count(student, draw)


def _obeys_mask(student, draw, axes, leading):
    """Scores are all equal here, so the scale is no matter: weights are the mask over its row sums."""
    batch, heads = 2, 3
    query, key, value = _inputs(draw, *{"B": (batch,), "BH": (batch, heads)}[leading])
    query = query.flatten(0, -2)[0].expand_as(query).clone()
    key = _equal_keys(query.flatten(0, -2)[:1], key)
    queries, keys = query.shape[-2], key.shape[-2]
    sizes = {"B": batch, "H": heads, "T": queries, "S": keys, "1": 1}
    mask = _partial(draw, *(sizes[axis] for axis in axes))
    weights = (mask.double() / mask.sum(-1, keepdim=True)).expand(*query.shape[:-1], keys)
    close(student.scaled_dot_product_attention(query, key, value, mask), (weights @ value, weights), **LOOSE)


def test_scaled_dot_product_attention__gives_zeros_to_a_query_with_no_key(student, draw):
    query, key, value = _inputs(draw)
    key = key[:1].expand_as(key).clone()
    mask = _partial(draw, len(query), len(key))
    mask[1] = False
    weights = mask.double() / mask.sum(-1, keepdim=True).clamp(min=1)
    close(student.scaled_dot_product_attention(query, key, value, mask), (weights @ value, weights), **LOOSE)
    _scores_count(student, draw)


def test_scaled_dot_product_attention__masked_keys_may_hold_anything(student, draw):
    query, key, value = _inputs(draw)
    shapes = (len(query), value.shape[-1]), (len(query), len(key))
    mask = _partial(draw, 1, len(key))
    hidden = ~mask[0]
    output, weights = _pair(student.scaled_dot_product_attention(query, key, value, mask), *shapes)
    close(weights.sum(-1), torch.ones(len(query), dtype=query.dtype), what="the sum of the weights", **LOOSE)
    _finite(output)
    key, value = key.clone(), value.clone()
    key[hidden] = draw.uniform(-1e30, 1e30, int(hidden.sum()), key.shape[-1])
    value[hidden] = draw.uniform(-1e30, 1e30, int(hidden.sum()), value.shape[-1])
    close(student.scaled_dot_product_attention(query, key, value, mask), (output, weights), **LOOSE)
    _scores_count(student, draw)


def test_scaled_dot_product_attention__a_later_key_never_moves_an_earlier_output(student, draw):
    query, key, value = _inputs(draw)
    (queries, _), (keys, width) = query.shape, value.shape
    last = min(queries, keys) - 1
    mask = torch.ones(queries, keys, dtype=torch.bool).tril()
    before, _ = _pair(student.scaled_dot_product_attention(query, key, value, mask), (queries, width), (queries, keys))
    _finite(before)
    key, value = key.clone(), value.clone()
    key[last:], value[last:] = draw.normal(*key[last:].shape), draw.normal(*value[last:].shape)
    after, _ = _pair(student.scaled_dot_product_attention(query, key, value, mask), (queries, width), (queries, keys))
    close(after[:last], before[:last], what="the earlier outputs", **LOOSE)
    if torch.allclose(after[last:], before[last:], atol=1e-6):
        raise Mismatch("the outputs that may attend the changed keys should have moved")
    _scores_count(student, draw)


def test_scaled_dot_product_attention__refuses_a_mask_that_is_not_boolean(student, draw):
    query, key, value = _inputs(draw)
    mask = _partial(draw, len(query), len(key))
    for dtype in (torch.float64, torch.int64, torch.uint8):
        raises(TypeError, student.scaled_dot_product_attention, query, key, value, mask.to(dtype))
    mask = torch.ones(len(query), 1, dtype=torch.bool)
    expected = value[:1].expand(len(query), value.shape[-1]), torch.ones(len(query), 1, dtype=query.dtype)
    close(student.scaled_dot_product_attention(query, key[:1], value[:1], mask), expected, **LOOSE)
    _scores_count(student, draw)


# With nearly every weight dropped, what comes back hardly depends on the draw: so a diagnosis can compare it.
ALMOST_ALL = 1 - 1e-12


@pytest.mark.random
@pytest.mark.noise(1e-6)
def test_scaled_dot_product_attention__returns_the_weights_before_dropout(student, draw):
    query, key, value = _inputs(draw)
    (queries, _), (keys, width) = query.shape, value.shape
    key = key[:1].expand_as(key).clone()
    result = student.scaled_dot_product_attention(query, key, value, None, ALMOST_ALL, True)
    output, weights = _pair(result, (queries, width), (queries, keys))
    close(weights, torch.full((queries, keys), 1 / keys, dtype=query.dtype), what="the weights", **LOOSE)
    close(output, torch.zeros_like(output), what="the output with nearly all weights dropped", **LOOSE)
    _scores_count(student, draw)


def test_scaled_dot_product_attention__drops_nothing_outside_training(student, draw):
    query, key, value = _inputs(draw)
    (queries, _), (keys, width) = query.shape, value.shape
    key = key[:1].expand_as(key).clone()
    expected = value.mean(0).expand(queries, width), torch.full((queries, keys), 1 / keys, dtype=query.dtype)
    close(student.scaled_dot_product_attention(query, key, value, dropout_p=0.999999), expected, **LOOSE)
    _scores_count(student, draw)


@pytest.mark.random
@pytest.mark.noise(2.0)  # single draws: two right answers drop other weights
def test_scaled_dot_product_attention__dropout_takes_single_weights_and_scales_the_rest(student, draw):
    queries, keys, depth, p = 41, 61, draw.sizes(1)[0], 0.3
    query = draw.normal(queries, depth)
    key = draw.normal(1, depth).expand(keys, depth).clone()
    value = torch.eye(keys, dtype=torch.float64).repeat(1, 2)
    result = student.scaled_dot_product_attention(query, key, value, None, p, True)
    output, _ = _pair(result, (queries, 2 * keys), (queries, keys))
    kept = output * keys * (1 - p)
    close(kept, (kept > 0.5).double(), what="survivors over their scaled weights", **LOOSE)
    close(kept[:, keys:], kept[:, :keys], what="the same weights in another value", **LOOSE)
    _near(kept.mean(), 1 - p, 0.06, "the share of weights that survive")
    for dim, rows in ((0, "column"), (1, "row")):
        _near(kept[:, :keys].mean(dim), 1 - p, 0.43, f"the share of weights that survive in one {rows}")
    _scores_count(student, draw)


@pytest.mark.random
@pytest.mark.noise(0.5)
def test_scaled_dot_product_attention__each_call_drops_other_weights(student, draw):
    queries, keys, depth, p = 11, 13, draw.sizes(1)[0], 0.5
    query, key = draw.normal(queries, depth), draw.normal(1, depth).expand(keys, depth).clone()
    value = torch.eye(keys, dtype=torch.float64).repeat(1, 2)
    args = query, key, value, None, p, True
    one, other = (_pair(student.scaled_dot_product_attention(*args), (queries, 2 * keys), (queries, keys))[0] for _ in range(2))
    _near(one.sum(-1) / 2, 1.0, 0.95, "the sum of the weights that survive")
    if torch.equal(one, other):
        raise Mismatch("two calls dropped the same weights")
    _scores_count(student, draw)


@pytest.mark.random
@pytest.mark.noise(0.07)  # seven standard errors of the mean over 6,000 keys
def test_scaled_dot_product_attention__dropout_keeps_the_expected_output(student, draw):
    queries, keys, p = 2, 6000, 0.3
    depth, width = draw.sizes(2, low=3)
    query, level = draw.normal(queries, depth), draw.uniform(0.7, 1.0, width)
    key = draw.normal(1, depth).expand(keys, depth).clone()
    result = student.scaled_dot_product_attention(query, key, level.expand(keys, width).clone(), None, p, True)
    output, _ = _pair(result, (queries, width), (queries, keys))
    close(output, level.expand(queries, width), atol=0.06, rtol=0)
    if torch.allclose(output, level.expand(queries, width), atol=1e-6):
        raise Mismatch("the output is exactly that without dropout: nothing was dropped")
    _scores_count(student, draw)


def _near(shares, expected, margin, what):
    if not ((shares - expected).abs() <= margin).all():
        raise Mismatch(f"{what} is far from the probability asked for")


def test_scaled_dot_product_attention__is_written_by_hand(student, reference, draw):
    query, key, value = _inputs(draw, 3, 2)
    args = query, key, value, _partial(draw, query.shape[-2], key.shape[-2])
    got = student.by_hand("scaled_dot_product_attention", *args, forbidden=BY_HAND)
    close(got, reference.scaled_dot_product_attention(*args), **LOOSE)


def test_scaled_dot_product_attention__keeps_the_dtype(student, reference, draw):
    for dtype in (torch.float32, torch.float16):
        query, key, value = _inputs(draw, dtype=dtype)
        args = query, key, value, _partial(draw, len(query), len(key))
        close(student.scaled_dot_product_attention(*args[:3]), reference.scaled_dot_product_attention(*args[:3]))
        close(student.scaled_dot_product_attention(*args), reference.scaled_dot_product_attention(*args))


def test_scaled_dot_product_attention__passes_gradients_to_query_key_and_value(student, reference, draw):
    args = _inputs(draw, 3)
    _gradients_close(student, reference, *args)


def test_scaled_dot_product_attention__gradients_stay_finite_through_masked_rows(student, reference, draw):
    query, key, value = _inputs(draw)
    mask = _partial(draw, len(query), len(key))
    mask[1] = False
    _gradients_close(student, reference, query, key, value, mask)


def _gradients_close(student, reference, *args):
    name, wrt = "scaled_dot_product_attention", (0, 1, 2)
    close(student.gradients(name, *args, wrt=wrt), reference.gradients(name, *args, wrt=wrt), what="the gradient", **LOOSE)


# causal_mask


def _as_bool(mask, length):
    return _sized(mask, (length, length), "the mask").bool()


def _is_causal(mask, length):
    """The mask itself, boolean and right in all places."""
    place = torch.arange(length)
    close(mask, place[None, :] <= place[:, None], what="the mask")


def test_causal_mask__allows_everything_earlier_and_nothing_later(student, draw):
    length = draw.sizes(1, low=4)[0]
    mask = _as_bool(student.causal_mask(length), length)
    place = torch.arange(length)
    later, earlier = place[None, :] > place[:, None], place[None, :] < place[:, None]
    close(mask & later, torch.zeros(length, length, dtype=torch.bool), what="what is allowed of the future")
    close(mask & earlier, earlier, what="what is allowed of the past")


def test_causal_mask__allows_each_position_itself(student, draw):
    length = draw.sizes(1, low=4)[0]
    mask = _as_bool(student.causal_mask(length), length)
    close(mask.diagonal(), torch.ones(length, dtype=torch.bool), what="the diagonal")
    close(mask.sum().item(), length * (length + 1) // 2, what="the number of places allowed")


def test_causal_mask__is_boolean_and_two_dimensional(student, draw):
    length = draw.sizes(1, low=4)[0]
    mask = _sized(student.causal_mask(length), (length, length), "the mask")
    if mask.dtype != torch.bool:
        raise Mismatch(f"the mask has the wrong dtype: expected torch.bool, got {mask.dtype}")
    place = torch.arange(length)
    beside = place[None, :] != place[:, None]
    close(mask[beside], (place[None, :] < place[:, None])[beside], what="the mask beside its diagonal")


def test_causal_mask__of_one_position_allows_it(student):
    for length in (1, 2):
        _is_causal(student.causal_mask(length), length)


def test_causal_mask__of_many_positions_is_right_to_the_last(student, draw):
    length = draw.number(130, 300)
    _is_causal(student.causal_mask(length), length)


def test_causal_mask__is_made_on_the_device_asked_for(student, draw):
    length = draw.sizes(1, low=4)[0]
    _is_causal(student.causal_mask(length, "cpu"), length)
    # PyTorch refuses this name as soon as it is used.
    raises(RuntimeError, student.causal_mask, length, device="nowhere")


# padding_mask


def _places(mask, batch, length):
    """The mask as booleans of one row for each sequence, whatever its shape and dtype."""
    if not isinstance(mask, torch.Tensor) or mask.numel() != batch * length:
        raise Mismatch(f"the mask has the wrong number of entries: {describe(mask)} for {batch} times {length}")
    return mask.reshape(batch, length).bool()


def _lengths(draw, batch, length):
    """Lengths strictly between 0 and `length`, not all equal."""
    lengths = draw.integers(1, length, batch)
    lengths[0], lengths[1] = 1, length - 1
    return lengths


def test_padding_mask__allows_the_tokens_and_not_the_padding(student, draw):
    batch, length = draw.sizes(2, low=4)
    lengths = _lengths(draw, batch, length)
    expected = torch.tensor([[place < own for place in range(length)] for own in lengths.tolist()])
    close(_places(student.padding_mask(lengths, length), batch, length), expected)


def test_padding_mask__broadcasts_over_heads_and_queries(student, draw):
    batch, length = draw.sizes(2, low=4)
    mask = _sized(student.padding_mask(_lengths(draw, batch, length), length), (batch, 1, 1, length), "the mask")
    if mask.bool().all() or not mask.bool().any():
        raise Mismatch("the mask is the same everywhere")


def test_padding_mask__is_boolean(student, draw):
    batch, length = draw.sizes(2, low=4)
    mask = student.padding_mask(_lengths(draw, batch, length), length)
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        raise Mismatch(f"expected a boolean tensor, got {getattr(mask, 'dtype', describe(mask))}")
    close(bool(mask.any()) and not bool(mask.all()), True, what="whether the mask tells tokens from padding")


def test_padding_mask__takes_empty_and_full_sequences(student, draw):
    batch, length = draw.sizes(2, low=4)
    lengths = _lengths(draw, batch, length)
    lengths[0], lengths[-1] = 0, length
    counts = _places(student.padding_mask(lengths, length), batch, length).sum(-1)
    close(counts, lengths, what="the number of places that each sequence may attend")


def test_padding_mask__takes_lengths_of_32_and_of_64_bits(student, reference, draw):
    batch, length = draw.sizes(2, low=4)
    for dtype in (torch.int32, torch.int64):
        lengths = _lengths(draw, batch, length).to(dtype)
        expected = reference.padding_mask(lengths, length).reshape(batch, length)
        close(_places(student.padding_mask(lengths, length), batch, length), expected)


def test_padding_mask__refuses_a_length_out_of_range(student, draw):
    batch, length = draw.sizes(2, low=4)
    lengths = _lengths(draw, batch, length)
    counts = _places(student.padding_mask(lengths, length), batch, length).sum(-1)
    close(counts, lengths, what="the number of places that each sequence may attend")
    for bad in (120, -30):
        lengths = lengths.clone()
        lengths[1] = bad
        raises(ValueError, student.padding_mask, lengths, length, mentions=(str(bad), str(length)))
