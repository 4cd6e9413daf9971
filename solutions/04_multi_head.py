# %% [markdown]
# # Multi-head attention
#
# One attention gives each query one mixture. Yet a word wants several things at once: who acts, where, and what
# came before. So we cut the width of the model into *heads*, let each look for itself, and put what they found side
# by side.
#
# Letters, as in all shapes of this course:
#
# | letter | size | letter | size |
# | --- | --- | --- | --- |
# | B | batch | T | positions that ask (queries) |
# | H | heads | S | positions that answer (keys, values) |
# | M | width of the model | D | width of one head, M / H |

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, hint, needs, plots, progress
from course_utils.parts import causal_mask, scaled_dot_product_attention

# %% [markdown]
# ## One look is not enough
#
# "The cat sat on the mat." The verb asks two things: who sat, and where? Let keys name the role, (1, 0) for who and
# (0, 1) for where. Values name the word, (1, 0) for cat and (0, 1) for mat. In a second sentence the two change
# places.
#
# The verb asks for both roles with one query. Its two scores are equal, so both attention weights are 1/2. Predict the output
# for either sentence: can the verb tell them apart?

# %%
roles = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
cat_on_mat = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
mat_on_cat = cat_on_mat.flip(0)
both_at_once = torch.tensor([[9.0, 9.0]])
for title, words in {"cat on mat": cat_on_mat, "mat on cat": mat_on_cat}.items():
    output, weights = scaled_dot_product_attention(both_at_once, roles, words)
    print(f"{title}: attention weights {weights.tolist()}, output {output.tolist()}")

# %% [markdown]
# The same mixture for two sentences: in this example who did what is lost, and a layer that gets this output alone
# can't tell. Now two looks, one for each role, put side by side.

# %%
two_looks = torch.tensor([[9.0, 0.0]]), torch.tensor([[0.0, 9.0]])
for title, words in {"cat on mat": cat_on_mat, "mat on cat": mat_on_cat}.items():
    outputs = [scaled_dot_product_attention(look, roles, words)[0] for look in two_looks]
    print(f"{title}: {[round(number, 3) for number in torch.cat(outputs, dim=-1)[0].tolist()]}")

# %% [markdown]
# Four numbers in place of two, and they tell the sentences apart. Does that make the model wider? No: each look
# gets only a slice of the width. With M = 64 and H = 4, a head works on D = 16 numbers.
#
# ## Cutting the width
#
# A batch holds x with the shape (B, T, M). Head 0 gets the first D features of *every* position, head 1 the next D,
# and so on. Take one sequence of three positions, M = 4, and write the position before the point and the feature
# behind it.

# %%
tags = [[f"{position}.{feature}" for feature in range(4)] for position in range(3)]
for head in range(2):
    print(f"head {head}:", [row[2 * head : 2 * head + 2] for row in tags])

# %% [markdown]
# Each head has all three positions, with two features of each. As a tensor that is (H, T, D), and with the batch in
# front (B, H, T, D): the heads are a leading dimension, like the batch, and your attention treats all of them at
# once.
#
# **Exercise: `split_heads`.** Turn (B, T, M) into (B, H, T, D). Where `n_heads` doesn't divide M, raise a
# `ValueError` whose message holds both numbers.
#
# Every number stays what it is, only its place changes: so the dtype stays too, and gradients flow back. x may lie
# in memory in any order.

# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x, n_heads):
    """Give each head its slice of the features, at every position.

    x (B, T, M) -> (B, H, T, D)
    """
    ### BEGIN SOLUTION
    B, T, M = x.shape
    if M % n_heads:
        raise ValueError(f"a width of {M} can't be cut into {n_heads} equal heads")
    return x.reshape(B, T, n_heads, M // n_heads).transpose(1, 2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_split_heads", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(split_heads)

# %%
# hint(split_heads)  # remove the first "#", run, and run again for the next hint

# %% [markdown]
# ## The right shape in the wrong order
#
# A slip that is made again and again: `x.reshape(B, H, T, D)`, in one go. The shape is what was asked for. To see
# what is in it, let every feature be the number of its position: then a row of a head should hold one number only.

# %%
origin = torch.arange(6)[None, :, None].expand(1, 6, 4)
in_one_go = origin.reshape(1, 2, 6, 2)
with needs(split_heads):
    rightly = split_heads(origin, 2)
    print("shapes:", tuple(rightly.shape), tuple(in_one_go.shape))
    plots.heatmaps(
        {f"{name}, head {head}": pieces[0, head] for name, pieces in {"yours": rightly, "in one go": in_one_go}.items() for head in range(2)},
        title="Which position do a head's features come from?",
        alt="Four maps of six rows. In the two right ones row t holds t. In the wrong ones head 0 holds positions 0 to 2 and head 1 positions 3 to 5.",
        xlabel="feature of the head",
        ylabel="row of the head",
        values=True,
    )

# %% [markdown]
# In one go, head 0 got *all* features of the first half of the sequence, head 1 those of the second half, and row t
# is no longer position t. No error tells you. What comes of it we measure as soon as the way back is there.
#
# ## Putting the heads side by side
#
# Each head has made an output (T, D) of its own. For position t we want all of them in one row: first the D numbers
# of head 0, then those of head 1. With the tags from above, as a loop:

# %%
per_head = [[row[2 * head : 2 * head + 2] for row in tags] for head in range(2)]
for position in range(3):
    print(f"position {position}:", [tag for head in range(2) for tag in per_head[head][position]])

# %% [markdown]
# **Exercise: `merge_heads`.** Turn (B, H, T, D) into (B, T, M), M = H · D. It undoes `split_heads`: after both,
# every number stands where it stood. dtype, gradients and any order in memory as before.
#
# Should PyTorch say "view size is not compatible": a transposed tensor is the same memory, read in another order.
# `view` only ever re-reads memory, while `reshape` and `flatten` copy where they must.

# %% nbgrader={"grade": false, "grade_id": "merge_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_heads(x):
    """Put what the heads found side by side, at every position.

    x (B, H, T, D) -> (B, T, M)
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_merge_heads", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(merge_heads)

# %%
# hint(merge_heads)

# %% [markdown]
# Now we measure what a wrong order does. Two heads attend under a causal mask, six positions, seed 0. First the
# *last* position changes: nothing before it may move. Then the *first* one changes: the last should notice. Predict
# the numbers for two slips in one go, which undo each other.

# %%
def moves(split, merge):
    """How far positions 0 to 4 move when position 5 changes, and how far position 5 moves when position 0 changes."""
    def attend(x):
        pieces = split(x)
        return merge(scaled_dot_product_attention(pieces, pieces, pieces, causal_mask(6))[0])

    torch.manual_seed(0)
    x = torch.randn(1, 6, 8)
    other_last, other_first = torch.cat([x[:, :5], -x[:, 5:]], dim=1), torch.cat([-x[:, :1], x[:, 1:]], dim=1)
    leak = (attend(other_last) - attend(x))[:, :5].abs().max()
    notice = (attend(other_first) - attend(x))[:, 5].abs().max()
    return f"leak from the future {leak:.2f}, news from the start {notice:.2f}"


split_in_one_go, merge_in_one_go = lambda x: x.reshape(1, 2, 6, 4), lambda x: x.reshape(1, 6, 8)
print("both in one go:  ", moves(split_in_one_go, merge_in_one_go))
with needs(split_heads, merge_heads):
    print("yours:           ", moves(lambda x: split_heads(x, 2), merge_heads))
    print("split in one go: ", moves(split_in_one_go, merge_heads))
    print("merge in one go: ", moves(lambda x: split_heads(x, 2), merge_in_one_go))

# %% [markdown]
# One slip alone lets the future leak, mask or no mask: such a model looks fine while the right answer is fed in,
# and fails when it must write alone. Both together leak nothing, but each "head" is half of the sequence, and the
# end never hears of the start.
#
# A check of shapes sees none of this. A check that changes one position sees all of it.
#
# ## Projections: who looks for what
#
# Raw slices of x would be poor queries. A word's features don't come sorted by what some head wants to ask. So
# queries, keys and values are *projected* first, each with a matrix (M, M) that is learned. A head's slice is then
# any D mixtures of all M features.
#
# `nn.Linear(M, M)` keeps its weight as (out, in): row i makes output i. So head 0 owns the first D rows of each
# matrix. By hand, M = 4, H = 2:

# %%
w_q = nn.Linear(4, 4, bias=False)
with torch.no_grad():
    w_q.weight.copy_(torch.tensor([[1.0, 1, 0, 0], [0, 0, 1, 1], [1, -1, 0, 0], [0, 0, 1, -1]]))
    word = torch.tensor([5.0, 3.0, 2.0, 2.0])
    print("head 0 asks with sums:       ", w_q(word)[:2].tolist())
    print("head 1 asks with differences:", w_q(word)[2:].tolist())

# %% [markdown]
# Behind the heads stands a fourth matrix, the output projection. Merged heads lie side by side and know nothing of
# each other; it mixes them, and writes the result in the model's own features again.
#
# A case by hand, M = 4, H = 2, where three projections change nothing. The first head compares the first two
# features, the second the last two. What are the attention weights of each?

# %%
query = torch.tensor([[[math.sqrt(2), 0, math.sqrt(2), 0]]])
keys = torch.tensor([[[math.log(3), 0, 0, 0], [0, 0, math.log(3), 0]]])
for head in range(2):
    part = slice(2 * head, 2 * head + 2)
    scores = [(query[0, 0, part] * key[part]).sum().item() / math.sqrt(2) for key in keys[0]]
    powers = [math.exp(score) for score in scores]
    print(f"head {head}: exponentials {[round(p, 3) for p in powers]}, attention weights {[round(p / sum(powers), 3) for p in powers]}")

# %% [markdown]
# The two heads disagree, and both are kept. One detail: the scale is √D, the width of a *head*, since D numbers are
# compared. Your attention takes it from the shape of what it is given.
#
# ## Masks for all heads
#
# Attention weights have the shape (B, H, T, S). A mask (T, S) broadcasts to it, and so does (B, 1, 1, S). But a mask for each
# sequence, (B, T, S), doesn't: PyTorch lines shapes up from the right. What would B meet?

# %%
for shape in ((5, 7), (2, 1, 1, 7), (2, 5, 7), (2, 1, 5, 7), (3, 5, 7)):
    try:
        torch.broadcast_shapes(shape, (2, 3, 5, 7))
        print(shape, "fits (B, H, T, S) = (2, 3, 5, 7)")
    except RuntimeError:
        print(shape, "does not fit")

# %% [markdown]
# B met H. And where B happens to equal H, as in the last line, nothing complains: each *head* gets the mask of a
# *sequence*. So a mask with three dimensions is always read as (B, T, S) here, and you put an axis for the heads
# in.
#
# **Exercise: `MultiHeadAttention`.** `__init__` is given: write `forward`. Project, split, attend, merge, project.
# `split_heads`, `merge_heads` and `scaled_dot_product_attention` are there for you. PyTorch's own multi-head attention,
# as a module or function, is forbidden. `F.scaled_dot_product_attention` isn't, but returns no attention weights.
#
# * **Inputs.** `query` (B, T, M), `key` and `value` (B, S, M), which may be three different tensors. T and S
#   differ.
# * **Returns** two values: the output (B, T, M), and the attention weights of *every* head, (B, H, T, S), from before
#   dropout.
# * **Mask.** `None`, or boolean, True = may attend, of the shape (T, S), (B, T, S) or (B, H, T, S), where a 1 may stand
#   in place of B, H or T. With three dimensions all heads share it. No other shapes occur. Any other dtype raises a
#   `TypeError`.
# * **Nothing to attend.** Attention weights of zero, so only the bias of `w_o` is left in the output, and gradients
#   stay finite.
# * **Dropout** acts on the attention weights, with probability `dropout`, in training only: `self.training` is True after
#   `train()` and False after `eval()`.
# * **Gradients** reach inputs and all parameters.
#
# Easiest: leave `__init__` as it is. The checks put numbers into the parameters of `w_q`, `w_k`, `w_v`, `w_o`.
#
# You may also build it another way, say with one fused matrix. Keep the arguments and the `ValueError`, and write
# `load_from_pytorch`, below, for what you built: here and in the grader the checks then put the numbers in with it, and
# judge both by what the module computes. Two later cells of this notebook read `w_q`, `w_k` and `w_v`; they would stop
# with an error, which costs no points.

# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["scaled_dot_product_attention", "split_heads", "merge_heads"] along=["load_from_pytorch"]
class MultiHeadAttention(nn.Module):
    """Attention with several heads, each on a slice of the width. Returns (output, weights of every head).

    query (B, T, M), key (B, S, M), value (B, S, M) -> (B, T, M), (B, H, T, S)
    """

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model} can't be cut into n_heads = {n_heads} equal heads")
        self.n_heads, self.dropout = n_heads, dropout
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, mask=None):
        ### BEGIN SOLUTION
        q = split_heads(self.w_q(query), self.n_heads)
        k = split_heads(self.w_k(key), self.n_heads)
        v = split_heads(self.w_v(value), self.n_heads)
        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_MultiHeadAttention", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(MultiHeadAttention)

# %%
# hint(MultiHeadAttention)

# %% [markdown]
# What do heads look at before they have learned anything? Eight random words, four heads, seed 0. Predict: is a
# fresh head sharp or blurred, and do the four agree?

# %%
torch.manual_seed(0)
words = torch.randn(1, 8, 32)
with needs(MultiHeadAttention), torch.no_grad():
    _, fresh = MultiHeadAttention(32, 4)(words, words, words, causal_mask(8))
    plots.heatmaps(
        {f"head {head}": fresh[0, head] for head in range(4)},
        title="Four heads that have learned nothing",
        alt="Four lower triangles of attention weights. Rows fade from 1 at the top to about an eighth, slightly different from head to head.",
        xlabel="key",
        ylabel="query",
    )

# %% [markdown]
# Blurred, and a little different each. Different starts are what lets them grow apart. Two heads equal in all four matrices would get equal gradients, and stay twins for ever.
#
# ## PyTorch as the judge
#
# `nn.MultiheadAttention` computes the same. If your module gives its numbers with its parameters, no doubt is left. So
# we need a function that carries the parameters over. What does PyTorch hold?

# %%
theirs = nn.MultiheadAttention(8, 2, batch_first=True)
for name, parameter in theirs.named_parameters():
    print(f"{name:16s} {tuple(parameter.shape)}")
print("biases all zero at the start:", not theirs.in_proj_bias.any().item())
stack = torch.tensor([[1.0, 0], [0, 1], [2, 0], [0, 2], [3, 0], [0, 3]])
print("a stack cut in three:", [part.tolist() for part in stack.chunk(3)])

# %% [markdown]
# `in_proj_weight` (3M, M) has the rows of three matrices, one below the other: first those for queries, then keys,
# then values. `chunk` cuts such a stack, as in the last line for M = 2.
#
# Writing into a parameter: `parameter.copy_(numbers)` keeps the object and changes its numbers, so an optimizer
# that holds it goes on working. It must stand inside `with torch.no_grad():`, else PyTorch refuses to change a leaf
# of the graph.
#
# **Exercise: `load_from_pytorch`.** Copy all parameters of `torch_mha`, an `nn.MultiheadAttention` of the same width,
# heads and `bias`, into `mha`, a `MultiHeadAttention`.
#
# Fill the parameters in place: `mha` keeps the same `Parameter` objects, and only their numbers change. They are
# copies, which share no memory with those of `torch_mha`. No parameter is added or taken away, all go on learning
# (`requires_grad` stays), and `torch_mha` stays as it was. Return nothing.
#
# The biases are easily forgotten, for they start at zero: a test with a fresh module doesn't notice. With
# `bias=False` there are none: `in_proj_bias` and `out_proj.bias` are then `None`.

# %% nbgrader={"grade": false, "grade_id": "load_from_pytorch", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["MultiHeadAttention", "split_heads", "merge_heads"] along=["MultiHeadAttention"]
def load_from_pytorch(mha, torch_mha):
    """Copy the weights of an nn.MultiheadAttention into a MultiHeadAttention, in place."""
    ### BEGIN SOLUTION
    layers = mha.w_q, mha.w_k, mha.w_v
    with torch.no_grad():
        for layer, weight in zip(layers, torch_mha.in_proj_weight.chunk(3), strict=True):
            layer.weight.copy_(weight)
        if torch_mha.in_proj_bias is not None:
            for layer, bias in zip(layers, torch_mha.in_proj_bias.chunk(3), strict=True):
                layer.bias.copy_(bias)
    mha.w_o.load_state_dict(torch_mha.out_proj.state_dict())
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_load_from_pytorch", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(load_from_pytorch)

# %%
# hint(load_from_pytorch)

# %% [markdown]
# The judge speaks: cross-attention with 5 queries and 7 keys, 64 features, 8 heads, float64, seed 0. The largest
# differences of output and attention weights:

# %%
torch.manual_seed(0)
theirs = nn.MultiheadAttention(64, 8, batch_first=True, dtype=torch.float64)
nn.init.normal_(theirs.in_proj_bias)
asking, memory = torch.randn(3, 5, 64, dtype=torch.float64), torch.randn(3, 7, 64, dtype=torch.float64)
with needs(MultiHeadAttention, load_from_pytorch):
    mine = MultiHeadAttention(64, 8).double()
    load_from_pytorch(mine, theirs)
    expected = theirs(asking, memory, memory, average_attn_weights=False)
    print([f"{(a - b).abs().max().item():.0e}" for a, b in zip(mine(asking, memory, memory), expected, strict=True)])

# %% [markdown]
# Two things to know before you plot PyTorch's attention weights. By default you get their *mean* over the heads. And in
# training you get them *after* dropout. What are the sums of the rows then?

# %%
torch.manual_seed(0)
dropping = nn.MultiheadAttention(64, 8, dropout=0.3, batch_first=True).train()
x = torch.randn(3, 7, 64)
for average in (True, False):
    _, weights = dropping(x, x, x, average_attn_weights=average)
    sums = weights.sum(-1)
    print(f"mean over heads {average}: shape {tuple(weights.shape)}, sums of rows {sums.min():.2f} to {sums.max():.2f}")

# %% [markdown]
# They should be 1. Your module returns what the heads *wanted* to look at, before chance struck, for every head.
#
# ## Heads cost nothing
#
# How many numbers does the module learn? Each layer from M to M has a matrix and, unless `bias` is False, one bias
# for each output. Count by hand for M = 2, then with a loop over PyTorch's module:

# %%
for heads in (1, 2):
    print(f"heads {heads}:", [parameter.numel() for parameter in nn.MultiheadAttention(2, heads).parameters()])

# %% [markdown]
# **Exercise: `count_parameters`.** Return the number of parameters of a whole `MultiHeadAttention(d_model, n_heads,
# bias=bias)` as an `int`. Where the heads don't divide the width there is no such module: raise a `ValueError` with
# both numbers in its message.

# %% nbgrader={"grade": false, "grade_id": "count_parameters", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["MultiHeadAttention"]
def count_parameters(d_model, n_heads, bias=True):
    """How many numbers a MultiHeadAttention of this size learns."""
    ### BEGIN SOLUTION
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} can't be cut into n_heads = {n_heads} equal heads")
    return 4 * (d_model * d_model + (d_model if bias else 0))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_count_parameters", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(count_parameters)

# %%
# hint(count_parameters)

# %% [markdown]
# What grows with the heads, then? The table of attention weights: each head has one of its own. Width 512, a sequence of
# 1,000 positions:

# %%
with needs(count_parameters):
    for heads in (1, 8, 64):
        print(f"heads {heads:2d}, width {512 // heads:3d}: {count_parameters(512, heads):,} parameters, "
              f"{heads * 1000**2:,} attention weights")

# %% [markdown]
# ## One matrix for three
#
# In self-attention, queries, keys and values are made from the same x. Three products with one input are one
# product with a taller matrix. By hand, rows below rows:

# %%
a, b = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [5.0, 6.0]])
x = torch.tensor([10.0, 1.0])
print("two products:", (a @ x).tolist(), (b @ x).tolist(), "| one:", (torch.cat([a, b]) @ x).tolist())

# %% [markdown]
# **Exercise: `fuse_qkv`.** From a `MultiHeadAttention` make one `nn.Linear(M, 3M)`: its output is the queries, then
# the keys, then the values, what `w_q`, `w_k` and `w_v` would give.
#
# The layer has parameters of its own, copies that share no memory with the three. Where they have no bias, it has none
# either. It has their dtype and device: `nn.Linear` takes `bias=`, `dtype=` and `device=`. The module you were given
# stays as it was.
#
# (Did you build `MultiHeadAttention` with other names? This function is graded on a module with `w_q`, `w_k` and `w_v`.)

# %% nbgrader={"grade": false, "grade_id": "fuse_qkv", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["MultiHeadAttention"]
def fuse_qkv(mha):
    """One nn.Linear(M, 3M) that does the work of w_q, w_k and w_v."""
    ### BEGIN SOLUTION
    layers = mha.w_q, mha.w_k, mha.w_v
    weight = torch.cat([layer.weight for layer in layers])
    has_bias = mha.w_q.bias is not None
    fused = nn.Linear(weight.shape[1], weight.shape[0], bias=has_bias, dtype=weight.dtype, device=weight.device)
    with torch.no_grad():
        fused.weight.copy_(weight)
        if has_bias:
            fused.bias.copy_(torch.cat([layer.bias for layer in layers]))
    return fused
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_fuse_qkv", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(fuse_qkv)

# %%
# hint(fuse_qkv)

# %% [markdown]
# Claim: "one fused matrix is faster". It is one call in place of three, with the same multiplications. Predict two
# ratios, one for few and one for many positions. Then measure both, width 256, the best of 50 tries.

# %%
def seconds(call, tries=50):
    """The shortest time of several tries, which is the least disturbed one."""
    times = []
    for _ in range(tries):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


with needs(MultiHeadAttention, fuse_qkv), torch.no_grad():
    mine = MultiHeadAttention(256, 8)
    fused, layers = fuse_qkv(mine), (mine.w_q, mine.w_k, mine.w_v)
    for positions in (8, 512):
        x = torch.randn(1, positions, 256)
        ratio = seconds(lambda: [layer(x) for layer in layers]) / seconds(lambda: fused(x))
        print(f"{positions} positions: three layers take {ratio:.2f} times as long as the fused one")

# %% [markdown]
# On a CPU there may be a gain with few positions, up to about a fifth, since each call has a price. With many there is
# none: multiplications take nearly all the time. On a graphics card, which small products leave idle, there is more.
#
# ## Is it self-attention?
#
# To use the fused matrix, a module must know that query, key and value are the same. Claim: "compare `data_ptr()`",
# the address in memory where a tensor starts. Here is such a module in short; where addresses agree it computes
# everything from `query`.
#
# Five tries, seed 0, five sequences of five positions: the very same tensor; a query that asks with the first
# positions of the memory only; a transposed view, batch and positions swapped; and a layer that normalizes first,
# once, or once for each argument. Where is the short way taken, and where is it right?

# %%
def by_address(mha, query, key, value):
    """Take the short way where all three start at one address. Returns the output and which way it was."""
    if query.data_ptr() == key.data_ptr() == value.data_ptr():
        return mha(query, query, query)[0], "short way"
    return mha(query, key, value)[0], "long way"


torch.manual_seed(0)
memory, norm = torch.randn(5, 5, 64), nn.LayerNorm(64)
y = norm(memory)
tries = {
    "the same tensor": (memory, memory, memory),
    "memory[:, :3]": (memory[:, :3], memory, memory),
    "memory.transpose(0, 1)": (memory.transpose(0, 1), memory, memory),
    "y = norm(memory), y, y, y": (y, y, y),
    "norm(memory), three times": (norm(memory), norm(memory), norm(memory)),
}
with needs(MultiHeadAttention), torch.no_grad():
    mine = MultiHeadAttention(64, 4)
    for title, inputs in tries.items():
        (output, way), right = by_address(mine, *inputs), mine(*inputs)[0]
        print(f"{title:26s} {way:9s} error {(output - right).abs().max():.2f}, "
              f"deviation of its outputs {output.std():.2f}, of the right ones {right.std():.2f}")

# %% [markdown]
# A *view* is another tensor that reads the same memory, from the same start, with another length or in another
# order. The address says where it starts, and nothing else.
#
# The errors are larger than the outputs usually are: both
# kinds of output, short and right, deviate by less. No shape gives them away.
#
# With `norm` called three times it is the other way round: equal numbers at three addresses, and the short way is
# never taken. What is asked for is *identity*: `query is key and key is value`. A view is another object, so `is`
# errs on the safe side only.
#
# ## A task that one head can't do
#
# A memory of S = 8 items. Each has a code of 16 random signs, its label, and a content of 16 random signs. A query
# holds the codes of 4 items and asks for their 4 contents, side by side and in order. Width: M = 64.

# %%
def retrieval_batch(size, generator, in_order=False):
    """Queries (size, 1, 64), memories (size, 8, 64) and targets (size, 1, 64). in_order: asks for items 0, 1, 2, 3."""
    signs = torch.randint(0, 2, (size, 8, 32), generator=generator) * 2.0 - 1.0
    codes, contents = signs.split(16, dim=-1)
    order = torch.rand(size, 8, generator=generator).argsort(dim=-1)[:, :4, None].expand(-1, -1, 16)
    order = torch.arange(4)[None, :, None].expand(size, 4, 16) if in_order else order
    query, target = (each.gather(1, order).flatten(1)[:, None] for each in (codes, contents))
    return query, F.pad(signs, (0, 32)), target

# %% [markdown]
# Think before you train. One head has one row of attention weights for all four contents. It may take one item alone,
# or a quarter of each of the four. `w_o` is linear, so each content is then guessed as the best multiple of this one
# mixture.
#
# Guessing 0 for every sign has a mean squared error of 1. Which attention weights are best?
#
# For attention weights w, the best multiple for content i is w_i / Σw². Here on 100,000 draws of four signs, seed 0:

# %%
torch.manual_seed(0)
signs = torch.randint(0, 2, (100_000, 4)) * 2.0 - 1.0
for weights in ([1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1], [0.5, 0.5, 0.0, 0.0]):
    w = torch.tensor(weights)
    guesses = (signs @ w)[:, None] * w / w.square().sum()
    print(f"attention weights {weights}: error {(guesses - signs).square().mean():.3f}")

# %% [markdown]
# All the same! However a head spreads its attention weights, it brings one content's worth of four: error 3/4. Two
# heads bring two, error 1/2, and four heads all. One head mixes, and nothing after it *in this layer* can undo it, as
# `w_o` is linear.
#
# And with 8 and 16 heads? There are heads to spare. But they become narrow: 8 and 4 numbers, to tell 8 codes of 16
# signs apart. Write your guess down, then train: 400 steps of Adam on fresh batches of 64, the error on 2,000 fresh
# sequences, seeds 0, 1 and 2.
#
# The band in the picture is the standard deviation over the seeds. Fifteen trainings take a while; a line is printed
# after every three.

# %%
def train_retrieval(make, seed):
    """Train what make() gives on the retrieval task. Returns the module and its mean squared error."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    module = make()
    optimizer = torch.optim.Adam(module.parameters(), lr=5e-3)
    for _ in range(400):
        query, memory, target = retrieval_batch(64, generator)
        loss = (module(query, memory, memory)[0] - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    query, memory, target = retrieval_batch(2000, generator)
    with torch.no_grad():
        return module, (module(query, memory, memory)[0] - target).square().mean().item()

# %%
head_counts, seeds, trained, errors = (1, 2, 4, 8, 16), (0, 1, 2), {}, {}
with needs(MultiHeadAttention):
    for heads in head_counts:
        runs = [train_retrieval(lambda heads=heads: MultiHeadAttention(64, heads), seed) for seed in seeds]
        trained[heads], errors[heads] = runs[0][0], torch.tensor([error for _, error in runs])
        low, high = errors[heads].min(), errors[heads].max()
        print(f"heads {heads:2d}, width {64 // heads:2d}: error {errors[heads].mean():.3f}, three seeds from {low:.3f} to {high:.3f}")
    measured = torch.stack([errors[heads] for heads in head_counts])
    plots.curves(
        head_counts,
        {"measured": (measured.mean(1), measured.std(1)), "from counting looks": [max(0.0, 1 - heads / 4) for heads in head_counts]},
        title="Retrieving four things at once",
        alt="Error against heads. It falls from 0.75 at one head over 0.5 at two to 0 at four, as predicted, then rises again for 8 and 16.",
        xlabel="heads",
        ylabel="mean squared error",
        xlog=True,
        levels={"always guess 0": 1.0},
    )

# %% [markdown]
# As predicted up to four heads: in this one layer a single head can't do it, and longer training would not help.
# Beyond four the error rises again, since a narrow head takes one label for another. More heads aren't better or
# worse as such: many looks or sharp looks, the width pays for both.
#
# ## What each head looks at
#
# The trained modules, seed 0, on one fresh sequence that asks for the items 0, 1, 2, 3 in this order. Before you
# look: what will the row of the single head be, and what the rows of the four?

# %%
query, memory, _ = retrieval_batch(1, torch.Generator().manual_seed(7), in_order=True)
with needs(MultiHeadAttention), torch.no_grad():
    _, untrained = MultiHeadAttention(64, 4)(query, memory, memory)
    one, four, sixteen = (trained[heads](query, memory, memory)[1][0, :, 0] for heads in (1, 4, 16))
    plots.heatmap(
        torch.cat([untrained[0, :1, 0], one, four, four.mean(0, keepdim=True)]),
        title="Heads that ask for items 0, 1, 2 and 3",
        alt="An untrained head is blurred. The single head is bright on one wanted item. Four heads are each bright on one item, "
        "all four covered; their mean is pale on four items.",
        rows=["an untrained head", "1 head", *(f"head {head} of 4" for head in range(4)), "mean of the 4"],
        xlabel="item",
        values=True,
    )
    plots.heatmap(
        sixteen,
        title="Sixteen heads of four numbers each",
        alt="Sixteen rows. Most are bright on one of the first four items, some blurred over several or bright on an unwanted one.",
        xlabel="item",
        ylabel="head",
    )

# %% [markdown]
# Four heads have shared the work without being told, in an order that chance has set. Their *mean* is pale on four
# items, as if everything were blurred, while each look is sharp. So a picture of averaged weights hides just what
# matters: look at the heads one by one.
#
# Does a head know its own slot? Take away one head at a time: set its rows of the value projection to zero. Which
# of the four contents suffers, on 2,000 fresh sequences? An untrained module and the whole one stand above, to compare.

# %%
query, memory, target = retrieval_batch(2000, torch.Generator().manual_seed(7))


def content_errors(module):
    """The mean squared error of each of the four contents."""
    return (module(query, memory, memory)[0] - target).square().mean((0, 1)).reshape(4, 16).mean(-1)


with needs(MultiHeadAttention), torch.no_grad():
    rows = {"untrained": content_errors(MultiHeadAttention(64, 4)), "all four heads": content_errors(trained[4])}
    for head in range(4):
        damaged = copy.deepcopy(trained[4])
        for parameter in damaged.w_v.parameters():
            parameter[16 * head : 16 * head + 16] = 0.0
        rows[f"without head {head}"] = content_errors(damaged)
    plots.heatmap(
        torch.stack(list(rows.values())),
        title="Error of each content, one head taken away",
        alt="Six rows. Untrained: all four near 1. All four heads: all near 0. Below, each row has one cell near 1 and three "
        "near 0, and so has each column.",
        rows=list(rows),
        xlabel="content asked for",
        values=True,
    )

# %% [markdown]
# One head, one content: without it that content is lost, and the others are as good as before. In large models the
# roles are seldom so clean, and some heads can be taken away with no harm at all.
#
# ## Heads that share keys
#
# A model that writes keeps keys and values of everything so far: for each position 2 · H · D = 2M numbers in each
# layer. Must every head have its own? In *grouped-query attention* several heads ask with queries of their own, but
# read the same keys and values.
#
# With 6 heads and 2 key-value heads, three heads read each. *Neighbours* share: head h reads number h // 3. As a
# loop:

# %%
n_heads, n_kv_heads = 6, 2
group = n_heads // n_kv_heads
for head in range(n_heads):
    print(f"head {head} reads key-value head {head // group}")

# %% [markdown]
# **Exercise: `GroupedQueryAttention`.** `__init__` is given, with narrower `w_k` and `w_v`: they make `n_kv_heads`
# heads of width D = M / H. Write `forward`. Inputs, masks and returns are those of `MultiHeadAttention`, with
# attention weights (B, H, T, S) for every query head; there is no dropout.
#
# With `n_kv_heads` equal to `n_heads` it must give what `MultiHeadAttention` gives, and with 1 all heads share one
# set of keys. The checks put numbers into its parameters by name; gradients reach all of them. No function of PyTorch
# is forbidden here.

# %% nbgrader={"grade": false, "grade_id": "GroupedQueryAttention", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["scaled_dot_product_attention", "split_heads", "merge_heads"]
class GroupedQueryAttention(nn.Module):
    """Attention where head h reads key-value head h // (n_heads // n_kv_heads). Returns (output, weights of every head).

    query (B, T, M), key (B, S, M), value (B, S, M) -> (B, T, M), (B, H, T, S)
    """

    def __init__(self, d_model, n_heads, n_kv_heads, bias=True):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError(f"n_kv_heads = {n_kv_heads} must divide n_heads = {n_heads}, and that d_model = {d_model}")
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        narrow = d_model // n_heads * n_kv_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, narrow, bias=bias)
        self.w_v = nn.Linear(d_model, narrow, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, mask=None):
        ### BEGIN SOLUTION
        group = self.n_heads // self.n_kv_heads
        q = split_heads(self.w_q(query), self.n_heads)
        k = split_heads(self.w_k(key), self.n_kv_heads).repeat_interleave(group, dim=1)
        v = split_heads(self.w_v(value), self.n_kv_heads).repeat_interleave(group, dim=1)
        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]
        mixed, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.w_o(merge_heads(mixed)), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_GroupedQueryAttention", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(GroupedQueryAttention)

# %%
# hint(GroupedQueryAttention)

# %% [markdown]
# What is saved? Width 4,096 and 32 heads, 16-bit numbers, one layer: the keys and values kept for 8,192 positions.

# %%
mebibytes = {str(kv): 2 * kv * (4096 // 32) * 8192 * 2 / 2**20 for kv in (32, 8, 4, 1)}
plots.bars(
    mebibytes,
    title="Keys and values of one layer, 8,192 positions",
    alt="Four bars that shrink with the number of key-value heads, from 128 MiB at 32 to 4 MiB at one.",
    xlabel="key-value heads",
    ylabel="MiB",
)

# %% [markdown]
# And what is lost? Back to the retrieval task, 4 query heads. All of them look for labels of the same kind in the
# same items. Predict the error with one shared set of keys and values, seeds 0 and 1. Six trainings take a while again.

# %%
with needs(GroupedQueryAttention):
    for shared in (4, 2, 1):
        runs = [train_retrieval(lambda shared=shared: GroupedQueryAttention(64, 4, shared), seed) for seed in seeds[:2]]
        parameters = sum(parameter.numel() for parameter in runs[0][0].parameters())
        print(f"key-value heads {shared}, {parameters:,} parameters: errors {[round(error, 4) for _, error in runs]}")

# %% [markdown]
# Nothing is lost here: the heads differ in what they ask, not in how the items are labelled. One query head can't do
# the task in this layer; four can, though they share one set of keys and values. Here several looks were needed, not
# several sets of keys.
#
# ## What you have built
#
# Multi-head attention that equals PyTorch's, with weights for every head, and its cousin that shares keys. Its
# answer holds the same for a batch, a mask of any shape, and a memory of another length. In the next notebook it
# becomes part of a block.

# %%
progress()
