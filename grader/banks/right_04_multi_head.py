"""Other right answers of notebook 04: all must get full marks and no diagnosis."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from grader.bank import right


def divides(width, n_heads):
    if width % n_heads:
        raise ValueError(f"{width} features can't be shared among {n_heads} heads")


def load_from_pytorch(mha, torch_mha):
    """The loader of the answers to MultiHeadAttention that keep their weights in a way of their own."""
    kinds = [kind for kind in ("weight", "bias") if getattr(torch_mha, f"in_proj_{kind}") is not None]
    with torch.no_grad():
        for kind in kinds:
            stack = getattr(torch_mha, f"in_proj_{kind}")
            if hasattr(mha, "qkv"):
                getattr(mha.qkv, kind).copy_(stack)
                getattr(mha.out, kind).copy_(getattr(torch_mha.out_proj, kind))
                continue
            for place in range(3):
                for head in range(mha.H):
                    rows = stack[place * mha.H * mha.D + head * mha.D :][: mha.D]
                    getattr(mha.layers[place * mha.H + head], kind).copy_(rows)
            getattr(mha.layers[-1], kind).copy_(getattr(torch_mha.out_proj, kind))


# split_heads


@right("split_heads")
def cut_and_stacked(x, n_heads):
    M = x.shape[-1]
    divides(M, n_heads)
    D = M // n_heads
    return torch.stack([x[..., h * D : (h + 1) * D] for h in range(n_heads)], dim=1)


@right("split_heads")
def viewed_and_permuted(x, n_heads):
    B, T, M = x.shape
    if M % n_heads != 0:
        raise ValueError(f"d_model ({M}) must be divisible by n_heads ({n_heads})")
    return x.view(B, T, n_heads, M // n_heads).permute(0, 2, 1, 3).contiguous()


@right("split_heads")
def filled_by_loops(x, n_heads):
    B, T, M = x.shape
    divides(M, n_heads)
    result = x.new_zeros(B, n_heads, T, M // n_heads)
    for h in range(n_heads):
        for d in range(M // n_heads):
            result[:, h, :, d] = x[:, :, h * (M // n_heads) + d]
    return result


@right("split_heads")
def through_the_transposed(x, n_heads):
    divides(x.shape[-1], n_heads)
    return x.mT.unflatten(1, (n_heads, -1)).mT


# merge_heads


@right("merge_heads")
def put_side_by_side(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


@right("merge_heads")
def contiguous_view(x):
    B, H, T, D = x.shape
    return x.permute(0, 2, 1, 3).contiguous().view(B, T, H * D)


@right("merge_heads")
def through_the_features(x):
    return x.mT.flatten(1, 2).mT


@right("merge_heads")
def position_by_position(x):
    return torch.stack([x[:, :, t].reshape(x.shape[0], -1) for t in range(x.shape[2])], dim=1)


# MultiHeadAttention


@right("MultiHeadAttention")
class one_fused_matrix(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        divides(d_model, n_heads)
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.out = nn.Linear(d_model, d_model, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        weights = self.qkv.weight.chunk(3)
        biases = (None,) * 3 if self.qkv.bias is None else self.qkv.bias.chunk(3)
        q, k, v = (split_heads(F.linear(*each), self.n_heads) for each in zip((query, key, value), weights, biases, strict=True))
        mask = mask if mask is None or mask.dim() < 3 else mask.reshape(mask.shape[0], -1, *mask.shape[-2:])
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.drop.p, self.training)
        return self.out(merge_heads(mixed)), weights


@right("MultiHeadAttention")
class a_layer_for_each_head(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model=} {n_heads=}")
        self.H, self.D, self.p = n_heads, d_model // n_heads, dropout
        self.layers = nn.ModuleList(nn.Linear(d_model, self.D, bias=bias) for _ in range(3 * n_heads))
        self.layers.append(nn.Linear(d_model, d_model, bias=bias))

    def forward(self, query, key, value, mask=None):
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        if mask is not None and mask.dim() == 4:
            masks = mask.expand(-1, self.H, -1, -1).unbind(1)
        else:
            masks = [mask] * self.H
        outputs, weights = [], []
        for head in range(self.H):
            q, k, v = (self.layers[place * self.H + head](x) for place, x in enumerate((query, key, value)))
            output, weight = scaled_dot_product_attention(q, k, v, masks[head], self.p, self.training)
            outputs.append(output)
            weights.append(weight)
        return self.layers[-1](torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)


@right("MultiHeadAttention")
class all_in_one_einsum(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        divides(d_model, n_heads)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q = self.w_q(query).unflatten(-1, (self.n_heads, -1))
        k = self.w_k(key).unflatten(-1, (self.n_heads, -1))
        v = self.w_v(value).unflatten(-1, (self.n_heads, -1))
        scores = torch.einsum("bthd,bshd->bhts", q, k) / torch.sqrt(torch.tensor(q.shape[-1]))
        if mask is not None:
            if mask.dtype is not torch.bool:
                raise TypeError("boolean masks only")
            mask = mask.unsqueeze(1) if mask.ndim == 3 else mask
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask
        return self.w_o(torch.einsum("bhts,bshd->bthd", self.drop(weights), v).flatten(2)), weights


@right("MultiHeadAttention")
class scaled_before_the_products(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        divides(d_model, n_heads)
        self.n_heads, self.dropout = n_heads, dropout
        self.w_o = nn.Linear(d_model, d_model, bias)
        self.w_v = nn.Linear(d_model, d_model, bias)
        self.w_k = nn.Linear(d_model, d_model, bias)
        self.w_q = nn.Linear(d_model, d_model, bias)

    def attend(self, q, k, v, mask):
        width = math.sqrt(q.shape[-1])
        scores = (q / math.sqrt(width)) @ (k / math.sqrt(width)).transpose(2, 3)
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
            empty = ~mask.any(-1, keepdim=True)
            scores = scores.masked_fill(empty, 0.0)
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights = weights.masked_fill(empty, 0.0)
        return F.dropout(weights, p=self.dropout, training=self.training) @ v, weights

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            if mask.dtype != torch.bool:
                raise TypeError(str(mask.dtype))
            if mask.dim() == 3:
                mask = mask[:, None, :, :]
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        mixed, weights = self.attend(*(split_heads(x, self.n_heads) for x in (q, k, v)), mask)
        return self.w_o(merge_heads(mixed)), weights


@right("MultiHeadAttention")
class heads_folded_into_the_batch(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        divides(d_model, n_heads)
        self.n_heads, self.dropout = n_heads, dropout
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        (B, T, M), S, H = query.shape, key.shape[1], self.n_heads
        q, k, v = (
            split_heads(layer(x), H).reshape(B * H, -1, M // H)
            for layer, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
        )
        if mask is not None:
            mask = mask[:, None] if mask.dim() == 3 else mask
            mask = mask.expand(B, H, T, S).reshape(B * H, T, S)
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout, self.training)
        return self.w_o(merge_heads(mixed.view(B, H, T, -1))), weights.view(B, H, T, S)


@right("MultiHeadAttention")
class the_fast_kernel_for_the_output(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        divides(d_model, n_heads)
        self.n_heads, self.dropout = n_heads, dropout
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        q, k, v = (split_heads(w(x), self.n_heads) for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        mask = mask.unsqueeze(1) if mask is not None and mask.dim() == 3 else mask
        mixed, weights = scaled_dot_product_attention(q, k, v, mask)
        if self.dropout and self.training:
            mixed = F.scaled_dot_product_attention(q, k, v, mask, self.dropout)
        return self.w_o(merge_heads(mixed)), weights


# fuse_qkv


@right("fuse_qkv")
def copied_third_by_third(mha):
    M = mha.w_q.in_features
    fused = nn.Linear(M, 3 * M, bias=mha.w_q.bias is not None).to(mha.w_q.weight)
    with torch.no_grad():
        for place, layer in enumerate((mha.w_q, mha.w_k, mha.w_v)):
            fused.weight[place * M : (place + 1) * M] = layer.weight
            if layer.bias is not None:
                fused.bias[place * M : (place + 1) * M] = layer.bias
    return fused


@right("fuse_qkv")
def through_state_dicts(mha):
    states = [getattr(mha, f"w_{letter}").state_dict() for letter in "qkv"]
    state = {name: torch.cat([each[name] for each in states]) for name in states[0]}
    fused = nn.Linear(*state["weight"].T.shape, bias="bias" in state, dtype=state["weight"].dtype)
    fused.load_state_dict(state)
    return fused


@right("fuse_qkv")
def with_new_parameters(mha):
    layers = [mha.w_q, mha.w_k, mha.w_v]
    fused = nn.Linear(mha.w_q.in_features, 3 * mha.w_q.in_features, bias=False)
    fused.weight = nn.Parameter(torch.cat([layer.weight for layer in layers]).detach())
    if mha.w_q.bias is not None:
        fused.bias = nn.Parameter(torch.cat([layer.bias for layer in layers]).detach())
    return fused


# load_from_pytorch


@right("load_from_pytorch")
def copied_in_a_loop(mha, torch_mha):
    with torch.no_grad():
        for layer, weight in zip((mha.w_q, mha.w_k, mha.w_v), torch_mha.in_proj_weight.chunk(3), strict=True):
            layer.weight.copy_(weight)
        mha.w_o.weight.copy_(torch_mha.out_proj.weight)
        if torch_mha.in_proj_bias is not None:
            for layer, bias in zip((mha.w_q, mha.w_k, mha.w_v), torch_mha.in_proj_bias.chunk(3), strict=True):
                layer.bias.copy_(bias)
            mha.w_o.bias.copy_(torch_mha.out_proj.bias)


@right("load_from_pytorch")
def as_a_state_dict(mha, torch_mha):
    state = {f"w_o.{name}": tensor for name, tensor in torch_mha.out_proj.state_dict().items()}
    for kind in ("weight", "bias"):
        stacked = getattr(torch_mha, "in_proj_" + kind)
        if stacked is not None:
            state |= {f"w_{letter}.{kind}": part for letter, part in zip("qkv", stacked.detach().chunk(3), strict=True)}
    mha.load_state_dict(state)


@right("load_from_pytorch")
@torch.no_grad()
def through_data(mha, torch_mha):
    M = torch_mha.embed_dim
    for place, layer in enumerate((mha.w_q, mha.w_k, mha.w_v)):
        layer.weight.data[:] = torch_mha.in_proj_weight.data[place * M : (place + 1) * M]
        if layer.bias is not None:
            layer.bias.data[:] = torch_mha.in_proj_bias.data[place * M : (place + 1) * M]
    mha.w_o.load_state_dict(torch_mha.out_proj.state_dict())


@right("load_from_pytorch")
def filled_through_views(mha, torch_mha):
    stacks = {"weight": torch_mha.in_proj_weight, "bias": torch_mha.in_proj_bias}
    for kind, stack in stacks.items():
        if stack is None:
            continue
        parts = [*stack.detach().clone().split(torch_mha.embed_dim), getattr(torch_mha.out_proj, kind).detach()]
        for layer, part in zip((mha.w_q, mha.w_k, mha.w_v, mha.w_o), parts, strict=True):
            getattr(layer, kind).detach().copy_(part)


# count_parameters


@right("count_parameters")
def counted_on_a_module(d_model, n_heads, bias=True):
    return sum(parameter.numel() for parameter in MultiHeadAttention(d_model, n_heads, bias=bias).parameters())


@right("count_parameters")
def head_by_head(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    width, total = d_model // n_heads, 0
    for _ in range(n_heads):
        total += 3 * (d_model * width + (width if bias else 0))
    return total + d_model * d_model + (d_model if bias else 0)


@right("count_parameters")
def counted_on_pytorchs(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    return sum(math.prod(parameter.shape) for parameter in nn.MultiheadAttention(d_model, n_heads, bias=bias).parameters())


# GroupedQueryAttention


class Grouped(nn.Module):
    """The given part of the stub."""

    def __init__(self, d_model, n_heads, n_kv_heads, bias=True):
        super().__init__()
        divides(d_model, n_heads)
        divides(n_heads, n_kv_heads)
        self.n_heads, self.n_kv_heads, self.width = n_heads, n_kv_heads, d_model // n_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, self.width * n_kv_heads, bias=bias)
        self.w_v = nn.Linear(d_model, self.width * n_kv_heads, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def heads(self, query, key, value):
        yield split_heads(self.w_q(query), self.n_heads)
        yield split_heads(self.w_k(key), self.n_kv_heads)
        yield split_heads(self.w_v(value), self.n_kv_heads)


@right("GroupedQueryAttention")
class picked_by_index(Grouped):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        place = [h // (self.n_heads // self.n_kv_heads) for h in range(self.n_heads)]
        mask = mask[:, None] if mask is not None and mask.dim() == 3 else mask
        mixed, weights = scaled_dot_product_attention(q, k[:, place], v[:, place], mask)
        return self.w_o(merge_heads(mixed)), weights


@right("GroupedQueryAttention")
class expanded_and_flattened(Grouped):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        k, v = (x[:, :, None].expand(-1, -1, self.n_heads // self.n_kv_heads, -1, -1).flatten(1, 2) for x in (k, v))
        mask = mask[:, None] if mask is not None and mask.dim() == 3 else mask
        mixed, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.w_o(merge_heads(mixed)), weights


@right("GroupedQueryAttention")
class group_by_group(Grouped):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        group = self.n_heads // self.n_kv_heads
        mask = mask[:, None] if mask is not None and mask.dim() == 3 else mask
        outputs, weights = [], []
        for place in range(self.n_kv_heads):
            rows = slice(place * group, (place + 1) * group)
            mine = mask[:, rows] if mask is not None and mask.dim() == 4 and mask.shape[1] > 1 else mask
            result = scaled_dot_product_attention(q[:, rows], *(x[:, [place] * group] for x in (k, v)), mine)
            outputs.append(result[0])
            weights.append(result[1])
        return self.w_o(merge_heads(torch.cat(outputs, 1))), torch.cat(weights, 1)


@right("GroupedQueryAttention")
class the_libraries_own_groups(Grouped):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        every = [x.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1) for x in (k, v)]
        _, weights = scaled_dot_product_attention(q, *every, mask)
        mixed = F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)
        return self.w_o(merge_heads(mixed)), weights


@right("GroupedQueryAttention")
class an_axis_for_the_groups(Grouped):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        q = q.unflatten(1, (self.n_kv_heads, -1))
        if mask is not None:
            mask = mask[:, None] if mask.dim() == 3 else mask
            mask = mask.expand(q.shape[0], self.n_heads, q.shape[3], k.shape[2]).unflatten(1, (self.n_kv_heads, -1))
        group = q.shape[2]
        k, v = (x[:, :, None].expand(-1, -1, group, -1, -1) for x in (k, v))
        mixed, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.w_o(merge_heads(mixed.flatten(1, 2))), weights.flatten(1, 2)
