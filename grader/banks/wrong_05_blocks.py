"""Wrong answers of notebook 05: what people really write, the check that sees it, the sentence that names it."""

import torch
import torch.nn.functional as F
from torch import nn

from grader.bank import wrong

# FeedForward


class GivenFeedForward(nn.Module):
    """What the stub gives, and the right forward in pieces."""

    def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
        super().__init__()
        self.refuse(activation)
        self.activation, self.dropout = activation, nn.Dropout(dropout)
        if activation == "swiglu":
            hidden = self.width(d_ff)
            self.gate = nn.Linear(d_model, hidden, bias=False)
            self.up = nn.Linear(d_model, hidden, bias=False)
            self.down = nn.Linear(hidden, d_model, bias=False)
        else:
            self.linear1 = nn.Linear(d_model, d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)

    def refuse(self, activation):
        if activation not in ("relu", "gelu", "swiglu"):
            raise ValueError(f"activation must be relu, gelu or swiglu, got {activation!r}")

    def width(self, d_ff):
        return round(2 / 3 * d_ff)

    def act(self, x):
        return F.relu(x) if self.activation == "relu" else F.gelu(x)

    def gated(self, x):
        return F.silu(self.gate(x)) * self.up(x)

    def forward(self, x):
        if self.activation == "swiglu":
            return self.down(self.dropout(self.gated(x)))
        return self.linear2(self.dropout(self.act(self.linear1(x))))


@wrong(
    "FeedForward",
    caught_by="relu_equals_pytorch",
    says="There is no activation between the two linear layers, so together they are one linear layer.",
)
class no_activation(GivenFeedForward):
    def act(self, x):
        return x


@wrong(
    "FeedForward",
    caught_by="relu_equals_pytorch",
    says="The activation comes behind the second layer; it belongs between the two, and what comes out may be negative.",
)
class activation_at_the_end(GivenFeedForward):
    def forward(self, x):
        if self.activation == "swiglu":
            return super().forward(x)
        return self.act(self.linear2(self.dropout(self.linear1(x))))


@wrong(
    "FeedForward",
    caught_by="relu_equals_pytorch",
    says="The activation acts on the input, in front of the first layer; it belongs between the two.",
)
class activation_at_the_start(GivenFeedForward):
    def forward(self, x):
        if self.activation == "swiglu":
            return super().forward(x)
        return self.linear2(self.dropout(self.linear1(self.act(x))))


@wrong(
    "FeedForward",
    caught_by="training_enlarges_what_survives",
    says="Dropout stands in front of the activation. It belongs behind it, on the numbers that the last map reads.",
)
class dropout_before_the_activation(GivenFeedForward):
    def forward(self, x):
        if self.activation == "swiglu":
            return self.down(F.silu(self.dropout(self.gate(x))) * self.up(x))
        return self.linear2(self.act(self.dropout(self.linear1(x))))


@wrong(
    "FeedForward",
    caught_by="chains_two_linear_maps_where_nothing_is_negative",
    says="You add the input to the output. That residual path belongs to the layer around this block, not to the block.",
)
class residual_inside(GivenFeedForward):
    def forward(self, x):
        return x + super().forward(x)


@wrong(
    "FeedForward",
    caught_by="gelu_equals_pytorch",
    says="Your GELU is the approximation with tanh; the exact one is asked for, with the normal distribution itself.",
)
class approximate_gelu(GivenFeedForward):
    def act(self, x):
        return F.relu(x) if self.activation == "relu" else F.gelu(x, approximate="tanh")


@wrong(
    "FeedForward",
    caught_by="gelu_equals_pytorch",
    says='You use ReLU also where activation is "gelu": the argument is never looked at.',
)
class always_relu(GivenFeedForward):
    def act(self, x):
        return F.relu(x)


@wrong(
    "FeedForward",
    caught_by="swiglu_multiplies_by_a_gate",
    says="SiLU acts on `up` in your SwiGLU; it belongs on `gate`.",
)
class gate_and_up_swapped(GivenFeedForward):
    def gated(self, x):
        return self.gate(x) * F.silu(self.up(x))


@wrong(
    "FeedForward",
    caught_by="swiglu_multiplies_by_a_gate",
    says="Your gate is a plain sigmoid (that is GLU). In SwiGLU the gate is SiLU: the number times its sigmoid.",
)
class sigmoid_gate(GivenFeedForward):
    def gated(self, x):
        return torch.sigmoid(self.gate(x)) * self.up(x)


@wrong(
    "FeedForward",
    caught_by="swiglu_multiplies_by_a_gate",
    says="You multiply `gate` and `up` with no activation in between: put SiLU on `gate`.",
)
class bilinear(GivenFeedForward):
    def gated(self, x):
        return self.gate(x) * self.up(x)


@wrong(
    "FeedForward",
    caught_by="swiglu_multiplies_by_a_gate",
    says="You add the gate to the other path; a gate multiplies.",
)
class gate_added(GivenFeedForward):
    def gated(self, x):
        return F.silu(self.gate(x)) + self.up(x)


@wrong(
    "FeedForward",
    caught_by="swiglu_multiplies_by_a_gate",
    says="Your SwiGLU has the whole width d_ff. With three matrices in place of two it gets round(2/3 · d_ff).",
)
class swiglu_of_full_width(GivenFeedForward):
    def width(self, d_ff):
        return d_ff


@wrong(
    "FeedForward",
    caught_by="swiglu_rounds_its_hidden_width",
    says="You cut the hidden width 2/3 · d_ff down to an integer; round it.",
)
class hidden_width_cut_off(GivenFeedForward):
    def width(self, d_ff):
        return 2 * d_ff // 3


@wrong(
    "FeedForward",
    caught_by="refuses_another_name",
    says="An unknown activation goes through without a word: raise a ValueError that holds the name.",
)
class any_name_goes(GivenFeedForward):
    def refuse(self, activation):
        pass


@wrong(
    "FeedForward",
    caught_by="refuses_another_name",
    says="The ValueError for an unknown activation doesn't say which name it got.",
)
class error_without_the_name(GivenFeedForward):
    def refuse(self, activation):
        if activation not in ("relu", "gelu", "swiglu"):
            raise ValueError("unknown activation")


@wrong(
    "FeedForward",
    caught_by="training_drops_hidden_numbers_and_no_others",
    says="You drop numbers of the output; dropout belongs on the hidden numbers, in front of the last linear layer.",
)
class dropout_on_the_output(GivenFeedForward):
    def forward(self, x):
        if self.activation == "swiglu":
            return self.dropout(self.down(self.gated(x)))
        return self.dropout(self.linear2(self.act(self.linear1(x))))


@wrong(
    "FeedForward",
    caught_by="training_drops_hidden_numbers_and_no_others",
    says="Your forward never uses the dropout.",
)
class no_dropout(GivenFeedForward):
    def forward(self, x):
        if self.activation == "swiglu":
            return self.down(self.gated(x))
        return self.linear2(self.act(self.linear1(x)))


@wrong(
    "FeedForward",
    caught_by="drops_nothing_outside_training",
    says="Your dropout also acts in eval(): F.dropout needs to be told the mode, with `self.training`; nn.Dropout knows it.",
)
class dropout_in_eval(GivenFeedForward):
    def forward(self, x):
        p = self.dropout.p
        if self.activation == "swiglu":
            return self.down(F.dropout(self.gated(x), p))
        return self.linear2(F.dropout(self.act(self.linear1(x)), p))


# LayerNorm


class GivenLayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def shaped(self, normed):
        return normed * self.weight + self.bias

    def normed(self, x):
        return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, correction=0) + self.eps)


@wrong(
    "LayerNorm",
    caught_by="of_two_numbers_is_minus_one_and_one",
    says="Your variance divides by d - 1 (Bessel's correction, PyTorch's default). Here it divides by d: correction=0.",
)
class bessel(GivenLayerNorm):
    def forward(self, x):
        return self.shaped((x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + self.eps))


@wrong(
    "LayerNorm",
    caught_by="adds_eps_where_it_belongs",
    says="You add eps to the standard deviation. It is added to the variance, under the root.",
)
class eps_outside_the_root(GivenLayerNorm):
    def forward(self, x):
        return self.shaped((x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, correction=0) + self.eps))


@wrong(
    "LayerNorm",
    caught_by="of_two_numbers_is_minus_one_and_one",
    says="This is the version with `std` that circulates. It errs twice: its variance divides by d - 1, and eps stands outside the root.",
)
class the_circulating_version(GivenLayerNorm):
    def forward(self, x):
        return self.shaped((x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + self.eps))


@wrong(
    "LayerNorm",
    caught_by="normalises_each_position_by_itself",
    says="You take mean and variance over the whole tensor. Each position has its own: over the last dimension.",
)
class over_the_whole_tensor(GivenLayerNorm):
    def forward(self, x):
        return self.shaped((x - x.mean()) / torch.sqrt(x.var(correction=0) + self.eps))


@wrong(
    "LayerNorm",
    caught_by="normalises_each_position_by_itself",
    says="You take mean and variance over the batch (that is BatchNorm). Take them over the features of each position: dim=-1.",
)
class over_the_batch(GivenLayerNorm):
    def forward(self, x):
        return self.shaped((x - x.mean(0, keepdim=True)) / torch.sqrt(x.var(0, keepdim=True, correction=0) + self.eps))


@wrong(
    "LayerNorm",
    caught_by="normalises_each_position_by_itself",
    says="You divide by the standard deviation but never subtract the mean.",
)
class mean_not_subtracted(GivenLayerNorm):
    def forward(self, x):
        return self.shaped(x / torch.sqrt(x.var(-1, keepdim=True, correction=0) + self.eps))


@wrong(
    "LayerNorm",
    caught_by="normalises_each_position_by_itself",
    says="You subtract the mean but never divide by the standard deviation.",
)
class only_centred(GivenLayerNorm):
    def forward(self, x):
        return self.shaped(x - x.mean(-1, keepdim=True))


@wrong(
    "LayerNorm",
    caught_by="normalises_each_position_by_itself",
    says="You divide by the variance; divide by its square root.",
)
class divided_by_the_variance(GivenLayerNorm):
    def forward(self, x):
        return self.shaped((x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + self.eps))


@wrong(
    "LayerNorm",
    caught_by="small_rows_feel_the_default_eps",
    says="Your answer leaves eps out, so a row of equal numbers divides by zero.",
)
class no_eps(GivenLayerNorm):
    def forward(self, x):
        return self.shaped((x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, correction=0)))


@wrong(
    "LayerNorm",
    caught_by="adds_eps_where_it_belongs",
    says="You add 1e-5 whatever eps was asked for: use self.eps.",
)
class eps_fixed(GivenLayerNorm):
    def forward(self, x):
        return self.shaped((x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, correction=0) + 1e-5))


@wrong(
    "LayerNorm",
    caught_by="scales_and_shifts_each_feature",
    says="You normalise and stop there: weight and bias are never used.",
)
class without_weight_and_bias(GivenLayerNorm):
    def forward(self, x):
        return self.normed(x)


@wrong(
    "LayerNorm",
    caught_by="scales_and_shifts_each_feature",
    says="You scale the sum of the normalised numbers and the bias. First times weight, then plus bias.",
)
class bias_before_weight(GivenLayerNorm):
    def forward(self, x):
        return (self.normed(x) + self.bias) * self.weight


@wrong(
    "LayerNorm",
    caught_by="scales_and_shifts_each_feature",
    says="Weight and bias act before you normalise, which takes most of them away again. They come last.",
)
class shaped_before(GivenLayerNorm):
    def forward(self, x):
        return self.normed(x * self.weight + self.bias)


@wrong(
    "LayerNorm",
    caught_by="keeps_its_precision_far_from_zero",
    says="Mean of squares minus square of the mean loses its digits when the numbers are far from 0: square the differences from the mean.",
)
class squares_subtracted(GivenLayerNorm):
    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = (x * x).mean(-1, keepdim=True) - mean * mean
        return self.shaped((x - mean) / torch.sqrt(variance.clamp(min=0.0) + self.eps))


@wrong(
    "LayerNorm",
    caught_by="gradients_equal_those_of_pytorch",
    says="Mean and variance are cut off from the graph, but they depend on x as well: the gradient flows through them too.",
)
class statistics_detached(GivenLayerNorm):
    def forward(self, x):
        mean, variance = x.mean(-1, keepdim=True).detach(), x.var(-1, keepdim=True, correction=0).detach()
        return self.shaped((x - mean) / torch.sqrt(variance + self.eps))


@wrong(
    "LayerNorm",
    caught_by="is_written_by_hand",
    says="You call PyTorch's own norm. This exercise asks you to write it.",
)
class library_layer_norm(GivenLayerNorm):
    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)


@wrong(
    "LayerNorm",
    caught_by="keeps_float32",
    says="Inside you compute in half precision, which keeps three digits: compute in the dtype of x.",
)
class computed_in_half_precision(GivenLayerNorm):
    def forward(self, x):
        narrow = x if x.dtype == torch.float64 else x.half()
        return self.shaped(self.normed(narrow).to(x.dtype))


# RMSNorm


class GivenRMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def wide(self, x):
        return x if x.dtype == torch.float64 else x.float()

    def scaled(self, x, divisor):
        return (self.wide(x) / divisor).to(x.dtype) * self.weight


@wrong(
    "RMSNorm",
    caught_by="of_equal_numbers_is_one_or_minus_one",
    says="You subtract the mean, as LayerNorm does. RMSNorm leaves the mean where it is.",
)
class mean_subtracted(GivenRMSNorm):
    def forward(self, x):
        centred = self.wide(x) - self.wide(x).mean(-1, keepdim=True)
        return (centred / torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


@wrong(
    "RMSNorm",
    caught_by="of_equal_numbers_is_one_or_minus_one",
    says="You divide by the length of the row (root of the *sum* of squares); take the root of their *mean*.",
)
class divided_by_the_length(GivenRMSNorm):
    def forward(self, x):
        return self.scaled(x, torch.sqrt(self.wide(x).pow(2).sum(-1, keepdim=True) + self.eps))


@wrong(
    "RMSNorm",
    caught_by="of_equal_numbers_is_one_or_minus_one",
    says="You divide by the standard deviation, which forgets the mean. Square the numbers themselves.",
)
class divided_by_the_deviation(GivenRMSNorm):
    def forward(self, x):
        return self.scaled(x, torch.sqrt(self.wide(x).var(-1, keepdim=True, correction=0) + self.eps))


@wrong(
    "RMSNorm",
    caught_by="divides_each_position_by_its_root_mean_square",
    says="You divide by the mean of the squares and forgot the root.",
)
class root_forgotten(GivenRMSNorm):
    def forward(self, x):
        return self.scaled(x, self.wide(x).pow(2).mean(-1, keepdim=True) + self.eps)


@wrong(
    "RMSNorm",
    caught_by="divides_each_position_by_its_root_mean_square",
    says="You take one mean of squares for the whole tensor. Each position has its own: over the last dimension.",
)
class one_for_all(GivenRMSNorm):
    def forward(self, x):
        return self.scaled(x, torch.sqrt(self.wide(x).pow(2).mean() + self.eps))


@wrong(
    "RMSNorm",
    caught_by="divides_each_position_by_its_root_mean_square",
    says="You divide by the mean of the absolute values; the root mean square weighs large numbers more.",
)
class mean_of_absolute_values(GivenRMSNorm):
    def forward(self, x):
        return self.scaled(x, self.wide(x).abs().mean(-1, keepdim=True) + self.eps)


@wrong(
    "RMSNorm",
    caught_by="adds_eps_where_it_belongs",
    says="You add eps behind the root. It is added to the mean of squares, under the root.",
)
class eps_behind_the_root(GivenRMSNorm):
    def forward(self, x):
        return self.scaled(x, torch.sqrt(self.wide(x).pow(2).mean(-1, keepdim=True)) + self.eps)


@wrong(
    "RMSNorm",
    caught_by="small_rows_feel_the_default_eps",
    says="Your answer leaves eps out, so a row of zeros divides by zero.",
)
class eps_left_out(GivenRMSNorm):
    def forward(self, x):
        return self.scaled(x, torch.sqrt(self.wide(x).pow(2).mean(-1, keepdim=True)))


@wrong(
    "RMSNorm",
    caught_by="small_rows_feel_the_default_eps",
    says="Your default eps is LayerNorm's 1e-5; here it is 1e-6.",
)
class eps_of_layer_norm(GivenRMSNorm):
    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)

    def forward(self, x):
        return self.scaled(x, torch.sqrt(self.wide(x).pow(2).mean(-1, keepdim=True) + self.eps))


@wrong(
    "RMSNorm",
    caught_by="scales_each_feature",
    says="You normalise and stop there: the weight is never used.",
)
class weight_never_used(GivenRMSNorm):
    def forward(self, x):
        wide = self.wide(x)
        return (wide / torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)


@wrong(
    "RMSNorm",
    caught_by="divides_each_position_by_its_root_mean_square",
    says="You scale by 1 + weight, as some models do. Here the weight starts at one and is the whole factor.",
)
class one_plus_weight(GivenRMSNorm):
    def forward(self, x):
        wide = self.wide(x)
        return (wide / torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype) * (1 + self.weight)


@wrong(
    "RMSNorm",
    caught_by="survives_large_numbers_in_float16",
    says="In float16 the square of a number above 256 is infinite: compute in float32, and give back the dtype of the input.",
)
class squared_in_half_precision(GivenRMSNorm):
    def forward(self, x):
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


@wrong(
    "RMSNorm",
    caught_by="equals_pytorch_in_float64",
    says="You compute in float32 whatever comes in, so float64 loses half its digits: widen the narrow dtypes only.",
)
class float64_narrowed(GivenRMSNorm):
    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


@wrong(
    "RMSNorm",
    caught_by="is_written_by_hand",
    says="You call PyTorch's own norm. This exercise asks you to write it.",
)
class library_rms_norm(GivenRMSNorm):
    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], self.weight, self.eps)


@wrong(
    "RMSNorm",
    caught_by="rounds_bfloat16_at_the_end_only",
    says="You widen float16 alone. bfloat16 holds large numbers, but fewer digits: compute it in float32 as well.",
)
class only_float16_widened(GivenRMSNorm):
    def forward(self, x):
        wide = x.float() if x.dtype == torch.float16 else x
        return (wide / torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


@wrong(
    "RMSNorm",
    caught_by="rounds_at_the_end_also_under_weights_of_float32",
    says="You widen where the weights are narrow. What counts is the dtype of x: it may be half precision under float32 weights.",
)
class widened_where_the_weights_are_narrow(GivenRMSNorm):
    def forward(self, x):
        wide = x if self.weight.dtype in (torch.float32, torch.float64) else x.float()
        return (wide / torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


@wrong(
    "RMSNorm",
    caught_by="keeps_float32",
    says="float32 is computed in half precision here, which keeps three digits: widen what is narrow, and narrow nothing.",
)
class float32_narrowed(GivenRMSNorm):
    def forward(self, x):
        narrow = x.bfloat16() if x.dtype == torch.float32 else x
        wide = x.float() if x.element_size() == 2 else narrow
        return (wide / torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


# EncoderLayer


class GivenLayer(nn.Module):
    """What the stub gives, and the two parts with their dropout."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0, norm_first=True):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x, mask):
        return self.dropout(self.self_attn(x, x, x, mask)[0])

    def feed(self, x):
        return self.dropout(self.feed_forward(x))

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.attend(self.norm1(x), mask)
            return x + self.feed(self.norm2(x))
        x = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.feed(x))


@wrong(
    "EncoderLayer",
    caught_by="post_ln_equals_pytorch",
    says="norm_first is never looked at: your layer is pre-LN always.",
)
class always_pre_ln(GivenLayer):
    def forward(self, x, mask=None):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.feed(self.norm2(x))


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_equals_pytorch",
    says="norm_first is never looked at: your layer is post-LN always.",
)
class always_post_ln(GivenLayer):
    def forward(self, x, mask=None):
        x = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.feed(x))


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_lets_the_input_through_where_its_parts_are_silent",
    says="The two orders are swapped: norm_first=True means that the norm comes before each part.",
)
class orders_swapped(GivenLayer):
    def forward(self, x, mask=None):
        if not self.norm_first:
            x = x + self.attend(self.norm1(x), mask)
            return x + self.feed(self.norm2(x))
        x = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.feed(x))


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_lets_the_input_through_where_its_parts_are_silent",
    says="Nothing is added to the input: each part replaces what came before. The residual path x + part(x) is missing.",
)
class no_residual(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            return self.feed(self.norm2(self.attend(self.norm1(x), mask)))
        return self.norm2(self.feed(self.norm1(self.attend(x, mask))))


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_adds_the_feed_forward_part",
    says="The residual path around the feed-forward part is missing.",
)
class no_residual_around_feed_forward(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            return self.feed(self.norm2(x + self.attend(self.norm1(x), mask)))
        return self.norm2(self.feed(self.norm1(x + self.attend(x, mask))))


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_lets_the_input_through_where_its_parts_are_silent",
    says="In pre-LN you add to the normed x. The residual path carries x itself, untouched.",
)
class residual_of_the_normed(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            x = self.norm1(x)
            x = x + self.attend(x, mask)
            x = self.norm2(x)
            return x + self.feed(x)
        return super().forward(x, mask)


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_adds_the_feed_forward_part",
    says="In pre-LN the feed-forward part gets x without a norm: norm2 is never used.",
)
class second_norm_forgotten(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.attend(self.norm1(x), mask)
            return x + self.feed(x)
        return super().forward(x, mask)


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_adds_attention",
    says="In pre-LN only the query is normed; keys and values come from the normed x as well.",
)
class only_the_query_normed(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.dropout(self.self_attn(self.norm1(x), x, x, mask)[0])
            return x + self.feed(self.norm2(x))
        return super().forward(x, mask)


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_adds_the_feed_forward_part",
    says="You use norm1 in both places; each part has a norm of its own.",
)
class one_norm_for_both(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.attend(self.norm1(x), mask)
            return x + self.feed(self.norm1(x))
        x = self.norm1(x + self.attend(x, mask))
        return self.norm1(x + self.feed(x))


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_equals_pytorch",
    says="The feed-forward part reads the layer's input: it should read what attention has already added to.",
)
class parts_in_parallel(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            return x + self.attend(self.norm1(x), mask) + self.feed(self.norm2(x))
        return super().forward(x, mask)


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_adds_attention",
    says="The second residual path starts from the layer's input, so what attention added is lost from it.",
)
class second_residual_from_the_input(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            y = x + self.attend(self.norm1(x), mask)
            return x + self.feed(self.norm2(y))
        y = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.feed(y))


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_equals_pytorch",
    says="The feed-forward part comes first; attention is the first of the two.",
)
class feed_forward_first(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.feed(self.norm2(x))
            return x + self.attend(self.norm1(x), mask)
        x = self.norm2(x + self.feed(x))
        return self.norm1(x + self.attend(x, mask))


@wrong(
    "EncoderLayer",
    caught_by="post_ln_norms_behind_attention",
    says="In post-LN you norm what the part says and add x afterwards. Add first, then norm the sum.",
)
class norm_before_the_sum(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            return super().forward(x, mask)
        x = x + self.norm1(self.attend(x, mask))
        return x + self.norm2(self.feed(x))


@wrong(
    "EncoderLayer",
    caught_by="post_ln_norms_behind_the_feed_forward_part",
    says="In post-LN the sum behind the feed-forward part is never normed.",
)
class last_norm_forgotten(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            return super().forward(x, mask)
        x = self.norm1(x + self.attend(x, mask))
        return x + self.feed(x)


@wrong(
    "EncoderLayer",
    caught_by="obeys_a_mask",
    says="The mask never reaches the attention.",
)
class mask_forgotten(GivenLayer):
    def forward(self, x, mask=None):
        return super().forward(x, None)


@wrong(
    "EncoderLayer",
    caught_by="obeys_a_mask",
    says="You turn the mask round before you pass it on. True means may attend, in MultiHeadAttention too.",
)
class mask_turned_round(GivenLayer):
    def forward(self, x, mask=None):
        return super().forward(x, None if mask is None else ~mask)


@wrong(
    "EncoderLayer",
    caught_by="pre_ln_equals_pytorch",
    says="You return two values; the layer returns the output alone.",
)
class returns_the_weights_too(GivenLayer):
    def forward(self, x, mask=None):
        return super().forward(x, mask), self.self_attn(x, x, x, mask)[1]


@wrong(
    "EncoderLayer",
    caught_by="in_training_dropout_falls_on_what_is_added",
    says="What attention and the feed-forward part add is never dropped: their output goes through self.dropout before the sum.",
)
class no_dropout_before_the_sum(GivenLayer):
    def attend(self, x, mask):
        return self.self_attn(x, x, x, mask)[0]

    def feed(self, x):
        return self.feed_forward(x)


@wrong(
    "EncoderLayer",
    caught_by="in_training_dropout_falls_on_what_is_added",
    says="You drop numbers of the sum, and so of x itself. Dropout falls on what is added, before the sum.",
)
class dropout_on_the_sum(GivenLayer):
    def forward(self, x, mask=None):
        if self.norm_first:
            x = self.dropout(x + self.self_attn(*[self.norm1(x)] * 3, mask)[0])
            return self.dropout(x + self.feed_forward(self.norm2(x)))
        x = self.norm1(self.dropout(x + self.self_attn(x, x, x, mask)[0]))
        return self.norm2(self.dropout(x + self.feed_forward(x)))


# gradient_norm_by_depth


def output_of(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def gradients_of(layers, loss):
    """For each layer the gradients of its parameters."""
    flat = [parameter for layer in layers for parameter in layer.parameters()]
    found = iter(torch.autograd.grad(loss, flat))
    return [[next(found) for _ in layer.parameters()] for layer in layers]


def norm_of(gradients):
    return sum(float((gradient**2).sum()) for gradient in gradients) ** 0.5


@wrong(
    "gradient_norm_by_depth",
    caught_by="the_loss_is_the_mean_of_squares",
    says="Your loss is the sum of squares; their mean is asked for.",
)
def sum_of_squares(layers, x):
    loss = output_of(layers, x).pow(2).sum()
    return [norm_of(each) for each in gradients_of(layers, loss)]


@wrong(
    "gradient_norm_by_depth",
    caught_by="the_loss_is_the_mean_of_squares",
    says="Your loss is the mean of the output itself; square it first.",
)
def plain_mean(layers, x):
    loss = output_of(layers, x).mean()
    return [norm_of(each) for each in gradients_of(layers, loss)]


@wrong(
    "gradient_norm_by_depth",
    caught_by="the_loss_is_the_mean_of_squares",
    says="Your loss is the root of the mean of squares; leave the root out.",
)
def root_of_the_mean(layers, x):
    loss = output_of(layers, x).pow(2).mean().sqrt()
    return [norm_of(each) for each in gradients_of(layers, loss)]


@wrong(
    "gradient_norm_by_depth",
    caught_by="lists_the_first_layer_first",
    says="Your list begins with the last layer; it should begin with the first.",
)
def last_layer_first(layers, x):
    loss = output_of(layers, x).pow(2).mean()
    return [norm_of(each) for each in gradients_of(layers, loss)][::-1]


@wrong(
    "gradient_norm_by_depth",
    caught_by="of_one_linear_layer",
    says="You add up the norms of the single parameters. All parameters of a layer form one long vector: add squares, then take the root.",
)
def norms_added(layers, x):
    loss = output_of(layers, x).pow(2).mean()
    return [sum(float(gradient.norm()) for gradient in each) for each in gradients_of(layers, loss)]


@wrong(
    "gradient_norm_by_depth",
    caught_by="of_one_linear_layer",
    says="You look at the weight alone; the bias belongs to the parameters of a layer, too.",
)
def weights_only(layers, x):
    loss = output_of(layers, x).pow(2).mean()
    kept = [[g for g in each if g.dim() > 1] for each in gradients_of(layers, loss)]
    return [norm_of(each) for each in kept]


@wrong(
    "gradient_norm_by_depth",
    caught_by="of_one_linear_layer",
    says="You return the squares of the norms: take the root of the sum of squares.",
)
def squared_norms(layers, x):
    loss = output_of(layers, x).pow(2).mean()
    return [norm_of(each) ** 2 for each in gradients_of(layers, loss)]


@wrong(
    "gradient_norm_by_depth",
    caught_by="of_one_linear_layer",
    says="You measure the parameters themselves; the norm of their gradients is asked for.",
)
def norms_of_parameters(layers, x):
    return [norm_of([parameter.detach() for parameter in layer.parameters()]) for layer in layers]


@wrong(
    "gradient_norm_by_depth",
    caught_by="lists_the_first_layer_first",
    says="Each layer gets x itself. Stack them: what comes out of one goes into the next.",
)
def layers_side_by_side(layers, x):
    return [norm_of(gradients_of([layer], layer(x).pow(2).mean())[0]) for layer in layers]


@wrong(
    "gradient_norm_by_depth",
    caught_by="lists_the_first_layer_first",
    says="You cut the graph between layers, so each sees a loss of its own. One loss at the end of the stack counts for all.",
)
def cut_between_layers(layers, x):
    norms = []
    for layer in layers:
        output = layer(x)
        norms.append(norm_of(gradients_of([layer], output.pow(2).mean())[0]) if list(layer.parameters()) else 0.0)
        x = output.detach()
    return norms


@wrong(
    "gradient_norm_by_depth",
    caught_by="layers_without_parameters_count_as_zero",
    says="You leave layers without parameters out of the list; such a layer has a place in it, with 0.0.",
)
def only_layers_with_parameters(layers, x):
    loss = output_of(layers, x).pow(2).mean()
    return [norm_of(each) for each in gradients_of(layers, loss) if each]


@wrong(
    "gradient_norm_by_depth",
    caught_by="gives_python_floats_for_float32_layers",
    says="Your list holds tensors: `.item()` makes a Python float of a tensor with one number.",
)
def a_list_of_tensors(layers, x):
    loss = output_of(layers, x).pow(2).mean()
    return [torch.tensor(norm_of(each), dtype=x.dtype) for each in gradients_of(layers, loss)]


@wrong(
    "gradient_norm_by_depth",
    caught_by="leaves_the_mode_of_the_layers_alone",
    says="You put the layers into train(): their dropout acts now. Leave the mode as it comes.",
)
def put_into_training(layers, x):
    for layer in layers:
        layer.train()
    loss = output_of(layers, x).pow(2).mean()
    return [norm_of(each) for each in gradients_of(layers, loss)]


@wrong(
    "gradient_norm_by_depth",
    caught_by="of_one_linear_layer",
    says="You divide by the number of parameters (a root mean square). The plain norm is asked for.",
)
def root_mean_square(layers, x):
    loss = output_of(layers, x).pow(2).mean()
    counts = [max(1, sum(parameter.numel() for parameter in layer.parameters())) for layer in layers]
    return [norm_of(each) / count**0.5 for each, count in zip(gradients_of(layers, loss), counts, strict=True)]


@wrong(
    "gradient_norm_by_depth",
    caught_by="a_second_call_gives_the_same",
    says="backward() adds to what .grad holds from before: clear it first, or use torch.autograd.grad.",
)
def gradients_pile_up(layers, x):
    output_of(layers, x).pow(2).mean().backward()
    return [norm_of([parameter.grad for parameter in layer.parameters()]) for layer in layers]


@wrong(
    "gradient_norm_by_depth",
    caught_by="lets_dropout_act_in_training",
    says="You put the layers into eval(): no dropout acts in them, though they came in train(). Leave the mode as it comes.",
)
def put_into_eval(layers, x):
    for layer in layers:
        layer.eval()
    loss = output_of(layers, x).pow(2).mean()
    return [norm_of(each) for each in gradients_of(layers, loss)]


@wrong(
    "gradient_norm_by_depth",
    caught_by="lets_dropout_act_in_training",
    says="The numbers are right, but the layers come back in train() though they were in eval(). Leave the mode as it comes.",
)
def left_in_training(layers, x):
    loss = output_of(layers, x).pow(2).mean()
    norms = [norm_of(each) for each in gradients_of(layers, loss)]
    for layer in layers:
        layer.train()
    return norms
