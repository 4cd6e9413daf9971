# %% [markdown]
# # Start here
#
# In this course you build a Transformer from nothing: attention, positions, heads, blocks, and at the end a model
# that sorts numbers and one that writes text. This first notebook shows how the course works, and trains the few
# moves with tensors that everything else is made of.
#
# You need Python and a little linear algebra: what a vector, a matrix and a dot product are. Everything else,
# derivatives too, is explained briefly where it is used first.
#
# Two exercises wait below. One is the softmax, which you will use in every later notebook.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch

from course_utils import check, hint, needs, plots, progress

# %% [markdown]
# ## How a notebook works
#
# Click into a cell and press Shift+Enter: the cell runs, and the next one is selected. A cell can use every name that
# a cell before it has defined. So run the cells from top to bottom, and begin with the cell above, which imports what
# is needed.
#
# Predict before you run: that is how most is learned here. When a question says "what will it print?", write your
# guess down first. The cell below adds a list to a list, and a tensor to a tensor. Which two lines will it print?

# %%
print([1, 2] + [10, 20])
print(torch.tensor([1, 2]) + torch.tensor([10, 20]))

# %% [markdown]
# If names get into a muddle, choose "Restart kernel and run all cells" from the menu. Exercises that you have not
# done yet don't stop it: they print one line, and the notebook goes on.

# %% [markdown]
# ## Your machine
#
# PyTorch can compute on the processor (CPU), on an NVIDIA graphics card (CUDA) or on the graphics part of an Apple
# chip (MPS). The whole course runs on a CPU; the other two only make training faster. The cell says what you have.

# %%
device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
in_words = {
    "cpu": "the processor (CPU). That is enough for every notebook of this course.",
    "cuda": "an NVIDIA graphics card (CUDA). Training in the later notebooks will use it.",
    "mps": "the graphics part of an Apple chip (MPS). Training in the later notebooks will use it.",
}
version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
verdict = "new enough" if version >= (2, 6) else "too old for this course: install 2.6 or newer"
print(f"PyTorch {torch.__version__} is {verdict}. It can compute on {in_words[device]}")

# %% [markdown]
# ## How an exercise works
#
# Each exercise is a row of cells: some text and examples, then answer, check, hint and picture. The answer cell holds
# an empty function. Write your lines there, in place of `raise NotImplementedError()`.
#
# | cell | what it does |
# | --- | --- |
# | text | says what the function is for, with an example by hand, and every rule that it must keep |
# | answer | you write here; the name of the function and its arguments must stay as they are |
# | check | tries your function on a few small cases and shows the case that went wrong |
# | hint | three hints, one after the other, the third nearly the answer |
# | picture | shows what your function does |

# %% [markdown]
# The checks in the notebook are *public checks*: small cases that you can follow by hand. Your mark comes from
# *hidden checks*. They ask for the same rules with other sizes and fresh random numbers, so an answer made for the
# examples alone won't pass them.
#
# Hidden checks hold you to nothing that the text doesn't say. There are several for each exercise, all worth the
# same: half of them passed gives half of the points. Most compute in float64 and compare your numbers to about nine
# digits.
#
# Some rules hold in the whole course. A function never changes the tensors that it is given. It returns the dtype
# that came in. Called twice with the same arguments, it gives the same answer (unless it is there to draw random
# numbers). And a `raise` is wanted only where the text names an error.
#
# Some texts ask you to write a function by hand and name what you must do without. An answer that calls it all the same
# gets no points for that exercise.
#
# One more is easy to forget. A tensor that was transposed lies in memory in another order than its shape tells. Hidden
# checks hand in such tensors. Nearly everything works on them; `view` doesn't, so write `reshape`.

# %% [markdown]
# Once an answer passes its public checks, a copy of it goes into a file `my_transformer.py` beside the notebooks.
# Later notebooks import it from there. So the model that sorts numbers in the end is your own, part by part.

# %% [markdown]
# ## Shapes
#
# A tensor is a block of numbers with a *shape*: the sizes of its dimensions. Dimension 0 comes first. Negative
# numbers count from the end, so dimension -1 is the last one. This tensor has two rows and three columns.

# %%
table = torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
print(table.shape)
print("rows:", table.shape[0], "columns:", table.shape[-1])

# %% [markdown]
# In this course a letter stands for a size, always the same one: B for the batch (how many examples at once), T and S
# for two lists of positions. A function that takes (B, T) and gives (B, T, S) adds a dimension.
#
# A *position* is a place in a text, with a word in it. In attention, from notebook 01 on, T positions *ask*: each looks
# for words that fit. S positions *answer*: each offers its own word.
#
# Functions such as `sum`, or `amax` for the largest number, take the dimension that shall *disappear*. Along `dim=0` we
# add down the rows, along `dim=1` across the columns. Which of the two equals the loop?

# %%
print("loop: ", [row.sum().item() for row in table])
print("dim=0:", table.sum(dim=0))
print("dim=1:", table.sum(dim=1))
print("the largest along dim=1:", table.amax(dim=1))

# %% [markdown]
# With `keepdim=True` the dimension stays, with size 1. The numbers are the same. The shape is what counts: it still
# tells which dimension was summed.

# %%
print(table.sum(dim=1).shape)
print(table.sum(dim=1, keepdim=True).shape)
print(table.sum(dim=1, keepdim=True))

# %% [markdown]
# ## Broadcasting
#
# When two shapes differ, PyTorch lines them up at the *end* and stretches every size 1 to the size on the other side.
# A missing dimension at the front counts as 1. Sizes that are neither equal nor 1 raise an error.

# %%
shares = table / table.sum(dim=1, keepdim=True)
print(shares)
print("each row sums to", shares.sum(dim=1))

# %% [markdown]
# (2, 3) divided by (2, 1) works: the column of sums is stretched over three columns. Without `keepdim` the sums have
# shape (2,), which lines up with the 3. Run it: the message names the sizes.

# %%
try:
    table / table.sum(dim=1)
except RuntimeError as error:
    print(error)

# %% [markdown]
# The error is the lucky case. In a square table the wrong line-up raises nothing, and the numbers are simply wrong.
# What should the row sums of shares be, and what will the cell print?

# %%
square = torch.tensor([[1.0, 3.0], [1.0, 1.0]])
print(square / square.sum(dim=1))
print((square / square.sum(dim=1)).sum(dim=1))

# %% [markdown]
# That is why the hidden checks use different sizes wherever sizes can differ. Try your own functions on such sizes as
# well: 2, 3 and 5, for example.
#
# `unsqueeze(dim)` adds a dimension of size 1 at that place. It moves no number; it only says how the tensor lines up.
# Indexing with `None` does the same: `v[:, None]` is `v.unsqueeze(1)`.

# %%
v = torch.tensor([1, 2, 3])
print(v.unsqueeze(0).shape, v.unsqueeze(1).shape, v[:, None].shape)
print(v.unsqueeze(1))

# %% [markdown]
# Now a table of sums, first with two loops: entry (i, j) is `left[i] + right[j]`.

# %%
left, right = [10, 20, 30], [1, 2]
for a in left:
    print([a + b for b in right])

# %% [markdown]
# And without a loop: a column (3, 1) plus a row (1, 2). Both are stretched to (3, 2), and each number of one meets
# each number of the other.

# %%
column = torch.tensor(left).unsqueeze(1)
row = torch.tensor(right).unsqueeze(0)
print(column.shape, "+", row.shape, "->", (column + row).shape)
print(column + row)

# %% [markdown]
# ## Masks
#
# A comparison gives a tensor of True and False: a *mask*. In this course True always means "may be used". `~` flips a
# mask, `.sum()` counts the True, and `.all(dim)` and `.any(dim)` ask along a dimension.

# %%
keep = table < 15
print(keep)
print("how many:", keep.sum().item())
print("in the whole row:", keep.all(dim=1), "somewhere in the row:", keep.any(dim=1))

# %% [markdown]
# Two functions put numbers where a mask says so. `x.masked_fill(mask, number)` fills where the mask is True.
# `torch.where(mask, x, y)` takes from x where it is True and from y elsewhere. Neither changes x.

# %%
print(table.masked_fill(~keep, 0.0))
print(torch.where(keep, table, -table))
print(table)

# %% [markdown]
# ## Numbers with an end
#
# Floating-point numbers are limited. `float32` holds about seven digits, `float64` about sixteen. What is too large
# becomes infinity, written `inf`. Some sums with infinity have no answer: they give `nan`, "not a number", and every
# sum with it is NaN again.
#
# Division of tensors raises no error: one divided by zero is `inf`, zero divided by zero is NaN. One more
# trap: is NaN equal to itself?

# %%
infinity = float("inf")
print("exp of 700, 800:", torch.exp(torch.tensor([700.0, 800.0], dtype=torch.float64)))
print("exp of -inf:", math.exp(-infinity))
print("inf - inf:", infinity - infinity, "  NaN + 1:", infinity - infinity + 1)
quotients = torch.tensor([0.0, 1.0]) / 0.0
print("0 / 0 and 1 / 0:", quotients, "  equal to themselves:", quotients == quotients)

# %% [markdown]
# ## Gradients
#
# Training needs to know how fast a result changes when an input changes. For a tiny change, the change of the result
# divided by that of the input is the *derivative*. The derivatives with respect to all numbers of a tensor are its
# *gradient*.
#
# PyTorch records what you do with a tensor that has `requires_grad=True`, and `backward()` walks the record back. What
# is the gradient of x² at 3? The last line divides two small changes.

# %%
x = torch.tensor(3.0, requires_grad=True)
(x * x).backward()
print(x.grad)
print(f"{(3.001**2 - 3**2) / 0.001:.3f}")

# %% [markdown]
# `x.detach()`, `x.item()`, NumPy arrays and Python numbers leave the record: what you compute from them is a
# constant. In an answer that shall be trained later, stay with tensors all the way. And operations that end with `_`,
# or `x -= 1`, change the tensor itself.

# %% [markdown]
# ## Exercise: softmax
#
# A *score* says how well something fits: any number, larger is better. A *weight* is a share: at least 0, all weights
# together 1. The softmax makes weights from scores: exponentiate each score, then divide by the sum of the
# exponentials.
#
# $$\mathrm{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$
#
# By hand: the scores are 0, ln 2 and ln 5. Their exponentials are 1, 2 and 5, with the sum 8. So the weights are 1/8,
# 2/8 and 5/8. Each step as a loop:

# %%
scores = [0.0, math.log(2), math.log(5)]
exponentials = [math.exp(score) for score in scores]
total = sum(exponentials)
print([e / total for e in exponentials])

# %% [markdown]
# The formula breaks for large scores: in a tensor e^1000 is infinite, and infinity divided by infinity is NaN. Only
# *differences* between scores matter, though. What happens to the weights when you add 7 to all three? And what would
# you like to add?

# %%
shifted = [math.exp(score + 7) for score in scores]
print([e / sum(shifted) for e in shifted])

# %% [markdown]
# The weights stay the same, up to rounding: each exponential is multiplied by e^7, and so is their sum. So you may add
# any number to all scores, also a negative one. Which one keeps every exponential finite, that is for you to find.
#
# Write `softmax(x, dim)` for tensors of any shape. The rules:
#
# * The scores are floating-point numbers. `-inf` may be among them; NaN and `+inf` never are.
# * The weights sum to one along `dim`, which may be any dimension, also a negative number. The shape of the result is
#   that of x.
# * Scores up to ±10,000 give the right weights, also when one row lies at 10,000 and the next at -10,000.
# * A score of `-inf` gets weight 0. Where all scores along `dim` are `-inf` there is nothing to choose: all weights
#   are 0, not NaN.
# * The dtype is kept: float16, float32 and float64 come out as they went in.
# * Gradients flow back to the scores.
# * The weights are exact: in float64 nine digits are compared, so a small number added to the denominator shows.
#
# PyTorch has `torch.softmax`, and you may compare with it. But write the steps yourself: you will need each of them
# later, and the library gives NaN where nothing can be chosen. Its result for such a row:

# %%
print(torch.softmax(torch.tensor([[0.0, 1.0], [-infinity, -infinity]]), dim=1))

# %% nbgrader={"grade": false, "grade_id": "softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax(x, dim):
    """Turn scores into weights that sum to one along `dim`.

    x (...) -> (...)
    """
    ### BEGIN SOLUTION
    top = x.amax(dim=dim, keepdim=True)
    # -inf minus -inf is NaN, so a row of nothing but -inf is shifted by 0.
    top = top.masked_fill(top == float("-inf"), 0.0)
    e = torch.exp(x - top)
    total = e.sum(dim=dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_softmax", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(softmax)

# %%
# hint(softmax)  # remove the first "#", run, and run again for the next hint

# %% [markdown]
# The picture shows four rows of scores and the weights that your function makes of them. What will the last row look
# like, and what the row with equal scores?

# %%
scores = torch.tensor([[0.0, 1, 2, 3], [0, 3, 6, 9], [5, 5, 5, 5], [2, 1, -infinity, -infinity]])
names = ["1 apart", "3 apart", "all equal", "two masked"]
with needs(softmax):
    plots.heatmap(
        softmax(scores, dim=1),
        title="Weights along each row",
        alt="Four rows of four weights. One apart: they grow to 0.64. Three apart: the last takes 0.95. All equal: 0.25 "
        "each. Two masked: 0.73, 0.27 and two zeros.",
        rows=names,
        columns=["first", "second", "third", "fourth"],
        xlabel="score",
        ylabel="row",
        values=True,
    )

# %% [markdown]
# Far apart, one score takes nearly everything; equal scores share. Notebook 02 is about the first of these: scores
# that lie too far apart, and what that does to training.
#
# One thing more that is not graded: a row of nothing but `-inf` should not harm the *gradient* of other rows. Some
# right answers give NaN there. What does yours give?

# %%
with needs(softmax):
    scores = torch.tensor([[0.0, 0.0], [-infinity, -infinity]], requires_grad=True)
    softmax(scores, dim=1)[:, 0].sum().backward()
    print(scores.grad)

# %% [markdown]
# ## Exercise: every pair, batch by batch
#
# The *outer product* of two vectors is their multiplication table: entry (t, s) is a[t] · b[s]. By hand: (1, 2) and
# (3, 4, 5) give two rows, 3 4 5 and 6 8 10. Attention does it with whole batches: every position that asks meets
# every position that answers.
#
# `batched_outer(a, b)` takes a of shape (B, T) and b of shape (B, S) and gives (B, T, S). Place (i, t, s) holds the
# product of `a[i, t]` and `b[i, s]`: row i of a meets row i of b and no other. As a loop over two rows:

# %%
a = torch.tensor([[1.0, 2.0], [10.0, 20.0]])
b = torch.tensor([[3.0, 4.0, 5.0], [1.0, 0.0, 2.0]])
for i in range(2):
    for t in range(2):
        print("row", i, "t", t, [(a[i, t] * b[i, s]).item() for s in range(3)])

# %% [markdown]
# Now without a loop. The rules:
#
# * No loop of any kind takes the rows one by one. The checks look for its traces: picking rows by an integer
#   (`a[i]`), walking over a tensor (`for row in a`), `unbind` and `split`.
# * The dtype is kept, float32 and float64.
# * Gradients flow back to both inputs.
#
# Which shapes must a and b have, so that broadcasting gives (B, T, S)?

# %% nbgrader={"grade": false, "grade_id": "batched_outer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def batched_outer(a, b):
    """Multiply every number of a row of `a` with every number of the same row of `b`.

    a (B, T), b (B, S) -> (B, T, S)
    """
    ### BEGIN SOLUTION
    return a.unsqueeze(2) * b.unsqueeze(1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_batched_outer", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(batched_outer)

# %%
# hint(batched_outer)  # remove the first "#", run, and run again for the next hint

# %% [markdown]
# The picture shows the outer products of waves of 1, 2 and 3 periods. Rows are t, columns are s; blue is positive, red
# is negative, white is zero. Which colour do you expect where both waves are negative, and where only one is?

# %%
angles = 2 * math.pi * torch.arange(1, 4).unsqueeze(1)
with needs(batched_outer):
    waves = batched_outer(torch.sin(angles * torch.linspace(0, 1, 40)), torch.sin(angles * torch.linspace(0, 1, 60)))
    plots.heatmaps(
        {f"{periods} period{'s' * (periods > 1)}": wave for periods, wave in enumerate(waves, start=1)},
        title="Outer products of two sine waves, three rows of one batch",
        alt="Three chequered patterns: two, four and six fields along each side, blue where both waves have the same sign, "
        "red where the signs differ.",
        xlabel="s",
        ylabel="t",
        diverging=True,
    )

# %% [markdown]
# How much does a loop cost? The cell measures two nested loops, over the rows i and over t, and then your function on
# the same numbers. Guess first: does the loop take about 10, 100 or 1000 times as long?

# %%
import time

a, b, slow = torch.randn(20, 30), torch.randn(20, 40), torch.zeros(20, 30, 40)
begin = time.perf_counter()
for i in range(20):
    for t in range(30):
        slow[i, t] = a[i, t] * b[i]
loops = time.perf_counter() - begin
with needs(batched_outer):
    batched_outer(a, b)
    begin = time.perf_counter()
    fast = batched_outer(a, b)
    product = time.perf_counter() - begin
    print(f"loops {loops * 1e6:.0f} µs, one product {product * 1e6:.0f} µs: {loops / product:.0f} times as long")
    print("same numbers:", torch.equal(slow, fast))

# %% [markdown]
# ## Where you stand, and how to hand in
#
# `progress()` lists the exercises of the course and which of them pass their public checks. Public checks only: the
# mark comes from the hidden ones.

# %%
progress()

# %% [markdown]
# To hand in, save the notebook and send the file under its own name, `00_start_here.ipynb`. Don't rename it, and
# don't delete or copy answer cells. Cells that you add are welcome: helper functions in them go along with your
# answers.
#
# Next comes `01_soft_retrieval`: what a score is good for. Words ask, other words answer, and your softmax decides
# who is heard.
