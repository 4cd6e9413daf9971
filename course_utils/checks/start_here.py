"""Public checks and hints of 00_start_here."""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_utils.compare import Mismatch, close

MINUS_INFINITY = float("-inf")


def softmax(answer, case):
    with case("three scores by hand: 1/8, 2/8, 5/8"):
        scores = torch.tensor([0.0, math.log(2), math.log(5)], dtype=torch.float64)
        close(answer(scores, 0), torch.tensor([0.125, 0.25, 0.625], dtype=torch.float64))
    with case("two rows of three: each row sums to one along dim=1, each column along dim=0"):
        scores = torch.tensor([[0.0, math.log(3), 0.0], [math.log(3), 0.0, 0.0]], dtype=torch.float64)
        close(answer(scores, 1), torch.tensor([[0.2, 0.6, 0.2], [0.6, 0.2, 0.2]], dtype=torch.float64))
        close(answer(scores, 0), torch.tensor([[0.25, 0.75, 0.5], [0.75, 0.25, 0.5]], dtype=torch.float64))
    with case("scores of 10,000 and of -10,000 in one tensor: 1/4 and 3/4 in both rows"):
        scores = torch.tensor([[1e4, 1e4], [-1e4, -1e4]], dtype=torch.float64) + torch.tensor([0.0, math.log(3)])
        close(answer(scores, -1), torch.tensor([[0.25, 0.75], [0.25, 0.75]], dtype=torch.float64), atol=1e-6)
    with case("a score of -inf gets weight 0; a row of nothing but -inf gets zeros"):
        scores = torch.tensor([[0.0, 0.0, MINUS_INFINITY], [MINUS_INFINITY] * 3], dtype=torch.float64)
        close(answer(scores, -1), torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64))
    with case("float32 stays float32, float16 stays float16"):
        for dtype in (torch.float32, torch.float16):
            close(answer(torch.zeros(4, dtype=dtype), 0), torch.full((4,), 0.25, dtype=dtype))
    with case("the scores that you were given are not changed"):
        scores = torch.tensor([1.0, 2.0, 4.0])
        answer(scores, 0)
        close(scores, torch.tensor([1.0, 2.0, 4.0]), what="the tensor of scores after the call")
    with case("gradient of the first of the weights 1/4 and 3/4: 3/16 and -3/16"):
        scores = torch.tensor([0.0, math.log(3)], dtype=torch.float64, requires_grad=True)
        _gradient_needed(answer(scores, 0))[0].backward()
        close(scores.grad, torch.tensor([0.1875, -0.1875], dtype=torch.float64), what="the gradient")


def batched_outer(answer, case):
    with case("one row by hand: (1, 2) and (3, 4, 5)"):
        a, b = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0, 5.0]])
        close(answer(a, b), torch.tensor([[[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]]]))
    with case("two rows: each meets its own partner"):
        a, b = torch.tensor([[1.0, 2.0], [10.0, 20.0]]), torch.tensor([[3.0, 4.0, 5.0], [1.0, 0.0, 2.0]])
        expected = [[[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]], [[10.0, 0.0, 20.0], [20.0, 0.0, 40.0]]]
        close(answer(a, b), torch.tensor(expected))
    with case("float64 stays float64"):
        a, b = torch.tensor([[0.5, 2.0]], dtype=torch.float64), torch.tensor([[4.0]], dtype=torch.float64)
        close(answer(a, b), torch.tensor([[[2.0], [8.0]]], dtype=torch.float64))
    with case("gradient: the sum of all products, seen from a, is the sum of b"):
        a = torch.ones(1, 3, dtype=torch.float64, requires_grad=True)
        _gradient_needed(answer(a, torch.tensor([[2.0, 5.0]], dtype=torch.float64))).sum().backward()
        close(a.grad, torch.full((1, 3), 7.0, dtype=torch.float64), what="the gradient")
    with case("no loop takes the rows one by one"):
        a, b = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])
        with _OperatorsUsed() as used:
            product = answer(a, b)
        close(product, torch.tensor([[[1.0, 4.0]], [[4.0, 10.0]], [[9.0, 18.0]]]))
        _no_row_by_row(used.names)


def _gradient_needed(result):
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        raise Mismatch("no gradient can flow back: was the input detached, or turned into numbers or NumPy on the way?")
    return result


class _OperatorsUsed(TorchDispatchMode):
    """Notes the name of each operator that runs inside the `with` block."""

    def __enter__(self):
        self.names = set()
        return super().__enter__()

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        self.names.add(operator.overloadpacket.__name__)
        return operator(*args, **(kwargs or {}))


def _no_row_by_row(names):
    """A loop picks rows by an index (select), or walks over the tensor (unbind, split)."""
    found = sorted(names & {"select", "unbind", "split"})
    if found:
        raise Mismatch(f"the products are right, but rows are taken one by one (seen: {', '.join(found)})")


HINTS = {
    "softmax": (
        "Only differences between scores count: softmax(x) and softmax(x - c) are equal for every number c that is "
        "the same along dim. Which c makes every exponential at most 1?",
        "Take the largest score with x.amax(dim=dim, keepdim=True), subtract it, then exponentiate and divide by "
        "the sum along dim, again with keepdim=True. In a row of nothing but -inf the largest is -inf too, and -inf"
        " minus -inf is NaN: put 0 in its place there. The sum of that row is then 0: what may stand in its place?",
        "top = x.amax(dim=dim, keepdim=True); top = top.masked_fill(top == float('-inf'), 0.0); e = torch.exp(x - "
        "top); total = e.sum(dim=dim, keepdim=True); and the result is e / total, with 1.0 filled in where total =="
        " 0.",
    ),
    "batched_outer": (
        "Write the three shapes below each other: (B, T), (B, S), (B, T, S). Which dimension does a lack, which one b?",
        "Give a a dimension of size 1 where S shall be, and b one where T shall be. Then broadcasting does the rest.",
        "a.unsqueeze(2) has shape (B, T, 1). Give b the shape (B, 1, S) in the same way, and multiply the two.",
    ),
}
