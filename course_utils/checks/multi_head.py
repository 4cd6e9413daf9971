"""Public checks and hints of notebook 04."""

import math

import torch
from torch import nn

from course_utils.compare import Mismatch, close, raises
from course_utils.pytorch_parts import PARTS

NAMES = ("w_q", "w_k", "w_v", "w_o")
NEAR = {"atol": 1e-6, "rtol": 1e-6}


def exact(rows):
    return torch.tensor(rows, dtype=torch.float64)


def counting(*shape):
    """0, 1, 2, … in this shape."""
    return torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)


def split_heads(answer, case):
    x = exact([[[0.0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]])
    with case("three positions of four features, two heads: each head has two features of every position"):
        close(answer(x, 2), exact([[[[0.0, 1], [10, 11], [20, 21]], [[2, 3], [12, 13], [22, 23]]]]))
    with case("one head: the same numbers with one axis more"):
        close(answer(x, 1), x[:, None])
    with case("a batch of two: each sequence stays by itself"):
        close(answer(torch.cat([x, -x]), 4)[1], -x[0].T[..., None])
    with case("float32 stays float32, whole numbers stay whole"):
        for dtype in (torch.float32, torch.int64):
            close(answer(x.to(dtype), 2)[0, 1, 2], torch.tensor([22, 23], dtype=dtype))
    with case("gradient: it flows back to the feature that was used"):
        leaf = x.clone().requires_grad_()
        _with_graph(answer(leaf, 2))[0, 1, 2, 0].backward()
        close(leaf.grad, (x == 22).double(), what="the gradient")
    with case("4 features for 3 heads raise a ValueError that says both numbers"):
        raises(ValueError, answer, x, 3, mentions=("4", "3"))


def merge_heads(answer, case):
    x = exact([[[[0.0, 1], [10, 11], [20, 21]], [[2, 3], [12, 13], [22, 23]]]])
    with case("two heads, three positions, two features each: four features for every position"):
        close(answer(x), exact([[[0.0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]]))
    with case("one head: the same numbers with one axis less"):
        close(answer(x[:, :1]), x[:, 0])
    with case("a batch of two, four heads of one feature"):
        close(answer(counting(2, 4, 3, 1)), counting(2, 4, 3).mT)
    with case("the order in memory doesn't matter"):
        close(answer(x.transpose(1, 2).contiguous().transpose(1, 2)), answer(x))
    with case("float32 stays float32, and the gradient flows back to the feature that was used"):
        leaf = x.float().requires_grad_()
        result = _with_graph(answer(leaf))
        close(result[0, 2, 2].item(), 22.0)
        result[0, 2, 2].backward()
        close(leaf.grad, (x == 22).float(), what="the gradient")


def _four(scale=1.0, bias=True):
    """Weights for M = 4 by name: all matrices the identity, but w_o adds up and takes away; the last bias is one."""
    eye = torch.eye(4, dtype=torch.float64)
    last = exact([[1.0, 0, 1, 0], [0, 1, 0, -1], [0, 0, 1, 0], [0, 0, 0, 1]])
    weights = {f"{name}.weight": matrix for name, matrix in zip(NAMES, (eye, eye, scale * eye, last), strict=True)}
    if bias:
        weights |= {f"{name}.bias": torch.full((4,), float(name == "w_o"), dtype=torch.float64) for name in NAMES}
    return weights


def _pytorchs(weights, heads):
    """PyTorch's module with weights that have our names."""
    bias = "w_q.bias" in weights
    module = nn.MultiheadAttention(len(weights["w_q.weight"]), heads, bias=bias, batch_first=True, dtype=torch.float64)
    state = {}
    for kind in ("weight", "bias")[: 1 + bias]:
        state[f"in_proj_{kind}"] = torch.cat([weights[f"{name}.{kind}"] for name in NAMES[:3]])
        state[f"out_proj.{kind}"] = weights[f"w_o.{kind}"]
    module.load_state_dict(state)
    return module.eval()


def _built(cls, weights, heads, dropout=0.0):
    """The learner's module with these weights: by name, or through their own load_from_pytorch where the names are others."""
    module = cls(len(weights["w_q.weight"]), heads, dropout, "w_q.bias" in weights).double().eval()
    names = {name for name, _ in module.named_parameters()}
    if names == weights.keys():
        module.load_state_dict(weights, strict=False)
        return module
    loader = getattr(cls.forward, "__globals__", {}).get("load_from_pytorch")
    if loader is None:
        raise Mismatch(
            f"the parameters should be {', '.join(sorted(weights))}; they are {', '.join(sorted(names)) or 'none'}. "
            "With names of your own, write your load_from_pytorch first: the checks put weights in with it"
        )
    loader(module, _pytorchs(weights, heads))
    return module


def _case():
    """One query, two keys: the heads weigh 3/4, 1/4 and 1/4, 3/4, and give (6, 2) and (2, 6)."""
    query = exact([[[math.sqrt(2), 0.0, math.sqrt(2), 0.0]]])
    key = exact([[[math.log(3), 0.0, 0.0, 0.0], [0.0, 0.0, math.log(3), 0.0]]])
    value = exact([[[8.0, 0.0, 8.0, 0.0], [0.0, 8.0, 0.0, 8.0]]])
    return (query, key, value), exact([[[9.0, -3.0, 3.0, 7.0]]]), exact([[[[3 / 4, 1 / 4]], [[1 / 4, 3 / 4]]]])


def MultiHeadAttention(answer, case):
    inputs, output, weights = _case()
    with case("one query, two keys, M = 4, two heads: output and weights of both heads by hand"):
        close(_built(answer, _four(), 2)(*inputs), (output, weights), **NEAR)
    with case("without biases: one less everywhere"):
        close(_built(answer, _four(bias=False), 2)(*inputs)[0], output - 1, **NEAR)
    with case("the values have a projection of their own: twice w_v, twice the output"):
        close(_built(answer, _four(scale=2.0, bias=False), 2)(*inputs)[0], 2 * (output - 1), **NEAR)
    _against_pytorch(answer, case)
    _masks(answer, case, inputs)
    with case("dropout changes nothing after eval(); after train() the weights returned are still those from before"):
        module = _built(answer, _four(), 2, 0.999999999)
        close(module(*inputs), (output, weights), **NEAR)
        module.train()
        close(module(*inputs), (torch.ones_like(output), weights), **NEAR)
    with case("10 features for 4 heads raise a ValueError that says both numbers"):
        raises(ValueError, answer, 10, 4, mentions=("10", "4"))


def _against_pytorch(answer, case):
    draw = torch.Generator().manual_seed(0)
    shapes = {f"{name}.{kind}": (6, 6)[: 1 + (kind == "weight")] for name in NAMES for kind in ("weight", "bias")}
    weights = {name: 0.5 * torch.randn(shape, generator=draw, dtype=torch.float64) for name, shape in shapes.items()}
    query, memory = (torch.randn(2, length, 6, generator=draw, dtype=torch.float64) for length in (4, 5))
    peer = _pytorchs(weights, 3)
    with case("4 queries, 5 keys, three heads, random weights: output and weights of nn.MultiheadAttention"):
        close(_built(answer, weights, 3)(query, memory, memory), peer(query, memory, memory, average_attn_weights=False), **NEAR)
    with case("a query that is a view of the memory: nothing is taken for self-attention by mistake"):
        view = memory[:, :4]
        expected = peer(view.clone(), memory, memory, average_attn_weights=False)
        close(_built(answer, weights, 3)(view, memory, memory), expected, **NEAR)
    with case("gradient: that of nn.MultiheadAttention with respect to its input"):
        mine, theirs = memory.clone().requires_grad_(), memory.clone().requires_grad_()
        _with_graph(_built(answer, weights, 3)(mine, mine, mine)[0]).square().sum().backward()
        peer(theirs, theirs, theirs)[0].square().sum().backward()
        close(mine.grad, theirs.grad, what="the gradient", **NEAR)


def _masks(answer, case, inputs):
    two = [torch.cat([x, x]) for x in inputs]
    _, _, weights = _case()
    first, both = exact([[[1.0, 0.0]], [[1.0, 0.0]]]), weights[0]
    module = None
    with case("a mask (T, S) hides the second key from both heads"):
        module = _built(answer, _four(), 2)
        close(module(*two, torch.tensor([[True, False]]))[1], torch.stack([first, first]), **NEAR)
    with case("a mask (B, T, S) and one (B, 1, 1, S) hide it in the first sequence only"):
        mask = torch.tensor([[[True, False]], [[True, True]]])
        for shaped in (mask, mask[:, None]):
            close(module(*two, shaped)[1], torch.stack([first, both]), **NEAR)
    with case("a query that may attend nothing: weights of zero, and the bias of w_o as output"):
        got = module(*inputs, torch.tensor([[False, False]]))
        close(got, (torch.ones(1, 1, 4, dtype=torch.float64), torch.zeros(1, 2, 1, 2, dtype=torch.float64)), **NEAR)
    with case("a mask of floats raises a TypeError"):
        raises(TypeError, module, *inputs, torch.ones(1, 2))


def _small(answer, bias=True, heads=2):
    """A module with four names, the learner's own where it has them, and random weights."""
    cls = getattr(answer, "__globals__", {}).get("MultiHeadAttention", PARTS["MultiHeadAttention"])
    module = cls(4, heads, 0.0, bias).double()
    if not all(hasattr(module, name) for name in NAMES):
        module = PARTS["MultiHeadAttention"](4, heads, 0.0, bias).double()
    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=draw, dtype=torch.float64))
    return module


def _stacked(module, kind):
    return torch.cat([getattr(getattr(module, name), kind).detach() for name in NAMES[:3]])


def fuse_qkv(answer, case):
    module = _small(answer)
    x = exact([[[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, -1.0]]])
    with case("M = 4, two positions: 12 numbers each, the queries, then the keys, then the values"):
        got = answer(module)(x)
        close(got, torch.cat([module.w_q(x), module.w_k(x), module.w_v(x)], dim=-1).detach(), **NEAR)
    with case("the result is an nn.Linear, with all weights and biases, and keeps the dtype"):
        fused = answer(module)
        if not isinstance(fused, nn.Linear):
            raise Mismatch(f"expected an nn.Linear, got a {type(fused).__name__}")
        close(fused.weight, _stacked(module, "weight"), what="its weight")
        close(fused.bias, _stacked(module, "bias"), what="its bias")
    with case("a module without biases gives a layer without bias"):
        plain = _small(answer, bias=False)
        close(answer(plain).bias, None, what="its bias")
        close(answer(plain).weight, _stacked(plain, "weight"), what="its weight")
    with case("gradient: that of three layers"):
        leaf, other = x.clone().requires_grad_(), x.clone().requires_grad_()
        _with_graph(answer(module)(leaf)).square().sum().backward()
        sum(layer(other).square().sum() for layer in (module.w_q, module.w_k, module.w_v)).backward()
        close(leaf.grad, other.grad, what="the gradient", **NEAR)


def load_from_pytorch(answer, case):
    weights = _four()
    weights["w_k.weight"], weights["w_v.weight"] = 2 * weights["w_k.weight"], counting(4, 4)
    weights["w_q.bias"], weights["w_v.bias"] = exact([1.0, 2, 3, 4]), exact([5.0, 6, 7, 8])
    for bias, title in ((True, "every weight and bias arrives"), (False, "without biases")):
        with case(title):
            given = {name: value for name, value in weights.items() if bias or name.endswith("weight")}
            _load(answer, given, bias)
    with case("it works in place and returns None"):
        close(answer(_own(answer)(4, 2).double(), _pytorchs(weights, 2)), None)


def _own(answer):
    return getattr(answer, "__globals__", {}).get("MultiHeadAttention", PARTS["MultiHeadAttention"])


def _load(answer, weights, bias):
    module, peer = _own(answer)(4, 2, 0.0, bias).double().eval(), _pytorchs(weights, 2)
    answer(module, peer)
    mine = dict(module.named_parameters())
    if mine.keys() == weights.keys():
        for name, value in weights.items():
            close(mine[name], value, what=name)
        return
    x = counting(1, 3, 4) / 12
    close(module(x, x, x), peer(x, x, x, average_attn_weights=False), **NEAR)


def count_parameters(answer, case):
    with case("M = 2: four matrices of 2 × 2 and four biases of 2"):
        close(answer(2, 1), 24)
    with case("without biases"):
        close(answer(2, 1, False), 16)
    with case("12 features: any number of heads"):
        for heads in (1, 3, 12):
            close(answer(12, heads), 624)
    with case("10 features for 4 heads raise a ValueError that says both numbers"):
        raises(ValueError, answer, 10, 4, mentions=("10", "4"))


def _grouped(answer, weights):
    """Four query heads of one feature, two key heads."""
    module = answer(4, 4, 2, "w_q.bias" in weights).double().eval()
    missing = weights.keys() ^ {name for name, _ in module.named_parameters()}
    if missing:
        raise Mismatch(f"the parameters should be {', '.join(sorted(weights))}: look at {', '.join(sorted(missing))}")
    module.load_state_dict(weights, strict=False)
    return module


def GroupedQueryAttention(answer, case):
    weights = _four(bias=False)
    weights["w_k.weight"], weights["w_v.weight"] = weights["w_k.weight"][:2], weights["w_v.weight"][2:]
    weights["w_o.weight"] = torch.eye(4, dtype=torch.float64)
    query = exact([[[1.0, 2.0, 1.0, 0.0]]])
    key = exact([[[math.log(3), 0.0, 0.0, 0.0], [0.0, math.log(3), 0.0, 0.0]]])
    value = exact([[[0.0, 0.0, 10.0, 20.0], [0.0, 0.0, 0.0, 0.0]]])
    rows = exact([[[[3 / 4, 1 / 4]], [[9 / 10, 1 / 10]], [[1 / 4, 3 / 4]], [[1 / 2, 1 / 2]]]])
    with case("four heads of one feature, two key-value heads: heads 0 and 1 read the first, 2 and 3 the second"):
        close(_grouped(answer, weights)(query, key, value), (exact([[[7.5, 9.0, 5.0, 10.0]]]), rows), **NEAR)
    with case("a mask (B, T, S) hides the second key: every head gets the first value of its group"):
        got = _grouped(answer, weights)(query, key, value, torch.tensor([[[True, False]]]))
        close(got, (exact([[[10.0, 10.0, 20.0, 20.0]]]), exact([[[[1.0, 0.0]]] * 4])), **NEAR)
    with case("a query that may attend nothing gets zeros"):
        got = _grouped(answer, weights)(query, key, value, torch.tensor([[False, False]]))
        close(got, (0 * query, 0 * rows), **NEAR)
    with case("a mask of floats raises a TypeError"):
        raises(TypeError, _grouped(answer, weights), query, key, value, torch.ones(1, 2))
    with case("biases: that of w_v goes through the heads, that of w_o is added"):
        biases = {"w_q": [0.0] * 4, "w_k": [0.0] * 2, "w_v": [1.0, 2.0], "w_o": [0.5] * 4}
        full = weights | {f"{name}.bias": exact(numbers) for name, numbers in biases.items()}
        close(_grouped(answer, full)(query, key, value)[0], exact([[[9.0, 10.5, 7.5, 12.5]]]), **NEAR)
    with case("gradient: the values get the weights of the heads that read them"):
        leaf = value.clone().requires_grad_()
        _with_graph(_grouped(answer, weights)(query, key, leaf)[0]).sum().backward()
        close(leaf.grad[0, :, 2:], exact([[1.65, 0.75], [0.35, 1.25]]), what="the gradient", **NEAR)
    with case("sizes that don't divide raise a ValueError with the numbers"):
        raises(ValueError, answer, 10, 4, 2, mentions=("10", "4"))
        raises(ValueError, answer, 8, 4, 3, mentions=("4", "3"))


def _with_graph(result):
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        raise Mismatch("no gradient can flow back: was something detached, or turned into numbers or NumPy on the way?")
    return result


HINTS = {
    "split_heads": (
        "Two steps: cut the last axis in two, then bring the new axis of the heads in front of the positions.",
        "reshape(B, T, n_heads, M // n_heads) cuts the features of each position into neighbouring pieces. Then transpose "
        "swaps the two axes in the middle. Before both: refuse an M that n_heads doesn't divide, with an f-string that "
        "holds both numbers.",
        'B, T, M = x.shape; if M % n_heads: raise ValueError(f"{M} features, {n_heads} heads"); and the result is '
        "x.reshape(B, T, n_heads, M // n_heads).transpose(1, 2).",
    ),
    "merge_heads": (
        "Take the two steps of split_heads back, the last one first.",
        "After x.transpose(1, 2) the heads stand behind their position. The last two axes can now be joined: reshape does "
        "it, or flatten(2), which joins all axes from number 2 on.",
        "x.transpose(1, 2).flatten(2)",
    ),
    "MultiHeadAttention": (
        "Five steps: project query, key and value; split all three into heads; attend; merge; project with w_o. Your "
        "attention of notebook 01 handles all heads at once, for they are leading dimensions.",
        "q = split_heads(self.w_q(query), self.n_heads), and k and v alike, from key and value. A mask with three "
        "dimensions becomes mask[:, None]. Pass self.dropout and self.training on to scaled_dot_product_attention, "
        "which refuses masks that aren't boolean and returns output and weights.",
        "mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout, self.training); and then "
        "return self.w_o(merge_heads(mixed)), weights. Before it: if mask is not None and mask.dim() == 3: "
        "mask = mask[:, None].",
    ),
    "fuse_qkv": (
        "A linear layer's weight has one row for each output. Three layers with the same input are one layer whose rows "
        "are all their rows.",
        "Make an nn.Linear(M, 3 * M, bias=…) with the dtype and device of mha.w_q.weight. Then, in a block "
        "with torch.no_grad():, copy torch.cat of the three weights into its weight, and the same for the biases where "
        "mha.w_q.bias is not None.",
        "fused = nn.Linear(M, 3 * M, bias=mha.w_q.bias is not None, dtype=…, device=…); with torch.no_grad(): "
        "fused.weight.copy_(torch.cat([mha.w_q.weight, mha.w_k.weight, mha.w_v.weight])); the biases alike; return fused.",
    ),
    "load_from_pytorch": (
        "Which of PyTorch's four tensors holds what? Three of your layers are stacked in one of them, in the order query, "
        "key, value. The last layer is an nn.Linear on both sides.",
        "torch_mha.in_proj_weight.chunk(3) gives three matrices. Inside with torch.no_grad():, layer.weight.copy_(matrix) "
        "writes into a parameter without replacing it. in_proj_bias is None where there are no biases.",
        "In a block with torch.no_grad(): for layer, weight in zip((mha.w_q, mha.w_k, mha.w_v), "
        "torch_mha.in_proj_weight.chunk(3)): layer.weight.copy_(weight). The biases alike if torch_mha.in_proj_bias is not None. "
        "mha.w_o.load_state_dict(torch_mha.out_proj.state_dict()) does the rest.",
    ),
    "count_parameters": (
        "How many linear layers are there, and how many numbers does one hold? Where would the number of heads come in?",
        "A layer from M to M has M · M weights and, unless bias is False, M biases. The heads only cut what the layers "
        "make. Still refuse a number of heads that doesn't divide d_model.",
        "4 * (d_model * d_model + (d_model if bias else 0)). Before it: if d_model % n_heads: raise a ValueError whose "
        "message holds both numbers.",
    ),
    "GroupedQueryAttention": (
        "Only two things differ from MultiHeadAttention: keys and values are split into n_kv_heads heads, and each of "
        "these must then stand there once for every query head that reads it.",
        "With group = n_heads // n_kv_heads, head h reads key-value head h // group: the places 0, 0, 1, 1 for group 2. "
        "A tensor of (B, n_kv_heads, S, D) becomes (B, n_heads, S, D) with repeat_interleave along dimension 1, or with "
        "a list of places as an index.",
        "k = split_heads(self.w_k(key), self.n_kv_heads).repeat_interleave(self.n_heads // self.n_kv_heads, dim=1), "
        "the same for v, and the rest as in MultiHeadAttention, with no dropout.",
    ),
}
