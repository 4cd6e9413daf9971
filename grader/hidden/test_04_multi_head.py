"""Hidden checks of notebook 04: heads, multi-head attention, its weights, and heads that share keys."""

import pytest
import torch

from course_utils.compare import Mismatch, close, describe, raises
from grader.subjects import AnswerRaised

# The root of D as a float32 tensor is a right answer too: it is 3e-8 off, and scores and gradients multiply that.
LOOSE = {"atol": 1e-6, "rtol": 1e-6}
ALMOST_ALL = 1 - 1e-12
# Whatever way PyTorch's module is called, one of these runs. (Its class may be named: a loader that goes along does so.)
BY_HAND = ("multi_head_attention_forward", "native_multi_head_attention")
NAMES = ("w_q", "w_k", "w_v", "w_o")


def _heads(draw):
    """Heads, head width, and their product; pairwise distinct."""
    return draw.shuffled([(2, 3, 6), (2, 4, 8), (3, 2, 6), (3, 4, 12), (4, 2, 8), (4, 3, 12), (2, 5, 10), (5, 2, 10)])[0]


def _others(draw, count, *taken):
    """Sizes between 2 and 9 that are none of those taken."""
    return draw.shuffled(size for size in range(2, 10) if size not in taken)[:count]


def _pair(result, *shapes):
    """Output and weights, once they are two tensors of these shapes."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise Mismatch(f"expected two values, the output and the weights, got {describe(result)}")
    for name, value, shape in zip(("the output", "the weights"), result, shapes, strict=True):
        if not isinstance(value, torch.Tensor):
            raise Mismatch(f"{name}: expected a tensor, got {describe(value)}")
        if tuple(value.shape) != tuple(shape):
            raise Mismatch(f"{name} has the wrong shape: expected {tuple(shape)}, got {tuple(value.shape)}")
    return result


# split_heads


def _wide(draw, dtype=torch.float64):
    heads, width, model = _heads(draw)
    batch, positions = _others(draw, 2, heads, width, model)
    return draw.normal(batch, positions, model, dtype=dtype), heads


def test_split_heads__keeps_one_head_whole(student, draw):
    x, _ = _wide(draw)
    close(student.split_heads(x, 1), x[:, None])


def test_split_heads__cuts_the_features_of_one_position(student, reference, draw):
    x, heads = _wide(draw)
    close(student.split_heads(x[:, :1], heads), reference.split_heads(x[:, :1], heads))


def test_split_heads__leaves_each_position_its_own_features(student, reference, draw):
    x, heads = _wide(draw)
    close(student.split_heads(x, heads), reference.split_heads(x, heads))


def test_split_heads__makes_as_many_heads_as_features(student, draw):
    x, _ = _wide(draw)
    close(student.split_heads(x, x.shape[-1]), x.mT[..., None])


def test_split_heads__takes_any_order_in_memory_and_keeps_the_dtype(student, reference, draw):
    x, heads = _wide(draw, torch.float32)
    turned = x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    close(student.split_heads(turned, heads), reference.split_heads(turned, heads))


def test_split_heads__passes_gradients_back(student, reference, draw):
    x, heads = _wide(draw)
    close(student.gradients("split_heads", x, heads, wrt=(0,)), reference.gradients("split_heads", x, heads, wrt=(0,)))


def test_split_heads__refuses_a_width_that_heads_do_not_divide(student, reference, draw):
    x, heads = _wide(draw)
    close(student.split_heads(x, heads), reference.split_heads(x, heads))
    model = x.shape[-1] - 1
    raises(ValueError, student.split_heads, x[..., 1:], heads, mentions=(str(model), str(heads)))


# merge_heads


def _split(draw, dtype=torch.float64):
    heads, width, model = _heads(draw)
    batch, positions = _others(draw, 2, heads, width, model)
    return draw.normal(batch, heads, positions, width, dtype=dtype)


def test_merge_heads__keeps_one_head_whole(student, draw):
    x = _split(draw)[:, :1]
    close(student.merge_heads(x), x[:, 0])


def test_merge_heads__puts_the_heads_of_one_position_side_by_side(student, reference, draw):
    x = _split(draw)[:, :, :1]
    close(student.merge_heads(x), reference.merge_heads(x))


def test_merge_heads__leaves_each_position_its_own_features(student, reference, draw):
    x = _split(draw)
    close(student.merge_heads(x), reference.merge_heads(x))


def test_merge_heads__takes_heads_of_one_feature(student, draw):
    x = _split(draw)[..., :1]
    close(student.merge_heads(x), x[..., 0].mT)


def test_merge_heads__takes_any_order_in_memory_and_keeps_the_dtype(student, reference, draw):
    x = _split(draw, torch.float32)
    turned = x.transpose(1, 2).contiguous().transpose(1, 2)
    close(student.merge_heads(turned), reference.merge_heads(turned))


def test_merge_heads__passes_gradients_back(student, reference, draw):
    x = _split(draw)
    close(student.gradients("merge_heads", x, wrt=(0,)), reference.gradients("merge_heads", x, wrt=(0,)))


# Multi-head attention: weights by name, or through the learner's own loader; the peer is PyTorch's


def _weights(draw, model, narrow=None, bias=True, scale=0.4):
    """Weights for a module with the four names. narrow: the width of keys and values where it is another than the model's."""
    weights = {}
    for name in NAMES:
        rows = narrow if narrow and name in ("w_k", "w_v") else model
        weights[f"{name}.weight"] = scale * draw.normal(rows, model)
        if bias:
            weights[f"{name}.bias"] = scale * draw.normal(rows)
    return weights


def _as_pytorch(weights):
    """The same weights as nn.MultiheadAttention keeps them."""
    kinds = [kind for kind in ("weight", "bias") if f"w_q.{kind}" in weights]
    fused = {f"in_proj_{kind}": torch.cat([weights[f"{name}.{kind}"] for name in NAMES[:3]]) for kind in kinds}
    return fused | {f"out_proj.{kind}": weights[f"w_o.{kind}"] for kind in kinds}


def _peer(subject, weights, heads, **options):
    """PyTorch's module with these weights."""
    model, bias = len(weights["w_q.weight"]), "w_q.bias" in weights
    return subject.make(
        "torch.nn.MultiheadAttention", model, heads, bias=bias, batch_first=True, weights=_as_pytorch(weights), **options
    )


def _made(student, weights, heads, dtype=torch.float64, training=False, dropout=0.0):
    """The learner's module. Where its parameters have other names than ours, its own load_from_pytorch puts the weights in."""
    args = "MultiHeadAttention", len(weights["w_q.weight"]), heads, dropout, "w_q.bias" in weights
    named = student.make(*args, weights=weights, dtype=dtype, training=training)
    try:
        named.call("extra_repr")
    except AnswerRaised as error:
        loader = [("load_from_pytorch", _peer(student, weights, heads, dtype=dtype))]
        loaded = student.make(*args, dtype=dtype, training=training, then=loader)
        return loaded if "the parameters should be" in str(error) and _is_loadable(loaded) else named
    return named


def _is_loadable(module):
    """Whether there is a loader at all: its own faults are for the check to tell."""
    try:
        module.call("extra_repr")
    except AnswerRaised as error:
        return error.type_names[0] != "KeyError"
    return True


def _inputs(draw, dtype=torch.float64, low=2):
    """Query, key, value of pairwise distinct sizes, the number of heads, and the shapes of output and weights."""
    heads, width, model = _heads(draw)
    batch, queries, keys = draw.shuffled(size for size in range(low, 10) if size not in (heads, width, model))[:3]
    inputs = [draw.normal(batch, length, model, dtype=dtype) for length in (queries, keys, keys)]
    return inputs, heads, ((batch, queries, model), (batch, heads, queries, keys))


def _partial(draw, *shape):
    """A random mask that leaves a first key to every query and takes the last one away."""
    mask = draw.mask(*shape)
    mask[..., 0], mask[..., -1] = True, False
    return mask


def _linear(x, weights, name):
    return torch.nn.functional.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))


def _hidden(mask, shape):
    """A mask as PyTorch's module wants it: one for each sequence and head, True = hidden."""
    return ~(mask[:, None] if mask.dim() == 3 else mask).expand(shape).flatten(0, 1)


def test_MultiHeadAttention__gives_the_only_value_through_both_projections(student, draw):
    (query, key, value), heads, ((batch, queries, model), _) = _inputs(draw)
    weights = _weights(draw, model)
    expected = _linear(_linear(value[:, :1], weights, "w_v"), weights, "w_o").expand(batch, queries, model)
    result = _made(student, weights, heads)(query, key[:, :1], value[:, :1])
    output, _ = _pair(result, (batch, queries, model), (batch, heads, queries, 1))
    close(output, expected, what="the output", **LOOSE)


def test_MultiHeadAttention__with_one_head_attends_between_the_projections(student, reference, draw):
    inputs, _, _ = _inputs(draw)
    model = inputs[0].shape[-1]
    weights = _weights(draw, model)
    expected = _peer(reference, weights, 1)(*inputs, average_attn_weights=False)
    close(_made(student, weights, 1)(*inputs), expected, **LOOSE)


def test_MultiHeadAttention__gives_the_weights_of_every_head(student, reference, draw):
    inputs, heads, shapes = _inputs(draw)
    weights = _weights(draw, inputs[0].shape[-1])
    _, expected = _peer(reference, weights, heads)(*inputs, average_attn_weights=False)
    _, got = _pair(_made(student, weights, heads)(*inputs), *shapes)
    close(got, expected, what="the weights", **LOOSE)


def test_MultiHeadAttention__gives_the_output_of_pytorch(student, reference, draw):
    inputs, heads, shapes = _inputs(draw)
    weights = _weights(draw, inputs[0].shape[-1])
    expected, _ = _peer(reference, weights, heads)(*inputs, average_attn_weights=False)
    output, _ = _pair(_made(student, weights, heads)(*inputs), *shapes)
    close(output, expected, what="the output", **LOOSE)


def test_MultiHeadAttention__works_without_biases(student, reference, draw):
    inputs, heads, _ = _inputs(draw)
    weights = _weights(draw, inputs[0].shape[-1], bias=False)
    expected = _peer(reference, weights, heads)(*inputs, average_attn_weights=False)
    close(_made(student, weights, heads)(*inputs), expected, **LOOSE)


def test_MultiHeadAttention__keeps_the_dtype(student, reference, draw):
    inputs, heads, _ = _inputs(draw, torch.float32)
    weights = {name: tensor.float() for name, tensor in _weights(draw, inputs[0].shape[-1], scale=0.3).items()}
    expected = _peer(reference, weights, heads, dtype=torch.float32)(*inputs, average_attn_weights=False)
    close(_made(student, weights, heads, dtype=torch.float32)(*inputs), expected)


def _obeys(student, reference, draw, axes):
    inputs, heads, ((batch, queries, model), shape) = _inputs(draw)
    sizes = {"B": batch, "H": heads, "T": queries, "S": shape[-1], "1": 1}
    mask, weights = _partial(draw, *(sizes[axis] for axis in axes)), _weights(draw, model)
    expected = _peer(reference, weights, heads)(*inputs, attn_mask=_hidden(mask, shape), average_attn_weights=False)
    close(_made(student, weights, heads)(*inputs, mask), expected, **LOOSE)


def test_MultiHeadAttention__gives_all_heads_the_same_mask(student, reference, draw):
    for axes in ("TS", "B11S"):
        _obeys(student, reference, draw, axes)


def test_MultiHeadAttention__gives_each_sequence_its_own_mask(student, reference, draw):
    for axes in ("BTS", "B1S"):
        _obeys(student, reference, draw, axes)


def test_MultiHeadAttention__gives_each_head_its_own_mask(student, reference, draw):
    _obeys(student, reference, draw, "BHTS")


def test_MultiHeadAttention__gives_zero_weights_to_a_query_with_no_key(student, draw):
    (query, key, value), heads, ((batch, queries, model), shape) = _inputs(draw)
    weights = _weights(draw, model)
    mask = torch.ones(shape[2:], dtype=torch.bool)
    mask[1:] = False
    expected = _linear(_linear(value, weights, "w_v").mean(1, keepdim=True), weights, "w_o").repeat(1, queries, 1)
    expected[:, 1:] = weights["w_o.bias"]
    rows = (mask.double() / shape[-1]).expand(shape)
    close(_made(student, weights, heads)(query, key[:, :1].expand_as(key).clone(), value, mask), (expected, rows), **LOOSE)


def test_MultiHeadAttention__refuses_a_mask_that_is_not_boolean(student, reference, draw):
    inputs, heads, ((_, _, model), shape) = _inputs(draw)
    weights = _weights(draw, model)
    module, mask = _made(student, weights, heads), torch.ones(shape[2:], dtype=torch.bool)
    close(module(*inputs, mask), _peer(reference, weights, heads)(*inputs, average_attn_weights=False), **LOOSE)
    for dtype in (torch.float64, torch.int64):
        raises(TypeError, module, *inputs, mask.to(dtype))


def test_MultiHeadAttention__passes_gradients_to_its_inputs(student, reference, draw):
    inputs, heads, _ = _inputs(draw)
    weights = _weights(draw, inputs[0].shape[-1])
    expected = _peer(reference, weights, heads).gradients(*inputs, wrt=(0, 1, 2), average_attn_weights=False)
    close(_made(student, weights, heads).gradients(*inputs, wrt=(0, 1, 2)), expected, what="the gradients", **LOOSE)


def test_MultiHeadAttention__has_finite_gradients_through_a_query_with_no_key(student, reference, draw):
    inputs, heads, ((_, _, model), shape) = _inputs(draw)
    weights, mask = _weights(draw, model), _partial(draw, *shape[2:])
    mask[1] = False
    expected = reference.make("MultiHeadAttention", model, heads, weights=weights).gradients(*inputs, mask, wrt=(0, 1, 2))
    close(_made(student, weights, heads).gradients(*inputs, mask, wrt=(0, 1, 2)), expected, what="the gradients", **LOOSE)


def test_MultiHeadAttention__passes_gradients_to_its_parameters(student, reference, draw):
    inputs, heads, _ = _inputs(draw)
    weights = _weights(draw, inputs[0].shape[-1])
    module, peer = _made(student, weights, heads), _peer(reference, weights, heads)
    if module.made.then:  # parameters of other names, of which nobody knows the right gradients
        close(module(*inputs), peer(*inputs, average_attn_weights=False), **LOOSE)
        return
    gradients = dict(zip(weights, module.gradients(*inputs, wrt=weights), strict=True))
    expected = peer.gradients(*inputs, wrt=_as_pytorch(weights), average_attn_weights=False)
    close(list(_as_pytorch(gradients).values()), list(expected), what="the gradients", **LOOSE)


def test_MultiHeadAttention__refuses_heads_that_do_not_divide_the_width(student, reference, draw):
    inputs, heads, (_, shape) = _inputs(draw)
    model = inputs[0].shape[-1]
    weights = _weights(draw, model)
    expected = _peer(reference, weights, heads)(*inputs, average_attn_weights=False)
    close(_made(student, weights, heads)(*inputs), expected, **LOOSE)
    wide = [draw.normal(shape[0], 2, model + 1) for _ in range(3)]
    module = student.make("MultiHeadAttention", model + 1, heads)
    raises(ValueError, module, *wide, mentions=(str(model + 1), str(heads)))


def test_MultiHeadAttention__drops_nothing_outside_training(student, reference, draw):
    inputs, heads, _ = _inputs(draw)
    weights = _weights(draw, inputs[0].shape[-1])
    expected = _peer(reference, weights, heads)(*inputs, average_attn_weights=False)
    close(_made(student, weights, heads, dropout=ALMOST_ALL)(*inputs), expected, **LOOSE)


# With all weights dropped but one in a billion, what comes back doesn't depend on the draw: so a diagnosis can compare it.


@pytest.mark.random
@pytest.mark.noise(1e-6)
def test_MultiHeadAttention__drops_weights_in_training(student, draw):
    inputs, heads, shapes = _inputs(draw)
    weights = _weights(draw, inputs[0].shape[-1])
    output, _ = _pair(_made(student, weights, heads, training=True, dropout=ALMOST_ALL)(*inputs), *shapes)
    close(output, weights["w_o.bias"].expand(shapes[0]), what="the output", **LOOSE)


@pytest.mark.random
@pytest.mark.noise(1e-6)
def test_MultiHeadAttention__returns_the_weights_before_dropout(student, reference, draw):
    inputs, heads, shapes = _inputs(draw)
    weights = _weights(draw, inputs[0].shape[-1])
    _, expected = _peer(reference, weights, heads)(*inputs, average_attn_weights=False)
    _, got = _pair(_made(student, weights, heads, training=True, dropout=ALMOST_ALL)(*inputs), *shapes)
    close(got, expected, what="the weights", **LOOSE)


@pytest.mark.random
@pytest.mark.noise(2.0)  # single draws: two right answers drop other weights
def test_MultiHeadAttention__drops_single_weights_and_scales_the_rest(student, draw):
    batch, heads, queries, keys, p = 2, 3, 41, 23, 0.3
    model = heads * (keys + 1)
    weights = {f"{name}.weight": torch.eye(model, dtype=torch.float64) for name in NAMES}
    value = torch.eye(keys, keys + 1, dtype=torch.float64).repeat(batch, 1, heads)
    query, key = draw.normal(batch, queries, model), draw.normal(batch, 1, model).expand(batch, keys, model).clone()
    result = _made(student, weights, heads, training=True, dropout=p)(query, key, value)
    output, _ = _pair(result, (batch, queries, model), (batch, heads, queries, keys))
    kept = output.reshape(batch, queries, heads, keys + 1)[..., :-1] * keys * (1 - p)
    close(kept, (kept > 0.5).double(), what="survivors over their scaled weights", **LOOSE)
    for dims, margin in (((0, 1, 2, 3), 0.06), ((0, 1, 2), 0.25), ((1, 3), 0.15), ((0, 2, 3), 0.3)):
        if not ((kept.mean(dims) - (1 - p)).abs() <= margin).all():
            raise Mismatch("the share of weights that survive is far from the probability asked for")


def test_MultiHeadAttention__is_built_by_hand(student, reference, draw):
    inputs, heads, _ = _inputs(draw)
    weights = _weights(draw, inputs[0].shape[-1])
    expected = _peer(reference, weights, heads)(*inputs, average_attn_weights=False)
    close(_made(student, weights, heads).by_hand(*inputs, forbidden=BY_HAND), expected, **LOOSE)


# fuse_qkv


def _projected(subject, draw, bias=True):
    """Weights, an input, and the linear layer that the subject makes of them."""
    heads, width, model = _heads(draw)
    batch, positions = _others(draw, 2, heads, width, model, 3 * model)
    weights = _weights(draw, model, bias=bias)
    fused = subject.make("MultiHeadAttention", model, heads, 0.0, bias, weights=weights, then=[("fuse_qkv",)])
    return weights, draw.normal(batch, positions, model), fused


def test_fuse_qkv__makes_copies_and_leaves_the_module_as_it_was(student, draw):
    weights, _, fused = _projected(student, draw)
    expected = torch.cat([weights[f"{name}.weight"] for name in NAMES[:3]])
    close(fused.call("get_parameter", "weight"), expected, what="the weight of the fused layer")
    done = student.after_fusing(student.make("MultiHeadAttention", *fused.made.args, weights=weights))
    _nothing(done, "shared", "parameters of the fused layer that share memory with the module")
    _nothing(done, "changed", "parameters of the module that were changed")


def _nothing(done, key, what):
    """Whether a list of names in what for_04_multi_head.py tells is empty."""
    if done[key]:
        raise Mismatch(f"{what}: {', '.join(done[key])}")


def _third(student, draw, place):
    weights, x, fused = _projected(student, draw)
    got, model = fused(x), x.shape[-1]
    if not isinstance(got, torch.Tensor) or got.shape != (*x.shape[:2], 3 * model):
        raise Mismatch(f"the output of the fused layer: expected {(*x.shape[:2], 3 * model)}, got {describe(got)}")
    close(got.split(model, dim=-1)[place], _linear(x, weights, NAMES[place]), what=f"third number {place + 1}")


def test_fuse_qkv__has_the_queries_in_the_first_third(student, draw):
    _third(student, draw, 0)


def test_fuse_qkv__has_the_keys_in_the_second_third(student, draw):
    _third(student, draw, 1)


def test_fuse_qkv__has_the_values_in_the_last_third(student, draw):
    _third(student, draw, 2)


def test_fuse_qkv__works_without_biases(student, draw):
    weights, x, fused = _projected(student, draw, bias=False)
    close(list(fused.parameters()), ["weight"], what="the parameters of the fused layer")
    close(fused(x), torch.cat([_linear(x, weights, name) for name in NAMES[:3]], dim=-1))


def test_fuse_qkv__has_the_parameters_of_one_linear_layer(student, draw):
    weights, _, fused = _projected(student, draw)
    for kind in ("weight", "bias"):
        expected = torch.cat([weights[f"{name}.{kind}"] for name in NAMES[:3]])
        close(fused.call("get_parameter", kind), expected, what=f"the {kind} of the fused layer")


def test_fuse_qkv__passes_gradients_to_its_input_and_its_parameters(student, reference, draw):
    weights, x, fused = _projected(student, draw)
    joined = {kind: torch.cat([weights[f"{name}.{kind}"] for name in NAMES[:3]]) for kind in ("weight", "bias")}
    peer = reference.make("torch.nn.Linear", x.shape[-1], 3 * x.shape[-1], weights=joined)
    wrt = (0, "weight", "bias")
    close(fused.gradients(x, wrt=wrt), peer.gradients(x, wrt=wrt), what="the gradients")


# load_from_pytorch: into a right module with our names. Who builds theirs with other names is judged by what theirs computes then.


class _Loaded:
    """A module into which the learner's function has loaded PyTorch's weights, which are random, and how to look at it."""

    def __init__(self, student, reference, draw, bias=True, level=1.0):
        self.inputs, heads, _ = _inputs(draw)
        model = self.inputs[0].shape[-1]
        before, self.weights = _weights(draw, model, bias=bias), _weights(draw, model, bias=bias)
        self.weights |= {name: level * tensor for name, tensor in self.weights.items() if name.endswith("bias")}
        args, self.source = (model, heads, 0.0, bias), _peer(student, self.weights, heads)
        self.own = _has_other_names(student, *args)
        if self.own:
            self.empty = student.make("own_MultiHeadAttention", *args)
        else:
            self.empty = student.make("MultiHeadAttention", *args, weights=before)
        self.full = student.make(
            self.empty.made.maker, *args, weights=self.empty.made.weights, then=[("load_from_pytorch", self.source)]
        )
        self.peer = _peer(reference, self.weights, heads)

    def computes_the_same(self):
        close(self.full(*self.inputs), self.peer(*self.inputs, average_attn_weights=False))

    def holds(self, *names):
        """Whether these parameters are what they should be."""
        if self.own:
            self.computes_the_same()
            return
        for name in names:
            close(self.full.call("get_parameter", name), self.weights[name], what=name)


def _has_other_names(student, *args):
    try:
        parameters = student.make("own_MultiHeadAttention", *args).parameters()
    except AnswerRaised:  # there is none, or it can't be made
        return False
    return {name.removesuffix(".bias").removesuffix(".weight") for name in parameters} != set(NAMES)


def test_load_from_pytorch__takes_the_weights_of_queries_keys_and_values(student, reference, draw):
    _Loaded(student, reference, draw).holds("w_q.weight", "w_k.weight", "w_v.weight")


def test_load_from_pytorch__takes_their_biases(student, reference, draw):
    _Loaded(student, reference, draw).holds("w_q.bias", "w_k.bias", "w_v.bias")


def test_load_from_pytorch__takes_biases_of_zero(student, reference, draw):
    _Loaded(student, reference, draw, level=0.0).holds("w_q.weight", "w_q.bias", "w_o.bias")


def test_load_from_pytorch__takes_the_output_projection(student, reference, draw):
    _Loaded(student, reference, draw).holds("w_o.weight", "w_o.bias")


def test_load_from_pytorch__gives_the_output_and_weights_of_pytorch(student, reference, draw):
    _Loaded(student, reference, draw).computes_the_same()


def test_load_from_pytorch__works_without_biases(student, reference, draw):
    loaded = _Loaded(student, reference, draw, bias=False)
    loaded.computes_the_same()
    close(sorted(loaded.full.parameters()), sorted(loaded.empty.parameters()), what="the parameters after loading")


def test_load_from_pytorch__leaves_the_parameters_in_the_graph(student, reference, draw):
    loaded = _Loaded(student, reference, draw)
    _nothing(student.after_loading(loaded.empty, loaded.source), "frozen", "parameters that learn no longer")
    if loaded.own:
        expected = loaded.peer.gradients(*loaded.inputs, wrt=(0, 1, 2), average_attn_weights=False)
        close(loaded.full.gradients(*loaded.inputs, wrt=(0, 1, 2)), expected, what="the gradients")
        return
    names = list(loaded.weights)
    got = dict(zip(names, loaded.full.gradients(*loaded.inputs, wrt=names), strict=True))
    expected = loaded.peer.gradients(*loaded.inputs, wrt=tuple(_as_pytorch(loaded.weights)), average_attn_weights=False)
    close(list(_as_pytorch(got).values()), list(expected), what="the gradients")


def test_load_from_pytorch__works_in_place_and_returns_nothing(student, reference, draw):
    loaded = _Loaded(student, reference, draw)
    loaded.holds("w_q.weight", "w_o.weight")
    close(student.load_from_pytorch(loaded.empty, loaded.source), None)
    _nothing(student.after_loading(loaded.empty, loaded.source), "replaced", "parameters replaced by new objects")


def test_load_from_pytorch__makes_copies_and_leaves_pytorchs_module_as_it_was(student, reference, draw):
    loaded = _Loaded(student, reference, draw)
    loaded.holds("w_q.weight", "w_o.weight")
    done = student.after_loading(loaded.empty, loaded.source)
    _nothing(done, "shared", "parameters that share memory with PyTorch's")
    _nothing(done, "changed", "parameters of PyTorch's module that were changed")


# count_parameters


def _counted(model, heads, bias=True):
    return sum(parameter.numel() for parameter in torch.nn.MultiheadAttention(model, heads, bias=bias).parameters())


def test_count_parameters__counts_matrices_and_biases(student, reference, draw):
    heads, _, model = _heads(draw)
    close(student.count_parameters(model, heads), reference.count_parameters(model, heads))


def test_count_parameters__counts_no_biases_where_there_are_none(student, reference, draw):
    heads, _, model = _heads(draw)
    close(student.count_parameters(model, heads, False), reference.count_parameters(model, heads, False))


def test_count_parameters__with_one_head_is_right(student, reference, draw):
    _, _, model = _heads(draw)
    for bias in (True, False):
        close(student.count_parameters(model, 1, bias), reference.count_parameters(model, 1, bias))


def test_count_parameters__agrees_with_pytorch_for_any_number_of_heads(student, draw):
    _, width, _ = _heads(draw)
    for heads, bias in ((2, True), (6, False), (12, True)):
        close(student.count_parameters(12 * width, heads, bias), _counted(12 * width, heads, bias))


def test_count_parameters__refuses_heads_that_do_not_divide_the_width(student, reference, draw):
    heads, _, model = _heads(draw)
    for bias in (True, False):
        close(student.count_parameters(model, heads, bias), reference.count_parameters(model, heads, bias))
    raises(ValueError, student.count_parameters, model + 1, heads, mentions=(str(model + 1), str(heads)))


# GroupedQueryAttention


def _grouped(draw, groups=None, bias=True, low=2):
    """Inputs, weights, (model, heads, key-value heads), and the shapes of output and weights."""
    heads, shared = groups or draw.shuffled([(4, 2), (6, 2), (6, 3)])[0]
    width = 5
    model = heads * width
    batch, queries, keys = draw.shuffled(size for size in range(low, 12) if size not in (heads, shared, width, model))[:3]
    inputs = [draw.normal(batch, length, model) for length in (queries, keys, keys)]
    weights = _weights(draw, model, narrow=shared * width, bias=bias, scale=0.3)
    return inputs, weights, (model, heads, shared), ((batch, queries, model), (batch, heads, queries, keys))


def test_GroupedQueryAttention__with_a_key_head_for_each_head_is_multi_head_attention(student, reference, draw):
    inputs, weights, sizes, _ = _grouped(draw, (4, 4))
    expected = _peer(reference, weights, sizes[1])(*inputs, average_attn_weights=False)
    close(student.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs), expected, **LOOSE)


def test_GroupedQueryAttention__gives_the_only_value_through_both_projections(student, draw):
    (query, key, value), weights, sizes, ((batch, queries, model), _) = _grouped(draw, (4, 1))
    row = _linear(_linear(value[:, :1], weights, "w_v").repeat(1, 1, 4), weights, "w_o")
    result = student.make("GroupedQueryAttention", *sizes, weights=weights)(query, key[:, :1], value[:, :1])
    output, _ = _pair(result, (batch, queries, model), (batch, 4, queries, 1))
    close(output, row.expand(batch, queries, model), what="the output", **LOOSE)


def test_GroupedQueryAttention__shares_one_key_head_among_all(student, reference, draw):
    inputs, weights, sizes, _ = _grouped(draw, (3, 1))
    expected = reference.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs)
    close(student.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs), expected, **LOOSE)


def test_GroupedQueryAttention__gives_the_weights_of_every_head(student, reference, draw):
    inputs, weights, sizes, shapes = _grouped(draw)
    _, expected = reference.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs)
    _, got = _pair(student.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs), *shapes)
    close(got, expected, what="the weights", **LOOSE)


def test_GroupedQueryAttention__gives_neighbouring_heads_the_same_values(student, reference, draw):
    inputs, weights, sizes, shapes = _grouped(draw)
    expected, _ = reference.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs)
    output, _ = _pair(student.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs), *shapes)
    close(output, expected, what="the output", **LOOSE)


def test_GroupedQueryAttention__works_without_biases(student, reference, draw):
    inputs, weights, sizes, _ = _grouped(draw, bias=False)
    expected = reference.make("GroupedQueryAttention", *sizes, bias=False, weights=weights)(*inputs)
    close(student.make("GroupedQueryAttention", *sizes, bias=False, weights=weights)(*inputs), expected, **LOOSE)


def test_GroupedQueryAttention__obeys_masks_of_two_three_and_four_dimensions(student, reference, draw):
    inputs, weights, sizes, ((batch, queries, _), (_, heads, _, keys)) = _grouped(draw)
    for shape in ((queries, keys), (batch, queries, keys), (batch, 1, 1, keys), (batch, heads, queries, keys)):
        mask = _partial(draw, *shape)
        expected = reference.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs, mask)
        close(student.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs, mask), expected, **LOOSE)


def test_GroupedQueryAttention__gives_zero_weights_to_a_query_with_no_key(student, reference, draw):
    inputs, weights, sizes, (_, shape) = _grouped(draw)
    mask = _partial(draw, *shape[2:])
    mask[1] = False
    expected = reference.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs, mask)
    close(student.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs, mask), expected, **LOOSE)


def test_GroupedQueryAttention__refuses_a_mask_that_is_not_boolean(student, reference, draw):
    inputs, weights, sizes, (_, shape) = _grouped(draw)
    module, mask = student.make("GroupedQueryAttention", *sizes, weights=weights), torch.ones(shape[2:], dtype=torch.bool)
    close(module(*inputs, mask), reference.make("GroupedQueryAttention", *sizes, weights=weights)(*inputs, mask), **LOOSE)
    for dtype in (torch.float64, torch.int64):
        raises(TypeError, module, *inputs, mask.to(dtype))


def test_GroupedQueryAttention__refuses_heads_that_do_not_divide(student, reference, draw):
    inputs, weights, (model, heads, shared), _ = _grouped(draw, (4, 4))
    expected = _peer(reference, weights, heads)(*inputs, average_attn_weights=False)
    close(student.make("GroupedQueryAttention", model, heads, shared, weights=weights)(*inputs), expected, **LOOSE)
    raises(ValueError, student.make("GroupedQueryAttention", model, heads, 3), *inputs, mentions=(str(heads), "3"))
    wide = [torch.nn.functional.pad(x, (0, 1)) for x in inputs]
    raises(
        ValueError, student.make("GroupedQueryAttention", model + 1, heads, shared), *wide, mentions=(str(model + 1), str(heads))
    )


def test_GroupedQueryAttention__passes_gradients_to_inputs_and_parameters(student, reference, draw):
    inputs, weights, sizes, _ = _grouped(draw)
    wrt = (0, 1, 2, *weights)
    expected = reference.make("GroupedQueryAttention", *sizes, weights=weights).gradients(*inputs, wrt=wrt)
    got = student.make("GroupedQueryAttention", *sizes, weights=weights).gradients(*inputs, wrt=wrt)
    close(got, expected, what="the gradients", **LOOSE)
