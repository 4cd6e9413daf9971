"""Public checks and hints of 01_soft_retrieval."""

import math

import torch
from torch.overrides import TorchFunctionMode

from course_utils.compare import Mismatch, close, raises

# The root of D taken as a float32 tensor is right as well, and 3e-8 off.
NEAR = {"atol": 1e-6, "rtol": 1e-6}
KEYS = [[1.0, 0.0], [0.0, 1.0], [3.0, 1.0]]
VALUES = [[10.0, 0.0, 1.0], [20.0, 0.0, 2.0], [30.0, 5.0, 3.0]]


def exact(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def hard_lookup(answer, case):
    with case("three keys by hand: at (1, 2) the scores are 1, 2 and 5, so the third value is taken"):
        close(answer(exact([1.0, 2.0]), exact(KEYS), exact(VALUES)), exact(VALUES[2]))
    with case("at (0, 2) the scores are 0, 2 and 2: of the two equal ones the first counts"):
        close(answer(exact([0.0, 2.0]), exact(KEYS), exact(VALUES)), exact(VALUES[1]))
    with case("at (-3, -1) all scores are negative: -3, -1 and -10"):
        close(answer(exact([-3.0, -1.0]), exact(KEYS), exact(VALUES)), exact(VALUES[1]))
    with case("float32 stays float32, with one key alone"):
        close(answer(torch.ones(2), torch.ones(1, 2), torch.tensor([[7.0]])), torch.tensor([7.0]))
    with case("gradient: it reaches the value that is taken and no other"):
        values = exact(VALUES).requires_grad_()
        _with_graph(answer(exact([1.0, 2.0]), exact(KEYS), values)).sum().backward()
        close(values.grad, exact([[0.0] * 3, [0.0] * 3, [1.0] * 3]), what="the gradient")


def soft_lookup(answer, case):
    keys = exact([[0.0, 1.0], [math.log(2), 1.0], [math.log(5), 1.0]])
    values = exact([[8.0, 0.0, 0.0], [0.0, 16.0, 0.0], [0.0, 0.0, 24.0]])
    query = exact([1.0, 0.0])
    with case("scores 0, ln 2, ln 5 at temperature 1: weights 1/8, 2/8, 5/8"):
        close(answer(query, keys, values, 1.0), exact([1.0, 4.0, 15.0]), **NEAR)
    with case("the same at temperature 1/2: weights 1/30, 4/30, 25/30"):
        close(answer(query, keys, values, 0.5), exact([8 / 30, 64 / 30, 600 / 30]), **NEAR)
    with case("equal keys: the mean of the values at any temperature"):
        close(answer(exact([1.0, 5.0]), exact([[2.0, 1.0]] * 3), values, 7.0), exact([8 / 3, 16 / 3, 8.0]), **NEAR)
    with case("temperature 1e-6: the best book alone, and all finite"):
        close(answer(query, keys, values, 1e-6), exact([0.0, 0.0, 24.0]), **NEAR)
    with case("temperature 0 and temperature -2.5 raise a ValueError; the message says -2.5"):
        raises(ValueError, answer, query, keys, values, 0.0)
        raises(ValueError, answer, query, keys, values, -2.5, mentions=("2.5",))
    with case("float32 stays float32"):
        close(answer(torch.ones(2), torch.ones(1, 2), torch.tensor([[7.0]]), 2.0), torch.tensor([7.0]))
    with case("gradient: the values get the weights 1/8, 2/8, 5/8"):
        values = values.requires_grad_()
        _with_graph(answer(query, keys, values, 1.0))[0].backward()
        close(values.grad[:, 0], exact([1 / 8, 2 / 8, 5 / 8]), what="the gradient", **NEAR)


def _small():
    """Two queries, three keys, D = 4: weights 2/8, 1/8, 5/8 and three thirds."""
    query = exact([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    key = exact([[math.log(2), 1.0, 0.0, 3.0], [0.0, 2.0, 5.0, 0.0], [math.log(5), 0.0, 1.0, 1.0]])
    return query, key, exact([[8.0], [16.0], [0.0]])


def scaled_dot_product_attention(answer, case):
    query, key, value = _small()
    output, weights = exact([[4.0], [8.0]]), exact([[2 / 8, 1 / 8, 5 / 8], [1 / 3, 1 / 3, 1 / 3]])
    with case("two queries, three keys, D = 4: output and weights by hand"):
        with _NotTheLibrary():
            result = answer(query, key, value)
        close(result, (output, weights), **NEAR)
    with case("leading dimensions (2, 1): each example stays by itself"):
        two = [torch.stack([x, x.flip(0)])[:, None] for x in (query, key, value)]
        expected = [torch.stack([x, x.flip(0)])[:, None] for x in (output, weights)]
        expected[1][1] = expected[1][1].flip(-1)
        close(answer(*two), expected, **NEAR)
    _mask_cases(answer, case, query, key, value)
    _dropout_cases(answer, case, query, key, value)
    with case("float32 stays float32, float16 stays float16, with a mask too"):
        mask = torch.tensor([True, False, True])
        for dtype in (torch.float32, torch.float16):
            got = answer(query.to(dtype), key.to(dtype), value.to(dtype), mask)
            close(got, (exact([[16 / 7], [4.0]]).to(dtype), exact([[2 / 7, 0, 5 / 7], [0.5, 0, 0.5]]).to(dtype)))
    with case("gradient: it reaches query, key and value, and is finite through a row that may attend nothing"):
        args = [x.clone().requires_grad_() for x in (query, key, value)]
        result, _ = answer(*args, torch.tensor([[True, True, True], [False, False, False]]))
        _with_graph(result).sum().backward()
        close(args[2].grad, exact([[2 / 8], [1 / 8], [5 / 8]]), what="the gradient of value", **NEAR)
        close(args[0].grad[1], exact([0.0] * 4), what="the gradient of the query that may attend nothing")
        close(args[1].grad[:, 0], exact([1.0, 1.5, -2.5]), what="the gradient of key, first column", **NEAR)


def _mask_cases(answer, case, query, key, value):
    with case("a mask hides the second key: weights 2/7, 0, 5/7 and 1/2, 0, 1/2"):
        expected = exact([[16 / 7], [4.0]]), exact([[2 / 7, 0.0, 5 / 7], [0.5, 0.0, 0.5]])
        close(answer(query, key, value, torch.tensor([[True, False, True]] * 2)), expected, **NEAR)
    with case("the same mask as (S,) and as (1, S)"):
        for mask in (torch.tensor([True, False, True]), torch.tensor([[True, False, True]])):
            close(answer(query, key, value, mask), expected, **NEAR)
    with case("the key and the value of a hidden place may hold any numbers up to 1e30"):
        wild_key, wild_value = key.clone(), value.clone()
        wild_key[1], wild_value[1] = 1e30, -1e30
        close(answer(query, wild_key, wild_value, torch.tensor([True, False, True])), expected, **NEAR)
    with case("a query that may attend nothing gets zeros"):
        mask = torch.tensor([[True, True, True], [False, False, False]])
        close(answer(query, key, value, mask), (exact([[4.0], [0.0]]), exact([[2 / 8, 1 / 8, 5 / 8], [0.0] * 3])), **NEAR)
    with case("a mask of floats and a mask of integers raise a TypeError"):
        raises(TypeError, answer, query, key, value, torch.ones(2, 3))
        raises(TypeError, answer, query, key, value, torch.ones(2, 3, dtype=torch.int64))


def _dropout_cases(answer, case, query, key, value):
    with case("dropout_p without training changes nothing"):
        close(answer(query, key, value, None, 0.9), answer(query, key, value), **NEAR)
    with case("in training with p = 1/4, equal keys: in the output each weight is 0 or 4/3 times as large"):
        many = torch.eye(64, dtype=torch.float64)
        result, kept = answer(query[1:].expand(64, 4), key[:1].expand(64, 4), many, None, 0.25, True)
        close(kept, torch.full((64, 64), 1 / 64, dtype=torch.float64), what="the weights, those before dropout", **NEAR)
        close(result * 48, (result * 48 > 0.5).double(), what="output over the enlarged weight", **NEAR)
        if not 0.7 < float(result.sum()) * 48 / 64**2 < 0.8:
            raise Mismatch("about three of four weights should survive")


class _NotTheLibrary(TorchFunctionMode):
    """Refuses PyTorch's own attention inside the `with` block."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") in ("scaled_dot_product_attention", "multi_head_attention_forward"):
            raise Mismatch("PyTorch's own attention was called: write it by hand")
        return function(*args, **(kwargs or {}))


def causal_mask(answer, case):
    with case("length 3 by hand"):
        close(answer(3), torch.tensor([[True, False, False], [True, True, False], [True, True, True]]))
    with case("length 1: the position may attend itself"):
        close(answer(1), torch.tensor([[True]]))
    with case("the mask is made on the device asked for (tried with PyTorch's device 'meta', which keeps shapes only)"):
        mask = answer(3, device="meta")
        if not isinstance(mask, torch.Tensor) or mask.device.type != "meta":
            raise Mismatch("the mask was made on another device")


def padding_mask(answer, case):
    lengths = torch.tensor([2, 4, 0])
    with case("lengths 2, 4 and 0 of at most 4, by hand"):
        expected = torch.tensor([[True, True, False, False], [True] * 4, [False] * 4])[:, None, None, :]
        close(answer(lengths, 4), expected)
    with case("lengths as int32 give the same"):
        close(answer(lengths.int(), 4), expected)
    with case("a length of 13 where at most 4 fit raises a ValueError that says both numbers"):
        raises(ValueError, answer, torch.tensor([2, 13, 0]), 4, mentions=("13", "4"))
    with case("a length of -3 raises a ValueError that says both numbers"):
        raises(ValueError, answer, torch.tensor([2, -3, 0]), 4, mentions=("-3", "4"))
    if torch.cuda.is_available():
        with case("lengths on the graphics card: so is the mask"):
            close(str(answer(lengths.cuda(), 4).device.type), "cuda", what="the device of the mask")


def _with_graph(result):
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        raise Mismatch("no gradient can flow back: was the input detached, or turned into numbers or NumPy on the way?")
    return result


HINTS = {
    "hard_lookup": (
        "You need one score for each key first. Then you need the place of the largest score, not the score itself.",
        "keys @ query gives all S scores at once. A tensor has a method that returns the place of its largest "
        "entry, the first "
        "one where several are equal.",
        "place = (keys @ query).argmax(); and values can be indexed with it.",
    ),
    "soft_lookup": (
        "Three steps: scores, weights, mixture. The temperature acts on the scores, before they become weights.",
        "Refuse a temperature <= 0 first, with an f-string that holds the number. Then divide the scores by it and"
        " give them to "
        "softmax. A row of weights (S,) times a matrix of values (S, E) is the mixture (E,).",
        "weights = softmax(keys @ query / temperature, dim=0); and the mixture is weights @ values. Before it: "
        'if temperature <= 0: raise ValueError(f"temperature must be positive, got {temperature}").',
    ),
    "scaled_dot_product_attention": (
        "Five steps: scaled scores (..., T, S); hide what the mask forbids; softmax along the keys; dropout on a "
        "copy of the "
        "weights; mix the values. Return the mixture and the weights from before dropout.",
        "key.mT swaps the last two axes, whatever stands in front. D is query.shape[-1]. A hidden "
        "score must "
        "become -inf before the softmax: see masked_fill, and ~mask. The course's softmax turns a row of only -inf"
        " into "
        "zeros. F.dropout(weights, dropout_p, training) does nothing where training is False.",
        "scores = query @ key.mT / math.sqrt(query.shape[-1]); where there is a mask: TypeError if "
        "mask.dtype "
        "!= torch.bool, then scores = scores.masked_fill(~mask, -math.inf); weights = softmax(scores, dim=-1); and the "
        "output is F.dropout(weights, dropout_p, training) @ value.",
    ),
    "causal_mask": (
        "Row t is True in the columns 0 to t. Which shape do the True entries of the whole matrix form?",
        "Start from a matrix full of True, made on the device, and keep its lower triangle with the diagonal; or "
        "compare "
        "torch.arange(length) as a column with itself as a row.",
        "torch.ones(length, length, dtype=torch.bool, device=device) has a method tril().",
    ),
    "padding_mask": (
        "Place s of a sequence is allowed while s is smaller than the length of this sequence. That is one "
        "comparison for all "
        "places and all sequences, if the shapes broadcast.",
        "Make the places with torch.arange(max_length, device=lengths.device), compare them with the lengths as a "
        "column "
        "(B, 1), and put two axes of size 1 in between with None indices or reshape. Check the lengths before.",
        "(places < lengths[:, None])[:, None, None, :] is the mask. Before it: for length in lengths.tolist(): raise a "
        "ValueError that holds length and max_length unless 0 <= length <= max_length.",
    ),
}
