"""Wrong answers of notebook 03: what people really write, the check that sees it, the sentence that names it."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from grader.bank import wrong


def exponents(d_model):
    return torch.arange(0, d_model, 2, dtype=torch.float64) / d_model


def angles_of(positions, d_model):
    return positions.double()[:, None] / 10000 ** exponents(d_model)


def woven(even, odd, d_model):
    """Columns in turn from two matrices, cut to d_model columns, as float32."""
    return torch.stack([even, odd], dim=-1).flatten(1)[:, :d_model].float()


def sinusoid(positions, d_model):
    angles = angles_of(positions, d_model)
    return woven(angles.sin(), angles.cos(), d_model)


def even_width(d_model):
    if d_model % 2:
        raise ValueError(f"d_model must be even, got {d_model}")


def blocks_of(cos, sin):
    """Blocks ((cos, sin), (-sin, cos)) along the diagonal."""
    return torch.block_diag(*torch.stack([cos, sin, -sin, cos], -1).reshape(-1, 2, 2))


# sinusoidal_encoding


FLOAT32_ANGLES = (
    "Your angles, or the exponents in them, are float32: far down the table that shows in the fourth digit. "
    "Compute in float64, round at the end."
)


@wrong(
    "sinusoidal_encoding",
    caught_by="far_positions_are_exact",
    says=FLOAT32_ANGLES,
)
def exponents_in_float32(max_len, d_model):
    positions = torch.arange(max_len, dtype=torch.float64)
    divisors = 10000 ** (torch.arange(0, d_model, 2) / d_model)
    angles = positions[:, None] / divisors.double()
    return torch.stack((angles.sin(), angles.cos()), -1).reshape(max_len, -1)[:, :d_model].float()


@wrong(
    "sinusoidal_encoding",
    caught_by="position_zero_has_sines_of_0_and_cosines_of_1",
    says="All your sines stand in the first half of the columns and all cosines in the second; they should take turns.",
)
def halves(max_len, d_model):
    angles = angles_of(torch.arange(max_len), d_model)
    return torch.cat([angles.sin(), angles.cos()], 1)[:, :d_model].float()


@wrong(
    "sinusoidal_encoding",
    caught_by="position_zero_has_sines_of_0_and_cosines_of_1",
    says="Sine and cosine have changed places: sines belong in the even columns 0, 2, 4, …",
)
def cosine_first(max_len, d_model):
    angles = angles_of(torch.arange(max_len), d_model)
    return woven(angles.cos(), angles.sin(), d_model)


@wrong(
    "sinusoidal_encoding",
    caught_by="position_zero_has_sines_of_0_and_cosines_of_1",
    says="Your positions start at 1; they start at 0.",
)
def from_one(max_len, d_model):
    return sinusoid(torch.arange(1, max_len + 1), d_model)


@wrong(
    "sinusoidal_encoding",
    caught_by="position_zero_has_sines_of_0_and_cosines_of_1",
    says="Your table holds sines alone; the odd columns are cosines.",
)
def sines_alone(max_len, d_model):
    angles = angles_of(torch.arange(max_len), d_model)
    return woven(angles.sin(), angles.sin(), d_model)


@wrong(
    "sinusoidal_encoding",
    caught_by="later_pairs_turn_slower_by_the_formula",
    says="Your exponent is i/d_model, with i the number of the pair. It is 2i/d_model: half of the wavelengths are missing.",
)
def exponent_without_the_two(max_len, d_model):
    angles = torch.arange(max_len).double()[:, None] / 10000 ** (exponents(d_model) / 2)
    return woven(angles.sin(), angles.cos(), d_model)


@wrong(
    "sinusoidal_encoding",
    caught_by="later_pairs_turn_slower_by_the_formula",
    says="Your exponent is twice too large: you put the number of the column where the number of the pair belongs.",
)
def column_for_pair(max_len, d_model):
    angles = torch.arange(max_len).double()[:, None] / 10000 ** (2 * exponents(d_model))
    return woven(angles.sin(), angles.cos(), d_model)


@wrong(
    "sinusoidal_encoding",
    caught_by="the_first_pair_turns_by_one_radian_a_position",
    says="Each of your columns has a wavelength of its own. The sine and the cosine of a pair share one angle.",
)
def a_wavelength_for_each_column(max_len, d_model):
    columns = torch.arange(d_model, dtype=torch.float64)
    angles = torch.arange(max_len).double()[:, None] / 10000 ** (columns / d_model)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos()).float()


@wrong(
    "sinusoidal_encoding",
    caught_by="later_pairs_turn_slower_by_the_formula",
    says="You multiply the positions by 10000^(2i/d_model); divide, so that later pairs turn slower.",
)
def multiplied(max_len, d_model):
    angles = torch.arange(max_len).double()[:, None] * 10000 ** exponents(d_model)
    return woven(angles.sin(), angles.cos(), d_model)


@wrong(
    "sinusoidal_encoding",
    caught_by="later_pairs_turn_slower_by_the_formula",
    says="You took log10 where exp needs the natural logarithm: exp(-log(10000) · 2i/d_model).",
)
def decimal_logarithm(max_len, d_model):
    angles = torch.arange(max_len).double()[:, None] * torch.exp(-math.log10(10000) * exponents(d_model))
    return woven(angles.sin(), angles.cos(), d_model)


@wrong(
    "sinusoidal_encoding",
    caught_by="later_pairs_turn_slower_by_the_formula",
    says="You spread the frequencies so that the last one is 1/10000 exactly; by the formula it is reached only in the limit.",
)
def spread_to_the_end(max_len, d_model):
    pairs = (d_model + 1) // 2
    speeds = torch.logspace(0, -4, pairs, dtype=torch.float64) if pairs > 1 else torch.ones(1, dtype=torch.float64)
    angles = torch.arange(max_len).double()[:, None] * speeds
    return woven(angles.sin(), angles.cos(), d_model)


@wrong(
    "sinusoidal_encoding",
    caught_by="far_positions_are_exact",
    says=FLOAT32_ANGLES,
)
def angles_in_single_precision(max_len, d_model):
    positions = torch.arange(max_len, dtype=torch.float32)[:, None]
    angles = positions * torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    return woven(angles.sin(), angles.cos(), d_model)


@wrong(
    "sinusoidal_encoding",
    caught_by="an_odd_width_ends_with_a_sine",
    says="An odd d_model raises an error: it has one cosine less than sines, so cut the angles for the cosines.",
)
def odd_raises(max_len, d_model):
    angles = angles_of(torch.arange(max_len), d_model)
    table = torch.zeros(max_len, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table


@wrong(
    "sinusoidal_encoding",
    caught_by="an_odd_width_ends_with_a_sine",
    says="For an odd width you make the table of d_model + 1 and cut it, so its exponents divide by d_model + 1.",
)
def odd_rounded_up(max_len, d_model):
    return sinusoid(torch.arange(max_len), d_model + d_model % 2)[:, :d_model]


@wrong(
    "sinusoidal_encoding",
    caught_by="an_odd_width_ends_with_a_sine",
    says="For an odd width your last column is all zeros; it should be one more sine.",
)
def odd_left_at_zero(max_len, d_model):
    table = torch.zeros(max_len, d_model)
    pairs = d_model // 2
    angles = angles_of(torch.arange(max_len), d_model)[:, :pairs]
    table[:, 0 : 2 * pairs : 2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table


@wrong(
    "sinusoidal_encoding",
    caught_by="is_a_float32_table",
    says="Your table is float64. Only the angles need that: give the table back as float32.",
)
def double_table(max_len, d_model):
    angles = angles_of(torch.arange(max_len), d_model)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


@wrong(
    "sinusoidal_encoding",
    caught_by="position_zero_has_sines_of_0_and_cosines_of_1",
    says="Your table has a batch dimension in front; return (max_len, d_model).",
)
def with_a_batch_dimension(max_len, d_model):
    return sinusoid(torch.arange(max_len), d_model)[None]


@wrong(
    "sinusoidal_encoding",
    caught_by="the_first_pair_turns_by_one_radian_a_position",
    says="Your table lies on its side: positions are rows, (max_len, d_model).",
)
def transposed(max_len, d_model):
    return sinusoid(torch.arange(max_len), d_model).T


# wavelengths


@wrong(
    "wavelengths",
    caught_by="start_at_one_turn_in_two_pi_positions",
    says="You leave out 2π: the formula's 10000^(2i/d_model) is the number of positions for one radian, not for a whole turn.",
)
def no_two_pi(d_model):
    return 10000 ** exponents(d_model)


@wrong(
    "wavelengths",
    caught_by="start_at_one_turn_in_two_pi_positions",
    says="These are frequencies, radians for each position. A wavelength is 2π over that.",
)
def frequencies(d_model):
    return 10000 ** -exponents(d_model)


@wrong(
    "wavelengths",
    caught_by="end_short_of_the_limit",
    says="Your wavelengths shrink: 2π should be multiplied by 10000^(2i/d_model), not divided.",
)
def shrinking(d_model):
    return 2 * math.pi * 10000 ** -exponents(d_model)


@wrong(
    "wavelengths",
    caught_by="grow_by_one_factor_from_pair_to_pair",
    says="Your list reaches 20000π exactly. By the formula the last exponent is (d_model - 2)/d_model, short of 1.",
)
def reaches_the_limit(d_model):
    pairs = (d_model + 1) // 2
    if pairs == 1:
        return torch.tensor([2 * math.pi], dtype=torch.float64)
    return 2 * math.pi * torch.logspace(0, 4, pairs, dtype=torch.float64)


@wrong(
    "wavelengths",
    caught_by="grow_by_one_factor_from_pair_to_pair",
    says="Your exponent is i/d_model, with i the number of the pair; it is 2i/d_model.",
)
def exponent_halved(d_model):
    return 2 * math.pi * 10000 ** (exponents(d_model) / 2)


@wrong(
    "wavelengths",
    caught_by="start_at_one_turn_in_two_pi_positions",
    says="You give one wavelength for each column; a sine and its cosine share one.",
)
def one_for_each_column(d_model):
    return 2 * math.pi * 10000 ** exponents(d_model).repeat_interleave(2)[:d_model]


@wrong(
    "wavelengths",
    caught_by="an_odd_width_has_one_for_its_last_sine",
    says="For an odd d_model you leave out the wavelength of the last sine.",
)
def rounded_down(d_model):
    return 2 * math.pi * 10000 ** (2 * torch.arange(d_model // 2, dtype=torch.float64) / d_model)


@wrong(
    "wavelengths",
    caught_by="are_exact_in_float64",
    says="Your wavelengths are float32; make the exponents float64.",
)
def single_precision(d_model):
    return 2 * math.pi * 10000 ** (torch.arange(0, d_model, 2).float() / d_model)


@wrong(
    "wavelengths",
    caught_by="are_exact_in_float64",
    says="You compute in float32 and turn the result into float64: the lost digits don't come back.",
)
def single_precision_made_double(d_model):
    return (2 * math.pi * 10000 ** (torch.arange(0, d_model, 2).float() / d_model)).double()


@wrong(
    "wavelengths",
    caught_by="start_at_one_turn_in_two_pi_positions",
    says="Your wavelengths run from long to short; start with the first pair, 2π.",
)
def long_ones_first(d_model):
    return (2 * math.pi * 10000 ** exponents(d_model)).flip(0)


# shift_matrix


def turns(k, d_model):
    """The angle by which each pair moves."""
    return k * 2 * math.pi / wavelengths(d_model)


@wrong(
    "shift_matrix",
    caught_by="of_one_pair_turns_by_k_radians",
    says="Your matrix moves by -k: the signs of the two sines in each block have changed places.",
)
def other_way_round(k, d_model):
    even_width(d_model)
    angles = turns(k, d_model)
    return blocks_of(angles.cos(), -angles.sin())


@wrong(
    "shift_matrix",
    caught_by="moves_every_position_by_k",
    says="All your blocks turn by k radians. Each pair turns by its own angle, k times its radians for each position.",
)
def one_angle_for_all(k, d_model):
    even_width(d_model)
    angles = torch.full((d_model // 2,), float(k), dtype=torch.float64)
    return blocks_of(angles.cos(), angles.sin())


@wrong(
    "shift_matrix",
    caught_by="of_one_pair_turns_by_k_radians",
    says="You divide k by the wavelength and forget 2π: a wavelength is a whole turn.",
)
def forgets_two_pi(k, d_model):
    even_width(d_model)
    angles = k / wavelengths(d_model)
    return blocks_of(angles.cos(), angles.sin())


@wrong(
    "shift_matrix",
    caught_by="of_one_pair_turns_by_k_radians",
    says="You multiply k by the wavelength; a long wavelength should give a small angle, 2πk divided by it.",
)
def multiplied_by_wavelength(k, d_model):
    even_width(d_model)
    angles = k * wavelengths(d_model)
    return blocks_of(angles.cos(), angles.sin())


@wrong(
    "shift_matrix",
    caught_by="turns_and_keeps_every_length",
    says="Your blocks mirror in place of turning: one of the two sines needs the other sign, and both cosines are positive.",
)
def mirrored(k, d_model):
    even_width(d_model)
    angles = turns(k, d_model)
    cos, sin = angles.cos(), angles.sin()
    return torch.block_diag(*torch.stack([cos, sin, sin, -cos], -1).reshape(-1, 2, 2))


@wrong(
    "shift_matrix",
    caught_by="turns_and_keeps_every_length",
    says="Both sines of your blocks have the same sign, so the matrix stretches: one of them needs a minus.",
)
def both_sines_positive(k, d_model):
    even_width(d_model)
    angles = turns(k, d_model)
    cos, sin = angles.cos(), angles.sin()
    return torch.block_diag(*torch.stack([cos, sin, sin, cos], -1).reshape(-1, 2, 2))


@wrong(
    "shift_matrix",
    caught_by="touches_each_pair_by_itself",
    says="Your matrix pairs column i with column i + d_model/2. In our table a sine and its cosine are neighbours.",
)
def halves_paired(k, d_model):
    even_width(d_model)
    angles = turns(k, d_model)
    cos, sin = torch.diag(angles.cos()), torch.diag(angles.sin())
    return torch.cat([torch.cat([cos, sin], 1), torch.cat([-sin, cos], 1)], 0)


@wrong(
    "shift_matrix",
    caught_by="a_negative_k_moves_back",
    says="A negative k moves forward in your matrix: you take its absolute value.",
)
def sign_of_k_lost(k, d_model):
    even_width(d_model)
    angles = turns(abs(k), d_model)
    return blocks_of(angles.cos(), angles.sin())


@wrong(
    "shift_matrix",
    caught_by="a_negative_k_moves_back",
    says="A negative k moves nothing: a loop over range(k) doesn't run. Any integer k is allowed.",
)
def loop_over_k(k, d_model):
    even_width(d_model)
    angles = turns(1, d_model)
    step, result = blocks_of(angles.cos(), angles.sin()), torch.eye(d_model, dtype=torch.float64)
    for _ in range(k):
        result = step @ result
    return result


@wrong(
    "shift_matrix",
    caught_by="by_zero_moves_nothing",
    says="You add up k matrices; moving by k means multiplying the matrix of one step k times.",
)
def steps_added(k, d_model):
    even_width(d_model)
    angles = turns(1, d_model)
    return k * blocks_of(angles.cos(), angles.sin())


@wrong(
    "shift_matrix",
    caught_by="a_far_shift_is_exact_in_float64",
    says="Your matrix is float32; float64 is asked for.",
)
def float32_matrix(k, d_model):
    even_width(d_model)
    angles = turns(k, d_model)
    return blocks_of(angles.cos(), angles.sin()).float()


@wrong(
    "shift_matrix",
    caught_by="a_far_shift_is_exact_in_float64",
    says="Your angles are float32 before they reach the float64 matrix: a far shift is wrong in the fourth digit.",
)
def float32_angles(k, d_model):
    even_width(d_model)
    angles = (k * (2 * math.pi / wavelengths(d_model)).float()).float()
    return blocks_of(angles.cos(), angles.sin()).double()


@wrong(
    "shift_matrix",
    caught_by="refuses_an_odd_width",
    says="An odd d_model gets a matrix of another size without a word. Its last sine has no partner: raise a ValueError.",
)
def odd_accepted(k, d_model):
    angles = turns(k, d_model)
    return blocks_of(angles.cos(), angles.sin())


@wrong(
    "shift_matrix",
    caught_by="refuses_an_odd_width",
    says="`assert` raises an AssertionError and vanishes under `python -O`: raise a ValueError that names d_model.",
)
def odd_asserted(k, d_model):
    assert d_model % 2 == 0, f"d_model must be even, got {d_model}"
    angles = turns(k, d_model)
    return blocks_of(angles.cos(), angles.sin())


# What the three modules share. `table` is what they add, rows of (max_len, d_model).


class Adding(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.fill(max_len, d_model)

    def checked(self, x, max_len):
        if x.shape[1] > max_len:
            raise ValueError(f"{x.shape[1]} positions, but max_len = {max_len}")

    def forward(self, x):
        table = self.table()
        self.checked(x, len(table))
        return self.dropout(x + table[: x.shape[1]].to(x.dtype))


class Fixed(Adding):
    def fill(self, max_len, d_model):
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))

    def table(self):
        return self.pe


class Learned(Adding):
    def fill(self, max_len, d_model):
        self.weight = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def table(self):
        return self.weight


class Hybrid(Adding):
    def fill(self, max_len, d_model):
        self.bias = nn.Parameter(torch.zeros(max_len, d_model))
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))

    def table(self):
        return self.pe + self.bias


# SinusoidalPositionalEncoding


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="adds_row_t_to_position_t",
    says="You take as many rows as the batch has examples. Inputs are (B, T, M): the length is x.shape[1].",
)
class FixedByBatch(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return self.dropout(x + self.pe[: x.size(0)].to(x.dtype))


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="adds_row_t_to_position_t",
    says="You add row b to example b: your table is lined up with the batch, as in code for inputs of shape (T, B, M).",
)
class FixedTimeFirst(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return self.dropout(x + self.pe[: x.size(0), None].to(x.dtype))


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="adds_row_t_to_position_t",
    says="Your rows are one off: position 0 gets row 0.",
)
class FixedOneOff(Fixed):
    def fill(self, max_len, d_model):
        self.register_buffer("pe", sinusoidal_encoding(max_len + 1, d_model))

    def forward(self, x):
        self.checked(x, len(self.pe) - 1)
        return self.dropout(x + self.pe[1 : x.shape[1] + 1].to(x.dtype))


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="adds_row_t_to_position_t",
    says="You multiply the embeddings by √d_model. That belongs to the embedding of notebook 06; here you only add.",
)
class FixedScaled(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return self.dropout(x * math.sqrt(x.shape[-1]) + self.pe[: x.shape[1]].to(x.dtype))


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="adds_row_t_to_position_t",
    says="You return the rows of the table alone; add them to x.",
)
class FixedTableAlone(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return self.dropout(self.pe[: x.shape[1]].to(x.dtype))


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="adds_row_t_to_position_t",
    says="`x += …` changes the learner's own tensor: write x + … instead.",
)
class FixedInPlace(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        x += self.pe[: x.shape[1]].to(x.dtype)
        return self.dropout(x)


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="the_table_is_a_buffer_and_nothing_is_learned",
    says="Your table is a parameter, so training would change it. A fixed table is a buffer: see register_buffer.",
)
class FixedAsParameter(Fixed):
    def fill(self, max_len, d_model):
        self.pe = nn.Parameter(sinusoidal_encoding(max_len, d_model))


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="the_table_is_a_buffer_and_nothing_is_learned",
    says="Your table is a plain attribute, which stays behind when the module moves to another device: register it as a buffer.",
)
class FixedAsAttribute(Fixed):
    def fill(self, max_len, d_model):
        self.pe = sinusoidal_encoding(max_len, d_model)


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="refuses_more_positions_than_it_has",
    says="A sequence longer than max_len gets PyTorch's own error about sizes: raise a ValueError with both numbers.",
)
class FixedUnchecked(Fixed):
    def checked(self, x, max_len):
        pass


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="refuses_more_positions_than_it_has",
    says="You cut a sequence that is too long without a word; raise a ValueError with both numbers.",
)
class FixedCut(Fixed):
    def forward(self, x):
        x = x[:, : len(self.pe)]
        return self.dropout(x + self.pe[: x.shape[1]].to(x.dtype))


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="takes_one_sequence_one_position_and_all_positions",
    says="You refuse a sequence of exactly max_len positions; it still fits.",
)
class FixedOneTooStrict(Fixed):
    def checked(self, x, max_len):
        super().checked(x, max_len - 1)


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="refuses_more_positions_than_it_has",
    says="Your ValueError should name both numbers: the length of the sequence and max_len.",
)
class FixedSilentError(Fixed):
    def checked(self, x, max_len):
        if x.shape[1] > max_len:
            raise ValueError("the sequence is too long")


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="dropout_takes_from_the_sum",
    says="You drop out of the table before you add it; dropout comes last, on the sum.",
)
class FixedDropsTheTable(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return x + self.dropout(self.pe[: x.shape[1]].to(x.dtype))


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="dropout_takes_from_the_sum",
    says="You drop out of x before you add the table; dropout comes last, on the sum.",
)
class FixedDropsTheInput(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return self.dropout(x) + self.pe[: x.shape[1]].to(x.dtype)


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="dropout_takes_from_the_sum",
    says="Your forward never drops anything: send the sum through the dropout.",
)
class FixedNeverDrops(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return x + self.pe[: x.shape[1]].to(x.dtype)


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="drops_nothing_outside_training",
    says="Your dropout also acts in eval(): F.dropout needs training=self.training, or use an nn.Dropout.",
)
class FixedAlwaysDrops(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return F.dropout(x + self.pe[: x.shape[1]].to(x.dtype), self.dropout.p)


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="what_survives_dropout_is_scaled",
    says="What survives your dropout isn't divided by 1 - p, so the sum shrinks in training.",
)
class FixedUnscaledDropout(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        result = x + self.pe[: x.shape[1]].to(x.dtype)
        return result * (torch.rand_like(result) >= self.dropout.p) if self.training else result


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="dropout_takes_single_entries",
    says="Your dropout takes whole positions; it should take single entries.",
)
class FixedDropsPositions(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        result = x + self.pe[: x.shape[1]].to(x.dtype)
        return result * self.dropout(torch.ones(*x.shape[:2], 1, dtype=x.dtype))


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="keeps_the_dtype_of_its_input",
    says="A float16 input comes out as float32, because the table is float32: convert its rows to the dtype of x.",
)
class FixedPromotes(Fixed):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return self.dropout(x + self.pe[: x.shape[1]])


@wrong(
    "SinusoidalPositionalEncoding",
    caught_by="passes_gradients_through_unchanged",
    says="Your sum is cut off from the graph, so nothing before this module could learn.",
)
class FixedWithoutGraph(Fixed):
    @torch.no_grad()
    def forward(self, x):
        return super().forward(x)


# LearnedPositionalEncoding


@wrong(
    "LearnedPositionalEncoding",
    caught_by="starts_with_small_numbers",
    says="Your weights start as N(0, 1), as those of nn.Embedding do: far larger than asked for, and louder than the words.",
)
class LearnedStandardNormal(Learned):
    def fill(self, max_len, d_model):
        self.weight = nn.Parameter(torch.randn(max_len, d_model))


@wrong(
    "LearnedPositionalEncoding",
    caught_by="starts_with_numbers_that_differ",
    says="Your weights start at 0. Ask for normal numbers with a standard deviation of 0.02.",
)
class LearnedZeros(Learned):
    def fill(self, max_len, d_model):
        self.weight = nn.Parameter(torch.zeros(max_len, d_model))


@wrong(
    "LearnedPositionalEncoding",
    caught_by="starts_normally_distributed",
    says="Your weights start uniformly distributed; normal numbers with a standard deviation of 0.02 are asked for.",
)
class LearnedUniform(Learned):
    def fill(self, max_len, d_model):
        self.weight = nn.Parameter(torch.empty(max_len, d_model).uniform_(-0.02 * 3**0.5, 0.02 * 3**0.5))


@wrong(
    "LearnedPositionalEncoding",
    caught_by="starts_with_a_standard_deviation_of_two_hundredths",
    says="Your weights start with the wrong standard deviation. N(0, 0.02²) has a *variance* of 0.02²; its standard deviation is 0.02.",
)
class LearnedVarianceAsDeviation(Learned):
    def fill(self, max_len, d_model):
        self.weight = nn.Parameter(0.02**2 * torch.randn(max_len, d_model))


@wrong(
    "LearnedPositionalEncoding",
    caught_by="adds_row_t_to_position_t",
    says="You take as many rows as the batch has examples. Inputs are (B, T, M): the length is x.shape[1].",
)
class LearnedByBatch(Learned):
    def forward(self, x):
        self.checked(x, len(self.weight))
        return self.dropout(x + self.weight[: x.size(0)].to(x.dtype))


@wrong(
    "LearnedPositionalEncoding",
    caught_by="adds_row_t_to_position_t",
    says="You take the last rows of the weights; position t gets row t.",
)
class LearnedLastRows(Learned):
    def forward(self, x):
        self.checked(x, len(self.weight))
        return self.dropout(x + self.weight[-x.shape[1] :].to(x.dtype))


@wrong(
    "LearnedPositionalEncoding",
    caught_by="adds_row_t_to_position_t",
    says="You add the same vector, row 0, to all positions.",
)
class LearnedFirstRow(Learned):
    def forward(self, x):
        self.checked(x, len(self.weight))
        return self.dropout(x + self.weight[0].to(x.dtype))


@wrong(
    "LearnedPositionalEncoding",
    caught_by="adds_row_t_to_position_t",
    says="Your parameter isn't called `weight`: keep the one that __init__ makes for you.",
)
class LearnedOtherName(Learned):
    def fill(self, max_len, d_model):
        self.positions = nn.Embedding(max_len, d_model)
        nn.init.normal_(self.positions.weight, std=0.02)

    def table(self):
        return self.positions.weight


@wrong(
    "LearnedPositionalEncoding",
    caught_by="passes_gradients_to_the_rows_it_uses",
    says="No gradient reaches your weights, so they would never learn: `.data` or `.detach()` cuts them off.",
)
class LearnedDetached(Learned):
    def table(self):
        return self.weight.detach()


@wrong(
    "LearnedPositionalEncoding",
    caught_by="refuses_more_positions_than_it_has",
    says="A sequence longer than max_len gets PyTorch's own error about sizes: raise a ValueError with both numbers.",
)
class LearnedUnchecked(Learned):
    def checked(self, x, max_len):
        pass


@wrong(
    "LearnedPositionalEncoding",
    caught_by="refuses_more_positions_than_it_has",
    says="Beyond max_len you start over at row 0: two positions get the same vector. Raise a ValueError with both numbers.",
)
class LearnedWrapsAround(Learned):
    def forward(self, x):
        places = torch.arange(x.shape[1]) % len(self.weight)
        return self.dropout(x + self.weight[places].to(x.dtype))


@wrong(
    "LearnedPositionalEncoding",
    caught_by="refuses_more_positions_than_it_has",
    says="Beyond max_len you repeat the last row: later positions can't be told apart. Raise a ValueError with both numbers.",
)
class LearnedClamps(Learned):
    def forward(self, x):
        places = torch.arange(x.shape[1]).clamp(max=len(self.weight) - 1)
        return self.dropout(x + self.weight[places].to(x.dtype))


@wrong(
    "LearnedPositionalEncoding",
    caught_by="takes_one_sequence_one_position_and_all_positions",
    says="You refuse a sequence of exactly max_len positions; it still fits.",
)
class LearnedOneTooStrict(Learned):
    def checked(self, x, max_len):
        super().checked(x, max_len - 1)


@wrong(
    "LearnedPositionalEncoding",
    caught_by="dropout_takes_from_the_sum",
    says="You drop out of the weights before you add them; dropout comes last, on the sum.",
)
class LearnedDropsTheTable(Learned):
    def forward(self, x):
        self.checked(x, len(self.weight))
        return x + self.dropout(self.weight[: x.shape[1]].to(x.dtype))


@wrong(
    "LearnedPositionalEncoding",
    caught_by="dropout_takes_from_the_sum",
    says="Your forward never drops anything: send the sum through the dropout.",
)
class LearnedNeverDrops(Learned):
    def forward(self, x):
        self.checked(x, len(self.weight))
        return x + self.weight[: x.shape[1]].to(x.dtype)


@wrong(
    "LearnedPositionalEncoding",
    caught_by="drops_nothing_outside_training",
    says="Your dropout also acts in eval(): F.dropout needs training=self.training, or use an nn.Dropout.",
)
class LearnedAlwaysDrops(Learned):
    def forward(self, x):
        self.checked(x, len(self.weight))
        return F.dropout(x + self.weight[: x.shape[1]].to(x.dtype), self.dropout.p)


@wrong(
    "LearnedPositionalEncoding",
    caught_by="keeps_the_dtype_of_its_input",
    says="A float16 input comes out as float32, because the weights are float32: convert their rows to the dtype of x.",
)
class LearnedPromotes(Learned):
    def forward(self, x):
        self.checked(x, len(self.weight))
        return self.dropout(x + self.weight[: x.shape[1]])


# HybridPositionalEncoding


@wrong(
    "HybridPositionalEncoding",
    caught_by="adds_the_learned_bias_to_the_sinusoid",
    says="You add the bias alone; the sinusoid is missing.",
)
class HybridWithoutSinusoid(Hybrid):
    def table(self):
        return self.bias


@wrong(
    "HybridPositionalEncoding",
    caught_by="adds_the_learned_bias_to_the_sinusoid",
    says="You add the sinusoid alone; the learned bias is missing.",
)
class HybridWithoutBias(Hybrid):
    def table(self):
        return self.pe


@wrong(
    "HybridPositionalEncoding",
    caught_by="starts_as_the_sinusoid_alone",
    says="Your bias starts with random numbers. It starts at 0, so that the module starts as the plain sinusoid.",
)
class HybridRandomBias(Hybrid):
    def fill(self, max_len, d_model):
        self.bias = nn.Parameter(0.02 * torch.randn(max_len, d_model))
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))


@wrong(
    "HybridPositionalEncoding",
    caught_by="only_the_bias_is_learned",
    says="Your sinusoid is a parameter too, so training would change it; keep it as a buffer.",
)
class HybridSinusoidLearned(Hybrid):
    def fill(self, max_len, d_model):
        self.bias = nn.Parameter(torch.zeros(max_len, d_model))
        self.pe = nn.Parameter(sinusoidal_encoding(max_len, d_model))


@wrong(
    "HybridPositionalEncoding",
    caught_by="adds_the_learned_bias_to_the_sinusoid",
    says="You multiply the sinusoid by the bias; they are added.",
)
class HybridMultiplied(Hybrid):
    def table(self):
        return self.pe * self.bias


@wrong(
    "HybridPositionalEncoding",
    caught_by="adds_the_learned_bias_to_the_sinusoid",
    says="You put the sinusoid into the bias when it is made, and never add it: the bias is a correction that starts at 0.",
)
class HybridSinusoidAsStart(Hybrid):
    def fill(self, max_len, d_model):
        self.bias = nn.Parameter(sinusoidal_encoding(max_len, d_model))

    def table(self):
        return self.bias


@wrong(
    "HybridPositionalEncoding",
    caught_by="adds_the_learned_bias_to_the_sinusoid",
    says="You learn one bias for all positions; each position has a row of its own, (max_len, d_model).",
)
class HybridOneBias(Hybrid):
    def fill(self, max_len, d_model):
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))


@wrong(
    "HybridPositionalEncoding",
    caught_by="passes_gradients_to_the_rows_it_uses",
    says="No gradient reaches your bias, so it would stay at 0: `.data` or `.detach()` cuts it off.",
)
class HybridDetached(Hybrid):
    def table(self):
        return self.pe + self.bias.data


@wrong(
    "HybridPositionalEncoding",
    caught_by="refuses_more_positions_than_it_has",
    says="A sequence longer than max_len gets PyTorch's own error about sizes: raise a ValueError with both numbers.",
)
class HybridUnchecked(Hybrid):
    def checked(self, x, max_len):
        pass


@wrong(
    "HybridPositionalEncoding",
    caught_by="dropout_takes_from_the_sum",
    says="Your forward never drops anything: send the sum through the dropout.",
)
class HybridNeverDrops(Hybrid):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return x + self.table()[: x.shape[1]].to(x.dtype)


@wrong(
    "HybridPositionalEncoding",
    caught_by="dropout_takes_from_the_sum",
    says="You drop out of x and the sinusoid and add the bias afterwards; dropout comes last, on the whole sum.",
)
class HybridBiasAfterDropout(Hybrid):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return self.dropout(x + self.pe[: x.shape[1]].to(x.dtype)) + self.bias[: x.shape[1]].to(x.dtype)


@wrong(
    "HybridPositionalEncoding",
    caught_by="keeps_the_dtype_of_its_input",
    says="A float16 input comes out as float32, because table and bias are float32: convert their rows to the dtype of x.",
)
class HybridPromotes(Hybrid):
    def forward(self, x):
        self.checked(x, len(self.pe))
        return self.dropout(x + self.table()[: x.shape[1]])


# positional_encoding_2d


def four_divides(d_model):
    if d_model % 4:
        raise ValueError(f"d_model must be a multiple of 4, got {d_model}")


@wrong(
    "positional_encoding_2d",
    caught_by="the_second_half_is_right_where_height_is_a_quarter_of_d_model",
    says="This is the circulating version. Its second half has frequencies where rows belong: it raises an error unless height is"
    " d_model/4, and then each row of the map turns at another speed.",
)
def circulating(height, width, d_model):
    four_divides(d_model)
    half = d_model // 2
    speeds = torch.exp(torch.arange(0.0, half, 2) * -(math.log(10000.0) / half))
    down, across = torch.arange(0.0, height)[:, None], torch.arange(0.0, width)[:, None]
    table = torch.zeros(height, width, d_model)
    table[:, :, 0:half:2] = torch.sin(down * speeds).unsqueeze(1)
    table[:, :, 1:half:2] = torch.cos(down * speeds).unsqueeze(1)
    table[:, :, half::2] = torch.sin(across * speeds).transpose(0, 1).unsqueeze(2)
    table[:, :, half + 1 :: 2] = torch.cos(across * speeds).transpose(0, 1).unsqueeze(2)
    return table.reshape(height * width, d_model)


@wrong(
    "positional_encoding_2d",
    caught_by="the_first_half_encodes_the_row",
    says="Your halves have changed places: the first half of the columns encodes the row, the second half the column.",
)
def column_first(height, width, d_model):
    four_divides(d_model)
    rows, columns = sinusoidal_encoding(height, d_model // 2), sinusoidal_encoding(width, d_model // 2)
    return torch.cat([columns.repeat(height, 1), rows.repeat_interleave(width, 0)], 1)


@wrong(
    "positional_encoding_2d",
    caught_by="goes_through_the_map_row_by_row",
    says="You go through the map column by column. Place (r, c) stands in row r · width + c of the table.",
)
def column_by_column(height, width, d_model):
    four_divides(d_model)
    rows, columns = sinusoidal_encoding(height, d_model // 2), sinusoidal_encoding(width, d_model // 2)
    return torch.cat([rows.repeat(width, 1), columns.repeat_interleave(height, 0)], 1)


@wrong(
    "positional_encoding_2d",
    caught_by="of_width_4_has_one_pair_for_each_direction",
    says="You cut each half out of a table of d_model columns, so its exponents divide by d_model. Each half is a"
    " sinusoidal_encoding of d_model/2, with both short and long wavelengths.",
)
def cut_from_the_full_width(height, width, d_model):
    four_divides(d_model)
    rows, columns = sinusoidal_encoding(height, d_model), sinusoidal_encoding(width, d_model)
    half = d_model // 2
    return torch.cat([rows[:, :half].repeat_interleave(width, 0), columns[:, half:].repeat(height, 1)], 1)


@wrong(
    "positional_encoding_2d",
    caught_by="the_first_half_encodes_the_row",
    says="You add the encodings of row and column; they stand side by side, d_model/2 columns each.",
)
def added(height, width, d_model):
    four_divides(d_model)
    rows, columns = sinusoidal_encoding(height, d_model), sinusoidal_encoding(width, d_model)
    return rows.repeat_interleave(width, 0) + columns.repeat(height, 1)


@wrong(
    "positional_encoding_2d",
    caught_by="the_first_half_encodes_the_row",
    says="Your result has three dimensions; return one row for each place, (height · width, d_model).",
)
def not_flattened(height, width, d_model):
    four_divides(d_model)
    rows, columns = sinusoidal_encoding(height, d_model // 2), sinusoidal_encoding(width, d_model // 2)
    shape = height, width, d_model // 2
    return torch.cat([rows[:, None].expand(shape), columns[None].expand(shape)], -1)


@wrong(
    "positional_encoding_2d",
    caught_by="the_second_half_encodes_the_column",
    says="You number the places through and encode this one number: nothing says that a place lies below another one.",
)
def numbered_through(height, width, d_model):
    four_divides(d_model)
    return sinusoidal_encoding(height * width, d_model)


@wrong(
    "positional_encoding_2d",
    caught_by="the_second_half_encodes_the_column",
    says="You divide the number of a place by the height to find its row and column; divide by the width.",
)
def divided_by_height(height, width, d_model):
    four_divides(d_model)
    places, longest = torch.arange(height * width), height * width
    table = sinusoidal_encoding(longest, d_model // 2)
    return torch.cat([table[places // height], table[places % height]], 1)


@wrong(
    "positional_encoding_2d",
    caught_by="the_first_half_encodes_the_row",
    says="Columns for the row and for the column take turns in your table; each direction has its half, one after the other.",
)
def interleaved(height, width, d_model):
    four_divides(d_model)
    rows, columns = sinusoidal_encoding(height, d_model // 2), sinusoidal_encoding(width, d_model // 2)
    return torch.stack([rows.repeat_interleave(width, 0), columns.repeat(height, 1)], -1).flatten(1)


@wrong(
    "positional_encoding_2d",
    caught_by="refuses_a_width_that_four_does_not_divide",
    says="You ask for an even d_model. Each half needs pairs of its own, so 4 must divide it.",
)
def even_is_enough(height, width, d_model):
    even_width(d_model)
    rows, columns = sinusoidal_encoding(height, d_model // 2), sinusoidal_encoding(width, d_model // 2)
    return torch.cat([rows.repeat_interleave(width, 0), columns.repeat(height, 1)], 1)


@wrong(
    "positional_encoding_2d",
    caught_by="refuses_a_width_that_four_does_not_divide",
    says="A d_model that 4 does not divide goes through, and the halves end in lone sines: raise a ValueError that names it.",
)
def any_width(height, width, d_model):
    rows, columns = sinusoidal_encoding(height, d_model // 2), sinusoidal_encoding(width, d_model - d_model // 2)
    return torch.cat([rows.repeat_interleave(width, 0), columns.repeat(height, 1)], 1)


@wrong(
    "positional_encoding_2d",
    caught_by="is_a_float32_table",
    says="Your table is float64; return float32, as sinusoidal_encoding does.",
)
def double_map(height, width, d_model):
    four_divides(d_model)
    rows, columns = (sinusoidal_encoding(size, d_model // 2).double() for size in (height, width))
    return torch.cat([rows.repeat_interleave(width, 0), columns.repeat(height, 1)], 1)


# rotary_embedding


def angles_at(x, positions, base):
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"the width must be even, got {width}")
    return positions.double()[:, None] * base ** -exponents(width)


def turned(x, angles):
    """Right from here on: (a, b) -> (a cos - b sin, a sin + b cos)."""
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


@wrong(
    "rotary_embedding",
    caught_by="turns_a_single_pair_by_its_position",
    says="You turn the other way: (a, b) becomes (a cos - b sin, a sin + b cos).",
)
def turned_back(x, positions, base=10000.0):
    return turned(x, -angles_at(x, positions, base))


@wrong(
    "rotary_embedding",
    caught_by="each_pair_of_neighbours_turns_at_its_own_speed",
    says="You pair column i with column i + D/2, as some libraries do. Here neighbours are a pair, columns 2i and 2i + 1.",
)
def half_apart(x, positions, base=10000.0):
    angles = angles_at(x, positions, base)
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


@wrong(
    "rotary_embedding",
    caught_by="each_pair_of_neighbours_turns_at_its_own_speed",
    says="The right pairs, turned rightly, and then put down in the wrong columns: all first halves, then all second ones.",
)
def left_in_halves(x, positions, base=10000.0):
    angles = angles_at(x, positions, base)
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


@wrong(
    "rotary_embedding",
    caught_by="each_pair_of_neighbours_turns_at_its_own_speed",
    says="Your exponent is i/D, with i the number of the pair; it is 2i/D.",
)
def exponent_is_halved(x, positions, base=10000.0):
    angles_at(x, positions, base)
    return turned(x, positions.double()[:, None] * base ** -(exponents(x.shape[-1]) / 2))


@wrong(
    "rotary_embedding",
    caught_by="each_pair_of_neighbours_turns_at_its_own_speed",
    says="All your pairs turn at one speed; pair i turns by position · base^(-2i/D).",
)
def one_speed(x, positions, base=10000.0):
    angles = angles_at(x, positions, base)
    return turned(x, angles[:, :1].expand_as(angles))


@wrong(
    "rotary_embedding",
    caught_by="goes_by_the_positions_it_is_given",
    says="You number the vectors 0, 1, 2, … yourself; take the positions that are given.",
)
def numbers_of_its_own(x, positions, base=10000.0):
    return turned(x, angles_at(x, torch.arange(x.shape[-2]), base))


@wrong(
    "rotary_embedding",
    caught_by="uses_the_base",
    says="Your base is always 10000; take the argument.",
)
def fixed_base(x, positions, base=10000.0):
    return turned(x, angles_at(x, positions, 10000.0))


@wrong(
    "rotary_embedding",
    caught_by="keeps_every_length",
    says="You add sines and cosines to x. A rotary embedding multiplies: it turns x and keeps its length.",
)
def added_like_a_table(x, positions, base=10000.0):
    angles = angles_at(x, positions, base)
    return x + torch.stack([angles.sin(), angles.cos()], -1).flatten(-2).to(x)


@wrong(
    "rotary_embedding",
    caught_by="keeps_every_length",
    says="Both your sines have a plus: that stretches the pair in place of turning it. The first one needs a minus.",
)
def both_plus(x, positions, base=10000.0):
    angles = angles_at(x, positions, base)
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos + b * sin, a * sin + b * cos], -1).flatten(-2)


@wrong(
    "rotary_embedding",
    caught_by="keeps_every_length",
    says="You overwrite the first number of each pair before you use it for the second one.",
)
def overwritten(x, positions, base=10000.0):
    angles = angles_at(x, positions, base)
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    a, b = x[..., 0::2], x[..., 1::2]
    a = a * cos - b * sin
    return torch.stack([a, a * sin + b * cos], -1).flatten(-2)


@wrong(
    "rotary_embedding",
    caught_by="turns_a_single_pair_by_its_position",
    says="Your positions are one too large: at position 0 nothing turns.",
)
def one_further(x, positions, base=10000.0):
    return turned(x, angles_at(x, positions + 1, base))


@wrong(
    "rotary_embedding",
    caught_by="angles_hold_far_out",
    says="Your angles are float32: at positions far out they lose their digits. Compute them in float64.",
)
def single_angles(x, positions, base=10000.0):
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"the width must be even, got {width}")
    speeds = 1.0 / base ** (torch.arange(0, width, 2).float() / width)
    return turned(x, positions.float()[:, None] * speeds)


@wrong(
    "rotary_embedding",
    caught_by="keeps_the_dtype",
    says="float32 comes out as float64, because your cosines are float64: convert them to the dtype of x, or the result.",
)
def comes_out_double(x, positions, base=10000.0):
    return turned(x.double(), angles_at(x, positions, base))


@wrong(
    "rotary_embedding",
    caught_by="refuses_an_odd_width",
    says="Of an odd width you leave the last column as it is; it has no partner: raise a ValueError that names the width.",
)
def odd_column_left_alone(x, positions, base=10000.0):
    width = x.shape[-1] // 2 * 2
    pairs = x[..., :width]
    return torch.cat([turned(pairs, angles_at(pairs, positions, base)), x[..., width:]], -1)


@wrong(
    "rotary_embedding",
    caught_by="refuses_an_odd_width",
    says="An odd width raises PyTorch's own error about sizes: raise a ValueError that names the width.",
)
def odd_unchecked(x, positions, base=10000.0):
    return turned(x, positions.double()[:, None] * base ** -exponents(x.shape[-1]))
