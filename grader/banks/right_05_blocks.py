"""Right answers of notebook 05 that look different from the reference."""

import torch
import torch.nn.functional as F
from torch import nn

from grader.bank import right

# FeedForward


@right("FeedForward")
class names_in_a_table(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
        super().__init__()
        known = {"relu": F.relu, "gelu": F.gelu, "swiglu": F.silu}
        if activation not in known:
            raise ValueError(f"{activation} is none of {', '.join(known)}")
        self.act, self.p = known[activation], dropout
        if activation == "swiglu":
            width = round(2 * d_ff / 3)
            self.gate, self.up = (nn.Linear(d_model, width, bias=False) for _ in range(2))
            self.down = nn.Linear(width, d_model, bias=False)
        else:
            self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        if hasattr(self, "gate"):
            hidden, last = self.act(self.gate(x)) * self.up(x), self.down
        else:
            hidden, last = self.act(self.linear1(x)), self.linear2
        return last(F.dropout(hidden, self.p, self.training))


@right("FeedForward")
class written_out(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
        super().__init__()
        self.activation, self.dropout = activation, nn.Dropout(dropout)
        if activation in ("relu", "gelu"):
            self.linear1 = nn.Linear(d_model, d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)
        elif activation == "swiglu":
            hidden = int(2 / 3 * d_ff + 0.5)
            self.gate = nn.Linear(d_model, hidden, bias=False)
            self.up = nn.Linear(d_model, hidden, bias=False)
            self.down = nn.Linear(hidden, d_model, bias=False)
        else:
            raise ValueError("no activation is called " + activation)

    def forward(self, x):
        if self.activation == "relu":
            hidden = self.linear1(x).clamp(min=0)
        elif self.activation == "gelu":
            before = self.linear1(x)
            hidden = before * 0.5 * (1 + torch.erf(before / 2**0.5))
        else:
            gate = self.gate(x)
            return self.down(self.dropout(gate * torch.sigmoid(gate) * self.up(x)))
        return self.linear2(self.dropout(hidden))


@right("FeedForward")
class modules_for_activations(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
        super().__init__()
        if activation != "relu" and activation != "gelu" and activation != "swiglu":
            raise ValueError(f"activation={activation}")
        if activation == "swiglu":
            hidden = round(2 / 3 * d_ff)
            self.down = nn.Linear(hidden, d_model, bias=False)
            self.up = nn.Linear(d_model, hidden, bias=False)
            self.gate = nn.Linear(d_model, hidden, bias=False)
            self.function = nn.SiLU()
        else:
            self.linear2 = nn.Linear(d_ff, d_model)
            self.linear1 = nn.Linear(d_model, d_ff)
            self.function = {"relu": nn.ReLU, "gelu": nn.GELU}[activation]()
        self.drop = nn.Dropout(dropout)
        self.activation = activation

    def forward(self, x):
        if self.activation == "swiglu":
            x = self.function(self.gate(x)).mul(self.up(x))
            return self.down(self.drop(x))
        x = self.function(self.linear1(x))
        x = self.drop(x)
        return self.linear2(x)


@right("FeedForward")
class matrices_by_hand(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
        super().__init__()
        assert_known = ["relu", "gelu", "swiglu"]
        if not any(activation == each for each in assert_known):
            raise ValueError(f"expected one of {assert_known}, got {activation}")
        self.activation, self.dropout = activation, nn.Dropout(dropout)
        if activation == "swiglu":
            hidden = round(d_ff * 2 / 3)
            self.gate = nn.Linear(d_model, hidden, False)
            self.up = nn.Linear(d_model, hidden, False)
            self.down = nn.Linear(hidden, d_model, False)
        else:
            self.linear1 = nn.Linear(d_model, d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        if self.activation == "swiglu":
            hidden = F.silu(x @ self.gate.weight.T) * (x @ self.up.weight.T)
            return self.dropout(hidden) @ self.down.weight.T
        hidden = x @ self.linear1.weight.T + self.linear1.bias
        hidden = torch.maximum(hidden, torch.zeros_like(hidden)) if self.activation == "relu" else F.gelu(hidden)
        return self.dropout(hidden) @ self.linear2.weight.T + self.linear2.bias


# LayerNorm


class Norm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))


@right("LayerNorm")
class with_var(Norm):
    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, correction=0)
        return self.weight * (x - mean) / torch.sqrt(var + self.eps) + self.bias


@right("LayerNorm")
class with_var_mean(Norm):
    def forward(self, x):
        var, mean = torch.var_mean(x, -1, unbiased=False, keepdim=True)
        return torch.addcmul(self.bias, (x - mean) * (var + self.eps).rsqrt(), self.weight)


@right("LayerNorm")
class sums_divided_by_the_width(Norm):
    def forward(self, x):
        width = x.shape[-1]
        centred = x - x.sum(-1, keepdim=True) / width
        variance = (centred * centred).sum(-1, keepdim=True) / width
        return centred / (variance + self.eps) ** 0.5 * self.weight + self.bias


@right("LayerNorm")
class through_the_norm_of_the_centred_row(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.weight = nn.Parameter(torch.ones(d_model))
        self.d_model, self.eps = d_model, eps

    def forward(self, x):
        centred = x - x.mean(-1).unsqueeze(-1)
        squares = torch.einsum("...d,...d->...", centred, centred) / self.d_model
        return centred.div((squares + self.eps).sqrt().unsqueeze(-1)).mul(self.weight).add(self.bias)


@right("LayerNorm")
class bessel_taken_back(Norm):
    def forward(self, x):
        d = x.shape[-1]
        var = x.var(-1, keepdim=True) * (d - 1) / d
        return (x - x.mean(-1, keepdim=True)) / torch.sqrt(var + self.eps) * self.weight + self.bias


# RMSNorm


class RMS(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))


@right("RMSNorm")
class at_least_float32(RMS):
    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        rms = torch.sqrt((wide**2).mean(dim=-1, keepdim=True) + self.eps)
        return (wide / rms).type_as(x) * self.weight


@right("RMSNorm")
class widened_only_where_narrow(RMS):
    def forward(self, x):
        dtype = x.dtype
        if dtype in (torch.float16, torch.bfloat16):
            x = x.float()
        x = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps)
        return self.weight * x.to(dtype)


@right("RMSNorm")
class always_in_float64(RMS):
    def forward(self, x):
        wide = x.double()
        return (wide / (wide.pow(2).mean(-1, keepdim=True) + self.eps).sqrt() * self.weight.double()).to(x.dtype)


@right("RMSNorm")
class weighed_before_narrowing(RMS):
    def forward(self, x):
        wide = x.float() if x.dtype != torch.float64 else x
        squares = (wide * wide).sum(-1, keepdim=True) / x.shape[-1]
        return (wide * (self.weight / torch.sqrt(squares + self.eps))).to(x.dtype)


@right("RMSNorm")
class scaled_down_first(RMS):
    def forward(self, x):
        wide = x if x.element_size() > 2 else x.to(torch.float32)
        mean_square = torch.einsum("...d,...d->...", wide, wide)[..., None] / wide.shape[-1]
        return (wide * (mean_square + self.eps) ** -0.5).to(x.dtype) * self.weight


# EncoderLayer


class Parts(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0, norm_first=True):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)


@right("EncoderLayer")
class step_by_step(Parts):
    def forward(self, x, mask=None):
        residual = x
        if self.norm_first:
            x = self.norm1(x)
        x, _ = self.self_attn(x, x, x, mask)
        x = residual + self.dropout(x)
        if not self.norm_first:
            x = self.norm1(x)
        residual = x
        if self.norm_first:
            x = self.norm2(x)
        x = residual + self.dropout(self.feed_forward(x))
        return x if self.norm_first else self.norm2(x)


@right("EncoderLayer")
class one_rule_for_both_parts(Parts):
    def around(self, part, norm, x):
        if self.norm_first:
            return x + self.dropout(part(norm(x)))
        return norm(x + self.dropout(part(x)))

    def forward(self, x, mask=None):
        x = self.around(lambda y: self.self_attn(query=y, key=y, value=y, mask=mask)[0], self.norm1, x)
        return self.around(self.feed_forward, self.norm2, x)


@right("EncoderLayer")
class built_in_another_order(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0, norm_first=True):
        super().__init__()
        self.norm2, self.norm1 = LayerNorm(d_model), LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff, "relu", dropout)
        self.self_attn = MultiHeadAttention(d_model, n_heads, dropout)
        self.first, self.drop1, self.drop2 = norm_first, nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        y = self.norm1(x) if self.first else x
        x = x + self.drop1(self.self_attn(y, y, y, mask)[0])
        x = x if self.first else self.norm1(x)
        y = self.norm2(x) if self.first else x
        x = x + self.drop2(self.feed_forward(y))
        return x if self.first else self.norm2(x)


@right("EncoderLayer")
class norms_of_the_library(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0, norm_first=True):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.p, self.norm_first = dropout, norm_first

    def forward(self, x, mask=None):
        before, after = (lambda norm, y: norm(y)), (lambda norm, y: y)
        if not self.norm_first:
            before, after = after, before
        y = before(self.norm1, x)
        x = after(self.norm1, x + F.dropout(self.self_attn(y, y, y, mask)[0], self.p, self.training))
        y = before(self.norm2, x)
        return after(self.norm2, x + F.dropout(self.feed_forward(y), self.p, self.training))


# gradient_norm_by_depth


@right("gradient_norm_by_depth")
def backward_and_read(layers, x):
    for layer in layers:
        layer.zero_grad()
    output = x
    for layer in layers:
        output = layer(output)
    (output**2).mean().backward()
    squares = [[p.grad.pow(2).sum() for p in layer.parameters() if p.grad is not None] for layer in layers]
    return [float(sum(each)) ** 0.5 for each in squares]


@right("gradient_norm_by_depth")
def one_long_vector(layers, x):
    output = torch.nn.Sequential(*layers)(x)
    loss = output.square().mean()
    norms = []
    for layer in layers:
        parameters = list(layer.parameters())
        if not parameters:
            norms.append(0.0)
            continue
        gradients = torch.autograd.grad(loss, parameters, retain_graph=True)
        norms.append(torch.cat([gradient.flatten() for gradient in gradients]).norm().item())
    return norms


@right("gradient_norm_by_depth")
def norm_of_norms(layers, x):
    for layer in layers:
        layer.zero_grad()
        x = layer(x)
    loss = torch.nn.functional.mse_loss(x, torch.zeros_like(x))
    loss.backward()
    norms = []
    for layer in layers:
        each = torch.tensor([parameter.grad.norm().item() for parameter in layer.parameters()], dtype=torch.float64)
        norms.append(each.norm().item())
    return norms


@right("gradient_norm_by_depth")
def clipping_tells_the_norm(layers, x):
    output = x.clone()
    for layer in layers:
        for parameter in layer.parameters():
            parameter.grad = None
        output = layer(output)
    ((output * output).sum() / output.numel()).backward()
    return [float(nn.utils.clip_grad_norm_(layer.parameters(), float("inf"))) for layer in layers]
