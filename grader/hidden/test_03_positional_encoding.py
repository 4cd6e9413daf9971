"""Hidden checks of notebook 03: sinusoids, tables that are added, maps and rotations.

Most compare with the definition written out here in float64, and look at one property at a time.
"""

import math

import pytest
import torch

from course_utils.compare import Mismatch, close, describe, raises

# A float32 table as a float64 one: the rounding of its entries, and room for nothing else.
ROUNDED = {"atol": 1e-6, "rtol": 1e-6}
# So nearly everything is dropped that what comes back no longer depends on the draw.
ALL = 1 - 1e-12


def _sized(value, shape, what="the result"):
    if not isinstance(value, torch.Tensor):
        raise Mismatch(f"{what}: expected a tensor, got {describe(value)}")
    if tuple(value.shape) != tuple(shape):
        raise Mismatch(f"{what} has the wrong shape: expected {tuple(shape)}, got {tuple(value.shape)}")
    return value


def _doubles(value, shape, what="the result"):
    """The value in float64, so that dtype is a matter of its own check."""
    return _sized(value, shape, what).double()


def _dtype(value, dtype, what="the result"):
    if value.dtype != dtype:
        raise Mismatch(f"{what} has the wrong dtype: expected {dtype}, got {value.dtype}")


def _encoding(positions, d_model):
    """The definition in float64: sines in the even columns, cosines of the same angles in the odd ones."""
    columns = torch.arange(d_model, dtype=torch.float64)
    angles = torch.tensor([*positions], dtype=torch.float64)[:, None] / 10000 ** ((columns - columns % 2) / d_model)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


def _even(draw, count, low=2, high=9):
    """Pairwise distinct even sizes; low and high are of their halves."""
    return [2 * half for half in draw.sizes(count, low, high)]


# sinusoidal_encoding


def test_sinusoidal_encoding__position_zero_has_sines_of_0_and_cosines_of_1(student, draw):
    (width,), rows = _even(draw, 1, 3, 6), 5
    first = _doubles(student.sinusoidal_encoding(rows, width), (rows, width))[0]
    close(first, torch.arange(width).remainder(2).double(), what="row 0", **ROUNDED)


def test_sinusoidal_encoding__the_first_pair_turns_by_one_radian_a_position(student, draw):
    rows, half = draw.sizes(2, 5, 11)
    table = _doubles(student.sinusoidal_encoding(rows, 2 * half), (rows, 2 * half))
    close(table[:, :2], _encoding(range(rows), 2), atol=1e-5, rtol=1e-5, what="the first two columns")


def test_sinusoidal_encoding__later_pairs_turn_slower_by_the_formula(student, draw):
    rows, half = draw.sizes(2, 5, 11)
    table = _doubles(student.sinusoidal_encoding(rows, 2 * half), (rows, 2 * half))
    close(table[:, 2:], _encoding(range(rows), 2 * half)[:, 2:], atol=1e-5, rtol=1e-5, what="the columns from 2 on")


def test_sinusoidal_encoding__an_odd_width_ends_with_a_sine(student, draw):
    rows, half = draw.sizes(2, 3, 9)
    width = 2 * half + 1
    table = _doubles(student.sinusoidal_encoding(rows, width), (rows, width))
    close(table, _encoding(range(rows), width), atol=1e-5, rtol=1e-5)


def test_sinusoidal_encoding__far_positions_are_exact(student, draw):
    # Of width 8 the speeds are 1/1, 1/10, 1/100 and 1/1000, whose divisors float32 holds exactly.
    width, rows = draw.shuffled([6, 10, 12, 14])[0], draw.number(6000, 9000)
    table = _doubles(student.sinusoidal_encoding(rows, width), (rows, width))
    places = [0, 1, rows - 100, rows - 2, rows - 1]
    close(table[places], _encoding(places, width), what="rows far down", **ROUNDED)


def test_sinusoidal_encoding__is_a_float32_table(student, reference, draw):
    rows, half = draw.sizes(2, 3, 9)
    table = student.sinusoidal_encoding(rows, 2 * half)
    _dtype(_sized(table, (rows, 2 * half)), torch.float32)
    close(table[:, :2], reference.sinusoidal_encoding(rows, 2 * half)[:, :2])


def test_sinusoidal_encoding__one_position_and_one_column(student, draw):
    rows, width = draw.sizes(2, 3, 9)
    close(_doubles(student.sinusoidal_encoding(1, width), (1, width)), _encoding([0], width), **ROUNDED)
    close(_doubles(student.sinusoidal_encoding(rows, 1), (rows, 1)), _encoding(range(rows), 1), atol=1e-5, rtol=1e-5)


# wavelengths


def _waves(student, width):
    return _doubles(student.wavelengths(width), ((width + 1) // 2,))


def test_wavelengths__start_at_one_turn_in_two_pi_positions(student, draw):
    (width,) = _even(draw, 1)
    close(_waves(student, width)[0].item(), 2 * math.pi, atol=1e-5, rtol=1e-6, what="the first")


def test_wavelengths__end_short_of_the_limit(student, draw):
    (width,) = _even(draw, 1, 3, 40)
    close(_waves(student, width)[-1].item(), 2 * math.pi * 10000 ** ((width - 2) / width), atol=0.0, rtol=1e-5, what="the last")


def test_wavelengths__grow_by_one_factor_from_pair_to_pair(student, draw):
    (width,) = _even(draw, 1, 4, 40)
    waves = _waves(student, width)
    factor = torch.full((width // 2 - 1,), 10000 ** (2 / width), dtype=torch.float64)
    close(waves[1:] / waves[:-1], factor, atol=0.0, rtol=1e-5, what="the factor between neighbours")


def test_wavelengths__an_odd_width_has_one_for_its_last_sine(student, draw):
    width = 2 * draw.number(2, 20) + 1
    expected = [2 * math.pi * 10000 ** (column / width) for column in range(0, width, 2)]
    close(_waves(student, width), torch.tensor(expected, dtype=torch.float64), atol=0.0, rtol=1e-5)


def test_wavelengths__are_exact_in_float64(student, draw):
    (width,) = _even(draw, 1, 4, 40)
    waves = _sized(student.wavelengths(width), (width // 2,))
    _dtype(waves, torch.float64)
    # However the power is taken, neighbours are one factor apart, to the last digits.
    turned = torch.log(waves / waves[0]) / math.log(10000)
    close(turned, torch.arange(0, width, 2, dtype=torch.float64) / width, what="the exponents of 10000")


def test_wavelengths__of_one_column_and_of_one_pair(student):
    for width in (1, 2):
        close(_waves(student, width), torch.tensor([2 * math.pi], dtype=torch.float64), atol=1e-5, rtol=1e-6)


# shift_matrix


def _shift(student, k, width):
    return _doubles(student.shift_matrix(k, width), (width, width))


def test_shift_matrix__of_one_pair_turns_by_k_radians(student, draw):
    k = draw.number(3, 9)
    before, after = _encoding([0, 1], 2), _encoding([k, k + 1], 2)
    close(_shift(student, k, 2) @ before.T, after.T, what="the shifted encodings", **ROUNDED)


def test_shift_matrix__moves_every_position_by_k(student, draw):
    (width,), k = _even(draw, 1, 3, 6), draw.number(11, 40)
    places = [0, 1, 7, 100, 2345]
    before, after = _encoding(places, width), _encoding([p + k for p in places], width)
    close(_shift(student, k, width) @ before.T, after.T, what="the shifted encodings", **ROUNDED)


def test_shift_matrix__touches_each_pair_by_itself(student, draw):
    (width,), k = _even(draw, 1, 3, 6), draw.number(2, 9)
    matrix = _shift(student, k, width)
    pair = torch.arange(width) // 2
    outside = matrix[pair[:, None] != pair]
    close(outside, torch.zeros_like(outside), what="the entries outside the 2 × 2 blocks", **ROUNDED)
    # The two entries on the diagonal of a block are one cosine.
    close(matrix.diagonal()[:2].sum().item(), 2 * math.cos(k), what="the trace of the first block", **ROUNDED)


def test_shift_matrix__a_negative_k_moves_back(student, draw):
    (width,), k = _even(draw, 1, 3, 6), -draw.number(2, 30)
    places = [50, 61, 100]
    before, after = _encoding(places, width), _encoding([p + k for p in places], width)
    close(_shift(student, k, width) @ before.T, after.T, what="the encodings moved back", **ROUNDED)


def test_shift_matrix__by_zero_moves_nothing(student, draw):
    (width,) = _even(draw, 1, 3, 6)
    close(_shift(student, 0, width), torch.eye(width, dtype=torch.float64), **ROUNDED)


def test_shift_matrix__turns_and_keeps_every_length(student, draw):
    (width,), k = _even(draw, 1, 3, 6), draw.number(2, 30)
    matrix = _shift(student, k, width)
    close(matrix @ matrix.T, torch.eye(width, dtype=torch.float64), what="the matrix times its transpose", **ROUNDED)
    close(torch.linalg.det(matrix[:2, :2]).item(), 1.0, what="the determinant of the first block", **ROUNDED)
    close(abs(matrix[0, 1].item()), abs(math.sin(k)), what="the size of the sine of the first block", **ROUNDED)


def test_shift_matrix__a_far_shift_is_exact_in_float64(student, draw):
    (width,), k = _even(draw, 1, 3, 6), draw.number(3000, 5000)
    matrix = _sized(student.shift_matrix(k, width), (width, width))
    _dtype(matrix, torch.float64)
    close(matrix @ _encoding([0, 5], width).T, _encoding([k, k + 5], width).T, what="the shifted encodings")


def test_shift_matrix__refuses_an_odd_width(student, draw):
    k, width = draw.number(2, 9), 2 * draw.number(6, 20) + 1
    close(_shift(student, k, 2).diagonal(), torch.full((2,), math.cos(k), dtype=torch.float64), what="the diagonal", **ROUNDED)
    raises(ValueError, student.shift_matrix, k, width, mentions=(str(width),))


# What the three modules have in common. `table`: what the module with these weights adds to each position, (max_len, d_model).


def _sizes(draw):
    """B, T, M and a max_len beyond T, pairwise distinct."""
    batch, width, length, extra = draw.sizes(4, 3, 9)
    return batch, length, width, length + extra + 9


def _adds(module, table, draw, batch, length, dtype=torch.float64):
    x = draw.normal(batch, length, table.shape[1], dtype=dtype)
    close(_doubles(module(x), x.shape), x.double() + table[:length], **ROUNDED)


def _takes_edges(module, table, draw):
    for batch, length in ((1, 3), (3, 1), (2, len(table))):
        _adds(module, table, draw, batch, length)


def _refuses_too_long(module, table, draw):
    max_len, width = table.shape
    _adds(module, table, draw, 2, max_len)
    length = max_len + draw.number(1, 20)
    raises(ValueError, module, draw.normal(2, length, width), mentions=(str(length), str(max_len)))


def _default_is_5000(module, table, draw):
    _adds(module, table, draw, 1, 5000)
    raises(ValueError, module, draw.normal(1, 5001, table.shape[1]), mentions=("5001", "5000"))


def _drops_the_sum(student, name, weights, table, draw, batch, length):
    width = table.shape[1]
    x = draw.normal(batch, length, width)
    dropped = student.make(name, width, len(table), ALL, weights=weights, training=True)(x)
    close(_doubles(dropped, x.shape), torch.zeros_like(x), what="the result with nearly everything dropped", **ROUNDED)
    kept = student.make(name, width, len(table), 0.0, weights=weights, training=True)(x)
    close(_doubles(kept, x.shape), x + table[:length], what="the result of training with dropout 0", **ROUNDED)


def _drops_nothing_outside_training(student, name, weights, table, draw, batch, length):
    _adds(student.make(name, table.shape[1], len(table), ALL, weights=weights), table, draw, batch, length)


def _after_dropout(student, name, weights, table, draw, p):
    """Result over what it would be without dropout, for sums well away from 0."""
    batch, length, width = 3, *table.shape
    x = draw.uniform(4.0, 6.0, batch, length, width)
    result = student.make(name, width, length, p, weights=weights, training=True)(x)
    return _doubles(result, x.shape) / (x + table)


def _scales_survivors(ratio, p):
    kept = ratio * (1 - p)
    close(kept, (kept > 0.5).double(), what="survivors over their scaled values", **ROUNDED)
    _share(kept.mean(), 1 - p, 0.2, "all entries")


def _drops_single_entries(ratio, p):
    kept = (ratio > 0.5).double()
    _share(kept.mean(), 1 - p, 0.2, "all entries")
    for dim, what in ((2, "one position"), (1, "one column"), (0, "one place of all examples")):
        margin = 0.55 if dim else 1.0
        _share(kept.mean(dim), 1 - p, margin, what)


def _share(shares, expected, margin, what):
    if not ((shares - expected).abs() <= margin).all():
        raise Mismatch(f"the share that survives of {what} is far from the probability asked for")


def _keeps_the_dtype(student, name, weights, table, draw, batch, length):
    """One float32 module, whatever the dtype of its input."""
    module = student.make(name, table.shape[1], len(table), weights=weights, dtype=torch.float32)
    for dtype in (torch.float32, torch.float64, torch.float16):
        x = draw.normal(batch, length, table.shape[1]).to(dtype)
        result = _sized(module(x), x.shape)
        _dtype(result, dtype)
        close(result.double(), x.double() + table[:length], atol=1e-2, rtol=1e-2)


def _expected_gradients(reference, x, table):
    """Gradients of x and of a table that is added to it, by another way: PyTorch's own embedding of rows."""
    width = x.shape[-1]
    identity = reference.make("torch.nn.Identity")
    (of_x,) = identity.gradients(x, wrt=(0,))
    of_table = torch.zeros(len(table), width, dtype=x.dtype)
    of_table[: x.shape[1]] = of_x.sum(0)
    return of_x, of_table


# SinusoidalPositionalEncoding

SINUSOIDAL = "SinusoidalPositionalEncoding"


def test_SinusoidalPositionalEncoding__adds_row_t_to_position_t(student, draw):
    batch, length, width, max_len = _sizes(draw)
    _adds(student.make(SINUSOIDAL, width, max_len), _encoding(range(max_len), width), draw, batch, length)


def test_SinusoidalPositionalEncoding__takes_one_sequence_one_position_and_all_positions(student, draw):
    _, _, width, max_len = _sizes(draw)
    _takes_edges(student.make(SINUSOIDAL, width, max_len), _encoding(range(max_len), width), draw)


def test_SinusoidalPositionalEncoding__the_table_is_a_buffer_and_nothing_is_learned(student, draw):
    _, _, width, max_len = _sizes(draw)
    module = student.make(SINUSOIDAL, width, max_len)
    buffers, parameters = module.buffers(), module.parameters()
    if not isinstance(buffers, dict) or "pe" not in buffers:
        raise Mismatch("there is no buffer called pe")
    if buffers["pe"].numel() != max_len * width:
        raise Mismatch(f"the buffer pe should hold {max_len} rows of {width}; its shape is {tuple(buffers['pe'].shape)}")
    close(buffers["pe"].reshape(max_len, width).double(), _encoding(range(max_len), width), what="the buffer pe", **ROUNDED)
    if parameters:
        raise Mismatch("the module has parameters: an optimizer would change them")


def test_SinusoidalPositionalEncoding__refuses_more_positions_than_it_has(student, draw):
    _, _, width, max_len = _sizes(draw)
    _refuses_too_long(student.make(SINUSOIDAL, width, max_len), _encoding(range(max_len), width), draw)


def test_SinusoidalPositionalEncoding__has_5000_positions_unless_told(student, draw):
    _default_is_5000(student.make(SINUSOIDAL, 3), _encoding(range(5000), 3), draw)


def test_SinusoidalPositionalEncoding__dropout_takes_from_the_sum(student, draw):
    batch, length, width, max_len = _sizes(draw)
    _drops_the_sum(student, SINUSOIDAL, None, _encoding(range(max_len), width), draw, batch, length)


def test_SinusoidalPositionalEncoding__drops_nothing_outside_training(student, draw):
    batch, length, width, max_len = _sizes(draw)
    _drops_nothing_outside_training(student, SINUSOIDAL, None, _encoding(range(max_len), width), draw, batch, length)


@pytest.mark.random
@pytest.mark.noise(20.0)  # two right answers drop other entries
def test_SinusoidalPositionalEncoding__what_survives_dropout_is_scaled(student, draw):
    _scales_survivors(_after_dropout(student, SINUSOIDAL, None, _encoding(range(41), 53), draw, 0.3), 0.3)


@pytest.mark.random
@pytest.mark.noise(20.0)
def test_SinusoidalPositionalEncoding__dropout_takes_single_entries(student, draw):
    _drops_single_entries(_after_dropout(student, SINUSOIDAL, None, _encoding(range(41), 53), draw, 0.3), 0.3)


def test_SinusoidalPositionalEncoding__keeps_the_dtype_of_its_input(student, draw):
    batch, length, width, max_len = _sizes(draw)
    _keeps_the_dtype(student, SINUSOIDAL, None, _encoding(range(max_len), width), draw, batch, length)


def test_SinusoidalPositionalEncoding__passes_gradients_through_unchanged(student, reference, draw):
    batch, length, width, max_len = _sizes(draw)
    x = draw.normal(batch, length, width)
    module = student.make(SINUSOIDAL, width, max_len)
    _adds(module, _encoding(range(max_len), width), draw, batch, length)
    expected = _expected_gradients(reference, x, torch.zeros(max_len, width))[:1]
    close(module.gradients(x, wrt=(0,)), expected, what="the gradient")


# LearnedPositionalEncoding

LEARNED = "LearnedPositionalEncoding"


def _learned(draw, width, max_len):
    return {"weight": draw.normal(max_len, width)}


def _first_weight(student, max_len, width):
    weight = student.make(LEARNED, width, max_len).parameters().get("weight")
    return _sized(weight, (max_len, width), "the parameter weight")


def test_LearnedPositionalEncoding__adds_row_t_to_position_t(student, draw):
    batch, length, width, max_len = _sizes(draw)
    weights = _learned(draw, width, max_len)
    _adds(student.make(LEARNED, width, max_len, weights=weights), weights["weight"], draw, batch, length)


def test_LearnedPositionalEncoding__takes_one_sequence_one_position_and_all_positions(student, draw):
    _, _, width, max_len = _sizes(draw)
    weights = _learned(draw, width, max_len)
    _takes_edges(student.make(LEARNED, width, max_len, weights=weights), weights["weight"], draw)


# The three checks of the first values draw at random, and a diagnosis can't compare draws: each looks at one fault alone.


@pytest.mark.random
@pytest.mark.noise(10.0)
def test_LearnedPositionalEncoding__starts_with_small_numbers(student):
    if _first_weight(student, 60, 150).std() > 0.3:
        raise Mismatch("the first weights are too large")


@pytest.mark.random
@pytest.mark.noise(10.0)
def test_LearnedPositionalEncoding__starts_with_numbers_that_differ(student):
    weight = _first_weight(student, 60, 150)
    if weight.std(0).min() == 0 or weight.std(1).min() == 0:
        raise Mismatch("the first weights are all the same along a row or a column")


@pytest.mark.random
@pytest.mark.noise(10.0)
def test_LearnedPositionalEncoding__starts_with_a_standard_deviation_of_two_hundredths(student):
    weight = _first_weight(student, 60, 150) / 0.02
    # 9,000 numbers: seven standard errors of their standard deviation are 0.05, of their mean 0.07.
    if abs(weight.std() - 1) > 0.06 or abs(weight.mean()) > 0.08:
        raise Mismatch("the first weights have another mean or standard deviation than asked for")


@pytest.mark.random
@pytest.mark.noise(10.0)
def test_LearnedPositionalEncoding__starts_normally_distributed(student):
    weight = _first_weight(student, 60, 150)
    if weight.std() == 0:
        raise Mismatch("the first weights are all the same")
    scaled = (weight - weight.mean()) / weight.std()
    # Of normal numbers 31.7 % lie beyond one standard deviation and 0.27 % beyond three; of uniform ones 42.3 % and none.
    beyond = [(scaled.abs() > distance).double().mean().item() for distance in (1, 3)]
    if abs(beyond[0] - 0.317) > 0.04 or not 0.0003 < beyond[1] < 0.01:
        raise Mismatch("the first weights are not normally distributed")


def test_LearnedPositionalEncoding__refuses_more_positions_than_it_has(student, draw):
    _, _, width, max_len = _sizes(draw)
    weights = _learned(draw, width, max_len)
    _refuses_too_long(student.make(LEARNED, width, max_len, weights=weights), weights["weight"], draw)


def test_LearnedPositionalEncoding__has_5000_positions_unless_told(student, draw):
    weights = _learned(draw, 3, 5000)
    _default_is_5000(student.make(LEARNED, 3, weights=weights), weights["weight"], draw)


def test_LearnedPositionalEncoding__dropout_takes_from_the_sum(student, draw):
    batch, length, width, max_len = _sizes(draw)
    weights = _learned(draw, width, max_len)
    _drops_the_sum(student, LEARNED, weights, weights["weight"], draw, batch, length)


def test_LearnedPositionalEncoding__drops_nothing_outside_training(student, draw):
    batch, length, width, max_len = _sizes(draw)
    weights = _learned(draw, width, max_len)
    _drops_nothing_outside_training(student, LEARNED, weights, weights["weight"], draw, batch, length)


@pytest.mark.random
@pytest.mark.noise(20.0)
def test_LearnedPositionalEncoding__dropout_takes_single_entries_and_scales_the_rest(student, draw):
    weights = {"weight": draw.uniform(-1.0, 1.0, 41, 53)}
    ratio = _after_dropout(student, LEARNED, weights, weights["weight"], draw, 0.3)
    _scales_survivors(ratio, 0.3)
    _drops_single_entries(ratio, 0.3)


def test_LearnedPositionalEncoding__keeps_the_dtype_of_its_input(student, draw):
    batch, length, width, max_len = _sizes(draw)
    weights = _learned(draw, width, max_len)
    _keeps_the_dtype(student, LEARNED, weights, weights["weight"], draw, batch, length)


def test_LearnedPositionalEncoding__passes_gradients_to_the_rows_it_uses(student, reference, draw):
    batch, length, width, max_len = _sizes(draw)
    weights, x = _learned(draw, width, max_len), draw.normal(batch, length, width)
    expected = _expected_gradients(reference, x, weights["weight"])
    got = student.make(LEARNED, width, max_len, weights=weights).gradients(x, wrt=(0, "weight"))
    close(got, expected, what="the gradient")


# HybridPositionalEncoding

HYBRID = "HybridPositionalEncoding"


def _hybrid(draw, width, max_len):
    """Weights, and what they and the sinusoid add together."""
    bias = draw.normal(max_len, width)
    return {"bias": bias}, _encoding(range(max_len), width) + bias


@pytest.mark.noise(10.0)
def test_HybridPositionalEncoding__starts_as_the_sinusoid_alone(student, draw):
    batch, length, width, max_len = _sizes(draw)
    _adds(student.make(HYBRID, width, max_len), _encoding(range(max_len), width), draw, batch, length)


def test_HybridPositionalEncoding__adds_the_learned_bias_to_the_sinusoid(student, draw):
    batch, length, width, max_len = _sizes(draw)
    weights, table = _hybrid(draw, width, max_len)
    _adds(student.make(HYBRID, width, max_len, weights=weights), table, draw, batch, length)


def test_HybridPositionalEncoding__takes_one_sequence_one_position_and_all_positions(student, draw):
    _, _, width, max_len = _sizes(draw)
    weights, table = _hybrid(draw, width, max_len)
    _takes_edges(student.make(HYBRID, width, max_len, weights=weights), table, draw)


def test_HybridPositionalEncoding__only_the_bias_is_learned(student, draw):
    batch, length, width, max_len = _sizes(draw)
    parameters = student.make(HYBRID, width, max_len).parameters()
    if not isinstance(parameters, dict) or set(parameters) != {"bias"}:
        raise Mismatch(f"the one parameter should be bias; there are {', '.join(sorted(parameters or ())) or 'none'}")
    close(_doubles(parameters["bias"], (max_len, width)), torch.zeros(max_len, width, dtype=torch.float64), what="the first bias")


def test_HybridPositionalEncoding__refuses_more_positions_than_it_has(student, draw):
    _, _, width, max_len = _sizes(draw)
    weights, table = _hybrid(draw, width, max_len)
    _refuses_too_long(student.make(HYBRID, width, max_len, weights=weights), table, draw)


def test_HybridPositionalEncoding__has_5000_positions_unless_told(student, draw):
    weights, table = _hybrid(draw, 3, 5000)
    _default_is_5000(student.make(HYBRID, 3, weights=weights), table, draw)


def test_HybridPositionalEncoding__dropout_takes_from_the_sum(student, draw):
    batch, length, width, max_len = _sizes(draw)
    weights, table = _hybrid(draw, width, max_len)
    _drops_the_sum(student, HYBRID, weights, table, draw, batch, length)


def test_HybridPositionalEncoding__drops_nothing_outside_training(student, draw):
    batch, length, width, max_len = _sizes(draw)
    weights, table = _hybrid(draw, width, max_len)
    _drops_nothing_outside_training(student, HYBRID, weights, table, draw, batch, length)


@pytest.mark.random
@pytest.mark.noise(20.0)
def test_HybridPositionalEncoding__dropout_takes_single_entries_and_scales_the_rest(student, draw):
    bias = draw.uniform(-1.0, 1.0, 41, 53)
    ratio = _after_dropout(student, HYBRID, {"bias": bias}, _encoding(range(41), 53) + bias, draw, 0.3)
    _scales_survivors(ratio, 0.3)
    _drops_single_entries(ratio, 0.3)


def test_HybridPositionalEncoding__keeps_the_dtype_of_its_input(student, draw):
    batch, length, width, max_len = _sizes(draw)
    weights, table = _hybrid(draw, width, max_len)
    _keeps_the_dtype(student, HYBRID, weights, table, draw, batch, length)


def test_HybridPositionalEncoding__passes_gradients_to_the_rows_it_uses(student, reference, draw):
    batch, length, width, max_len = _sizes(draw)
    weights, table = _hybrid(draw, width, max_len)
    x = draw.normal(batch, length, width)
    got = student.make(HYBRID, width, max_len, weights=weights).gradients(x, wrt=(0, "bias"))
    close(got, _expected_gradients(reference, x, table), what="the gradient")


# positional_encoding_2d


def _map(student, height, width, d_model):
    """(height, width, d_model), in float64."""
    table = _doubles(student.positional_encoding_2d(height, width, d_model), (height * width, d_model))
    return table.reshape(height, width, d_model)


def _rows(height, width, half):
    return _encoding(range(height), half)[:, None].expand(height, width, half)


def _columns(height, width, half):
    return _encoding(range(width), half)[None].expand(height, width, half)


def _plane(draw):
    """Height and width between 4 and 9, and a d_model above both that is a multiple of 4; a quarter of it is another size."""
    height, width = draw.sizes(2, 4, 9)
    quarter = next(q for q in (5, 6, 7) if q not in (height, width))
    return height, width, 4 * quarter


def test_positional_encoding_2d__the_first_half_encodes_the_row(student, draw):
    height, width, d_model = _plane(draw)
    half = _map(student, height, width, d_model)[..., : d_model // 2]
    close(half, _rows(height, width, d_model // 2), atol=1e-5, rtol=1e-5, what="the first half of the columns")


def test_positional_encoding_2d__the_second_half_encodes_the_column(student, draw):
    height, width, d_model = _plane(draw)
    half = _map(student, height, width, d_model)[..., d_model // 2 :]
    close(half, _columns(height, width, d_model // 2), atol=1e-5, rtol=1e-5, what="the second half of the columns")


def test_positional_encoding_2d__the_second_half_is_right_where_height_is_a_quarter_of_d_model(student, draw):
    height, width = draw.sizes(2, 3, 7)
    d_model = 4 * height
    half = _map(student, height, width, d_model)[..., d_model // 2 :]
    close(half, _columns(height, width, d_model // 2), atol=1e-5, rtol=1e-5, what="the second half of the columns")


def test_positional_encoding_2d__goes_through_the_map_row_by_row(student, draw):
    height, width, d_model = _plane(draw)
    table = _doubles(student.positional_encoding_2d(height, width, d_model), (height * width, d_model))
    places = [1, width, draw.number(1, height - 1) * width + draw.number(1, width - 1)]
    rows, columns = ([place // width for place in places], [place % width for place in places])
    expected = torch.cat([_encoding(rows, d_model // 2), _encoding(columns, d_model // 2)], 1)
    close(table[places], expected, atol=1e-5, rtol=1e-5, what="three rows of the table")


def test_positional_encoding_2d__a_single_row_and_a_single_column(student, draw):
    height, width, d_model = _plane(draw)
    for shape in ((1, width), (height, 1)):
        expected = torch.cat([_rows(*shape, d_model // 2), _columns(*shape, d_model // 2)], -1)
        close(_map(student, *shape, d_model), expected, atol=1e-5, rtol=1e-5)


def test_positional_encoding_2d__of_width_4_has_one_pair_for_each_direction(student, draw):
    height, width = draw.sizes(2, 5, 9)
    expected = torch.cat([_rows(height, width, 2), _columns(height, width, 2)], -1)
    close(_map(student, height, width, 4), expected, atol=1e-5, rtol=1e-5)


def test_positional_encoding_2d__is_a_float32_table(student, reference, draw):
    height, width, d_model = _plane(draw)
    table = _sized(student.positional_encoding_2d(height, width, d_model), (height * width, d_model))
    _dtype(table, torch.float32)
    # The left upper corner: all sines 0, all cosines 1, in either half.
    close(table[0], reference.positional_encoding_2d(height, width, d_model)[0], what="the first row")


def test_positional_encoding_2d__refuses_a_width_that_four_does_not_divide(student, draw):
    height, width, d_model = _plane(draw)
    first = _doubles(student.positional_encoding_2d(height, width, d_model), (height * width, d_model))[0]
    close(first, torch.arange(d_model).remainder(2).double(), what="the first row", **ROUNDED)
    for bad in (d_model + 1, d_model + 3, d_model + 2):
        raises(ValueError, student.positional_encoding_2d, height, width, bad, mentions=(str(bad),))


# rotary_embedding


def _turned(x, positions, base=10000.0):
    """The definition: each pair is a complex number, multiplied by one of length 1."""
    width = x.shape[-1]
    turns = torch.tensor([base ** (-2 * i / width) for i in range(width // 2)], dtype=torch.float64)
    angles = positions.double()[:, None] * turns
    pairs = torch.view_as_complex(x.double().contiguous().reshape(*x.shape[:-1], width // 2, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def _vectors(draw, *leading, dtype=torch.float64):
    """x (..., T, D) with D even and at least 6, and positions (T,) that are neither 0..T-1 nor in order."""
    length, half = draw.sizes(2, 3, 6)
    length = 2 * length + 1
    return draw.normal(*leading, length, 2 * half).to(dtype), torch.tensor(draw.shuffled(range(5, 60))[:length])


def test_rotary_embedding__turns_a_single_pair_by_its_position(student, draw):
    length = draw.sizes(1, 3, 9)[0]
    x, positions = draw.normal(length, 2), torch.arange(length)
    close(_sized(student.rotary_embedding(x, positions), x.shape), _turned(x, positions))


def test_rotary_embedding__each_pair_of_neighbours_turns_at_its_own_speed(student, draw):
    x, _ = _vectors(draw)
    positions = torch.arange(len(x))
    close(_sized(student.rotary_embedding(x, positions), x.shape), _turned(x, positions))


def test_rotary_embedding__position_zero_stays_and_the_others_move(student, draw):
    x, positions = _vectors(draw)
    positions[0] = 0
    result = _doubles(student.rotary_embedding(x, positions), x.shape)
    close(result[0], x[0], what="the vector at position 0")
    if ((result[1:] - x[1:]).abs().amax(-1) < 1e-3).any():
        raise Mismatch("a vector at another position than 0 has not moved")


def test_rotary_embedding__goes_by_the_positions_it_is_given(student, draw):
    x, positions = _vectors(draw)
    close(_sized(student.rotary_embedding(x, positions), x.shape), _turned(x, positions))
    back = positions.double() / 4 - 10
    close(_sized(student.rotary_embedding(x, back), x.shape), _turned(x, back), what="the result at fractions and below 0")


def test_rotary_embedding__takes_any_leading_dimensions(student, draw):
    for leading in ((2,), (4, 2), (1, 2, 4)):
        x, positions = _vectors(draw, *leading)
        close(_sized(student.rotary_embedding(x, positions), x.shape), _turned(x, positions))


def test_rotary_embedding__uses_the_base(student, draw):
    x, positions = _vectors(draw)
    base = draw.number(100.0, 1000.0)
    close(_sized(student.rotary_embedding(x, positions, base), x.shape), _turned(x, positions, base))


def test_rotary_embedding__keeps_every_length(student, draw):
    x, positions = _vectors(draw)
    result = _doubles(student.rotary_embedding(x, positions), x.shape)
    close(result.norm(dim=-1), x.norm(dim=-1), what="the length of the vectors")
    if ((result - x).abs().amax(-1) < 1e-3).any():
        raise Mismatch("a vector has not moved")


def test_rotary_embedding__scores_depend_on_the_distance_alone(student, draw):
    x, _ = _vectors(draw)
    query, key = x[0], x[1]
    positions = torch.arange(len(x)) * 3
    shift = draw.number(100, 999)
    width = x.shape[-1]

    def scores(offset):
        queries = student.rotary_embedding(query.expand(len(x), width).clone(), positions + offset + 40)
        keys = student.rotary_embedding(key.expand(len(x), width).clone(), positions.flip(0) + offset)
        return (_doubles(queries, x.shape) * _doubles(keys, x.shape)).sum(-1)

    close(scores(shift), scores(0), what="the scores of all pairs moved along together")
    if scores(0).std() < 1e-3:
        raise Mismatch("the score is the same at every distance")


def test_rotary_embedding__angles_hold_far_out(student, draw):
    x, _ = _vectors(draw, dtype=torch.float32)
    positions = torch.arange(len(x)) + draw.number(50_000, 90_000)
    close(_doubles(student.rotary_embedding(x, positions), x.shape), _turned(x, positions), atol=2e-5, rtol=2e-5)


def test_rotary_embedding__keeps_the_dtype(student, draw):
    for dtype in (torch.float64, torch.float32, torch.float16):
        x, _ = _vectors(draw, dtype=dtype)
        positions = torch.arange(len(x))
        result = _sized(student.rotary_embedding(x, positions), x.shape)
        _dtype(result, dtype)
        close(result[:3, :2].double(), _turned(x[:3, :2], positions[:3]), atol=1e-2, rtol=1e-2, what="the first pair")


def test_rotary_embedding__refuses_an_odd_width(student, draw):
    length, width = 4, 2 * draw.number(6, 20) + 1
    x, positions = draw.normal(length, 2), torch.arange(length)
    result = _doubles(student.rotary_embedding(x, positions), x.shape)
    close(result.norm(dim=-1), x.norm(dim=-1), what="the length of a pair")
    close((result * x).sum(-1), (x * x).sum(-1) * torch.cos(positions.double()), what="the angle of a pair")
    raises(ValueError, student.rotary_embedding, draw.normal(length, width), positions, mentions=(str(width),))


def test_rotary_embedding__passes_gradients_to_its_input(student, reference, draw):
    args = _vectors(draw, 2)
    close(student.gradients("rotary_embedding", *args, wrt=(0,)), reference.gradients("rotary_embedding", *args, wrt=(0,)))
