"""Hidden checks of notebook 05: feed-forward, norms, the encoder layer, gradient norms by depth."""

import pytest
import torch

from course_utils.compare import Mismatch, close, describe, raises

# A norm that computes in float32 inside errs by 1e-7; one check asks for float64 itself, all others let it pass.
LOOSE = {"atol": 2e-6, "rtol": 2e-6}
# Judged by PyTorch's own module: another order of summation, nothing else.
PEER = {"atol": 1e-10, "rtol": 1e-10}
NEARLY_ALL = 0.999999
ALMOST_ALL = 1 - 1e-12
LIBRARY_NORMS = ("layer_norm", "native_layer_norm", "rms_norm", "fused_rms_norm", "batch_norm", "group_norm", "instance_norm")


def _tensor(value, shape, what="the result"):
    """The value, once it is a tensor of this shape."""
    if not isinstance(value, torch.Tensor):
        raise Mismatch(f"{what}: expected a tensor, got {describe(value)}")
    if tuple(value.shape) != tuple(shape):
        raise Mismatch(f"{what} has the wrong shape: expected {tuple(shape)}, got {tuple(value.shape)}")
    return value


def _drawn(draw, shapes, dtype=torch.float64):
    return {name: 0.5 * draw.normal(*shape, dtype=dtype) for name, shape in shapes.items()}


def _shapes(module):
    """The shapes of the parameters of one of PyTorch's modules, by name."""
    return {name: parameter.shape for name, parameter in module.named_parameters()}


# FeedForward


def _feed_forward(draw, activation="relu"):
    """Sizes (M, F), and weights for them."""
    d_model, d_ff = draw.sizes(2, low=3, high=11)
    if activation != "swiglu":
        return d_model, d_ff, _drawn(draw, _plain_shapes(d_model, d_ff))
    return d_model, 3 * d_ff, _drawn(draw, _gated_shapes(d_model, 2 * d_ff))


def _plain_shapes(d_model, d_ff):
    names = {"linear1": (d_ff, d_model), "linear2": (d_model, d_ff)}
    weights = {f"{name}.weight": shape for name, shape in names.items()}
    return weights | {f"{name}.bias": shape[:1] for name, shape in names.items()}


def _gated_shapes(d_model, hidden):
    return {"gate.weight": (hidden, d_model), "up.weight": (hidden, d_model), "down.weight": (d_model, hidden)}


def _peer(reference, activation, weights):
    """PyTorch's own chain of the same two linear maps."""
    (d_ff, d_model), names = weights["linear1.weight"].shape, {"linear1": "0", "linear2": "2"}
    chain = (
        reference.make("torch.nn.Linear", d_model, d_ff),
        reference.make(f"torch.nn.{activation}"),
        reference.make("torch.nn.Linear", d_ff, d_model),
    )
    renamed = {f"{names[name.split('.')[0]]}.{name.split('.')[1]}": weight for name, weight in weights.items()}
    return reference.make("torch.nn.Sequential", *chain, weights=renamed)


def test_FeedForward__chains_two_linear_maps_where_nothing_is_negative(student, reference, draw):
    d_model, d_ff, weights = _feed_forward(draw)
    weights = {name: weight.abs() + 0.1 for name, weight in weights.items()}
    x = draw.uniform(0.1, 1.0, 2, d_model)
    hidden = x @ weights["linear1.weight"].T + weights["linear1.bias"]
    expected = hidden @ weights["linear2.weight"].T + weights["linear2.bias"]
    close(student.make("FeedForward", d_model, d_ff, weights=weights)(x), expected)


def test_FeedForward__relu_equals_pytorch(student, reference, draw):
    d_model, d_ff, weights = _feed_forward(draw)
    x = 2 * draw.normal(2, d_model)
    close(student.make("FeedForward", d_model, d_ff, weights=weights)(x), _peer(reference, "ReLU", weights)(x), **PEER)


def test_FeedForward__gelu_equals_pytorch(student, reference, draw):
    d_model, d_ff, weights = _feed_forward(draw, "gelu")
    x = 2 * draw.normal(2, d_model)
    close(student.make("FeedForward", d_model, d_ff, "gelu", weights=weights)(x), _peer(reference, "GELU", weights)(x), **PEER)


def test_FeedForward__swiglu_multiplies_by_a_gate(student, reference, draw):
    d_model, d_ff, weights = _feed_forward(draw, "swiglu")
    x = 2 * draw.normal(2, d_model)
    ours, theirs = (subject.make("FeedForward", d_model, d_ff, "swiglu", weights=weights) for subject in (student, reference))
    close(ours(x), theirs(x))


def test_FeedForward__swiglu_rounds_its_hidden_width(student, reference, draw):
    d_model, d_ff = draw.sizes(2, low=3, high=7)
    weights = _drawn(draw, _gated_shapes(d_model, 2 * d_ff + 1))
    d_ff = 3 * d_ff + 1
    x = draw.normal(2, d_model)
    ours, theirs = (subject.make("FeedForward", d_model, d_ff, "swiglu", weights=weights) for subject in (student, reference))
    close(ours(x), theirs(x))


def test_FeedForward__takes_any_leading_dimensions_and_keeps_the_dtype(student, reference, draw):
    d_model, d_ff, weights = _feed_forward(draw)
    for leading in ((), (2,), (12, 13, 2)):
        x = draw.normal(*leading, d_model, dtype=torch.float32)
        ours, theirs = (
            subject.make("FeedForward", d_model, d_ff, weights=weights, dtype=torch.float32) for subject in (student, reference)
        )
        close(ours(x), theirs(x))


@pytest.mark.noise(50.0)  # what comes out for an unknown name is nobody's concern
def test_FeedForward__refuses_another_name(student, reference, draw):
    d_model, d_ff, weights = _feed_forward(draw)
    x = draw.normal(2, d_model)
    for name in ("tanh", "silu"):
        raises(ValueError, student.make("FeedForward", d_model, d_ff, name, weights=weights), x, mentions=(name,))
    close(student.make("FeedForward", d_model, d_ff, "relu", weights=weights)(x), _peer(reference, "ReLU", weights)(x), **PEER)


def test_FeedForward__gradients_equal_those_of_pytorch(student, reference, draw):
    d_model, d_ff, weights = _feed_forward(draw)
    x = draw.normal(2, d_model)
    ours = student.make("FeedForward", d_model, d_ff, weights=weights)
    expected = _peer(reference, "ReLU", weights).gradients(x, wrt=(0, "0.weight", "2.bias"))
    close(ours.gradients(x, wrt=(0, "linear1.weight", "linear2.bias")), expected, **PEER)


def test_FeedForward__drops_nothing_outside_training(student, reference, draw):
    for activation in ("relu", "swiglu"):
        d_model, d_ff, weights = _feed_forward(draw, activation)
        x = draw.normal(2, d_model)
        expected = reference.make("FeedForward", d_model, d_ff, activation, weights=weights)(x)
        close(student.make("FeedForward", d_model, d_ff, activation, dropout=0.9, weights=weights)(x), expected)


# With nearly every number dropped, what comes back hardly depends on the draw: so a diagnosis can compare it.


@pytest.mark.random
@pytest.mark.noise(1e-6)
def test_FeedForward__training_drops_hidden_numbers_and_no_others(student, reference, draw):
    for activation in ("relu", "swiglu"):
        d_model, d_ff, weights = _feed_forward(draw, activation)
        x = draw.normal(2, d_model)
        module = student.make("FeedForward", d_model, d_ff, activation, NEARLY_ALL, weights=weights, training=True)
        expected = weights.get("linear2.bias", torch.zeros(d_model, dtype=torch.float64)).expand_as(x)
        close(module(x), expected, **LOOSE)


@pytest.mark.random
@pytest.mark.noise(5.0)  # single draws: two right answers drop other numbers
def test_FeedForward__training_enlarges_what_survives(student, draw):
    for activation in ("relu", "gelu", "swiglu"):
        _enlarges_what_survives(student, draw, activation)


def _enlarges_what_survives(student, draw, activation):
    """All hidden numbers are the activation of 1 here, so that only dropout tells them apart."""
    rows, hidden, p, x = 97, 43, 0.3, torch.ones(97, 86, dtype=torch.float64)
    first = torch.full((hidden, 2 * hidden), 1 / (2 * hidden), dtype=torch.float64)
    last = torch.eye(hidden, dtype=torch.float64).repeat(2, 1)
    one = torch.ones((), dtype=torch.float64)
    if activation == "swiglu":
        level, d_ff, weights = torch.nn.functional.silu(one), 64, {"gate.weight": first, "up.weight": first, "down.weight": last}
    else:
        level, d_ff = getattr(torch.nn.functional, activation)(one), hidden
        biases = {"linear1.bias": 0 * first[:, 0], "linear2.bias": 0 * last[:, 0]}
        weights = {"linear1.weight": first, "linear2.weight": last, **biases}
    module = student.make("FeedForward", 2 * hidden, d_ff, activation, p, weights=weights, training=True)
    kept = _tensor(module(x), (rows, 2 * hidden)) * (1 - p) / level
    close(kept, (kept > 0.5).double(), what="survivors over their enlarged size")
    close(kept[:, hidden:], kept[:, :hidden], what="the same hidden numbers, read a second time")
    if abs(float(kept.mean()) - (1 - p)) > 0.06:
        raise Mismatch("the share of hidden numbers that survive is far from 1 - dropout")


# LayerNorm


def _plain(d_model, **options):
    """Arguments and weights of a norm that scales by one and shifts by nothing."""
    ones, zeros = torch.ones(d_model, dtype=torch.float64), torch.zeros(d_model, dtype=torch.float64)
    return {"weights": {"weight": ones, "bias": zeros}, **options}


def _both(student, reference, name, *args, **options):
    return (subject.make(name, *args, **options) for subject in (student, reference))


def test_LayerNorm__normalises_each_position_by_itself(student, reference, draw):
    for leading in ((), (3,), (12, 2)):
        d_model = draw.sizes(1, low=5)[0]
        x = 3 * draw.normal(*leading, d_model) + 2
        ours, theirs = _both(student, reference, "LayerNorm", d_model, **_plain(d_model))
        close(ours(x), theirs(x), **LOOSE)


def test_LayerNorm__of_two_numbers_is_minus_one_and_one(student, draw):
    middle, half = draw.normal(5, 1), draw.uniform(0.5, 2.0, 5, 1)
    x = torch.cat([middle - half, middle + half], dim=1)
    expected = torch.tensor([-1.0, 1.0], dtype=torch.float64).expand_as(x)
    close(student.make("LayerNorm", 2, 1e-12, **_plain(2))(x), expected, **LOOSE)


def test_LayerNorm__adds_eps_where_it_belongs(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x, eps = draw.normal(rows, d_model), draw.number(0.3, 0.9)
    ours, theirs = _both(student, reference, "LayerNorm", d_model, eps, **_plain(d_model))
    close(ours(x), theirs(x), **LOOSE)


def test_LayerNorm__small_rows_feel_the_default_eps(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x = 2e-3 * draw.normal(rows, d_model)
    ours, theirs = _both(student, reference, "LayerNorm", d_model, **_plain(d_model))
    close(ours(x), theirs(x), **LOOSE)


def test_LayerNorm__scales_and_shifts_each_feature(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x, weights = draw.normal(rows, d_model), draw.weights(reference.make("LayerNorm", d_model))
    ours, theirs = _both(student, reference, "LayerNorm", d_model, weights=weights)
    close(ours(x), theirs(x), **LOOSE)


def test_LayerNorm__a_constant_row_becomes_the_bias(student, reference, draw):
    d_model = draw.sizes(1, low=3)[0]
    x = draw.integers(1, 9, 2, 1).double().expand(2, d_model).clone()
    weights = draw.weights(reference.make("LayerNorm", d_model))
    ours, theirs = _both(student, reference, "LayerNorm", d_model, weights=weights)
    close(ours(x), weights["bias"].expand_as(x), **LOOSE)
    close(ours.gradients(x, wrt=(0,)), theirs.gradients(x, wrt=(0,)), **LOOSE)


def test_LayerNorm__keeps_its_precision_far_from_zero(student, reference, draw):
    rows, d_model = draw.sizes(2, low=4)
    x = (3000.0 + draw.normal(rows, d_model)).float()
    # The mean of such numbers is only known to about 3e-4 in float32, whoever computes it.
    ours, theirs = _both(student, reference, "LayerNorm", d_model, dtype=torch.float32, **_plain(d_model))
    close(ours(x), theirs(x), atol=5e-3, rtol=5e-3)


def test_LayerNorm__equals_pytorch_in_float64(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x, weights = draw.normal(rows, d_model), draw.weights(reference.make("LayerNorm", d_model))
    ours, theirs = (
        student.make("LayerNorm", d_model, weights=weights),
        reference.make("torch.nn.LayerNorm", d_model, weights=weights),
    )
    close(ours(x), theirs(x), **PEER)


def test_LayerNorm__gradients_equal_those_of_pytorch(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x, weights = draw.normal(rows, d_model), draw.weights(reference.make("LayerNorm", d_model))
    ours, theirs = (
        student.make("LayerNorm", d_model, weights=weights),
        reference.make("torch.nn.LayerNorm", d_model, weights=weights),
    )
    wrt = (0, "weight", "bias")
    close(ours.gradients(x, wrt=wrt), theirs.gradients(x, wrt=wrt), **LOOSE)


def test_LayerNorm__keeps_float32(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x = draw.normal(rows, d_model, dtype=torch.float32)
    weights = draw.weights(reference.make("LayerNorm", d_model), dtype=torch.float32)
    ours = student.make("LayerNorm", d_model, weights=weights, dtype=torch.float32)
    close(ours(x), reference.make("torch.nn.LayerNorm", d_model, weights=weights, dtype=torch.float32)(x))


def test_LayerNorm__is_written_by_hand(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x, weights = draw.normal(rows, d_model), draw.weights(reference.make("LayerNorm", d_model))
    ours, theirs = _both(student, reference, "LayerNorm", d_model, weights=weights)
    close(ours.by_hand(x, forbidden=LIBRARY_NORMS), theirs(x), **LOOSE)


# RMSNorm


def _ones(d_model):
    return {"weights": {"weight": torch.ones(d_model, dtype=torch.float64)}}


def test_RMSNorm__divides_each_position_by_its_root_mean_square(student, reference, draw):
    for leading in ((), (3,), (12, 2)):
        d_model = draw.sizes(1, low=5)[0]
        x = 3 * draw.normal(*leading, d_model) + 1
        ours, theirs = _both(student, reference, "RMSNorm", d_model, **_ones(d_model))
        close(ours(x), theirs(x), **LOOSE)


def test_RMSNorm__of_equal_numbers_is_one_or_minus_one(student, draw):
    d_model = draw.sizes(1, low=3)[0]
    row = draw.uniform(0.5, 4.0, d_model + 1, 1)
    row[0] *= -1
    x = row.expand(d_model + 1, d_model).clone()
    close(student.make("RMSNorm", d_model, 1e-12, **_ones(d_model))(x), x.sign(), **LOOSE)


def test_RMSNorm__adds_eps_where_it_belongs(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x, eps = draw.normal(rows, d_model), draw.number(0.3, 0.9)
    ours, theirs = _both(student, reference, "RMSNorm", d_model, eps, **_ones(d_model))
    close(ours(x), theirs(x), **LOOSE)


def test_RMSNorm__small_rows_feel_the_default_eps(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x = 1e-3 * draw.normal(rows, d_model)
    ours, theirs = _both(student, reference, "RMSNorm", d_model, **_ones(d_model))
    close(ours(x), theirs(x), **LOOSE)


def test_RMSNorm__scales_each_feature(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x, weights = draw.normal(rows, d_model), draw.weights(reference.make("RMSNorm", d_model))
    ours, theirs = _both(student, reference, "RMSNorm", d_model, weights=weights)
    close(ours(x), theirs(x), **LOOSE)


def test_RMSNorm__a_row_of_zeros_stays_zero_with_finite_gradients(student, reference, draw):
    d_model = draw.sizes(1, low=3)[0]
    x = draw.normal(2, d_model)
    x[0] = 0.0
    weights = draw.weights(reference.make("RMSNorm", d_model))
    ours, theirs = _both(student, reference, "RMSNorm", d_model, weights=weights)
    close(ours(x), theirs(x), **LOOSE)
    close(ours.gradients(x, wrt=(0,)), theirs.gradients(x, wrt=(0,)), **LOOSE)


def test_RMSNorm__survives_large_numbers_in_float16(student, draw):
    rows, d_model = draw.sizes(2, low=5)
    x = (600 * draw.normal(rows, d_model)).half()
    x[:, 0] = 900.0
    _rounded_at_the_end(student, x, torch.float16)


def test_RMSNorm__rounds_bfloat16_at_the_end_only(student, draw):
    rows, d_model = draw.sizes(2, low=40, high=60)
    _rounded_at_the_end(student, draw.normal(rows, d_model, dtype=torch.bfloat16), torch.bfloat16)


def test_RMSNorm__rounds_at_the_end_also_under_weights_of_float32(student, draw):
    for dtype in (torch.bfloat16, torch.float16):
        rows, d_model = draw.sizes(2, low=40, high=60)
        _rounded_at_the_end(student, draw.normal(rows, d_model, dtype=dtype), torch.float32)


def _rounded_at_the_end(student, x, dtype):
    """One rounding to the dtype of x moves a number by half a step at most: a 256th of it in bfloat16, a 2048th in float16."""
    d_model, half_a_step = x.shape[-1], torch.finfo(x.dtype).eps / 2
    result = _tensor(student.make("RMSNorm", d_model, dtype=dtype, **_ones(d_model))(x), x.shape)
    if result.dtype not in (x.dtype, dtype):  # float32 weights may widen the result, or not
        raise Mismatch(f"the result has the wrong dtype: expected {x.dtype}, got {result.dtype}")
    wide = x.double()
    expected = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()
    close(result.double(), expected, atol=1e-6, rtol=1.02 * half_a_step)


def test_RMSNorm__keeps_float32(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x = draw.normal(rows, d_model, dtype=torch.float32)
    weights = draw.weights(reference.make("RMSNorm", d_model), dtype=torch.float32)
    ours = student.make("RMSNorm", d_model, weights=weights, dtype=torch.float32)
    close(ours(x), reference.make("torch.nn.RMSNorm", d_model, eps=1e-6, weights=weights, dtype=torch.float32)(x))


def test_RMSNorm__equals_pytorch_in_float64(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x, weights = draw.normal(rows, d_model), draw.weights(reference.make("RMSNorm", d_model))
    ours = student.make("RMSNorm", d_model, weights=weights)
    close(ours(x), reference.make("torch.nn.RMSNorm", d_model, eps=1e-6, weights=weights)(x), **PEER)


def test_RMSNorm__gradients_equal_those_of_pytorch(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x, weights = draw.normal(rows, d_model), draw.weights(reference.make("RMSNorm", d_model))
    theirs = reference.make("torch.nn.RMSNorm", d_model, eps=1e-6, weights=weights)
    wrt = (0, "weight")
    close(student.make("RMSNorm", d_model, weights=weights).gradients(x, wrt=wrt), theirs.gradients(x, wrt=wrt), **LOOSE)


def test_RMSNorm__is_written_by_hand(student, reference, draw):
    rows, d_model = draw.sizes(2, low=3)
    x, weights = draw.normal(rows, d_model), draw.weights(reference.make("RMSNorm", d_model))
    ours, theirs = _both(student, reference, "RMSNorm", d_model, weights=weights)
    close(ours.by_hand(x, forbidden=LIBRARY_NORMS), theirs(x), **LOOSE)


# EncoderLayer


class _Layer:
    """Sizes, weights and an input of one encoder layer, for both sides and for PyTorch's own."""

    def __init__(self, reference, draw, **options):
        self.heads, width = draw.number(2, 3), draw.number(2, 3)
        self.d_model = self.heads * width
        self.batch, self.length, self.d_ff = draw.shuffled({2, 3, 5, 7, 8} - {self.d_model})[:3]
        self.args = self.d_model, self.heads, self.d_ff
        self.options, self.reference = options, reference
        self.weights = _drawn(draw, _layer_shapes(self.d_model, self.d_ff))
        self.x = draw.normal(self.batch, self.length, self.d_model)

    def silence(self, *linear):
        """Put zeros into these linear maps: what comes behind them is nothing."""
        for name in linear:
            for part in ("weight", "bias"):
                self.weights[f"{name}.{part}"] = torch.zeros_like(self.weights[f"{name}.{part}"])
        return self

    def of(self, subject, **options):
        return subject.make("EncoderLayer", *self.args, weights=self.weights, **{**self.options, **options})

    def pytorch(self, norm_first):
        """PyTorch's own layer with the same weights, under its names."""
        weights = {}
        for part in ("weight", "bias"):
            weights[f"self_attn.in_proj_{part}"] = torch.cat([self.weights[f"self_attn.w_{which}.{part}"] for which in "qkv"])
            weights |= {f"{theirs}.{part}": self.weights[f"{ours}.{part}"] for ours, theirs in PYTORCH_NAMES.items()}
        return self.reference.make(
            "torch.nn.TransformerEncoderLayer", *self.args, dropout=0.0, batch_first=True, norm_first=norm_first, weights=weights
        )


def _layer_shapes(d_model, d_ff):
    shapes = {f"self_attn.w_{which}.weight": (d_model, d_model) for which in "qkvo"}
    shapes |= {f"self_attn.w_{which}.bias": (d_model,) for which in "qkvo"}
    shapes |= {f"feed_forward.{name}": shape for name, shape in _plain_shapes(d_model, d_ff).items()}
    return shapes | {f"{norm}.{part}": (d_model,) for norm in ("norm1", "norm2") for part in ("weight", "bias")}


PYTORCH_NAMES = {
    "self_attn.w_o": "self_attn.out_proj",
    "feed_forward.linear1": "linear1",
    "feed_forward.linear2": "linear2",
    "norm1": "norm1",
    "norm2": "norm2",
}


def test_EncoderLayer__pre_ln_lets_the_input_through_where_its_parts_are_silent(student, reference, draw):
    layer = _Layer(reference, draw).silence("self_attn.w_o", "feed_forward.linear2")
    # Silent attention leaves a post-LN layer with its two norms.
    close(layer.of(student)(layer.x), layer.x)
    close(layer.of(student, norm_first=False)(layer.x), layer.of(reference, norm_first=False)(layer.x))


def test_EncoderLayer__pre_ln_adds_attention(student, reference, draw):
    layer = _Layer(reference, draw).silence("feed_forward.linear2")
    close(layer.of(student)(layer.x), layer.of(reference)(layer.x))


def test_EncoderLayer__pre_ln_adds_the_feed_forward_part(student, reference, draw):
    layer = _Layer(reference, draw).silence("self_attn.w_o")
    close(layer.of(student)(layer.x), layer.of(reference)(layer.x))


def test_EncoderLayer__post_ln_norms_behind_attention(student, reference, draw):
    layer = _Layer(reference, draw, norm_first=False).silence("feed_forward.linear2")
    close(layer.of(student)(layer.x), layer.of(reference)(layer.x))


def test_EncoderLayer__post_ln_norms_behind_the_feed_forward_part(student, reference, draw):
    layer = _Layer(reference, draw, norm_first=False).silence("self_attn.w_o")
    close(layer.of(student)(layer.x), layer.of(reference)(layer.x))


def test_EncoderLayer__pre_ln_equals_pytorch(student, reference, draw):
    layer = _Layer(reference, draw)
    close(layer.of(student)(layer.x), layer.pytorch(True)(layer.x), **PEER)


def test_EncoderLayer__post_ln_equals_pytorch(student, reference, draw):
    layer = _Layer(reference, draw)
    close(layer.of(student, norm_first=False)(layer.x), layer.pytorch(False)(layer.x), **PEER)


def test_EncoderLayer__obeys_a_mask(student, reference, draw):
    for norm_first in (True, False):
        layer = _Layer(reference, draw, norm_first=norm_first)
        causal = torch.ones(layer.length, layer.length, dtype=torch.bool).tril()
        expected = layer.pytorch(norm_first)(layer.x, src_mask=~causal)
        close(layer.of(student)(layer.x, causal), expected, **PEER)
        padding = draw.mask(layer.batch, 1, 1, layer.length)
        close(layer.of(student)(layer.x, padding), layer.of(reference)(layer.x, padding))


def test_EncoderLayer__gradients_equal_those_of_pytorch(student, reference, draw):
    ours = ["norm1.weight", "norm2.bias", "self_attn.w_o.weight", "feed_forward.linear1.weight"]
    theirs = ["norm1.weight", "norm2.bias", "self_attn.out_proj.weight", "linear1.weight"]
    for norm_first in (True, False):
        layer = _Layer(reference, draw, norm_first=norm_first)
        expected = layer.pytorch(norm_first).gradients(layer.x, wrt=(0, *theirs))
        close(layer.of(student).gradients(layer.x, wrt=(0, *ours)), expected, **PEER)


def test_EncoderLayer__keeps_float32(student, reference, draw):
    layer = _Layer(reference, draw, dtype=torch.float32)
    close(layer.of(student)(layer.x.float()), layer.of(reference)(layer.x.float()))


def test_EncoderLayer__drops_nothing_outside_training(student, reference, draw):
    layer = _Layer(reference, draw)
    close(layer.of(student, dropout=0.9)(layer.x), layer.of(reference)(layer.x))


@pytest.mark.random
@pytest.mark.noise(1e-6)
def test_EncoderLayer__in_training_dropout_falls_on_what_is_added(student, reference, draw):
    layer = _Layer(reference, draw, dropout=NEARLY_ALL, training=True)
    close(layer.of(student)(layer.x), layer.x, **LOOSE)
    silent = layer.of(reference, norm_first=False, training=True)
    close(layer.of(student, norm_first=False)(layer.x), silent(layer.x), **LOOSE)


@pytest.mark.random
@pytest.mark.noise(9.0)  # single draws: two right answers drop other numbers
def test_EncoderLayer__in_training_survivors_are_enlarged(student, draw):
    """Attention says 1 everywhere and the feed-forward part 8, so the output tells which of both was dropped where."""
    d_model, p = 41, 0.25
    weights = _constant_parts(d_model, 7, attention=1.0, feed_forward=8.0)
    x = 0.01 * draw.normal(3, 29, d_model)
    module = student.make("EncoderLayer", d_model, 1, 7, p, weights=weights, training=True)
    added = (_tensor(module(x), x.shape) - x) * (1 - p)
    both = (added > 4.5).double(), (added - 8 * (added > 4.5) > 0.5).double()
    close(8 * both[0] + both[1], added, what="what is added, over its enlarged size", **LOOSE)
    for part, kept in zip(("feed-forward", "attention"), both, strict=True):
        if abs(float(kept.mean()) - (1 - p)) > 0.05:
            raise Mismatch(f"the share of survivors of the {part} part is far from 1 - dropout")


def _constant_parts(d_model, d_ff, attention, feed_forward):
    """Weights of a layer whose parts say the same whatever comes in."""
    weights = {name: torch.zeros(shape, dtype=torch.float64) for name, shape in _layer_shapes(d_model, d_ff).items()}
    weights["self_attn.w_o.bias"] += attention
    weights["feed_forward.linear2.bias"] += feed_forward
    for norm in ("norm1", "norm2"):
        weights[f"{norm}.weight"] += 1.0
    return weights


# gradient_norm_by_depth


def _linear(student, reference, draw, *sizes, dtype=torch.float64):
    """The same linear maps on both sides."""
    stacks = [], []
    for inputs, outputs in zip(sizes, sizes[1:], strict=False):
        weights = _drawn(draw, _shapes(torch.nn.Linear(inputs, outputs)), dtype)
        for subject, stack in zip((student, reference), stacks, strict=True):
            stack.append(subject.make("torch.nn.Linear", inputs, outputs, weights=weights, dtype=dtype))
    return stacks


def test_gradient_norm_by_depth__of_one_linear_layer(student, draw):
    """The output is w x + b for one number: the gradient of its square is 2 (w x + b) times (x, 1)."""
    width = draw.sizes(1, low=3)[0]
    weights = {"weight": draw.normal(1, width), "bias": draw.normal(1)}
    x = draw.normal(1, width)
    output = float(weights["weight"] @ x[0] + weights["bias"])
    expected = 2 * abs(output) * float((x**2).sum() + 1) ** 0.5
    close(student.gradient_norm_by_depth([student.make("torch.nn.Linear", width, 1, weights=weights)], x), [expected])


def test_gradient_norm_by_depth__the_loss_is_the_mean_of_squares(student, reference, draw):
    rows, width, out = draw.sizes(3)
    ours, theirs = _linear(student, reference, draw, width, out)
    x = draw.normal(rows, width)
    close(student.gradient_norm_by_depth(ours, x), reference.gradient_norm_by_depth(theirs, x))


def test_gradient_norm_by_depth__lists_the_first_layer_first(student, reference, draw):
    rows, *sizes = draw.sizes(5)
    ours, theirs = _linear(student, reference, draw, *sizes)
    x = draw.normal(rows, sizes[0])
    close(student.gradient_norm_by_depth(ours, x), reference.gradient_norm_by_depth(theirs, x))


def test_gradient_norm_by_depth__layers_without_parameters_count_as_zero(student, reference, draw):
    rows, *sizes = draw.sizes(4)
    ours, theirs = _linear(student, reference, draw, *sizes)
    for subject, stack in ((student, ours), (reference, theirs)):
        stack.insert(1, subject.make("torch.nn.Tanh"))
    x = draw.normal(rows, sizes[0])
    close(student.gradient_norm_by_depth(ours, x), reference.gradient_norm_by_depth(theirs, x))


def test_gradient_norm_by_depth__of_whole_encoder_layers(student, reference, draw):
    d_model, d_ff, depth = 6, 5, 4
    x = draw.normal(2, 3, d_model)
    stacks = [], []
    for _ in range(depth):
        made = {"dropout": 0.0, "batch_first": True, "norm_first": True}
        weights = _drawn(draw, _shapes(torch.nn.TransformerEncoderLayer(d_model, 2, d_ff, **made)))
        for subject, stack in zip((student, reference), stacks, strict=True):
            stack.append(subject.make("torch.nn.TransformerEncoderLayer", d_model, 2, d_ff, weights=weights, **made))
    close(student.gradient_norm_by_depth(stacks[0], x), reference.gradient_norm_by_depth(stacks[1], x))


def test_gradient_norm_by_depth__leaves_the_mode_of_the_layers_alone(student, reference, draw):
    rows, *sizes = draw.sizes(4)
    ours, theirs = _linear(student, reference, draw, *sizes)
    for subject, stack in ((student, ours), (reference, theirs)):
        stack.insert(1, subject.make("torch.nn.Dropout", NEARLY_ALL))
    x = draw.normal(rows, sizes[0])
    close(student.gradient_norm_by_depth(ours, x), reference.gradient_norm_by_depth(theirs, x))


# With nearly everything dropped, what comes back doesn't depend on the draw: so a diagnosis can compare it.


@pytest.mark.random
@pytest.mark.noise(1e-6)
def test_gradient_norm_by_depth__lets_dropout_act_in_training(student, reference, draw):
    """Behind the dropout only the last bias is left: its gradient alone is not 0."""
    rows, *sizes = draw.sizes(4)
    ours, theirs = _linear(student, reference, draw, *sizes)
    x = draw.normal(rows, sizes[0])
    for mode in (True, False):
        for subject, stack in ((student, ours), (reference, theirs)):
            stack[1:-1] = [subject.make("torch.nn.Dropout", ALMOST_ALL, training=mode)]
        close(student.gradient_norm_by_depth(ours, x), reference.gradient_norm_by_depth(theirs, x))
    _keeps_the_mode(student, draw)


def _keeps_the_mode(student, draw):
    """A chain that has been measured drops as it did before: everything in train(), nothing in eval()."""
    width, out = draw.sizes(2)
    weights, x = _drawn(draw, _shapes(torch.nn.Linear(width, out))), draw.normal(3, width)
    through = torch.nn.functional.linear(x, weights["weight"], weights["bias"])
    for mode, expected in ((True, torch.zeros_like(through)), (False, through)):
        parts = student.make("torch.nn.Linear", width, out), student.make("torch.nn.Dropout", ALMOST_ALL, training=mode)
        named = {f"0.{name}": weight for name, weight in weights.items()}
        measured = [("gradient_norm_by_depth", x)]
        chain = student.make("torch.nn.Sequential", *parts, weights=named, training=mode, then=measured)
        close(chain(x), expected, what="what the measured layers give afterwards")


def test_gradient_norm_by_depth__gives_python_floats_for_float32_layers(student, reference, draw):
    rows, *sizes = draw.sizes(4)
    ours, theirs = _linear(student, reference, draw, *sizes, dtype=torch.float32)
    x = draw.normal(rows, sizes[0], dtype=torch.float32)
    expected = reference.gradient_norm_by_depth(theirs, x)
    close(student.gradient_norm_by_depth(ours, x), expected, atol=1e-5, rtol=1e-5)


def test_gradient_norm_by_depth__a_second_call_gives_the_same(student, reference, draw):
    """The function has run once on the maps inside a chain, before it is asked for the whole chain."""
    rows, *sizes = draw.sizes(4)
    x = draw.normal(rows, sizes[0])
    both = []
    for subject, stack in zip((student, reference), _linear(student, reference, draw, *sizes), strict=True):
        chain = subject.make("torch.nn.Sequential", *stack, then=[("gradient_norm_by_depth", x)])
        both.append(subject.gradient_norm_by_depth([chain], x))
    close(*both)
