# %% [markdown]
# # Positional encoding
#
# Attention compares every word with every other and never asks where they stand. In this notebook words get a place:
# by a table that is added, by numbers that are learned, and by turning queries and keys.
#
# Each letter stands for one size, in all shapes of this course:
#
# | letter | size | letter | size |
# | --- | --- | --- | --- |
# | B | batch | T | positions |
# | M | width of the model, also written `d_model` | D | width of queries and keys |

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, hint, needs, plots, progress
from course_utils.parts import causal_mask, scaled_dot_product_attention

# %% [markdown]
# ## Attention can't tell order
#
# "Dog bites man" and "man bites dog" have the same words. Each word gets a random vector here, seed 0, and both
# sentences go through attention. Predict: does the output for *dog* differ between the two?

# %%
torch.manual_seed(0)
vectors = {word: torch.randn(8, dtype=torch.float64) for word in ("dog", "bites", "man")}
first, second = "dog bites man".split(), "man bites dog".split()
one, two = (torch.stack([vectors[word] for word in sentence]) for sentence in (first, second))
for name, mask in {"no mask": None, "causal": causal_mask(3)}.items():
    here, _ = scaled_dot_product_attention(one, one, one, mask)
    there, _ = scaled_dot_product_attention(two, two, two, mask)
    print(f"{name}: the outputs for dog differ by up to {(here[0] - there[2]).abs().max():.1e}")

# %% [markdown]
# Without a mask they differ by rounding alone: shuffled inputs give shuffled outputs. That is called *equivariant*.
# People often say "invariant", which would mean the same outputs in the same order; only a mean over the words is
# that.
#
# A causal mask lets the last word see more than the first, so it does tell something of the order. It isn't much, and
# an encoder has no such mask. We add the place to the words.
#
# ## How to write a place as a vector
#
# The number of the position itself, 0, 1, 2, …, grows without bound and soon drowns the word. Divided by the length
# of the sentence it stays small, but then one step means something else in each sentence.
#
# Counting in binary has neither fault. Each digit is 0 or 1, and each column flips at its own speed: in 000, 001,
# 010, 011, 100, 101, 110, 111 the last digit flips at every step, the first one once.
#
# The *sinusoidal encoding* is a smooth version of it. In place of a digit that flips it has a pair of numbers that
# goes around a circle, the sine and the cosine of an angle. Later pairs turn slower.
#
# For position p and pair i, with i = 0, 1, 2, …, the angle is
#
# $$\frac{p}{10000^{2i/d_{model}}}$$
#
# Four columns make two pairs. Their exponents are 0/4 and 2/4, so the angles are p/1 and p/100. The loop prints
# angles of the first three positions; which sines and cosines belong to position 0?

# %%
for p in range(3):
    print(f"position {p}:", [p / 10000 ** (2 * i / 4) for i in range(2)])

# %% [markdown]
# All sines of position 0 are 0 and all cosines are 1. Pair i fills the columns 2i and 2i + 1, sine first, so row 0 is
# 0, 1, 0, 1. Even columns are sines, odd ones cosines of *the same* angle.
#
# ## Two traps
#
# With an odd number of columns the last pair has a sine and no cosine. Claim: "the usual code works for any width."
# It puts as many cosines as angles into the odd columns.
#
# The other trap makes no noise. float32 has about seven digits, and of an angle near 5,000 the four in front of the
# point use up more than half of them.
#
# Predict: what happens at 7 columns, and how does the error of a sine grow with the position?

# %%
try:
    torch.zeros(5, 7)[:, 1::2] = torch.ones(5, math.ceil(7 / 2))
except RuntimeError as error:
    print("RuntimeError:", error)
for p in (5, 50, 500, 5000):
    exponents = torch.arange(0, 64, 2)
    exact = p / 10000 ** (exponents.double() / 64)
    rough = p / 10000 ** (exponents.float() / 64)
    print(f"position {p:4d}: sines of float32 angles are off by up to {(rough.double().sin() - exact.sin()).abs().max():.1e}, "
          f"rounded sines of float64 angles by {(exact.sin().float() - exact.sin()).abs().max():.0e}")

# %% [markdown]
# The usual code raises for odd widths. The float32 error grows with the position; rounding the sine itself costs less
# than 1e-7, however far away the position is. So: angles in float64, and the finished table in float32.
#
# **Exercise: `sinusoidal_encoding`.** Return the table (max_len, d_model) for the positions 0, 1, …, max_len - 1.
# Even columns hold sines, odd ones cosines, of the angles above.
#
# Compute the angles in float64 and return float32. You may rely on it that both numbers are at least 1. An odd
# `d_model` ends with a sine, and its exponents still divide by `d_model`, not by `d_model` + 1.

# %% nbgrader={"grade": false, "grade_id": "sinusoidal_encoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sinusoidal_encoding(max_len, d_model):
    """The table of sines and cosines, one row for each position from 0 on.

    max_len, d_model -> (max_len, d_model), float32
    """
    ### BEGIN SOLUTION
    positions = torch.arange(max_len, dtype=torch.float64)[:, None]
    angles = positions / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    table = torch.empty(max_len, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles[:, : d_model // 2].cos()
    return table
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_sinusoidal_encoding", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(sinusoidal_encoding)

# %%
# hint(sinusoidal_encoding)  # remove the first "#", run, and run again for the next hint

# %% [markdown]
# Before you look at the whole table: where will it change fast from row to row, and where hardly at all? The second
# picture shows four single columns, read downwards, as curves.

# %%
with needs(sinusoidal_encoding):
    plots.heatmap(
        sinusoidal_encoding(60, 32),
        title="Sinusoidal encoding of 60 positions in 32 columns",
        alt="Stripes. The left columns change sign every few rows, columns further right ever slower; at the right edge sines stay "
        "at 0 and cosines at 1.",
        xlabel="column",
        ylabel="position",
        diverging=True,
    )
    table = sinusoidal_encoding(60, 32)
    plots.curves(
        torch.arange(60),
        {f"column {column}": table[:, column] for column in (4, 8, 9, 14)},
        title="Four columns of the table",
        alt="Waves between -1 and 1. Column 4 turns three times; columns 8 and 9 about once, a quarter of a turn apart; "
        "column 14 only rises.",
        xlabel="position",
        ylabel="value",
    )

# %% [markdown]
# ## Wavelengths
#
# The right third of the table looks as if it held nothing but 0 and 1. It does move, too slowly for 60 positions.
#
# Columns 8 and 9 are a pair: one wave, a quarter of a turn apart. After how many positions does a pair repeat itself?
#
# When its angle has grown by one whole turn, 2π. With four columns the first angle is p, so the first pair repeats
# after 2π ≈ 6.28 positions. The second angle is p/100: it takes a hundred times as long, 200π.
#
# **Exercise: `wavelengths`.** Return the number of positions in which each pair makes one turn, as a float64 vector,
# for pairs 0, 1, 2, …. With an odd `d_model` the last sine, though alone, has a wavelength too.

# %% nbgrader={"grade": false, "grade_id": "wavelengths", "locked": false, "schema_version": 3, "solution": true, "task": false}
def wavelengths(d_model):
    """After how many positions each pair of columns repeats itself.

    d_model -> (ceil(d_model / 2),), float64
    """
    ### BEGIN SOLUTION
    return 2 * math.pi * 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_wavelengths", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(wavelengths)

# %%
# hint(wavelengths)

# %% [markdown]
# Claim: "the wavelengths form a geometric progression from 2π to 10000 · 2π." The first half of it is easy to see.
# Predict for the second half: how much of 20000π is the longest wavelength, at 4 columns and at 512?

# %%
with needs(wavelengths):
    for d_model in (4, 16, 64, 512, 4096):
        waves = wavelengths(d_model)
        print(f"d_model = {d_model:4d}: first {waves[0] / math.pi:.3f}π, last {waves[-1] / math.pi:8.1f}π, "
              f"that is {waves[-1] / (20000 * math.pi):.3f} of 20000π")

# %% [markdown]
# Only in the limit of many columns. The last exponent is (d_model - 2)/d_model, which never reaches 1. Geometric they
# are: neighbours differ by one factor.
#
# ## What the rows look like
#
# Claims: "each position is unique", "all values lie between -1 and 1, which fits the words", "near positions are
# alike, far ones different." We take them one by one.
#
# First the length of the rows, and whether it fits the words. Predict it for 64 columns.
#
# Then 1,000 word vectors, seed 0, as `nn.Embedding` starts them: normal numbers of variance 1. This course will start words smaller by
# √d_model, with variance 1/d_model, so we look at these as well.

# %%
torch.manual_seed(0)
with needs(sinusoidal_encoding):
    for d_model in (4, 64, 512):
        rows = sinusoidal_encoding(1000, d_model).norm(dim=-1)
        words = nn.Embedding(1000, d_model).weight.detach()
        ratio = words.norm(dim=-1).mean() / rows.mean()
        print(f"d_model = {d_model:3d}: rows are {rows.min():.4f} to {rows.max():.4f} long, "
              f"and √(d_model/2) is {math.sqrt(d_model / 2):.4f}")
        print(f"     nn.Embedding has variance {words.var(correction=0):.2f}, and a word is {ratio:.2f} times as long as a row;"
              f" with variance 1/d_model {ratio / math.sqrt(d_model):.2f} times")

# %% [markdown]
# Each pair lies on a circle of radius 1, so its squares add up to 1, and d_model/2 pairs make a length of exactly
# √(d_model/2).
#
# Whether it fits the words depends. PyTorch's `nn.Embedding` starts with variance 1, and for many columns its words
# are about √2 times as long as positions. With variance 1/d_model, as in this course, they would drown: notebook 06
# multiplies them by √d_model first.
#
# Now likeness: the cosine of the angle between two rows. Predict the curve over the distance: does it fall, and does
# it fall all the way? The matrix shows every position against every other.

# %%
with needs(sinusoidal_encoding):
    rows, wide = (sinusoidal_encoding(201, d_model) for d_model in (64, 512))
    likeness = F.cosine_similarity(rows[:1], rows)
    print("distance: cosine ", {k: round(likeness[k].item(), 2) for k in (0, 1, 2, 5, 10, 20, 50, 100, 200)})
    plots.curves(
        torch.arange(201),
        {"64 columns": likeness, "512 columns": F.cosine_similarity(wide[:1], wide)},
        title="Likeness of position 0 and position k",
        alt="Two curves that start at 1 and fall steeply, then slowly. With 64 columns it goes up and down by about 0.1; "
        "with 512 it is far smoother.",
        xlabel="distance k",
        ylabel="cosine",
    )
    rows = sinusoidal_encoding(80, 64)
    plots.heatmap(
        rows @ rows.T / 32,
        title="Likeness of all pairs of 80 positions, 64 columns",
        alt="A bright diagonal with parallel stripes beside it: the value depends on the distance from the diagonal alone.",
        xlabel="position",
        ylabel="position",
    )

# %% [markdown]
# Near ones are alike, that holds. But with 64 columns the curve isn't monotone: 100 steps away is more alike than 50
# steps away. With 512 columns it is far smoother.
#
# All diagonals of the matrix have one colour: likeness depends on the distance alone, not on where the pair stands.
# It is symmetric, as k steps forward and k steps back are equally like.
#
# Why that is so, the next exercise tells. It also answers the question of uniqueness with a single row.
#
# ## Moving by k
#
# Claim: "for each k one matrix takes the encoding of any position p to that of p + k," the same at p = 3 and at p =
# 3,000. Two formulas from school are the key:
#
# $$\sin(a+b) = \sin a \cos b + \cos a \sin b$$
#
# $$\cos(a+b) = \cos a \cos b - \sin a \sin b$$
#
# Let a be the angle of position p and b the angle by which k steps turn a pair. By hand: a pair at angle 0 is (0, 1).
#
# After a quarter turn, b = π/2, the formulas give (1, 0). And (1, 0) becomes (0, -1) after another one.
#
# The new pair is a sum of multiples of the old one, so a 2 × 2 matrix does it, and p doesn't occur in its entries.
# Each pair has such a block; they stand along the diagonal, with zeros elsewhere.
#
# **Exercise: `shift_matrix`.** Return R, (d_model, d_model) in float64, for which R @ PE(p) = PE(p + k). PE(p) is row
# p of the table as a column vector, sines and cosines in turn.
#
# k is any integer: 0 moves nothing, a negative one moves back. `wavelengths` is at hand: it says how many steps make
# a whole turn. An odd `d_model`, whose last sine has no partner, raises a `ValueError` whose message holds the number.

# %% nbgrader={"grade": false, "grade_id": "shift_matrix", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["wavelengths"]
def shift_matrix(k, d_model):
    """The matrix that turns the encoding of any position into that of the position k further on.

    k, d_model -> (d_model, d_model), float64
    """
    ### BEGIN SOLUTION
    if d_model % 2:
        raise ValueError(f"d_model must be even, got {d_model}")
    angles = k * 2 * math.pi / wavelengths(d_model)
    cos, sin = angles.cos(), angles.sin()
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).reshape(-1, 2, 2)
    return torch.block_diag(*blocks)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_shift_matrix", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(shift_matrix)

# %%
# hint(shift_matrix)

# %% [markdown]
# Does it hold for 5,000 positions? And does it hold for a table whose angles were float32? Such a table is made here
# with your own wavelengths, as is one in float64. Then a look at one matrix.

# %%
def circles(max_len, d_model, dtype):
    """The encoding by complex numbers of length 1, with angles of this dtype."""
    turns = torch.arange(max_len, dtype=dtype)[:, None] * (2 * math.pi / wavelengths(d_model)).to(dtype)
    return torch.view_as_real(torch.polar(torch.ones_like(turns), turns)).flip(-1).flatten(1).double()


with needs(wavelengths, shift_matrix, sinusoidal_encoding):
    tables = {"float64": circles(5000, 64, torch.float64), "yours": sinusoidal_encoding(5000, 64).double()}
    for name, table in (tables | {"float32 angles": circles(5000, 64, torch.float32)}).items():
        errors = [(table[:-k] @ shift_matrix(k, 64).T - table[k:]).abs().max().item() for k in (1, 10, 1000)]
        print(f"{name:14s} off by up to", ", ".join(f"{error:.0e}" for error in errors), "for k = 1, 10, 1000")
    moved = shift_matrix(3, 8)
    print(f"R times its transpose is the identity up to {(moved @ moved.T - torch.eye(8)).abs().max():.0e}")
    plots.heatmap(
        moved,
        title="The matrix that moves by 3, for 8 columns",
        alt="Four blocks of 2 by 2 along the diagonal, zeros elsewhere. The last block is almost the identity.",
        values=True,
        diverging=True,
    )

# %% [markdown]
# The claim holds, up to the rounding of each table. The matrix turns and never stretches: R Rᵀ is the identity. That
# is why all rows are equally long, and why likeness depends on the distance alone.
#
# Now uniqueness. Since distance depends on k alone, it is enough to compare position 0 with all others. How near does
# the nearest of 5,000 come?

# %%
with needs(wavelengths):
    for d_model in (2, 4, 8, 64):
        table = circles(5000, d_model, torch.float64)
        gaps = (table[1:] - table[0]).norm(dim=-1)
        k = gaps.argmin().item() + 1
        print(f"d_model = {d_model:2d}: the nearest is {k:4d} steps away, {k / (2 * math.pi):.4f} turns of the first pair, "
              f"at a distance of {gaps.min():.2g}")

# %% [markdown]
# With one pair alone, 710 steps are almost exactly 113 turns, and two positions can hardly be told apart. From four
# columns on they can: the slow pairs say which turn it is.
#
# ## The table in a module
#
# A model adds row t to the word at position t. Three kinds of tensors can live in a module. Predict for each: is it
# saved, does it follow a change of dtype or device, would an optimizer change it?
#
# And the dtype: models often compute in half precision while their tables stay float32. What is the dtype of such a
# sum?

# %%
class Keeper(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = torch.ones(2)
        self.learned = nn.Parameter(torch.ones(2))
        self.register_buffer("fixed", torch.ones(2))


keeper = Keeper().double()
for name in ("plain", "learned", "fixed"):
    print(f"{name:8s} saved: {name in keeper.state_dict()}, follows: {getattr(keeper, name).dtype == torch.float64}, "
          f"learned: {name in dict(keeper.named_parameters())}")
half = torch.ones(1, 2, 4, dtype=torch.float16)
print((half + torch.ones(2, 4)).dtype, "and after converting the rows:", (half + torch.ones(2, 4).to(half.dtype)).dtype)

# %% [markdown]
# A fixed table should follow the module and not be learned: a *buffer*. And a sum takes the wider dtype, unless the
# rows are converted first.
#
# **Exercise: `SinusoidalPositionalEncoding`.** Keep the table of `max_len` rows as a buffer called `pe`; there are no
# parameters. forward takes x (B, T, M), adds row t of the table to position t of each example, then drops out.
#
# `pe` may have the shape (max_len, M) or (1, max_len, M), and be persistent or not.
#
# The result has the dtype of x, also where the table has another one. You may convert the rows before adding or the
# sum after it: half precision is compared loosely. x itself stays unchanged.
#
# T may be anything from 1 to `max_len`. A longer x raises a `ValueError` whose message holds T and `max_len`.
#
# Dropout acts on the sum, in training only, on single entries, and scales what survives: just what `nn.Dropout` does.
# `__init__` makes one for you under the name `dropout`.

# %% nbgrader={"grade": false, "grade_id": "SinusoidalPositionalEncoding", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["sinusoidal_encoding"]
class SinusoidalPositionalEncoding(nn.Module):
    """Add the sinusoidal table to a batch of embeddings, then drop out.

    x (B, T, M) -> (B, T, M)
    """

    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        ### BEGIN SOLUTION
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        T, max_len = x.shape[1], self.pe.shape[0]
        if T > max_len:
            raise ValueError(f"{T} positions, but max_len = {max_len}")
        return self.dropout(x + self.pe[:T].to(x.dtype))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_SinusoidalPositionalEncoding", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(SinusoidalPositionalEncoding)

# %%
# hint(SinusoidalPositionalEncoding)

# %% [markdown]
# Dog and man again, now with places. Predict what the first cell of this notebook prints when the words have passed
# through your module.

# %%
with needs(SinusoidalPositionalEncoding):
    add_places = SinusoidalPositionalEncoding(8).double()
    here, there = (add_places(sentence[None])[0] for sentence in (one, two))
    here, _ = scaled_dot_product_attention(here, here, here)
    there, _ = scaled_dot_product_attention(there, there, there)
    print(f"the outputs for dog differ by up to {(here[0] - there[2]).abs().max():.2f}")

# %% [markdown]
# Who bites whom is no longer the same.
#
# ## Learned places
#
# Why not learn the rows? BERT and GPT-2 do. Each position has a vector of its own, a parameter, which starts as small
# random numbers: small, so that words are heard from the start.
#
# N(0, 0.02²) means normal numbers with mean 0 and *variance* 0.02², which is 0.0004. The standard deviation is the
# root of it, 0.02. Typical numbers are then 0.01, -0.03 or 0.02; a sinusoid goes up to 1.
#
# **Exercise: `LearnedPositionalEncoding`.** As the module before, with the parameter `weight` in place of the table.
# `__init__` makes it with whatever was in memory: fill it with N(0, 0.02²).
#
# Everything else holds again: row t for position t, dropout on the sum, the dtype of x, a `ValueError` with T and
# `max_len` for a longer x. `weight` is the only parameter, and gradients must reach the rows that were added.

# %% nbgrader={"grade": false, "grade_id": "LearnedPositionalEncoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LearnedPositionalEncoding(nn.Module):
    """Add a learned vector for each position, then drop out.

    x (B, T, M) -> (B, T, M)
    """

    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.weight = nn.Parameter(torch.empty(max_len, d_model))
        ### BEGIN SOLUTION
        nn.init.normal_(self.weight, std=0.02)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        T, max_len = x.shape[1], self.weight.shape[0]
        if T > max_len:
            raise ValueError(f"{T} positions, but max_len = {max_len}")
        return self.dropout(x + self.weight[:T].to(x.dtype))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_LearnedPositionalEncoding", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(LearnedPositionalEncoding)

# %%
# hint(LearnedPositionalEncoding)

# %% [markdown]
# A learned place has a weakness that no check of shapes shows. One batch of four sentences with 6 words, in a module
# made for 10 positions: which rows can learn anything from it?

# %%
with needs(LearnedPositionalEncoding):
    learned = LearnedPositionalEncoding(8, max_len=10)
    learned(torch.zeros(4, 6, 8)).sum().backward()
    print("gradient of each row:", learned.weight.grad[:, 0].tolist())

# %% [markdown]
# Rows 6 to 9 got nothing, and would stay as they were drawn after a million such batches. Keep that in mind for the
# end of this notebook.
#
# ## Both together
#
# A hybrid adds both: the sinusoid knows how places relate before any training, and the learned part corrects it. If
# the correction starts at 0, the module starts as the plain sinusoid.
#
# By hand: in two columns position 0 is (0, 1). With (½, -¼) in its row of the correction, (½, ¾) is added to the word
# at position 0. Other positions have corrections of their own.
#
# **Exercise: `HybridPositionalEncoding`.** Add to position t row t of the sinusoid and row t of the parameter `bias`.
# `__init__` makes `bias`: fill it with zeros. It is the only parameter, so the sinusoid stays fixed.
#
# Everything else holds a third time: dropout on the whole sum, the dtype of x, a `ValueError` with T and `max_len`,
# gradients to `bias`. You may use your earlier module inside this one.

# %% nbgrader={"grade": false, "grade_id": "HybridPositionalEncoding", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["sinusoidal_encoding", "SinusoidalPositionalEncoding"]
class HybridPositionalEncoding(nn.Module):
    """Add the sinusoidal table and a learned correction, then drop out.

    x (B, T, M) -> (B, T, M)
    """

    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.bias = nn.Parameter(torch.empty(max_len, d_model))
        ### BEGIN SOLUTION
        nn.init.zeros_(self.bias)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        T, max_len = x.shape[1], self.bias.shape[0]
        if T > max_len:
            raise ValueError(f"{T} positions, but max_len = {max_len}")
        return self.dropout(x + (self.pe[:T] + self.bias[:T]).to(x.dtype))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_HybridPositionalEncoding", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(HybridPositionalEncoding)

# %%
# hint(HybridPositionalEncoding)

# %% [markdown]
# Three modules, fresh from `__init__`, side by side: what do they add to the first 24 positions? Zeros go in, so the
# encoding comes out. Seed 0.

# %%
with needs(SinusoidalPositionalEncoding, LearnedPositionalEncoding, HybridPositionalEncoding), torch.no_grad():
    torch.manual_seed(0)
    kinds = {"fixed": SinusoidalPositionalEncoding, "learned": LearnedPositionalEncoding, "hybrid": HybridPositionalEncoding}
    plots.heatmaps(
        {name: kind(16, max_len=24)(torch.zeros(1, 24, 16))[0] for name, kind in kinds.items()},
        title="What a fresh module adds",
        alt="Left and right the same stripes of sines and cosines; in the middle, learned, almost nothing.",
        xlabel="column",
        ylabel="position",
        diverging=True,
    )

# %% [markdown]
# ## Places on a map
#
# Pictures have rows and columns. Numbered through, the place below another one is as far away as the width of the
# picture. So half of the columns encode the row and half the column.
#
# A map of two rows and three columns, read line by line, gives six places. Which row and which column has place 4?
# The loop tells:

# %%
for place in range(2 * 3):
    print(f"place {place}: row {place // 3}, column {place % 3}")

# %% [markdown]
# **Exercise: `positional_encoding_2d`.** Return a float32 table (height · width, d_model), one row for each place,
# read line by line as above.
#
# The first half of its columns is the `sinusoidal_encoding` of the map's row, the second half that of the map's
# column, each of width d_model/2.
#
# Each half is made of whole pairs, so 4 must divide `d_model`; any other one raises a `ValueError` whose message
# holds the number. You may rely on it that height and width are at least 1. They are tied neither to each other nor
# to `d_model`.

# %% nbgrader={"grade": false, "grade_id": "positional_encoding_2d", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["sinusoidal_encoding"]
def positional_encoding_2d(height, width, d_model):
    """The encoding of each place of a map, line by line: first half of the columns the row, second half the column.

    height, width, d_model -> (height * width, d_model), float32
    """
    ### BEGIN SOLUTION
    if d_model % 4:
        raise ValueError(f"d_model must be a multiple of 4, got {d_model}")
    rows = sinusoidal_encoding(height, d_model // 2)
    columns = sinusoidal_encoding(width, d_model // 2)
    return torch.cat([rows.repeat_interleave(width, dim=0), columns.repeat(height, 1)], dim=1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_positional_encoding_2d", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(positional_encoding_2d)

# %%
# hint(positional_encoding_2d)

# %% [markdown]
# One column of the table is one number for each place: a map. Predict which of these four maps have horizontal
# stripes, and which two have vertical ones.

# %%
def maps_of(table, height, width, columns):
    return {f"column {column}": table[:, column].reshape(height, width) for column in columns}


with needs(positional_encoding_2d):
    plots.heatmaps(
        maps_of(positional_encoding_2d(8, 12, 32), 8, 12, (0, 2, 16, 18)),
        title="Four columns of the 2-D encoding as maps, 8 by 12 places",
        alt="Columns 0 and 2 have horizontal stripes, columns 16 and 18 vertical ones; those of 2 and 18 are wider.",
        xlabel="column of the map",
        ylabel="row",
        diverging=True,
    )

# %% [markdown]
# Claim: "this function encodes places in 2-D." It circulates in several versions. Its second half puts frequencies
# where the rows of the map belong. The sines of that half are all we need here; the other columns stay at 0. Try it on
# three sizes:

# %%
def circulating_2d(height, width, d_model):
    half = d_model // 2
    speeds = torch.exp(torch.arange(0.0, half, 2) * -(math.log(10000.0) / half))
    across = torch.arange(0.0, width)[:, None] * speeds
    table = torch.zeros(height, width, d_model)
    table[:, :, half::2] = torch.sin(across).transpose(0, 1).unsqueeze(2)
    return table.reshape(height * width, d_model)


for height, width in ((6, 12), (12, 8), (8, 12)):
    try:
        broken = circulating_2d(height, width, 32)
        print(f"{height} by {width}: no complaint")
    except RuntimeError as error:
        print(f"{height} by {width}: {str(error).split(' at ')[0]}")
plots.heatmaps(
    maps_of(broken, 8, 12, (16, 18)),
    title="The same columns, circulating version",
    alt="Two equal maps. The first row has narrow stripes, each row below wider ones, the last row none at all.",
    xlabel="column of the map",
    ylabel="row",
    diverging=True,
)

# %% [markdown]
# It raises unless the height is d_model/4. There it runs and is wrong: all sine columns of the second half are one map,
# and each line of it turns at its own speed. Stripes that should be straight give it away.
#
# ## Turning instead of adding
#
# An added place mixes with the word, and everything after has to sort them apart. A *rotary* embedding adds nothing.
# It turns queries and keys, pair by pair, by their position.
#
# A pair of neighbours (a, b) turned by an angle φ becomes
#
# $$(a \cos \varphi - b \sin \varphi,\quad a \sin \varphi + b \cos \varphi)$$
#
# Turn (3, 4) by a quarter turn, and by a half one, on paper: cos π/2 = 0, sin π/2 = 1. What happens to its length?
# The picture tells by 15°:

# %%
steps = [math.radians(15 * step) for step in range(13)]
plots.path(
    torch.tensor([[3 * math.cos(t) - 4 * math.sin(t), 3 * math.sin(t) + 4 * math.cos(t)] for t in steps]),
    title="The pair (3, 4), turned by half a turn",
    alt="Thirteen points on a half circle of radius 5 around the origin, from (3, 4) over (-4, 3) to (-3, -4).",
    xlabel="first number",
    ylabel="second number",
    marks={"origin": (0, 0)},
)

# %% [markdown]
# A query at position m is turned by mθ, a key at position n by nθ. The dot product of two turned pairs depends on the
# angle between them, which changes by (m - n)θ.
#
# So scores know the *signed* distance m - n alone: three back is not
# three ahead.
#
# **Exercise: `rotary_embedding`.** x is (..., T, D), with any dimensions in front; `positions` (T,) holds integers or
# fractions, also negative ones, in any order. Pair i, the columns 2i and 2i + 1, is turned by +position ·
# base^(-2i/D).
#
# As in the table, angles are computed in float64; the result has the shape, dtype and device of x, and gradients
# reach x. `positions` are always on x's device. An odd D raises a `ValueError` whose message holds the number.
#
# x may lie in memory in any order, as it does after a transpose: `view` and `torch.view_as_complex` refuse that,
# other functions don't mind.

# %% nbgrader={"grade": false, "grade_id": "rotary_embedding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rotary_embedding(x, positions, base=10000.0):
    """Turn each pair of neighbouring columns of x by its position times the pair's speed.

    x (..., T, D), positions (T,) -> (..., T, D)
    """
    ### BEGIN SOLUTION
    D = x.shape[-1]
    if D % 2:
        raise ValueError(f"the width must be even, got {D}")
    speeds = base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angles = positions.cpu().double()[:, None] * speeds
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_rotary_embedding", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(rotary_embedding)

# %%
# hint(rotary_embedding)

# %% [markdown]
# One random query and one random key, D = 64, seed 0, placed at all pairs of positions. Predict: what will the matrix
# of scores look like, and how much changes when all positions move by 1,000?

# %%
torch.manual_seed(0)
query, key = torch.randn(2, 64, dtype=torch.float64)
places = torch.arange(24)
with needs(rotary_embedding):
    def scores(offset):
        turned = [rotary_embedding(x.expand(24, 64), places + offset) for x in (query, key)]
        return turned[0] @ turned[1].T / 8

    print(f"moved by 1,000, scores change by up to {(scores(1000) - scores(0)).abs().max():.0e}; "
          f"they lie between {scores(0).min():.1f} and {scores(0).max():.1f}")
    plots.heatmap(
        scores(0),
        title="Scores of one query and one key at all places",
        alt="Each diagonal has one colour: the score depends on the signed distance alone. Diagonals equally far above and "
        "below the middle one differ.",
        xlabel="position of the key",
        ylabel="position of the query",
        diverging=True,
    )

# %% [markdown]
# Diagonals of one colour, as in the matrix of likeness, now inside the scores of attention.
#
# That matrix was symmetric, since a product of row m with row n is that of row n with row m. Here query and key are two vectors, and ahead differs
# from behind.
#
# A bridge between both: let query and key be the same, (1, 0, 1, 0, …), and compare their turned scores with dot
# products of the sinusoidal table.

# %%
with needs(rotary_embedding, sinusoidal_encoding):
    flat = rotary_embedding(torch.tensor([1.0, 0.0]).repeat(24, 32), places)
    rows = sinusoidal_encoding(24, 64)
    print(f"they differ by up to {(flat @ flat.T - rows @ rows.T).abs().max():.0e}, in scores up to {(rows @ rows.T).max():.0f}")

# %% [markdown]
# The same numbers: both turn pairs at the same speeds. A turned (1, 0) is cosine and sine, the table has sine and
# cosine: the order within a pair doesn't matter for dot products.
#
# The sinusoid turns one fixed vector and adds it; the rotary embedding turns queries and keys themselves.
#
# ## Longer than in training
#
# Claim: "sinusoids extrapolate to lengths never seen." A small experiment: a model with one attention layer says
# which of 8 letters stood three places back. It trains on 16 positions and is asked at 48.

# %%
class ThreeBack(nn.Module):
    """Say which letter stood three places before. places: a module that adds them, or None for rotary."""

    def __init__(self, places):
        super().__init__()
        self.letters, self.places = nn.Embedding(8, 32), places
        self.q, self.k, self.v, self.out = (nn.Linear(32, width) for width in (32, 32, 32, 8))

    def forward(self, ids):
        x = self.letters(ids)
        if self.places is not None:
            x = self.places(x)
        q, k = self.q(x), self.k(x)
        if self.places is None:
            q, k = (rotary_embedding(vectors, torch.arange(ids.shape[1])) for vectors in (q, k))
        return self.out(scaled_dot_product_attention(q, k, self.v(x), causal_mask(ids.shape[1]))[0])

# %% [markdown]
# 300 steps of 64 random strings, three seeds for each kind of place. The hits are counted for each position, on 500
# fresh strings of 48 letters. Guessing hits one in eight. Predict all three curves beyond position 15. Nine trainings
# take a while.

# %%
def hits(make_places, seed, seen=16, asked=48):
    torch.manual_seed(seed)
    model = ThreeBack(make_places())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(300):
        ids = torch.randint(8, (64, seen))
        loss = F.cross_entropy(model(ids)[:, 3:].flatten(0, 1), ids[:, :-3].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids = torch.randint(8, (500, asked))
    with torch.no_grad():
        return (model(ids)[:, 3:].argmax(-1) == ids[:, :-3]).float().mean(0)


with needs(LearnedPositionalEncoding, SinusoidalPositionalEncoding, rotary_embedding):
    kinds = {
        "learned": lambda: LearnedPositionalEncoding(32, max_len=48),
        "sinusoidal": lambda: SinusoidalPositionalEncoding(32, max_len=48),
        "rotary": lambda: None,
    }
    found = {name: torch.stack([hits(kind, seed) for seed in (0, 1, 2)]) for name, kind in kinds.items()}
    for name, runs in found.items():
        inside, beyond = runs[:, :13].mean(1), runs[:, 13:].mean(1)
        print(f"{name:10s} positions 3-15: {inside.mean():.3f} (seeds {inside.min():.3f} to {inside.max():.3f}), "
              f"16-47: {beyond.mean():.3f} ({beyond.min():.3f} to {beyond.max():.3f})")
    plots.curves(
        torch.arange(3, 48),
        {name: (runs.mean(0), runs.std(0)) for name, runs in found.items()},
        title="Trained on 16 positions, asked at 48",
        alt="All three are at 1 up to position 15. Then learned drops to guessing, sinusoidal wavers widely about one half, "
        "rotary stays near 1.",
        xlabel="position",
        ylabel="share of hits, 3 seeds: mean ± std",
        levels={"guessing": 1 / 8},
    )

# %% [markdown]
# Learned places guess: those rows never got a gradient. Sinusoids are here and there better than nothing and far from
# right: the model learned scores that fit 16 positions, not the rule. Only the rotary scores, which know signed
# distances alone, carry on.
#
# This is one easy task, whose answer *is* a distance. In notebook 07 you will sort numbers at lengths beyond
# training, and see how little sinusoids help there, and which tasks need positions at all.
#
# ## What you have built
#
# Four ways to tell attention where a word stands: a fixed table, a learned one, both together, and a rotation; and
# one for maps. The table goes into the Transformer of notebook 06. Before that, notebook 04 gives attention several
# heads.

# %%
progress()
