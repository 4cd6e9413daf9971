# %% [markdown]
# # Blocks: feed-forward, norms, pre-LN and post-LN
#
# Attention carries information from place to place. A Transformer layer needs more: a part that computes something
# at each place, a way to keep numbers in range, and a path on which gradients come back through many layers.
#
# You write five pieces here: a feed-forward network, two norms, the encoder layer that holds everything together,
# and a probe that measures gradients layer by layer. Then you see why the place of a norm decides whether a deep
# stack learns.
#
# | letter | size | letter | size |
# | --- | --- | --- | --- |
# | B | batch | M | width of the model, `d_model` |
# | T | positions | F | hidden width, `d_ff` |
# | H | heads | | |

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, hint, needs, plots, progress
from course_utils.parts import MultiHeadAttention

# %% [markdown]
# ## Why an activation
#
# `nn.Linear(a, b)` computes W x + b, with `weight` (b, a) and `bias` (b,). Put two of them in a row. Does that give
# more than one? By hand with single numbers: first 2x + 1, then 3y - 4. What is the whole?

# %%
for x in (-2.0, 0.0, 1.0):
    y = 2 * x + 1
    print(f"x = {x:+.0f}   in two steps {3 * y - 4:+.0f}   in one: 6x - 1 = {6 * x - 1:+.0f}")

# %% [markdown]
# Two linear maps in a row are one linear map. So something that isn't linear stands between them, an *activation*. It
# acts on each number by itself. Three are common:
#
# * **ReLU** cuts off what is negative: max(x, 0).
# * **GELU** is x · Φ(x), where Φ(x) is the probability that a standard normal number is below x.
# * **SiLU** is x · sigmoid(x), with sigmoid(x) = 1 / (1 + exp(-x)).
#
# Predict: which of them can give a negative number?

# %%
def normal_below(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


for x in (-2.0, -0.5, 0.0, 1.0, 2.0):
    silu = x / (1 + math.exp(-x))
    print(f"x = {x:+.1f}   ReLU {max(x, 0.0):.4f}   GELU {x * normal_below(x):+.4f}   SiLU {silu:+.4f}")
places = torch.linspace(-4, 4, 161)
plots.curves(
    places,
    {"ReLU": F.relu(places), "GELU": F.gelu(places), "SiLU": F.silu(places)},
    title="Three activations",
    alt="ReLU is 0 up to 0, then the diagonal. GELU and SiLU follow it smoothly; both dip below 0 left of 0, SiLU deeper.",
    xlabel="x",
    ylabel="activation of x",
)

# %% [markdown]
# For GELU there is also an older approximation with tanh. It is close, yet not the same: `F.gelu` has both, and the
# exact one is its default. How far are they apart?

# %%
fine = torch.linspace(-6, 6, 24_001, dtype=torch.float64)
difference = (F.gelu(fine) - F.gelu(fine, approximate="tanh")).abs()
print(f"largest difference {difference.max():.1e}, at x = {fine[difference.argmax()].abs():.2f} (either sign)")

# %% [markdown]
# ## The feed-forward network
#
# At every position: a linear map up to the hidden width F, an activation, a linear map back to M. All positions share
# the weights, and none sees another. By hand for M = 2, F = 3 and x = (1, -2), as a loop:

# %%
up, up_bias = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]], [0.0, 1.0, 0.0]
back, back_bias = [[1.0, 1.0, 0.0], [0.0, 1.0, 3.0]], [0.0, 5.0]
x = [1.0, -2.0]
hidden = [max(0.0, sum(w * a for w, a in zip(row, x)) + b) for row, b in zip(up, up_bias)]
print("hidden", hidden, "out", [sum(w * h for w, h in zip(row, hidden)) + b for row, b in zip(back, back_bias)])

# %% [markdown]
# The second hidden number was -1 and became 0. With matrices the same takes two lines, for any number of positions at
# once: rows of x, times the weight turned round. Here two positions, the one from above and another.

# %%
rows = torch.tensor([[1.0, -2.0], [0.0, 3.0]])
hidden = torch.relu(rows @ torch.tensor(up).T + torch.tensor(up_bias))
print(hidden @ torch.tensor(back).T + torch.tensor(back_bias))

# %% [markdown]
# ### A gate
#
# SwiGLU has two maps up. One of them, the *gate*, goes through SiLU; the other, *up*, doesn't. They are multiplied
# number by number, and a third map leads *down* to M. No biases. A gate near 0 shuts its hidden number off.
#
# Three matrices in place of two would be dearer. So the hidden width shrinks to 2/3 of F, rounded to an integer. Then
# the weights are as many as before, but for the rounding. Both in numbers:

# %%
for gate, up_value in ((2.0, 3.0), (-2.0, 3.0), (-8.0, 3.0), (8.0, 3.0)):
    opened = gate / (1 + math.exp(-gate))
    print(f"gate {gate:+.0f} -> {opened:+.4f}, times {up_value:.0f} = {opened * up_value:+.4f}")
d_model, d_ff = 64, 256
hidden = round(2 / 3 * d_ff)
print("two matrices:", 2 * d_model * d_ff, "  three of hidden width", hidden, "instead:", 3 * d_model * hidden)

# %% [markdown]
# ### Dropout and modules
#
# `nn.Dropout(p)` sets single numbers to 0 while a module is in `train()`, enlarges the others by 1 / (1 - p), and does
# nothing in `eval()`. In this network it stands in front of the *last* linear map, on the hidden numbers.
#
# **Exercise: `FeedForward`.** `__init__` is given, since graders put weights in by the names `linear1`, `linear2`,
# `gate`, `up`, `down`. It also refuses an unknown activation with a `ValueError` that holds the name. (If you write it
# anew, keep all that.) Yours is `forward(x)`:
#
# * x has any leading dimensions and M numbers at the end; the result has the same shape and dtype. Nothing is added to
#   x here.
# * `activation` is "relu", "gelu" (the exact one) or "swiglu".
# * Dropout on the hidden numbers, in all three cases; for swiglu after gate and up are multiplied.

# %% nbgrader={"grade": false, "grade_id": "FeedForward", "locked": false, "schema_version": 3, "solution": true, "task": false}
class FeedForward(nn.Module):
    """Up to the hidden width, an activation, back down, at each position by itself.

    x (..., M) -> (..., M)
    """

    def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
        super().__init__()
        if activation not in ("relu", "gelu", "swiglu"):
            raise ValueError(f"activation must be relu, gelu or swiglu, got {activation!r}")
        self.activation = activation
        self.dropout = nn.Dropout(dropout)
        if activation == "swiglu":
            hidden = round(2 / 3 * d_ff)
            self.gate = nn.Linear(d_model, hidden, bias=False)
            self.up = nn.Linear(d_model, hidden, bias=False)
            self.down = nn.Linear(hidden, d_model, bias=False)
        else:
            self.linear1 = nn.Linear(d_model, d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        ### BEGIN SOLUTION
        if self.activation == "swiglu":
            return self.down(self.dropout(F.silu(self.gate(x)) * self.up(x)))
        activate = F.relu if self.activation == "relu" else F.gelu
        return self.linear2(self.dropout(activate(self.linear1(x))))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_FeedForward", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(FeedForward)

# %%
# hint(FeedForward)  # remove the first "#", run, and run again for the next hint

# %% [markdown]
# Does one position see another? Change the third of five positions and look which outputs move. Predict first.

# %%
torch.manual_seed(0)
with needs(FeedForward):
    network = FeedForward(8, 32, "swiglu")
    x = torch.randn(5, 8)
    changed = x.clone()
    changed[2] += 1.0
    moved = (network(changed) - network(x)).abs().amax(dim=-1)
    print("largest change at each position:", [round(each, 3) for each in moved.tolist()])

# %% [markdown]
# ## Numbers drift
#
# Let us send numbers through forty layers, each a random linear map with an activation behind it. The size of a row
# is its *root mean square*, the root of the mean of its squares. What happens to it, for weights a little smaller and
# a little larger?

# %%
def size(x):
    return x.pow(2).mean().sqrt().item()


torch.manual_seed(0)
for spread in (1.0, math.sqrt(2), 2.0):
    x, sizes = torch.randn(64, 256), []
    for layer in range(40):
        sizes.append(size(x))
        x = F.relu(x @ torch.randn(256, 256) * spread / math.sqrt(256))
    print(f"weights {spread:.2f} / √256:", [f"{each:.1e}" for each in sizes[::13]])

# %% [markdown]
# Only one spread keeps the size; training moves weights away from any such balance. So a *norm* brings each position
# back to a standard size, whatever came in.
#
# ## LayerNorm
#
# For each position by itself: subtract the mean of its M numbers and divide by their standard deviation. The variance
# divides by M here. By hand for 1, 2, 3, 6:

# %%
row = [1.0, 2.0, 3.0, 6.0]
mean = sum(row) / len(row)
differences = [x - mean for x in row]
variance = sum(d * d for d in differences) / len(row)
print("mean", mean, "differences", differences, "variance", variance)
print("normed", [round(d / math.sqrt(variance), 4) for d in differences])

# %% [markdown]
# In a tensor (B, T, M) the mean runs over the last dimension only. With `keepdim=True` that dimension stays, with
# size 1, so that the result can be subtracted from x. Which of these shapes fits (2, 3, 4)?

# %%
x = torch.arange(24.0).reshape(2, 3, 4)
for kept in (False, True):
    mean = x.mean(-1, keepdim=kept)
    try:
        print("keepdim", kept, tuple(mean.shape), "->", tuple((x - mean).shape))
    except RuntimeError as error:
        print("keepdim", kept, tuple(mean.shape), "->", str(error)[:60])

# %% [markdown]
# ### Three traps
#
# **Which variance?** `x.var(-1)` and `x.std(-1)` divide by M - 1 unless told `correction=0`. That is *Bessel's
# correction*, meant for estimates from a sample. A norm doesn't estimate anything.

# %%
row = torch.tensor([1.0, 2.0, 3.0, 6.0])
print("var:", row.var().item(), "  with correction=0:", row.var(correction=0).item())

# %% [markdown]
# **Equal numbers.** Their variance is 0, and 0 / 0 is NaN. A small `eps` is added to the variance *under the root*:
# differences / √(variance + eps). Then such a row gives zeros.
#
# **Far from 0.** The variance is also the mean of squares minus the square of the mean. On paper that is the same. In
# float32, for numbers around 3,000?

# %%
torch.manual_seed(0)
far = 3000 + torch.randn(5, 64)
by_differences = (far - far.mean(-1, keepdim=True)).pow(2).mean(-1)
by_squares = far.pow(2).mean(-1) - far.mean(-1).pow(2)
print("differences:", [round(v, 3) for v in by_differences.tolist()])
print("squares:    ", [round(v, 3) for v in by_squares.tolist()])
print("gap between neighbours at 9,000,000:", (torch.nextafter(torch.tensor(9e6), torch.tensor(1e7)) - 9e6).item())

# %% [markdown]
# Near 9,000,000 neighbouring numbers of float32 are as far apart as the variance is large. So take the differences
# from the mean first, then square.
#
# At the end, each of the M features gets a factor `weight` and then a summand `bias`, both learned, ones and zeros at
# the start. So a layer can undo the norm where that helps.
#
# **Exercise: `LayerNorm`.** `__init__` is given. In `forward(x)`, norm over the last dimension of x, with any leading
# dimensions:
#
# * (x - mean) / √(variance + eps) · weight + bias; the variance divides by M.
# * In float32 and float64 it equals `nn.LayerNorm` in values and gradients; half precision is not asked for. The norms
#   of `torch.nn` and `torch.nn.functional` are forbidden here: it is three lines by hand.
# * Equal numbers give the bias, with finite gradients. Far from 0 it keeps its precision. The dtype stays.

# %% nbgrader={"grade": false, "grade_id": "LayerNorm", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LayerNorm(nn.Module):
    """Each position with mean 0 and variance 1, then a factor and a summand for each feature.

    x (..., M) -> (..., M)
    """

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        ### BEGIN SOLUTION
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = (centred * centred).mean(dim=-1, keepdim=True)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_LayerNorm", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(LayerNorm)

# %%
# hint(LayerNorm)

# %% [markdown]
# ## The version that circulates
#
# Claim: a LayerNorm by hand with `std` equals PyTorch's. This version is found in well-known tutorials. Find the two
# differences from yours before you run the comparison. Where will they show more: in wide rows or in narrow ones?

# %%
class CirculatingNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps, self.a, self.b = eps, nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
        return self.a * (x - mean) / (std + self.eps) + self.b


def largest_error(norm, d_model):
    """Against nn.LayerNorm, on 10,000 random rows in float64, seed 0; with an eps too small to matter."""
    x = torch.randn(10_000, d_model, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    theirs = nn.LayerNorm(d_model, eps=1e-12).double()
    return (norm(d_model, eps=1e-12).double()(x) - theirs(x)).abs().max().item()


with needs(LayerNorm):
    for d_model in (2, 8, 64, 512):
        theirs, yours = largest_error(CirculatingNorm, d_model), largest_error(LayerNorm, d_model)
        print(f"M = {d_model:3}   off by {theirs:.4f}   yours by {yours:.0e}")

# %% [markdown]
# The claim is false, above all in narrow rows: the standard deviation is too large by √(M / (M - 1)). In wide rows the
# error drowns in the noise of training. So a model with this norm learns, but weights from PyTorch give other numbers
# in it.
#
# The second difference is eps outside the root. It shows where the numbers of a row are equal: padding, say, or a
# freshly zeroed embedding. Rows (c, c, …, c) with c = 0.1, 0.3 and 1 in float32, M = 512. What does a gradient look
# like there?

# %%
direction = torch.randn(3, 512, generator=torch.Generator().manual_seed(0))


def gradient_on_constant_rows(norm):
    x = torch.tensor([0.1, 0.3, 1.0])[:, None].repeat(1, 512).requires_grad_()
    (norm(x) * direction).sum().backward()
    return [f"{each:.1e}" for each in x.grad.abs().amax(-1).tolist()]


with needs(LayerNorm):
    for name, norm in {"circulating": CirculatingNorm(512), "yours": LayerNorm(512), "PyTorch": nn.LayerNorm(512)}.items():
        print(f"{name:12s} largest gradient for 0.1, 0.3, 1:", gradient_on_constant_rows(norm))
    print(f"largest from above over √eps: {direction.max() / math.sqrt(1e-5):.1e}")

# %% [markdown]
# Where the deviation is exactly 0, its root has an infinite slope; where rounding leaves a tiny deviation, the quotient
# explodes. Under the root eps bounds both: the gradient is about what comes from above, divided by √eps.
#
# ## RMSNorm
#
# RMSNorm is simpler: no mean is subtracted, nothing is added. Each row is divided by its root mean square, √(mean of
# squares + eps), and each feature gets a factor `weight`. By hand for 1, -1, 5, 3:

# %%
row = [1.0, -1.0, 5.0, 3.0]
mean_square = sum(x * x for x in row) / len(row)
print("mean of squares", mean_square, "root", math.sqrt(mean_square))
print("normed", [round(x / math.sqrt(mean_square), 4) for x in row])

# %% [markdown]
# ### Squares in half precision
#
# float16 has no numbers far beyond 65,000, so the square of 300 is infinite in it, though 300 itself is not. Large
# models run in half precision. What comes out for a row of 300s?

# %%
row = torch.full((4,), 300.0, dtype=torch.float16)
print("squares in float16:", row.pow(2).mean(), "->", row / row.pow(2).mean().sqrt())
wide = row.float()
print("largest in float16:", torch.finfo(torch.float16).max)
print("squares in float32:", wide.pow(2).mean(), "->", (wide / wide.pow(2).mean().sqrt()).to(row.dtype))

# %% [markdown]
# So the row is made wider first, and narrow again at the end. `x.float()` makes float32 of everything, also of
# float64, where it *loses* digits: widen only what is narrower.
#
# **Exercise: `RMSNorm`.** `__init__` is given. In `forward(x)`, over the last dimension, with any leading dimensions:
#
# * x / √(mean of squares + eps) · weight, equal to `nn.RMSNorm(d_model, eps=1e-6)`, in values and gradients. (Made
#   without `eps=`, `nn.RMSNorm` takes `torch.finfo(x.dtype).eps`, another number for each dtype.) Again the norms of
#   PyTorch are forbidden.
# * float16 and bfloat16 are computed in float32 inside, whatever dtype the weight has, and rounded once they are normed;
#   float64 stays float64 inside. The result has the dtype of x. (With x in half precision and a float32 weight, a float32
#   result is fine, too.)
# * A row of zeros stays zero, with finite gradients.

# %% nbgrader={"grade": false, "grade_id": "RMSNorm", "locked": false, "schema_version": 3, "solution": true, "task": false}
class RMSNorm(nn.Module):
    """Each position divided by its root mean square, then a factor for each feature.

    x (..., M) -> (..., M)
    """

    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        ### BEGIN SOLUTION
        wide = x if x.dtype == torch.float64 else x.float()
        rms = torch.sqrt(wide.pow(2).mean(dim=-1, keepdim=True) + self.eps)
        return (wide / rms).to(x.dtype) * self.weight
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_RMSNorm", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(RMSNorm)

# %%
# hint(RMSNorm)

# %% [markdown]
# Which changes of a row does each norm not notice? Multiply it by 5, or add 5 to every number. Predict the four
# answers.

# %%
torch.manual_seed(0)
x = torch.randn(100, 16)
with needs(LayerNorm, RMSNorm):
    for norm in (LayerNorm(16), RMSNorm(16)):
        for change, y in {"times 5": 5 * x, "plus 5": x + 5}.items():
            print(f"{type(norm).__name__:9s} {change}: moves by {(norm(y) - norm(x)).abs().max():.4f}")

# %% [markdown]
# Neither notices a factor (but for eps, too little to show here). LayerNorm doesn't notice a summand either, since
# subtracting the mean takes it away again. RMSNorm does: it never subtracts the mean.
#
# ## Is RMSNorm faster?
#
# Claim: "RMSNorm is 15 % faster than LayerNorm." Faster than which one, and where? We time four: both by hand, both of
# PyTorch, on 1,024 rows of 512 numbers in float32; the shortest of 40 runs each, forward alone and with backward.
#
# Times depend on the computer and on what else it does, so CPU seconds are counted. Ratios are more stable:
# everything is divided by the time of `nn.LayerNorm`.

# %%
torch.set_num_threads(1)  # processor time of waiting threads would count as well


def seconds(step, device, runs=40):
    """The shortest of `runs`, after two that don't count: whatever else the computer does only makes a run longer."""
    clock = time.perf_counter if device == "cuda" else time.process_time
    times = []
    for _ in range(runs + 2):
        start = clock()
        step()
        if device == "cuda":
            torch.cuda.synchronize()  # a GPU works on while Python is already further
        times.append(clock() - start)
    return min(times[2:])


def race(norms, device):
    """{name: (forward, forward and backward)} in units of nn.LayerNorm."""
    x = torch.randn(1024, 512, device=device, generator=torch.Generator(device).manual_seed(0), requires_grad=True)
    times = {}
    for name, norm in norms.items():
        norm = norm.to(device)
        with torch.no_grad():
            forward = seconds(lambda: norm(x), device)
        times[name] = forward, seconds(lambda: norm(x).sum().backward(), device)
    return {name: (f / times["nn.LayerNorm"][0], b / times["nn.LayerNorm"][1]) for name, (f, b) in times.items()}


with needs(LayerNorm, RMSNorm):
    norms = {"nn.LayerNorm": nn.LayerNorm(512), "nn.RMSNorm": nn.RMSNorm(512)}
    norms |= {"your LayerNorm": LayerNorm(512), "your RMSNorm": RMSNorm(512)}
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    for device in devices:
        ratios = race(norms, device)
        print(f"{device}, in units of nn.LayerNorm: forward, and with backward")
        for name, (forward, backward) in ratios.items():
            print(f"  {name:15s} {forward:5.1f}  {backward:5.1f}")

# %% [markdown]
# By hand RMSNorm needs fewer passes over the numbers, so it is faster than LayerNorm by hand, forward above all. But
# `nn.LayerNorm` is *fused*: one pass does it all. On a CPU nothing here beats it, PyTorch's RMSNorm included.
#
# So a percentage without the two programs and the machine says little. Where there is a GPU, the cell has measured
# there too: compare.
#
# ## The layer, and two places for a norm
#
# An encoder layer has two parts, attention and the feed-forward network. Around each runs a *residual path*: what the
# part says is **added** to what came in. A part that says nothing leaves x as it is.
#
# The norm can stand in two places:
#
# * **post-LN**, the original: x ← norm(x + part(x)). The sum is normed.
# * **pre-LN**, `norm_first=True`: x ← x + part(norm(x)). Only what the part reads is normed; the path itself is free.
#
# By hand with one position of two numbers and a part that multiplies by 10. The norm of two numbers is 1 for the larger
# and -1 for the smaller (but for eps). What do both give for (3, 1)?

# %%
x = torch.tensor([3.0, 1.0])
norm = nn.LayerNorm(2)
print("post-LN:", norm(x + 10 * x).tolist())
print("pre-LN: ", (x + 10 * norm(x)).tolist())

# %% [markdown]
# Post-LN forgot how large x was, pre-LN still carries it. Keep that in mind for deep stacks.
#
# Dropout stands in three kinds of places: on the attention weights, on the hidden numbers of the feed-forward network
# (both parts get `dropout` when they are made) and on what each part says, *before* it is added. Never on x itself.
#
# `self.self_attn(query, key, value, mask)` returns two values, the output and the weights. In self-attention query,
# key and value are one and the same tensor. The mask is boolean, True = may attend, as ever.
#
# **Exercise: `EncoderLayer`.** `__init__` is given. `forward(x, mask=None)` returns one tensor, of the shape and dtype
# of x:
#
# * Attention first, then the feed-forward network, each with its residual path, its own norm (`norm1`, `norm2`) and
#   `self.dropout` on what it says.
# * `norm_first` decides between pre-LN and post-LN. In pre-LN query, key and value are all normed. There is no
#   further norm at the end.
# * The mask goes to the attention. With equal weights, values and gradients are those of
#   `nn.TransformerEncoderLayer`, in both orders (whose own mask is the other way round: True = hidden).
#
# It uses the `FeedForward` and `LayerNorm` of this notebook. (Graders put right ones in their place.)

# %% nbgrader={"grade": false, "grade_id": "EncoderLayer", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["MultiHeadAttention", "FeedForward", "LayerNorm"]
class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each with a residual path and a norm.

    x (B, T, M) -> (B, T, M)
    """

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0, norm_first=True):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        ### BEGIN SOLUTION
        if self.norm_first:
            normed = self.norm1(x)
            x = x + self.dropout(self.self_attn(normed, normed, normed, mask)[0])
            return x + self.dropout(self.feed_forward(self.norm2(x)))
        x = self.norm1(x + self.dropout(self.self_attn(x, x, x, mask)[0]))
        return self.norm2(x + self.dropout(self.feed_forward(x)))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_EncoderLayer", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(EncoderLayer)

# %%
# hint(EncoderLayer)

# %% [markdown]
# ## Where are the parameters?
#
# Claim: "the feed-forward network holds two thirds of the parameters." Count on paper first, without biases:
# attention has four matrices M × M, the network two matrices M × F. What is the share for F = 4M, and for F = 2M?
#
# A *decoder* layer, the subject of the next notebook, has two attentions.

# %%
def share(layer):
    """The share of the two matrices of the feed-forward network, of all parameters."""
    all_of_them = sum(p.numel() for p in layer.parameters())
    return sum(p.numel() for name, p in layer.named_parameters() if "linear" in name) / all_of_them


with needs(EncoderLayer):
    for factor in (4, 2):
        encoder = EncoderLayer(512, 8, factor * 512)
        decoder = nn.TransformerDecoderLayer(512, 8, factor * 512)
        print(f"F = {factor}M: encoder layer {share(encoder):.3f}, decoder layer {share(decoder):.3f}")

# %% [markdown]
# Two thirds holds for an encoder layer with F = 4M. In a decoder layer it is half, and with F = 2M less again. A
# share belongs to a shape.
#
# ## A deep stack, before any training
#
# Stack 24 fresh layers and let random numbers through. How does the size of x develop along the way, in both orders?
# Predict the curve of post-LN, at least. Seeds 0 to 4, M = 32, weights as PyTorch draws them.

# %%
def stack(depth, norm_first, seed, d_model=32):
    torch.manual_seed(seed)
    return [EncoderLayer(d_model, 2, 2 * d_model, norm_first=norm_first) for _ in range(depth)]


def sizes_by_depth(norm_first, seed):
    x = torch.randn(4, 8, 32, generator=torch.Generator().manual_seed(seed))
    sizes = [size(x)]
    with torch.no_grad():
        for layer in stack(24, norm_first, seed):
            x = layer(x)
            sizes.append(size(x))
    return sizes


orders = {"post-LN": False, "pre-LN": True}
with needs(EncoderLayer):
    lines = {}
    for name, norm_first in orders.items():
        runs = torch.tensor([sizes_by_depth(norm_first, seed) for seed in range(5)])
        lines[name] = runs.mean(0), runs.std(0)
        print(f"{name}: size behind layer 24 {runs[:, -1].mean():.2f} ± {runs[:, -1].std():.2f}")
    plots.curves(
        range(25),
        lines,
        title="Size of x along 24 fresh layers, 5 seeds",
        alt="Post-LN stays at 1. Pre-LN grows steadily with depth.",
        xlabel="layers passed",
        ylabel="root mean square of x",
    )

# %% [markdown]
# In post-LN every layer ends with a norm, so the size is 1. In pre-LN each part adds something to a path that nobody
# norms, and x grows. That is why a pre-LN stack gets one more norm at its very end.
#
# ## What comes back
#
# Training sends gradients the other way. How strong do they arrive at each layer? We give the stack a simple loss, the
# mean of the squares of its output, and take for each layer the *norm* of the gradient of all its parameters together:
# the root of the sum of all squares.
#
# By hand, two layers of one number with weights 2 and 3 and biases 0, at x = 1: the output is 6, the loss 36, and its
# slope by the output is 2 · 6 = 12. Second layer: weight 12 · 2, bias 12. First: weight 12 · 3 · 1, bias 12 · 3.

# %%
w1, b1, w2, b2 = (torch.tensor(value, requires_grad=True) for value in (2.0, 0.0, 3.0, 0.0))
loss = (w2 * (w1 * 1.0 + b1) + b2) ** 2
first, second = torch.autograd.grad(loss, (w1, b1), retain_graph=True), torch.autograd.grad(loss, (w2, b2))
print("first ", [g.item() for g in first], "norm", math.hypot(*[g.item() for g in first]))
print("second", [g.item() for g in second], "norm", math.hypot(*[g.item() for g in second]))

# %% [markdown]
# `torch.autograd.grad(loss, tensors)` returns the gradients and stores nothing. It frees the graph behind it unless
# told `retain_graph=True`. `loss.backward()` on the other hand *adds* to the `.grad` of every parameter.
#
# **Exercise: `gradient_norm_by_depth`.** `layers` is a list of modules (or an `nn.ModuleList`, say). Give x to the
# first, its output to the second, and so on; the loss is the mean of squares of the last output.
#
# * Return a list of Python floats, one for each layer, the first layer first: the root of the sum of squares of the
#   gradient over *all* parameters of that layer, biases too. The loss counts once, at the end of the stack.
# * A layer without parameters, such as `nn.ReLU()`, works as a layer and has 0.0 in the list. Each parameter requires
#   a gradient and has part in the output: frozen or unused ones don't occur here.
# * Layers keep their mode, `train()` or `eval()`: in `train()` their dropout acts.
# * What `.grad` held before doesn't matter: called again on the same layers, the function gives the same. You may leave
#   it, clear it or overwrite it; whoever trains clears it before each step anyway.

# %% nbgrader={"grade": false, "grade_id": "gradient_norm_by_depth", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gradient_norm_by_depth(layers, x):
    """The norm of the gradient of each layer's parameters, for the mean of squares of the stack's output.

    x (..., M) -> list of float
    """
    ### BEGIN SOLUTION
    for layer in layers:
        x = layer(x)
    loss = x.pow(2).mean()
    norms = []
    for layer in layers:
        parameters = list(layer.parameters())
        gradients = torch.autograd.grad(loss, parameters, retain_graph=True) if parameters else ()
        norms.append(sum(gradient.pow(2).sum().item() for gradient in gradients) ** 0.5)
    return norms
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_gradient_norm_by_depth", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(gradient_norm_by_depth)

# %%
# hint(gradient_norm_by_depth)

# %% [markdown]
# Which layers of a fresh stack get the strongest gradients? Again 24 layers, seeds 0 to 9. Guess for both orders:
# does the curve rise towards the output or fall?

# %%
def norms_of_seeds(norm_first):
    """(seeds, layers)"""
    runs = []
    for seed in range(10):
        x = torch.randn(4, 8, 32, generator=torch.Generator().manual_seed(seed))
        # Behind the stack a random linear map, whose own gradient is left out; the text below says why.
        layers = [*stack(24, norm_first, seed), nn.Linear(32, 32)]
        runs.append(gradient_norm_by_depth(layers, x)[:-1])
    return torch.tensor(runs)


with needs(EncoderLayer, gradient_norm_by_depth):
    lines = {}
    for name, norm_first in orders.items():
        runs = norms_of_seeds(norm_first)
        ratios = runs[:, -1] / runs[:, 0]
        lines[name] = runs.mean(0), runs.std(0)
        print(f"{name}: last over first {ratios.mean():.2f} ± {ratios.std():.2f}")
    plots.curves(
        range(1, 25),
        lines,
        title="Gradient norm by depth, 24 fresh layers, 10 seeds",
        alt="Over the number of the layer, post-LN rises towards the output and pre-LN falls.",
        xlabel="layer",
        ylabel="gradient norm of its parameters",
    )

# %% [markdown]
# A plain mean of squares would tell little behind post-LN: rows that are normed have a mean square of 1 whatever the
# weights. Hence the linear map at the end.
#
# In post-LN the layers near the output feel the loss most, in pre-LN the first ones. Why? A parameter's gradient sums
# over positions what comes back to each of them. So two things count: how strong that is, and whether the positions
# agree. We measure both on the same stacks: the gradient of x itself, and the mean cosine between two positions.

# %%
def on_the_way(norm_first):
    """At the inputs of layers 1, 12 and 24: the norm of the gradient of x, and the cosine between positions; means of 10 seeds."""
    rows = []
    for seed in range(10):
        x = torch.randn(4, 8, 32, generator=torch.Generator().manual_seed(seed), requires_grad=True)
        inputs = []
        for layer in stack(24, norm_first, seed):
            inputs.append(x)
            x = layer(x)
        loss = nn.Linear(32, 32)(x).pow(2).mean()
        kept = [inputs[place] for place in (0, 11, 23)]
        alike = [F.normalize(each, dim=-1).sum(1).pow(2).sum(-1).mean().item() for each in kept]  # 8 + the cosines of 56 pairs
        rows.append([[g.norm().item() for g in torch.autograd.grad(loss, kept)], [(each - 8) / 56 for each in alike]])
    return torch.tensor(rows).mean(0)


with needs(EncoderLayer):
    for name, norm_first in orders.items():
        gradients, cosines = on_the_way(norm_first)
        print(f"{name} at layers 1, 12, 24: gradient of x", [round(g, 3) for g in gradients.tolist()],
              "cosine of two positions", [round(c, 2) for c in cosines.tolist()])

# %% [markdown]
# In pre-LN the gradient of x more than doubles on its way back: the free path hands it on whole, and each part adds to
# it. So the first layers feel most. In post-LN it grows by a quarter only, for every norm on the way back divides by the
# size of a sum.
#
# But in post-LN the positions become alike, layer by layer. Near the output their contributions point the same way and
# add up, in the first layer they partly cancel. The very first steps of training look different, then, in both orders.
#
# ## Training twelve layers
#
# Claim: "pre-LN trains deep stacks without warm-up, post-LN doesn't." We take the easiest task there is: eight random
# tokens, say each of them again. One layer could do it, or none. Can twelve?
#
# A guess without knowledge has the loss ln 8. That is the floor for a model that looks at nothing.
#
# The model below starts like this: all linear maps, those of attention too, have Xavier-uniform weights and biases of 0;
# the embedding is N(0, 1), as `nn.Embedding` draws it; norms have weights of 1 and biases of 0. Behind the last layer
# stands one more norm, in both orders.

# %%
class Repeater(nn.Module):
    """ids (B, T) -> (B, T, 8)"""

    def __init__(self, norm_first, depth=12, d_model=32):
        super().__init__()
        self.embedding = nn.Embedding(8, d_model)
        self.layers = nn.ModuleList([EncoderLayer(d_model, 2, 2 * d_model, norm_first=norm_first) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, 8)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


# %% [markdown]
# *Warm-up* means that the learning rate rises from near 0 to its full height during the first steps, here linearly.
# Everything else is the same in all runs: Adam, a full rate of 0.004, 300 steps, 16 rows a step.

# %%
def train(norm_first, warmup, seed, max_norm=None, steps=300, rate=4e-3):
    """Losses and gradient norms of all steps."""
    torch.manual_seed(seed)
    model = Repeater(norm_first)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    generator = torch.Generator().manual_seed(1)
    losses, norms = [], []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min(1.0, (step + 1) / max(1, warmup))
        ids = torch.randint(8, (16, 8), generator=generator)
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), max_norm or math.inf).item())
        optimizer.step()
        losses.append(loss.item())
    return losses, norms

# %% [markdown]
# Eight runs: both orders, with and without 250 steps of warm-up, seeds 0 and 1. This takes about a minute. Predict
# the four results before you look: which end near 0, which at ln 8?

# %%
plans = {
    "post-LN, no warm-up": (False, 0),
    "post-LN, warm-up": (False, 250),
    "pre-LN, no warm-up": (True, 0),
    "pre-LN, warm-up": (True, 250),
}
runs = {}
with needs(EncoderLayer):
    runs = {name: [train(*plan, seed) for seed in (0, 1)] for name, plan in plans.items()}
    print(f"ln 8 = {math.log(8):.3f}; mean loss of the last 20 steps, seeds 0 and 1:")
    for name, both in runs.items():
        print(f"  {name:20s}", [round(statistics.mean(losses[-20:]), 3) for losses, _ in both])
    smooth = {name: torch.tensor([losses for losses, _ in both]).mean(0).unfold(0, 20, 5).mean(-1) for name, both in runs.items()}
    plots.curves(
        torch.arange(20, 301, 5),
        smooth,
        title="Saying eight tokens again, 12 layers, rate 0.004",
        alt="Post-LN without warm-up stays at ln 8. With warm-up it comes down late. Both pre-LN runs are near 0 early on.",
        xlabel="step",
        ylabel="loss, mean of 2 seeds and 20 steps",
        levels={"ln 8, a guess": math.log(8)},
    )

# %% [markdown]
# The claim holds here. Without warm-up a post-LN stack forgets its input in the first steps and never finds it again:
# its loss stays near that of a guess. With warm-up it learns. Pre-LN needs none.
#
# Is the rate merely too high for post-LN? With warm-up the same full rate is reached in the end, and does no harm.
# Only the first steps are dangerous, while Adam still has little to average over.
#
# ## Is clipping vital?
#
# *Clipping* scales all gradients down together where their common norm exceeds a limit. Claim: "without gradient
# clipping, training explodes." The runs above had none; they noted the norms. Look at the largest, then at a run with
# clipping at 1.

# %%
with needs(EncoderLayer):
    for name, both in runs.items():
        print(f"{name:20s} largest gradient norm", [round(max(norms), 1) for _, norms in both], "all finite:",
              all(math.isfinite(loss) for losses, _ in both for loss in losses))
    clipped, _ = train(False, 0, seed=0, max_norm=1.0)
    print("post-LN, no warm-up, clipped at 1: loss at the end", round(statistics.mean(clipped[-20:]), 3))

# %% [markdown]
# Nothing explodes, and clipping doesn't rescue post-LN. There is a reason: Adam divides by the size of past gradients.
# Does its step depend on the scale of a gradient at all? And what does clipping make of a single NaN?

# %%
for scale in (1e-3, 1.0, 1e3):
    weight = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.Adam([weight], lr=0.1)
    weight.grad = torch.full((1,), scale)
    optimizer.step()
    print(f"gradient {scale:g}: Adam's first step {weight.item():.4f}")
three = [nn.Parameter(torch.zeros(2)) for _ in range(3)]
for parameter in three:
    parameter.grad = torch.ones(2)
three[0].grad[0] = math.nan
nn.utils.clip_grad_norm_(three, 1.0)
print("gradients after clipping:", [parameter.grad.tolist() for parameter in three])

# %% [markdown]
# One NaN makes the common norm NaN, and clipping spreads it to every parameter. So clipping is a guard against rare
# large gradients in long runs. It is no cure for NaN and no substitute for warm-up. Check for finite gradients before
# each step instead; notebook 07 does.
#
# ## What you have built
#
# A feed-forward network with three activations, two norms that agree with PyTorch to the last digits, an encoder layer
# in both orders, and a probe for gradients. The next notebook stacks layers into an encoder and a decoder.

# %%
progress()
