"""Public checks and hints of 05_blocks."""

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from course_utils.compare import Mismatch, close, raises

# A norm may compute in float32 inside: that errs by 1e-7.
NEAR = {"atol": 1e-6, "rtol": 1e-6}
# Rows whose variance is exactly 1, and the default eps of 1e-5.
WITH_EPS = {"atol": 1e-4, "rtol": 1e-4}
NEARLY_ALL = 0.999999


def exact(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def _made(answer, *args, weights=None, **kwargs):
    """A module in float64 and eval(), with these numbers in its parameters."""
    module = answer(*args, **kwargs)
    if not isinstance(module, nn.Module):
        raise Mismatch(f"{answer.__name__} should be an nn.Module")
    module.double().eval()
    parameters = dict(module.named_parameters())
    for name, numbers in (weights or {}).items():
        if name not in parameters:
            raise Mismatch(f"no parameter is called {name}; there are {', '.join(sorted(parameters)) or 'none'}")
        if parameters[name].shape != exact(numbers).shape:
            raise Mismatch(f"{name} has the shape {tuple(parameters[name].shape)}, not {tuple(exact(numbers).shape)}")
        with torch.no_grad():
            parameters[name].copy_(exact(numbers))
    return module


# Two numbers in, three hidden, two out.
RELU = {
    "linear1.weight": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
    "linear1.bias": [0.0, 0.0, -2.0],
    "linear2.weight": [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]],
    "linear2.bias": [10.0, 20.0],
}
SWIGLU = {"gate.weight": [[1.0], [-1.0]], "up.weight": [[3.0], [5.0]], "down.weight": [[1.0, 10.0]]}


def FeedForward(answer, case):
    with case("relu by hand: (1, 2) gives hidden 1, 2, 1 and out 18, 21; (-1, 4) gives hidden 0, 4, 1 and out 21, 21"):
        close(_made(answer, 2, 3, weights=RELU)(exact([[1.0, 2.0], [-1.0, 4.0]])), exact([[18.0, 21.0], [21.0, 21.0]]))
    with case("gelu by hand: hidden 1, 2, 1 become 0.8413, 1.9545, 0.8413 (six digits count)"):
        hidden = [0.841344746, 1.954499736, 0.841344746]
        expected = [10 + hidden[0] + 2 * hidden[1] + 3 * hidden[2], 20 + hidden[2]]
        close(_made(answer, 2, 3, "gelu", weights=RELU)(exact([[1.0, 2.0]])), exact([expected]), **NEAR)
    with case("swiglu by hand, d_ff = 3, so two hidden numbers: x = 1 gives gates 0.7311 and -0.2689, out -11.2539"):
        expected = 0.731058579 * 3 - 0.268941421 * 5 * 10
        close(_made(answer, 1, 3, "swiglu", weights=SWIGLU)(exact([[1.0]])), exact([[expected]]), **NEAR)
    with case("swiglu with d_ff = 256 has matrices of 171 hidden numbers and no bias"):
        shapes = {name: tuple(p.shape) for name, p in answer(64, 256, "swiglu").named_parameters()}
        close(shapes == {"gate.weight": (171, 64), "up.weight": (171, 64), "down.weight": (64, 171)}, True, what="names and shapes")
    with case('activation "tanh" raises a ValueError that says tanh'):
        raises(ValueError, answer, 2, 3, "tanh", mentions=("tanh",))
    with case("any leading dimensions; float32 stays float32"):
        module = answer(2, 3)
        for shape in ((2,), (4, 2), (5, 4, 2)):
            close(module(torch.ones(shape)), module(torch.ones(2)).float().expand(shape))
    with case("dropout: none in eval(); in train() with nearly all dropped only the last bias is left"):
        module = _made(answer, 2, 3, dropout=NEARLY_ALL, weights=RELU)
        close(module(exact([[1.0, 2.0]])), exact([[18.0, 21.0]]))
        close(module.train()(exact([[1.0, 2.0]])), exact([[10.0, 20.0]]), **NEAR)
    with case("gradient: at (-1, 4) nothing flows back through the hidden number that was cut off"):
        x = exact([[-1.0, 4.0]]).requires_grad_()
        _with_graph(_made(answer, 2, 3, weights=RELU)(x))[0, 0].backward()
        close(x.grad, exact([[3.0, 5.0]]), what="the gradient")


ROW = [[1.0, 2.0, 3.0, 6.0]]
ROOT = 3.5**0.5


def LayerNorm(answer, case):
    with case("1, 2, 3, 6 by hand: mean 3, variance 14/4 = 3.5"):
        with _NotTheLibrary():
            result = _made(answer, 4, 1e-12)(exact(ROW))
        close(result, exact([[-2 / ROOT, -1 / ROOT, 0.0, 3 / ROOT]]), **NEAR)
    with case("two different numbers: the smaller becomes -1, the larger 1"):
        close(_made(answer, 2, 1e-12)(exact([[3.0, 7.0], [50.0, 49.0]])), exact([[-1.0, 1.0], [1.0, -1.0]]), **NEAR)
    with case("eps = 0.5 with 1, 2, 3, 6: the differences are divided by the root of 4, which is 2"):
        close(_made(answer, 4, 0.5)(exact(ROW)), exact([[-1.0, -0.5, 0.0, 1.5]]), **NEAR)
    with case("weight (1, 2, 3, 4) and bias (10, 20, 30, 40), with eps = 0.5"):
        weights = {"weight": [1.0, 2.0, 3.0, 4.0], "bias": [10.0, 20.0, 30.0, 40.0]}
        close(_made(answer, 4, 0.5, weights=weights)(exact(ROW)), exact([[9.0, 19.0, 30.0, 46.0]]), **NEAR)
    with case("a row of equal numbers becomes the bias, with a gradient of zeros"):
        x = exact([[5.0, 5.0, 5.0]]).requires_grad_()
        result = _with_graph(_made(answer, 3, weights={"bias": [1.0, 2.0, 3.0]})(x))
        close(result, exact([[1.0, 2.0, 3.0]]), **NEAR)
        result.sum().backward()
        close(x.grad, exact([[0.0, 0.0, 0.0]]), what="the gradient", atol=1e-6)
    with case("each position by itself, in three dimensions; float32 stays float32"):
        x = torch.tensor(ROW * 3)[None] * torch.tensor([1.0, 10.0, -5.0])[:, None]
        expected = torch.tensor([[-2 / ROOT, -1 / ROOT, 0.0, 3 / ROOT]])[None] * torch.tensor([1.0, 1.0, -1.0])[:, None]
        close(answer(4)(x), expected, **WITH_EPS)
    with case("parameters weight (ones) and bias (zeros) at the start"):
        found = {name: parameter.detach() for name, parameter in answer(3).named_parameters()}
        close(sorted(found), ["bias", "weight"], what="the names")
        close([found["weight"], found["bias"]], [torch.ones(3), torch.zeros(3)], what="weight and bias")


def RMSNorm(answer, case):
    with case("1, -1, 5, 3 by hand: the mean of squares is 36/4 = 9, so all are divided by 3"):
        row = exact([[1.0, -1.0, 5.0, 3.0]])
        with _NotTheLibrary():
            result = _made(answer, 4, 1e-12)(row)
        close(result, row / 3, **NEAR)
    with case("equal numbers become ones: the mean is not subtracted"):
        close(_made(answer, 3, 1e-12)(exact([[7.0] * 3, [-0.5] * 3])), exact([[1.0] * 3, [-1.0] * 3]), **NEAR)
    with case("eps = 7 with 1, -1, 5, 3: all are divided by the root of 16"):
        close(_made(answer, 4, 7.0)(row), row / 4, **NEAR)
    with case("weight (1, 2, 3, 4), with eps = 7"):
        weights = {"weight": [1.0, 2.0, 3.0, 4.0]}
        close(_made(answer, 4, 7.0, weights=weights)(row), exact([[0.25, -0.5, 3.75, 3.0]]), **NEAR)
    with case("a row of zeros stays zero, with a finite gradient"):
        x = exact([[0.0, 0.0, 0.0]]).requires_grad_()
        result = _with_graph(_made(answer, 3)(x))
        close(result, exact([[0.0, 0.0, 0.0]]))
        result.sum().backward()
        close(x.grad, exact([[1000.0, 1000.0, 1000.0]]), what="the gradient (1 over the root of eps)", atol=1e-2)
    with case("float16 stays float16, also for 600, 600, 600, whose squares don't fit"):
        close(answer(3).half()(torch.full((1, 3), 600.0).half()), torch.ones(1, 3).half())
    with case("float32 stays float32, and float64 keeps all its digits"):
        close(answer(4)(row.float()), (row / 3).float())
        close(_made(answer, 4, 1e-12)(row / 7), row / 3, atol=1e-9, rtol=1e-9)


class _NotTheLibrary(TorchFunctionMode):
    """Refuses PyTorch's own norms inside the `with` block."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") in ("layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm"):
            raise Mismatch("PyTorch's own norm was called: write it by hand")
        return function(*args, **(kwargs or {}))


class _TakesTheFirst(nn.Module):
    """In place of attention: every position gets the value of the first."""

    def forward(self, query, key, value, mask=None):
        if not (torch.equal(query, key) and torch.equal(key, value)):
            raise Mismatch("query, key and value of self-attention should be the same tensor")
        return value[:, :1].expand_as(value), None


class _TimesTen(nn.Module):
    """In place of the feed-forward part."""

    def forward(self, x):
        return 10 * x


def _by_hand(answer, **options):
    layer = answer(2, 1, 3, **options).double().eval()
    for name in ("self_attn", "feed_forward", "norm1", "norm2"):
        if not isinstance(getattr(layer, name, None), nn.Module):
            raise Mismatch(f"the layer needs a module called {name}")
    layer.self_attn, layer.feed_forward = _TakesTheFirst(), _TimesTen()
    return layer


def EncoderLayer(answer, case):
    x = exact([[[3.0, 1.0], [0.0, 4.0]]])
    with case(
        "pre-LN by hand; attention gives every position the first value, the other part multiplies by 10: (14, -10), (-9, 13)"
    ):
        close(_by_hand(answer)(x), exact([[[14.0, -10.0], [-9.0, 13.0]]]), **WITH_EPS)
    with case("post-LN by hand, with the same two parts: (1, -1), (-1, 1)"):
        close(_by_hand(answer, norm_first=False)(x), exact([[[1.0, -1.0], [-1.0, 1.0]]]), **WITH_EPS)
    with case("with real parts: one tensor of the shape of x, float32 stays float32"):
        inputs = torch.randn(2, 5, 6)
        for norm_first in (True, False):
            result = answer(6, 3, 7, norm_first=norm_first).eval()(inputs)
            close(0 * result if isinstance(result, torch.Tensor) else result, torch.zeros(2, 5, 6))
    with case("a causal mask: another last position leaves the earlier outputs alone, without a mask it moves them"):
        layer, other = answer(6, 3, 7).double().eval(), inputs.clone()
        other[:, -1] = -inputs[:, -1]
        causal = torch.ones(5, 5, dtype=torch.bool).tril()
        before, after = (layer(each.double(), causal)[:, :-1] for each in (inputs, other))
        close(after, before, what="the earlier outputs", **NEAR)
        if torch.allclose(layer(inputs.double())[:, :-1], layer(other.double())[:, :-1], atol=1e-6):
            raise Mismatch("without a mask the earlier outputs should have moved")
    with case("pre-LN in train() with nearly all dropped: x comes out; in eval() nothing is dropped"):
        layer = _by_hand(answer, dropout=NEARLY_ALL)
        close(layer(x), exact([[[14.0, -10.0], [-9.0, 13.0]]]), **WITH_EPS)
        close(layer.train()(x), x, **NEAR)
    with case("gradient: it reaches the input and every parameter"):
        layer = answer(6, 3, 7)
        _with_graph(layer(inputs.requires_grad_())).pow(3).sum().backward()
        silent = [name for name, parameter in layer.named_parameters() if parameter.grad is None]
        close(silent, [], what="the list of parameters without a gradient")


def gradient_norm_by_depth(answer, case):
    def linear(*weight, bias):
        layer = nn.Linear(len(weight), 1).double()
        with torch.no_grad():
            layer.weight.copy_(exact([weight]))
            layer.bias.fill_(bias)
        return layer

    with case("one layer by hand: output 2 · 1 + 1 = 3, gradients 6 and 6, norm √72"):
        close(answer([linear(2.0, bias=1.0)], exact([[1.0]])), [72**0.5])
    with case("two layers by hand, w = 2 then 3 without bias: output 6, gradients 36, 36 and 24, 12"):
        two = [linear(2.0, bias=0.0), linear(3.0, bias=0.0)]
        close(answer(two, exact([[1.0]])), [(36**2 + 36**2) ** 0.5, (24**2 + 12**2) ** 0.5])
    with case("a batch of two: outputs 1 and 3, the loss is 5 and not 10"):
        close(answer([linear(1.0, bias=0.0)], exact([[1.0], [3.0]])), [(10**2 + 4**2) ** 0.5])
    with case("a ReLU in between has a place in the list, with 0.0"):
        close(answer([two[0], nn.ReLU(), two[1]], exact([[1.0]])), [(36**2 + 36**2) ** 0.5, 0.0, (24**2 + 12**2) ** 0.5])
    with case("nn.Dropout in train() acts: with nearly all dropped only the last bias has a gradient, 2 · 5 = 10"):
        chain = [linear(2.0, bias=0.0), nn.Dropout(NEARLY_ALL).train(), linear(3.0, bias=5.0)]
        close(answer(chain, exact([[1.0]])), [0.0, 0.0, 10.0], atol=1e-6)
    with case("called again on the same layers, it gives the same"):
        close(answer(two, exact([[1.0]])), [(36**2 + 36**2) ** 0.5, (24**2 + 12**2) ** 0.5])


def _with_graph(result):
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        raise Mismatch("no gradient can flow back: was something detached, or turned into numbers on the way?")
    return result


HINTS = {
    "FeedForward": (
        "forward has two branches, one for swiglu and one for the rest. In both, dropout comes right in front of the last linear map.",
        "Without a gate: linear1, activation (F.relu, or F.gelu as it is), self.dropout, linear2. With a gate: F.silu of "
        "self.gate(x), times self.up(x), then self.dropout and self.down.",
        "hidden = F.relu(self.linear1(x)) (or F.gelu), return self.linear2(self.dropout(hidden)). For swiglu: hidden = "
        "F.silu(self.gate(x)) * self.up(x), return self.down(self.dropout(hidden)).",
    ),
    "LayerNorm": (
        "Four steps along the last dimension: mean, differences from it, variance (divided by d), and the quotient. Then weight and bias.",
        "mean(-1, keepdim=True) keeps a last dimension of size 1, so that the difference broadcasts. The variance is the mean of the "
        "squared differences. eps is added to it, under the root.",
        "centred = x - x.mean(-1, keepdim=True); variance = (centred * centred).mean(-1, keepdim=True); the result is "
        "centred / torch.sqrt(variance + self.eps) * self.weight + self.bias.",
    ),
    "RMSNorm": (
        "As LayerNorm, but nothing is subtracted and there is no bias. What is new: in which dtype the squares are taken.",
        "Make a wide copy of x: x itself where it is float64, else x.float(). Take the mean of its squares along the last dimension, "
        "add eps, take the root, divide. Go back with .to(x.dtype), then times the weight.",
        "wide = x if x.dtype == torch.float64 else x.float(); rms = torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps); the "
        "result is (wide / rms).to(x.dtype) * self.weight.",
    ),
    "EncoderLayer": (
        "Write the two orders as two branches. In each, attention comes first and the feed-forward part second, and each part has a "
        "norm and a sum of its own.",
        "self.self_attn(query, key, value, mask) gives two values; the first is added. Pre-LN: x + dropout(part(norm(x))). Post-LN: "
        "norm(x + dropout(part(x))). In pre-LN give the same normed tensor as query, key and value.",
        "Pre-LN: y = self.norm1(x); x = x + self.dropout(self.self_attn(y, y, y, mask)[0]); return x + "
        "self.dropout(self.feed_forward(self.norm2(x))). Post-LN: x = self.norm1(x + self.dropout(self.self_attn(x, x, x, mask)[0])), "
        "and so on with norm2.",
    ),
    "gradient_norm_by_depth": (
        "Run x through the layers one after another, make one number of the output, ask for its gradients, and measure layer by layer.",
        "torch.autograd.grad(loss, parameters) returns gradients and stores none; with retain_graph=True it can be called again for the "
        "next layer. It refuses an empty list of parameters, so think of a layer without any.",
        "For each layer: parameters = list(layer.parameters()); gradients = torch.autograd.grad(loss, parameters, retain_graph=True) if "
        "parameters else (); the norm is sum(g.pow(2).sum().item() for g in gradients) ** 0.5.",
    ),
}
