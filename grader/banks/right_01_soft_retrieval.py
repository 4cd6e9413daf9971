"""Other right answers of notebook 01: each must get full marks and no diagnosis."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from grader.bank import right

# hard_lookup


@right("hard_lookup")
def by_loop(query, keys, values):
    best, best_score = None, None
    for place in range(keys.shape[0]):
        score = sum(keys[place, i] * query[i] for i in range(len(query)))
        if best is None or score > best_score:
            best, best_score = place, score
    return values[best]


@right("hard_lookup")
def through_einsum_and_max(query, keys, values):
    place = torch.einsum("d,sd->s", query, keys).max(dim=0).indices
    return values.index_select(0, place[None])[0]


@right("hard_lookup")
def through_one_hot(query, keys, values):
    place = int(torch.argmax(torch.mv(keys, query)))
    return F.one_hot(torch.tensor(place), len(keys)).to(values.dtype) @ values


@right("hard_lookup")
def through_pythons_max(query, keys, values):
    scores = [torch.dot(query, key).item() for key in keys]
    return values[scores.index(max(scores))]


# soft_lookup


@right("soft_lookup")
def scores_by_loop(query, keys, values, temperature):
    if not temperature > 0:
        raise ValueError(f"temperature = {temperature}, but it must be > 0")
    scores = torch.stack([key.dot(query) for key in keys])
    weights = softmax(scores / temperature, dim=0)
    return sum(weight * value for weight, value in zip(weights, values, strict=True))


@right("soft_lookup")
def query_divided_first(query, keys, values, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be positive, got " + str(temperature))
    return torch.einsum("s,se->e", softmax(torch.einsum("d,sd->s", query / temperature, keys), -1), values)


@right("soft_lookup")
def through_logsumexp(query, keys, values, temperature):
    if temperature <= 0:
        raise ValueError(f"temperature must be positive: {temperature:.2f}")
    scores = keys @ query / temperature
    return torch.exp(scores - torch.logsumexp(scores, dim=0)) @ values


@right("soft_lookup")
def with_its_own_softmax(query, keys, values, temperature):
    if temperature <= 0.0:
        raise ValueError(f"bad temperature {temperature!r}")
    scores = (query[None] @ keys.T) / torch.tensor(temperature, dtype=torch.float32)
    e = torch.exp(scores - scores.max())
    return ((e / e.sum()) @ values).squeeze(0)


# scaled_dot_product_attention


@right("scaled_dot_product_attention")
def einsum_and_where(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = torch.einsum("...td,...sd->...ts", query, key) / np.sqrt(query.size(-1))
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError("mask must be bool")
        scores = torch.where(mask, scores, float("-inf"))
    weights = softmax(scores, dim=-1)
    dropped = F.dropout(weights, p=dropout_p, training=training)
    return torch.einsum("...ts,...se->...te", dropped, value), weights


@right("scaled_dot_product_attention")
def query_by_query(query, key, value, mask=None, dropout_p=0.0, training=False):
    if mask is not None and mask.dtype is not torch.bool:
        raise TypeError(f"mask: {mask.dtype}")
    outputs, rows = [], []
    for t in range(query.shape[-2]):
        scores = (query[..., t : t + 1, :] * key).sum(-1) / query.shape[-1] ** 0.5
        if mask is not None:
            own = mask.expand(*query.shape[:-1], key.shape[-2])[..., t, :]
            scores = scores.masked_fill(~own, -torch.inf)
        row = softmax(scores, -1)
        rows.append(row)
        if training and dropout_p > 0:
            row = row * torch.bernoulli(torch.full_like(row, 1 - dropout_p)) / (1 - dropout_p)
        outputs.append((row.unsqueeze(-1) * value).sum(-2))
    return torch.stack(outputs, -2), torch.stack(rows, -2)


@right("scaled_dot_product_attention")
def through_logsumexp_of_the_smallest_number(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = torch.matmul(query, key.mT) / torch.sqrt(torch.tensor(key.shape[-1], dtype=torch.float32))
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError("boolean masks only")
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return nn.functional.dropout(weights, dropout_p, training) @ value, weights


@right("scaled_dot_product_attention")
def additive_bias_and_rand(query, key, value, mask=None, dropout_p=0.0, training=False):
    query = query * query.shape[-1] ** -0.5
    scores = query @ key.swapaxes(-1, -2)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError("mask has dtype " + str(mask.dtype))
        bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(mask.logical_not(), float("-inf"))
        scores = scores + bias
    weights = softmax(scores, -1)
    attended = weights
    if training and dropout_p > 0:
        attended = torch.where(torch.rand_like(weights) < dropout_p, 0.0, weights / (1 - dropout_p))
    return attended @ value, weights


@right("scaled_dot_product_attention")
def flat_baddbmm(query, key, value, mask=None, dropout_p=0.0, training=False):
    shape = (*query.shape[:-1], key.shape[-2])
    flat_query, flat_key, flat_value = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    bias = torch.zeros(shape, dtype=query.dtype, device=query.device)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError("the mask is not boolean")
        bias = bias.masked_fill(~mask, -math.inf)
    bias = bias.reshape(-1, *shape[-2:])
    scores = torch.baddbmm(bias, flat_query, flat_key.transpose(1, 2), alpha=1 / math.sqrt(query.shape[-1]))
    weights = softmax(scores, 2)
    output = torch.bmm(nn.Dropout(dropout_p).train(training)(weights), flat_value)
    return output.reshape(*query.shape[:-1], value.shape[-1]), weights.reshape(shape)


@right("scaled_dot_product_attention")
def own_softmax_in_float32(query, key, value, mask=None, dropout_p=0.0, training=False):
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"expected torch.bool, got {mask.dtype}")
    wide = torch.promote_types(query.dtype, torch.float32)
    scores = query.to(wide) @ key.to(wide).transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    scores = scores.masked_fill(~mask, -math.inf)
    top = scores.amax(-1, keepdim=True).detach()
    e = torch.exp(scores - top.masked_fill(top == -math.inf, 0.0))
    weights = (e / e.sum(-1, keepdim=True).clamp(min=torch.finfo(wide).tiny)).to(query.dtype)
    dropped = weights
    if training:
        keep = torch.bernoulli(torch.full(weights.shape, 1 - dropout_p)).to(weights.dtype)
        dropped = weights * keep / (1 - dropout_p)
    return [dropped @ value, weights]


@right("scaled_dot_product_attention")
def empty_rows_opened_then_closed(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, -1)
    elif mask.dtype != torch.bool:
        raise TypeError(f"mask.dtype is {mask.dtype}")
    else:
        empty = ~mask.any(-1, keepdim=True)
        weights = torch.softmax(scores.masked_fill(~(mask | empty), -math.inf), -1) * ~empty
    if dropout_p and training:
        return torch.dropout(weights, dropout_p, True) @ value, weights
    return weights @ value, weights


@right("scaled_dot_product_attention")
def mended_where_the_fill_stops_the_gradient(query, key, value, mask=None, dropout_p=0.0, training=False):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"mask of {mask.dtype}")
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    return F.dropout(weights, dropout_p, training) @ value, weights


# causal_mask


@right("causal_mask")
def lower_triangle(length, device=None):
    return torch.tril(torch.ones((length, length), dtype=torch.bool, device=device))


@right("causal_mask")
def places_compared(length, device=None):
    place = torch.arange(length, device=device)
    return place <= place[:, None]


@right("causal_mask")
def written_by_loops(length, device=None):
    return torch.tensor([[s <= t for s in range(length)] for t in range(length)], device=device)


@right("causal_mask")
def future_taken_away(length, device=None):
    future = torch.triu(torch.ones(length, length), diagonal=1)
    return future.to(device or "cpu") == 0


@right("causal_mask")
def filled_row_by_row(length, device=None):
    mask = torch.zeros(length, length, dtype=torch.bool, device=device)
    for t in range(length):
        mask[t, : t + 1] = True
    return mask


# padding_mask


@right("padding_mask")
def reshaped_at_the_end(lengths, max_length):
    if lengths.min() < 0 or lengths.max() > max_length:
        raise ValueError(f"lengths {lengths.tolist()} must lie in 0..{max_length}")
    mask = torch.arange(max_length, device=lengths.device).expand(len(lengths), -1) < lengths.unsqueeze(1)
    return mask.reshape(len(lengths), 1, 1, max_length)


@right("padding_mask")
def filled_by_loop(lengths, max_length):
    mask = torch.zeros(len(lengths), 1, 1, max_length, dtype=torch.bool, device=lengths.device)
    for row, length in enumerate(lengths.tolist()):
        if length < 0 or length > max_length:
            raise ValueError(f"length {length} of row {row} is outside 0..{max_length}")
        mask[row, ..., :length] = True
    return mask


@right("padding_mask")
def four_axes_from_the_start(lengths, max_length):
    bad = lengths[(lengths < 0) | (lengths > max_length)]
    if bad.numel() > 0:
        raise ValueError(f"got {bad[0].item()}, expected at least 0 and at most {max_length}")
    place = torch.arange(max_length, device=lengths.device).view(1, 1, 1, -1)
    return place < lengths.view(-1, 1, 1, 1)


@right("padding_mask")
def counted_ones(lengths, max_length):
    if any(not 0 <= length <= max_length for length in lengths.tolist()):
        raise ValueError(f"{lengths} with max_length {max_length}")
    return torch.ones(len(lengths), 1, 1, max_length, device=lengths.device).cumsum(-1) <= lengths[:, None, None, None]
