# %% [markdown]
# # Soft retrieval
#
# Attention is a lookup in a library. A *query* says what is wished for, *keys* are the labels on the spines, *values*
# are the books. A hard lookup hands out one book. A soft lookup mixes all of them, the fitting ones most.
#
# Each letter stands for one size, in all shapes of this course:
#
# | letter | size | letter | size |
# | --- | --- | --- | --- |
# | B | batch | T | positions that ask (queries) |
# | H | heads | S | positions that answer (keys, values) |
# | D | width of queries and keys (d_k in papers) | E | width of values |

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, hint, needs, plots, progress
from course_utils.parts import softmax

# %% [markdown]
# ## Hard lookup
#
# Four books, each with a label of three numbers: how much it tells of the sea, of the stars and of history. The value
# of a book is its place on the floor plan, in two numbers. A value can be anything; places are easy to draw.

# %%
titles = ["Whales", "Navigation", "Galaxies", "Pirates"]
labels = torch.tensor([[3.0, 0.0, 0.0], [2.0, 2.0, 1.0], [0.0, 3.0, 0.0], [2.0, 0.0, 2.0]])
places = torch.tensor([[0.0, 0.0], [4.0, 1.0], [5.0, 4.0], [1.0, 3.0]])
wish = torch.tensor([2.0, 1.5, 0.0])

# %% [markdown]
# The wish is for sea and stars, a little more for the sea. How well does a label fit? We multiply number by number and
# add up: the dot product. Compute the four scores on paper, then run the loop.
#
# The last line does the same at once: a matrix (S, D) times a vector (D,).

# %%
for title, label in zip(titles, labels, strict=True):
    score = sum(w * a for w, a in zip(wish.tolist(), label.tolist(), strict=True))
    print(f"{title:10s} {score}")
print("all at once:", labels @ wish)

# %% [markdown]
# ## Exercise: `hard_lookup`
#
# Return the value of the key that has the largest dot product with the query. If several keys share the largest score,
# the first of them counts. All scores may be negative.
#
# Neither the norm of a key (how long it is as an arrow) nor its distance from the query is asked for, only the dot
# product. Pick the value out of the tensor, so that its dtype stays and gradients reach it.

# %% nbgrader={"grade": false, "grade_id": "hard_lookup", "locked": false, "schema_version": 3, "solution": true, "task": false}
def hard_lookup(query, keys, values):
    """Return the value of the key with the largest dot product, the first of equals.

    query (D,), keys (S, D), values (S, E) -> (E,)
    """
    ### BEGIN SOLUTION
    return values[(keys @ query).argmax()]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_hard_lookup", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(hard_lookup)

# %%
# hint(hard_lookup)  # remove the first "#", run, and run again for the next hint

# %% [markdown]
# Now turn the wish a little, from sea to stars, and see which place comes back. Predict: does it move along, or does
# it jump? The last line divides the change of the place by a small change of the wish.

# %%
with needs(hard_lookup):
    for stars in (0.0, 0.4, 0.6, 1.9, 2.1, 3.0):
        turned = torch.tensor([1.0, stars, 0.0])
        print(f"sea 1, stars {stars}: place {hard_lookup(turned, labels, places).tolist()}")
    one, next_one = (hard_lookup(torch.tensor([1.0, stars, 0.0]), labels, places) for stars in (1.0, 1.001))
    print("slope at stars 1:", ((next_one - one) / 0.001).tolist())

# %% [markdown]
# It jumps. Between two jumps nothing changes: the slope is zero, and so is the gradient with respect to the wish.
# Nobody can learn from it how to wish better. That is why we soften the lookup.
#
# ## Soft lookup
#
# We turn scores into weights with the softmax: positive, with sum one. By hand, for the scores 0, ln 2 and ln 5: the
# exponentials are 1, 2 and 5, their sum is 8, so the weights are 1/8, 2/8, 5/8.
#
# A *temperature* says how choosy we are. Scores are divided by it before the softmax. At temperature 1/2 they double,
# so each exponential is squared: 1, 4, 25. What will be the third weight?

# %%
example_scores = [0.0, math.log(2), math.log(5)]
for temperature in (0.5, 1.0, 10.0):
    exponentials = [math.exp(score / temperature) for score in example_scores]
    print(f"temperature {temperature}:", [round(e / sum(exponentials), 4) for e in exponentials])

# %% [markdown]
# The mixture takes each value times its weight and adds up. First as a loop over three books with values of two
# numbers, then as one product: a row of weights (S,) times a matrix (S, E).

# %%
weights = torch.tensor([1 / 8, 2 / 8, 5 / 8])
books = torch.tensor([[8.0, 0.0], [0.0, 16.0], [8.0, 8.0]])
mixture = torch.zeros(2)
for weight, book in zip(weights, books, strict=True):
    mixture = mixture + weight * book
print(mixture, weights @ books)

# %% [markdown]
# ## Exercise: `soft_lookup`
#
# Mix the values with weights from the softmax of the dot products over the temperature. There is no other scale.
# `softmax(x, dim)` is your own from notebook 00, or the course's stand-in until yours passes.
#
# A temperature of 0 or below raises a `ValueError` whose message holds the number. Down to a temperature of 1e-6 the
# result must be right and finite. The dtype stays, and gradients reach query, keys and values.

# %% nbgrader={"grade": false, "grade_id": "soft_lookup", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["softmax"]
def soft_lookup(query, keys, values, temperature):
    """Mix the values: weights are the softmax of the dot products over `temperature` > 0.

    query (D,), keys (S, D), values (S, E) -> (E,)
    """
    ### BEGIN SOLUTION
    if temperature <= 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    return softmax(keys @ query / temperature, dim=0) @ values
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_soft_lookup", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(soft_lookup)

# %%
# hint(soft_lookup)

# %% [markdown]
# Where does the place go, from a cold lookup to a hot one? Predict both ends of the path before you look: one at
# temperature 0.05, one at 50.

# %%
temperatures = torch.logspace(math.log10(0.05), math.log10(50), 40).tolist()
with needs(soft_lookup):
    plots.path(
        torch.stack([soft_lookup(wish, labels, places, temperature) for temperature in temperatures]),
        title="Soft lookup from temperature 0.05 to 50",
        alt="A path on the floor plan. It starts at the best book, Navigation, leans towards Whales and bends to the mean of all places.",
        xlabel="place, first number",
        ylabel="place, second number",
        marks=dict(zip(titles, places, strict=True)) | {"mean": places.mean(0)},
    )

# %% [markdown]
# Cold, the lookup hands out the best book, as the hard one did. A little warmer, the next best book pulls at it. Hot,
# all weights are alike, and the mean of all books comes out. In between, every little turn of the wish moves the
# mixture.
#
# ## Many queries at once
#
# In attention every position of a text asks, so there are T queries. Their scores form a table (T, S): row t holds the
# scores of query t.
#
# Two queries and three keys, as a loop first, then as a matrix product: queries (T, D) times the transposed keys
# (D, S). `.mT` transposes, so that rows become columns.

# %%
two_queries = torch.tensor([[1.0, 0.0], [1.0, 2.0]])
three_keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
table = torch.zeros(2, 3)
for t in range(2):
    for s in range(3):
        table[t, s] = (two_queries[t] * three_keys[s]).sum()
print(table, two_queries @ three_keys.mT, sep="\n")

# %% [markdown]
# `.mT` swaps the last two axes and leaves the others where they are, also in a tensor (B, H, S, D). The older `.T`
# would reverse *all* axes, and `transpose` swaps any two that you name.
#
# In place of a temperature stands a fixed scale, √D. By hand: a dot product of 6 at D = 4 becomes a score of 6 / 2 = 3.
# Papers call our D *d_k*; so does the next notebook, which asks why it is just the root.
#
# ## Masks
#
# Not every query may look at every key. A mask is a boolean tensor, **True = may attend**. What is hidden must get
# weight 0, and the rest must still sum to one. So a hidden score has to change *before* the softmax.

# %%
row = torch.tensor([0.0, math.log(2), math.log(5)])
for hidden_score in (0.0, -2.0, -10.0, -math.inf):
    changed = torch.tensor([row[0].item(), hidden_score, row[2].item()])
    print(hidden_score, softmax(changed, dim=0))

# %% [markdown]
# A score of 0 hides nothing, since exp(0) = 1. Only -inf gives a weight of exactly 0, whatever the other scores are.
# Then 1/6 and 5/6 remain for the two keys that may be seen.
#
# If a query may attend nothing, its whole row is -inf. PyTorch's softmax then says NaN. The course's `softmax` gives
# zeros: no weights, so an output of zeros. Run both.

# %%
nothing = torch.full((3,), -math.inf)
print("PyTorch:   ", torch.softmax(nothing, dim=0))
print("the course:", softmax(nothing, dim=0))

# %% [markdown]
# ## Dropout
#
# While a model trains, some weights are set to 0 at random, each with probability p, so that no query leans on one key.
# Those that survive are divided by 1 - p.
#
# By hand, with p = 1/2: of the weights 0.1, 0.2, 0.3 and 0.4 the second and the fourth are dropped. The four become
# 0.2, 0, 0.6 and 0.
#
# That row sums to 0.8, and another draw to something else. But on average over many draws each weight is what it was.
# Twenty thousand draws with `F.dropout`, seed 0:

# %%
even, kept = torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.tensor([True, False, True, False])
by_hand = even * kept / (1 - 0.5)
print("by hand:", by_hand, f"sum {by_hand.sum():.1f}")
torch.manual_seed(0)
draws = torch.stack([F.dropout(even, 0.5, training=True) for _ in range(20_000)])
print("mean of the draws:", draws.mean(0))
print("row sums from", draws.sum(1).min().item(), "to", draws.sum(1).max().item())
print("outside training: ", F.dropout(even, 0.5, training=False))

# %% [markdown]
# ## Exercise: `scaled_dot_product_attention`
#
# Put the pieces together: scaled scores, mask, softmax over the keys, dropout, mix. Return two values, the output and
# the weights. PyTorch's own attention functions are forbidden; `F.dropout` is not.
#
# * **Shapes.** Any number of leading dimensions, the same in `query`, `key` and `value`. T and S differ, so do D and
#   E.
# * **Mask.** `None`, or boolean, True = may attend, of any shape that broadcasts to (..., T, S), such as (S,), (T, S)
#   or (B, 1, 1, S). Any other dtype raises a `TypeError`.
# * **Nothing to attend.** Such a query gets a row of zeros and an output of zeros.
# * **Hidden places.** Where the mask hides a place from a query, neither its key nor its value changes anything for
#   this query. Both may hold any numbers up to ±1e30.
# * **Dropout** acts on single weights, only if `training` is True, with 0 ≤ `dropout_p` < 1. The weights returned are
#   those *before* dropout.
# * Both results keep the dtype of the inputs, float16 included, and belong to the graph. Gradients are right and
#   always finite, also through queries that may attend nothing.

# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false} uses=["softmax"]
def scaled_dot_product_attention(query, key, value, mask=None, dropout_p=0.0, training=False):
    """Mix the values for every query. Returns (output, weights), the weights from before dropout.

    query (..., T, D), key (..., S, D), value (..., S, E) -> (..., T, E), (..., T, S)
    """
    ### BEGIN SOLUTION
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean (True = may attend), got {mask.dtype}")
        scores = scores.masked_fill(~mask, -math.inf)
    weights = softmax(scores, dim=-1)
    return F.dropout(weights, dropout_p, training) @ value, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_scaled_dot_product_attention", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(scaled_dot_product_attention)

# %%
# hint(scaled_dot_product_attention)

# %% [markdown]
# Eight words, with features made by hand: animal, place, action, grammar (small words). Keys say what a word *is*,
# queries what it *looks for*. In a trained model both are learned.
#
# The verbs look for an animal, "cat" and "and" for an action, "on" for a place. "the" looks for an animal or a place,
# and "mat" for small words, a little also for an action.

# %%
words = "the cat sat on the mat and purred".split()
features = {
    "the": ([0, 0, 0, 2], [1, 1, 0, 0]),
    "cat": ([3, 0, 0, 0], [0, 0, 2, 0]),
    "sat": ([0, 0, 3, 0], [3, 0, 0, 0]),
    "on": ([0, 1, 0, 2], [0, 2, 0, 0]),
    "mat": ([0, 3, 0, 0], [0, 0, 1, 2]),
    "and": ([0, 0, 0, 2], [0, 0, 2, 0]),
    "purred": ([1, 0, 3, 0], [3, 0, 0, 0]),
}
word_keys = torch.tensor([features[word][0] for word in words]).float()
word_queries = torch.tensor([features[word][1] for word in words]).float()
with needs(scaled_dot_product_attention):
    plots.heatmap(
        scaled_dot_product_attention(word_queries, word_keys, word_keys)[1],
        title="Who attends to whom",
        alt="Weights of eight words. The rows of sat and purred are bright at cat, of on at mat, of cat and and at the two verbs.",
        rows=words,
        columns=words,
        xlabel="key: the word that answers",
        ylabel="query: the word that asks",
        values=True,
    )

# %% [markdown]
# Each row sums to one. Both words "the" have the same row and the same column: nothing in a key says where a word
# stands. What follows from that, we measure further below.
#
# ## The causal mask
#
# A model that writes text must not see the words that it has yet to write. Position t may attend to itself and to
# everything before it. With three positions, as a loop:

# %%
for t in range(3):
    print([s <= t for s in range(3)])

# %% [markdown]
# ## Exercise: `causal_mask`
#
# Return this table as a boolean tensor (T, T), True = may attend, for `length` = T ≥ 1.
#
# It is made on `device` where one is given. A device that doesn't exist is left to PyTorch, which raises an error of
# its own as soon as the name is used.

# %% nbgrader={"grade": false, "grade_id": "causal_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(length, device=None):
    """True where position t (row) may attend to position s (column): itself and everything before.

    length -> (T, T)
    """
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_causal_mask", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(causal_mask)

# %%
# hint(causal_mask)

# %% [markdown]
# The eight words again, now with the mask. Predict: what can "sat" find, and what the first "the"? Does any row sum
# to less than one? The cell prints the sums.

# %%
with needs(causal_mask, scaled_dot_product_attention):
    mask = causal_mask(8)
    _, causal_weights = scaled_dot_product_attention(word_queries, word_keys, word_keys, mask)
    plots.heatmap(
        causal_weights,
        title="What the causal mask leaves",
        alt="Weights of the eight words: zero above the diagonal. The first row has a 1 at itself, sat has nearly all at cat.",
        rows=words,
        columns=words,
        xlabel="key",
        ylabel="query",
        values=True,
    )
    print("row sums:", causal_weights.sum(-1))

# %% [markdown]
# Every row still sums to one: hidden keys leave their share to those that may be seen. The first "the" sees itself
# alone, and "sat" still finds the cat. "cat" looks for an action and finds none: no verb has been said yet.
#
# ## The padding mask
#
# Sentences in a batch have different lengths, so the short ones are filled up with padding at the end. Nobody may
# attend to padding. Two sentences of 3 and 1 words, filled up to 4 places:

# %%
for length in (3, 1):
    print([place < length for place in range(4)])

# %% [markdown]
# Scores have the shape (B, H, T, S). All heads and all queries share the row of their sentence, so the mask gets axes
# of size 1 there: (B, 1, 1, S). Broadcasting lines up shapes from the right. Compare the two:

# %%
for shape in ((2, 4), (2, 1, 1, 4)):
    try:
        print(shape, "->", tuple(torch.broadcast_shapes(shape, (2, 3, 5, 4))))
    except RuntimeError:
        print(shape, "does not fit (2, 3, 5, 4)")

# %% [markdown]
# ## Exercise: `padding_mask`
#
# From `lengths`, a tensor of int32 or int64, make the boolean mask (B, 1, 1, S), S = `max_length`: True on the first
# `length` places of each sentence, on the device of `lengths`. 0 and `max_length` are both allowed.
#
# A length below 0 or above `max_length` raises a `ValueError`. Its message holds this length and `max_length`; where
# several lengths are bad, name any of them.

# %% nbgrader={"grade": false, "grade_id": "padding_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def padding_mask(lengths, max_length):
    """True on the tokens of each sequence, False on the padding behind them.

    lengths (B,) -> (B, 1, 1, S)
    """
    ### BEGIN SOLUTION
    for length in lengths.tolist():
        if not 0 <= length <= max_length:
            raise ValueError(f"a length of {length} is not in 0..{max_length}")
    places = torch.arange(max_length, device=lengths.device)
    return (places < lengths[:, None])[:, None, None, :]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_padding_mask", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(padding_mask)

# %%
# hint(padding_mask)

# %% [markdown]
# A model that writes text in batches needs both masks. Boolean masks are combined with `&`, and broadcasting does the
# rest. Which shape comes out, and what does the mask of a sentence with three words look like? In the picture 1 means
# "may attend".

# %%
with needs(padding_mask, causal_mask):
    padding = padding_mask(torch.tensor([5, 3, 1]), 5)
    both = padding & causal_mask(5)
    plots.heatmaps(
        {f"length {length}": both[row, 0].int() for row, length in enumerate((5, 3, 1))},
        title="Causal and padding mask together",
        alt="Three masks of 5 by 5, 1 in the lower triangle. It is cut off on the right behind 5, 3 and 1 words.",
        xlabel="key",
        ylabel="query",
        values=True,
    )
    print("shape of both together:", tuple(both.shape))

# %% [markdown]
# ## What attention can't tell: order
#
# Claim: "attention is invariant to the order of its inputs". Shuffle the eight words and compare. If it were
# *invariant*, the same output would come out. If it is *equivariant*, the outputs are shuffled along. Which is it?

# %%
torch.manual_seed(0)
x = torch.randn(8, 4, dtype=torch.float64)
order = torch.randperm(8)
with needs(scaled_dot_product_attention, causal_mask):
    for name, mask in {"no mask": None, "causal": causal_mask(8)}.items():
        plain, _ = scaled_dot_product_attention(x, x, x, mask)
        shuffled, _ = scaled_dot_product_attention(x[order], x[order], x[order], mask)
        print(f"{name}: invariant up to {(shuffled - plain).abs().max():.1e}, "
              f"equivariant up to {(shuffled - plain[order]).abs().max():.1e}, "
              f"its mean invariant up to {(shuffled.mean(0) - plain.mean(0)).abs().max():.1e}")

# %% [markdown]
# Without a mask the outputs are shuffled along, up to rounding: equivariant. Only after pooling, here the mean, does
# order vanish entirely. The causal mask destroys both, for it says who stands before whom. Notebook 03 gives words a
# place.
#
# ## Three meanings of a mask
#
# Elsewhere you can't be sure. `F.scaled_dot_product_attention` reads True as *may attend*, as we do;
# `nn.MultiheadAttention` reads it as *hidden*; both add a mask of floats to the scores. Older code hides where
# `mask == 0`.
#
# Three readers, one causal mask in four spellings, and no mask at all to compare. Each reader returns its weights; of
# `F.scaled_dot_product_attention` we get them by giving the identity matrix as values.

# %%
allowed = torch.ones(6, 6, dtype=torch.bool).tril()
masks = {
    "True, False": allowed,
    "False, True": ~allowed,
    "0, -inf": torch.zeros(6, 6).masked_fill(~allowed, -math.inf),
    "1.0, 0.0": allowed.float(),
    "no mask": None,
}
torch.manual_seed(0)
tokens = torch.randn(1, 6, 8)
token_scores = tokens @ tokens.mT / math.sqrt(8)
multihead = nn.MultiheadAttention(8, 1, batch_first=True).eval()
readers = {
    "F.scaled_dot_product_attention": lambda m: F.scaled_dot_product_attention(
        tokens, tokens, torch.eye(6)[None], attn_mask=m
    ),
    "nn.MultiheadAttention": lambda m: multihead(tokens, tokens, tokens, attn_mask=m)[1],
    "hides where mask == 0": lambda m: torch.softmax(
        token_scores if m is None else token_scores.masked_fill(m == 0, -math.inf), -1
    ),
}

# %% [markdown]
# We measure what leaks: the share of all weight that lies on *later* positions. With a mask it should be 0. Rows of
# NaN are left out. Predict which cells are 0, and which are 1: the future and nothing else.

# %%
with torch.no_grad():
    read = [[reader(m).nan_to_num(0.0) for m in masks.values()] for reader in readers.values()]
    leaks = torch.tensor([[weights.triu(1).sum() / weights.sum() for weights in line] for line in read])
plots.heatmap(
    leaks,
    title="Share of the weight that lies on the future",
    alt="Three readers by four spellings of one causal mask, and no mask. Each reads some spellings rightly, at 0; others "
    "reach 1. Ones and zeros that are added leak less than no mask does.",
    rows=list(readers),
    columns=list(masks),
    ylabel="reader",
    xlabel="how the mask writes: may attend, hidden",
    values=True,
)

# %% [markdown]
# No reader complained. A mask that says the opposite lets through the future *alone*. Where ones and zeros are added,
# the future gets less than without a mask, but not nothing. So in this course a mask that isn't boolean raises an error.
#
# ## A padding mask of the wrong shape
#
# Claim: "a padding mask of shape (B, S) is fine". Against (B, H, T, S) it raises an error, unless B equals T: then it
# is read as (queries, keys), without a word. Four sentences of four places, seed 0, then three of them:

# %%
lengths = torch.tensor([4, 2, 3, 1])
torch.manual_seed(0)
batch = torch.randn(4, 2, 4, 8)
with needs(padding_mask, scaled_dot_product_attention):
    right = scaled_dot_product_attention(batch, batch, batch, padding_mask(lengths, 4))[1]
    wrong = scaled_dot_product_attention(batch, batch, batch, padding_mask(lengths, 4).reshape(4, 4))[1]
    print(f"weights differ by up to {(wrong - right).abs().max():.2f}")
    print(f"mean weight on padding per query: {(wrong * ~padding_mask(lengths, 4)).sum(-1).mean():.2f} (should be 0)")
    sums = wrong.sum(-1)
    print(f"right shape: {wrong.shape == right.shape}, row sums from {sums.min():.2f} to {sums.max():.2f}")
    try:
        scaled_dot_product_attention(batch[:3], batch[:3], batch[:3], padding_mask(lengths[:3], 4).reshape(3, 4))
    except RuntimeError as error:
        print("three sentences:", error)

# %% [markdown]
# Query t got the padding of sentence t, whatever sentence it stood in. Every row sums to one, the shape is right,
# nothing fails. With three sentences of four places, sizes that differ, the fault shows at once.
#
# ## Minus a billion
#
# Claim: "-1e9 does as well as -inf". Let us try it in half precision, then *added* to scores in place of filled in,
# as often seen. What is left of the scores 1, 2, 3?

# %%
try:
    torch.zeros(3, dtype=torch.float16).masked_fill(torch.tensor([True, False, True]), -1e9)
except RuntimeError as error:
    print("float16:", error, "| its largest number:", torch.finfo(torch.float16).max)
scores = torch.tensor([1.0, 2.0, 3.0])
print("added, float32:", scores + -1e9, "->", torch.softmax(scores + -1e9, dim=0))
print("without it:    ", torch.softmax(scores, dim=0))
print("gap between neighbours at 1e9:", (torch.nextafter(torch.tensor(1e9), torch.tensor(2e9)) - 1e9).item())

# %% [markdown]
# float16 ends at 65,504, so PyTorch refuses. In float32 neighbours near a billion lie 64 apart: the scores are
# erased, and a row that is hidden entirely becomes uniform. It looks like attention, and attends to padding.
#
# ## NaN spreads
#
# With -inf and a plain softmax, a row that may attend nothing is NaN. "It is padding, nobody looks at it," people
# say. Then comes layer two, which hides that row with weight 0. What is 0 · NaN?

# %%
torch.manual_seed(0)
x = torch.randn(5, 4)
seen = torch.ones(5, 5, dtype=torch.bool)
seen[2] = False
first = torch.softmax((x @ x.mT / 2).masked_fill(~seen, -math.inf), -1) @ x
second = torch.softmax((x @ x.mT / 2).masked_fill(~seen.mT, -math.inf), -1) @ first
print("0 · NaN =", (torch.tensor(0.0) * torch.tensor(math.nan)).item())
for layer, result in {"one": first, "two": second}.items():
    print(f"rows with NaN after layer {layer}: {int(result.isnan().any(-1).sum())} of {len(result)}")

# %% [markdown]
# One bad row spoils all of them, though its weight is 0 everywhere. With zeros for such a row nothing spreads,
# forward or backward. The same two layers with your attention, and its gradient:

# %%
with needs(scaled_dot_product_attention):
    leaf = x.clone().requires_grad_()
    first, _ = scaled_dot_product_attention(leaf, leaf, leaf, seen)
    second, _ = scaled_dot_product_attention(leaf, leaf, first, seen.mT)
    second.sum().backward()
    print("finite forward:", second.isfinite().all().item(), "and backward:", leaf.grad.isfinite().all().item())

# %% [markdown]
# ## Two traps with dropout
#
# Claim: "`dropout_p` is off in `eval()`". `F.scaled_dot_product_attention` is a function and knows nothing of your
# module's mode. Two calls with the same inputs, seed 0:

# %%
torch.manual_seed(0)
x = torch.randn(1, 5, 4)
for p in (0.5, 0.0):
    one, two = (F.scaled_dot_product_attention(x, x, x, dropout_p=p) for _ in range(2))
    print(f"dropout_p={p}: two calls differ by {(one - two).abs().max():.2f}")

# %% [markdown]
# It always drops. Whoever calls it must pass 0.0 outside training; your function has the argument `training` for
# that.
#
# Claim: "keep the weights in the module for a plot". Kept after dropout, rows no longer sum to one. How far off?

# %%
torch.manual_seed(0)
weights = torch.softmax(torch.randn(500, 8), dim=-1)
sums = F.dropout(weights, 0.3, training=True).sum(-1)
print(f"row sums after dropout with p = 0.3, 500 rows: {sums.min():.2f} to {sums.max():.2f}")

# %% [markdown]
# So we return the weights from before dropout. And we return them rather than keep them: a tensor of the graph stored
# in a module makes `copy.deepcopy` fail, which is used to keep the best model.

# %%
module = nn.Linear(2, 2)
module.last_weights = module(torch.ones(1, 2))
try:
    copy.deepcopy(module)
except RuntimeError as error:
    print(str(error).split(".")[0])

# %% [markdown]
# ## What you have built
#
# A soft lookup for many queries at once, safe with masks, with rows that have nothing to attend, and with dropout. Your
# attention is the part that every later notebook builds on.

# %%
progress()

# %% [markdown]
# To hand in, save the notebook and send it under its own name, `01_soft_retrieval.ipynb`. Next, in `02_why_sqrt_dk`:
# why are the scores divided by √D, and what happens if they aren't?
