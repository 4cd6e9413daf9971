"""Wrong answers of notebook 04: what people really write, the check that sees it, the sentence that names it."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from grader.bank import wrong


class Base(nn.Module):
    """The given part of the stub."""

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model} is no multiple of n_heads = {n_heads}")
        self.n_heads, self.dropout = n_heads, dropout
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def heads(self, query, key, value):
        return (split_heads(layer(x), self.n_heads) for layer, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))


class GroupedBase(nn.Module):
    """The given part of the stub."""

    def __init__(self, d_model, n_heads, n_kv_heads, bias=True):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads} and n_kv_heads = {n_kv_heads} don't divide")
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        narrow = d_model // n_heads * n_kv_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, narrow, bias=bias)
        self.w_v = nn.Linear(d_model, narrow, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def heads(self, query, key, value):
        sizes = self.n_heads, self.n_kv_heads, self.n_kv_heads
        layers = self.w_q, self.w_k, self.w_v
        return (split_heads(layer(x), n) for layer, x, n in zip(layers, (query, key, value), sizes, strict=True))

    def repeated(self, x):
        return x.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)


def for_heads(mask):
    return mask[:, None] if mask is not None and mask.dim() == 3 else mask


def divides(width, n_heads):
    if width % n_heads:
        raise ValueError(f"{width} features can't be shared among {n_heads} heads")


# split_heads


@wrong(
    "split_heads",
    caught_by="leaves_each_position_its_own_features",
    says="You view (B, T, M) as (B, H, T, D) at once: the shape is right, but features of neighbouring positions land in one head. Cut M first, then swap two axes.",
)
def view_in_the_wrong_order(x, n_heads):
    B, T, M = x.shape
    divides(M, n_heads)
    return x.reshape(B, n_heads, T, M // n_heads)


@wrong(
    "split_heads",
    caught_by="leaves_each_position_its_own_features",
    says="You cut the features but leave the heads behind the positions: swap these two axes, so that the result is (B, H, T, D).",
)
def heads_behind_the_positions(x, n_heads):
    divides(x.shape[-1], n_heads)
    return x.unflatten(-1, (n_heads, -1))


@wrong(
    "split_heads",
    caught_by="cuts_the_features_of_one_position",
    says="You deal the features out like cards, one to each head in turn: a head gets D neighbouring features.",
)
def dealt_like_cards(x, n_heads):
    B, T, M = x.shape
    divides(M, n_heads)
    return x.reshape(B, T, M // n_heads, n_heads).permute(0, 3, 1, 2)


@wrong(
    "split_heads",
    caught_by="leaves_each_position_its_own_features",
    says="The axis of the heads stands in front of the batch: it belongs behind it.",
)
def heads_before_the_batch(x, n_heads):
    divides(x.shape[-1], n_heads)
    return torch.stack(x.chunk(n_heads, dim=-1))


@wrong(
    "split_heads",
    caught_by="leaves_each_position_its_own_features",
    says="Positions and features changed places: the result should be (B, H, T, D), with the features last.",
)
def features_before_positions(x, n_heads):
    divides(x.shape[-1], n_heads)
    return x.unflatten(-1, (n_heads, -1)).permute(0, 2, 3, 1)


@wrong(
    "split_heads",
    caught_by="cuts_the_features_of_one_position",
    says="You took n_heads for the width of a head: there should be n_heads heads, each of width M / n_heads.",
)
def heads_taken_for_the_width(x, n_heads):
    divides(x.shape[-1], n_heads)
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


@wrong(
    "split_heads",
    caught_by="refuses_a_width_that_heads_do_not_divide",
    says="Where the heads don't divide the width you drop the features that are left over. Raise a ValueError with both numbers instead.",
)
def rest_dropped(x, n_heads):
    width = x.shape[-1] // n_heads
    return x[..., : n_heads * width].unflatten(-1, (n_heads, width)).transpose(1, 2)


@wrong(
    "split_heads",
    caught_by="refuses_a_width_that_heads_do_not_divide",
    says="Where the heads don't divide the width you leave the error to PyTorch: raise a ValueError of your own, with both numbers.",
)
def error_left_to_pytorch(x, n_heads):
    return x.reshape(*x.shape[:2], n_heads, -1).transpose(1, 2)


@wrong(
    "split_heads",
    caught_by="refuses_a_width_that_heads_do_not_divide",
    says="You use assert for a bad argument. It raises an AssertionError, and `python -O` skips it: raise a ValueError with both numbers.",
)
def asserted(x, n_heads):
    assert x.shape[-1] % n_heads == 0, f"{x.shape[-1]} % {n_heads}"
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


@wrong(
    "split_heads",
    caught_by="passes_gradients_back",
    says="Your result is a copy cut off from the graph, so no gradient reaches x: use reshape or view, which stay in it.",
)
def copied_out_of_the_graph(x, n_heads):
    divides(x.shape[-1], n_heads)
    result = torch.zeros(x.shape[0], n_heads, x.shape[1], x.shape[2] // n_heads, dtype=x.dtype)
    for head in range(n_heads):
        result[:, head] = x.detach()[..., head * result.shape[-1] : (head + 1) * result.shape[-1]]
    return result


# merge_heads


@wrong(
    "merge_heads",
    caught_by="leaves_each_position_its_own_features",
    says="You reshape (B, H, T, D) to (B, T, M) at once: the shape is right, but each row holds other positions. Swap heads and positions first.",
)
def reshaped_without_swapping(x):
    B, H, T, D = x.shape
    return x.reshape(B, T, H * D)


@wrong(
    "merge_heads",
    caught_by="leaves_each_position_its_own_features",
    says="`view` can't join axes that lie apart in memory, and after `transpose` they do: use reshape or flatten, or call contiguous() first.",
)
def viewed_after_transpose(x):
    B, H, T, D = x.shape
    return x.transpose(1, 2).view(B, T, H * D)


@wrong(
    "merge_heads",
    caught_by="leaves_each_position_its_own_features",
    says="You swap heads and positions but don't join the last two axes: the result should be (B, T, M).",
)
def not_joined(x):
    return x.transpose(1, 2)


@wrong(
    "merge_heads",
    caught_by="puts_the_heads_of_one_position_side_by_side",
    says="You add the heads up. They are put side by side, so that no feature is lost.",
)
def added(x):
    return x.sum(1)


@wrong(
    "merge_heads",
    caught_by="puts_the_heads_of_one_position_side_by_side",
    says="You take the mean of the heads. They are put side by side, so that no feature is lost.",
)
def averaged(x):
    return x.mean(1)


@wrong(
    "merge_heads",
    caught_by="puts_the_heads_of_one_position_side_by_side",
    says="You mix the heads feature by feature: first all features of head 0, then all of head 1, and so on.",
)
def interleaved(x):
    return x.permute(0, 2, 3, 1).flatten(2)


@wrong(
    "merge_heads",
    caught_by="leaves_each_position_its_own_features",
    says="You put the heads below each other, along the positions: they belong side by side, along the features.",
)
def along_the_positions(x):
    return torch.cat(x.unbind(1), dim=1)


@wrong(
    "merge_heads",
    caught_by="leaves_each_position_its_own_features",
    says="Features and positions changed places: the result should be (B, T, M).",
)
def features_first(x):
    return x.transpose(2, 3).flatten(1, 2)


@wrong(
    "merge_heads",
    caught_by="passes_gradients_back",
    says="Your result is a copy cut off from the graph, so no gradient reaches x: use reshape or flatten, which stay in it.",
)
def rebuilt_outside_the_graph(x):
    return torch.tensor(x.transpose(1, 2).flatten(2).tolist(), dtype=x.dtype)


# MultiHeadAttention


@wrong(
    "MultiHeadAttention",
    caught_by="gives_the_weights_of_every_head",
    says="You view (B, T, M) as (B, H, T, D) in one go, so each head mixes features of several positions. Cut the features first, then swap heads and positions.",
)
class heads_viewed_in_the_wrong_order(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).reshape(x.shape[0], self.n_heads, x.shape[1], -1)
            for layer, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
        )
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_the_output_of_pytorch",
    says="You join the heads without swapping heads and positions back: the shape is right, but each row holds pieces of several positions.",
)
class heads_merged_without_swapping(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(mixed.reshape(query.shape)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_the_weights_of_every_head",
    says="You scale by the square root of the whole width M: each head compares D = M / H numbers, so the root of D counts.",
)
class scaled_by_the_whole_width(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        q = q / math.sqrt(self.n_heads)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="with_one_head_attends_between_the_projections",
    says="You scale twice: scaled_dot_product_attention divides the scores by the root of D already.",
)
class scaled_twice(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        q = q / math.sqrt(q.shape[-1])
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_the_only_value_through_both_projections",
    says="The output projection w_o is missing: without it the heads stand side by side and are never mixed.",
)
class no_output_projection(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return merge_heads(mixed), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_the_only_value_through_both_projections",
    says="The values go through w_k: a slip of copy and paste, they have a projection of their own, w_v.",
)
class values_through_the_key_projection(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = (split_heads(layer(x), self.n_heads) for layer, x in ((self.w_q, query), (self.w_k, key), (self.w_k, value)))
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_the_only_value_through_both_projections",
    says="The values are mixed as they are: project them with w_v before they are cut into heads.",
)
class values_not_projected(Base):
    def forward(self, query, key, value, mask=None):
        q, k, _ = self.heads(query, key, value)
        v = split_heads(value, self.n_heads)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_the_weights_of_every_head",
    says="You return the mean of the weights over the heads: return those of every head, (B, H, T, S).",
)
class weights_averaged(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights.mean(1)


@wrong(
    "MultiHeadAttention",
    caught_by="gives_the_only_value_through_both_projections",
    says="You return the output alone: return two values, the output and the weights of every head.",
)
class output_alone(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, _ = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed))


@wrong(
    "MultiHeadAttention",
    caught_by="with_one_head_attends_between_the_projections",
    says="Keys and values come from `query`: that is self-attention only. Project `key` and `value`, which may be another sequence.",
)
class self_attention_only(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, query, query)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="with_one_head_attends_between_the_projections",
    says="The values come from `key`: they should come from `value`, which may be another tensor.",
)
class values_from_the_keys(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, key)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="with_one_head_attends_between_the_projections",
    says="You cut keys and values with the length of the queries. In cross-attention S is another number than T: read each tensor's own shape.",
)
class keys_as_long_as_queries(Base):
    def forward(self, query, key, value, mask=None):
        B, T, _ = query.shape
        q, k, v = (
            layer(x).view(B, T, self.n_heads, -1).transpose(1, 2)
            for layer, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
        )
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_each_sequence_its_own_mask",
    says="A mask of (B, T, S) needs an axis for the heads, mask[:, None]: as it is, PyTorch lines up B with the heads.",
)
class no_axis_for_the_heads(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_each_head_its_own_mask",
    says="You put an axis for the heads into every mask, also into one of four dimensions, which has it already.",
)
class an_axis_for_the_heads_always(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mask = mask if mask is None else mask.unsqueeze(-3)
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout, self.training)
        return self.w_o(merge_heads(mixed.squeeze(0) if mixed.dim() == 5 else mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_each_head_its_own_mask",
    says="Every head gets the mask of the first one: a mask of (B, H, T, S) holds one for each head.",
)
class mask_of_the_first_head(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mask = mask[:, :1] if mask is not None and mask.dim() == 4 else for_heads(mask)
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_all_heads_the_same_mask",
    says="You turn the mask round: True means may attend here, for scaled_dot_product_attention too. Only nn.MultiheadAttention says it the other way.",
)
class mask_turned_round(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        if mask is not None and mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        mask = mask if mask is None else ~for_heads(mask)
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_all_heads_the_same_mask",
    says="The mask never reaches the attention: pass it on.",
)
class mask_forgotten(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, k, v, None, self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_zero_weights_to_a_query_with_no_key",
    says="A row of -inf becomes NaN in PyTorch's softmax: a query that may attend nothing needs weights of zero. Your scaled_dot_product_attention gives them.",
)
class row_of_nan(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            if mask.dtype != torch.bool:
                raise TypeError(f"the mask must be boolean, got {mask.dtype}")
            scores = scores.masked_fill(~for_heads(mask), -math.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.w_o(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="gives_zero_weights_to_a_query_with_no_key",
    says="With -1e9 for hidden scores a query that may attend nothing attends everything evenly: it needs weights of zero.",
)
class minus_a_billion(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            if mask.dtype != torch.bool:
                raise TypeError(f"the mask must be boolean, got {mask.dtype}")
            scores = scores.masked_fill(~for_heads(mask), -1e9)
        weights = torch.softmax(scores, dim=-1)
        return self.w_o(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="has_finite_gradients_through_a_query_with_no_key",
    says="You cover a row of NaN with zeros after the softmax: forwards that is right, but NaN comes back with the gradients. Let it never arise.",
)
class nan_covered_up(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            if mask.dtype != torch.bool:
                raise TypeError(f"the mask must be boolean, got {mask.dtype}")
            scores = scores + torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -math.inf).reshape(for_heads(mask).shape)
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
        return self.w_o(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="refuses_a_mask_that_is_not_boolean",
    says="You turn any mask into a boolean one, also a mask of floats whose meaning nobody knows: raise a TypeError.",
)
class any_mask_made_boolean(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mask = mask if mask is None else for_heads(mask).bool()
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="drops_nothing_outside_training",
    says="You drop weights outside training too: pass self.training on, which eval() sets to False.",
)
class drops_always(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, True)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="drops_weights_in_training",
    says="Nothing is ever dropped: pass dropout and self.training on to the attention.",
)
class drops_never(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="drops_weights_in_training",
    says="You drop features of the output: here dropout acts on the weights, inside the attention.",
)
class drops_the_output(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask))
        return F.dropout(self.w_o(merge_heads(mixed)), self.dropout, self.training), weights


@wrong(
    "MultiHeadAttention",
    caught_by="returns_the_weights_before_dropout",
    says="You return the weights after dropout: their rows don't sum to one any more. Return those from before.",
)
class weights_after_dropout(Base):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        _, weights = scaled_dot_product_attention(q, k, v, for_heads(mask))
        weights = F.dropout(weights, self.dropout, self.training)
        return self.w_o(merge_heads(weights @ v)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="passes_gradients_to_its_parameters",
    says="You compute with copies of the parameters that are cut off from the graph (`.data` or `.detach()`): they would never learn.",
)
class parameters_cut_off(Base):
    def forward(self, query, key, value, mask=None):
        layers = self.w_q, self.w_k, self.w_v
        biases = [layer.bias if layer.bias is None else layer.bias.data for layer in layers]
        q, k, v = (
            split_heads(F.linear(x, layer.weight.data, bias), self.n_heads)
            for layer, bias, x in zip(layers, biases, (query, key, value), strict=True)
        )
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "MultiHeadAttention",
    caught_by="is_built_by_hand",
    says="PyTorch's own multi-head attention does the work: build yours from the projections, split_heads, your attention and merge_heads.",
)
class pytorchs_own(Base):
    def forward(self, query, key, value, mask=None):
        (B, T, M), S = query.shape, key.shape[1]
        if mask is not None and mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        mask = query.new_ones(T, S, dtype=torch.bool) if mask is None else for_heads(mask)
        mask = mask.expand(B, self.n_heads, T, S)
        bias = None if self.w_q.bias is None else torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias])

        def attend(mask, dropout, need_weights):
            result, rows = F.multi_head_attention_forward(
                query.mT.permute(2, 0, 1), key.mT.permute(2, 0, 1), value.mT.permute(2, 0, 1), M, self.n_heads,
                None, bias, None, None, False, dropout, self.w_o.weight, self.w_o.bias, self.training,
                need_weights=need_weights, attn_mask=~mask.flatten(0, 1), average_attn_weights=False, use_separate_proj_weight=True,
                q_proj_weight=self.w_q.weight, k_proj_weight=self.w_k.weight, v_proj_weight=self.w_v.weight,
            )  # fmt: skip
            return result.transpose(0, 1), rows

        lost = ~mask.any(-1, keepdim=True)
        return attend(mask, self.dropout, False)[0], attend(mask | lost, 0.0, True)[1].masked_fill(lost, 0.0)


@wrong(
    "MultiHeadAttention",
    caught_by="refuses_heads_that_do_not_divide_the_width",
    says="Where the heads don't divide the width, the module is built all the same: refuse it in __init__ with a ValueError that holds both numbers.",
)
class width_not_checked(Base):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        nn.Module.__init__(self)
        self.n_heads, self.dropout = n_heads, dropout
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).reshape(*x.shape[:2], self.n_heads, -1).transpose(1, 2)
            for layer, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
        )
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask), self.dropout, self.training)
        return self.w_o(merge_heads(mixed)), weights


# fuse_qkv


def stacked(mha, names, dim=0):
    """One linear layer from the layers of these names."""
    layers = [getattr(mha, name) for name in names]
    weight = torch.cat([layer.weight.detach() for layer in layers], dim)
    fused = nn.Linear(weight.shape[1], weight.shape[0], bias=layers[0].bias is not None, dtype=weight.dtype)
    fused.weight.data = weight.clone()
    if fused.bias is not None:
        fused.bias.data = torch.cat([layer.bias.detach() for layer in layers])
    return fused


@wrong(
    "fuse_qkv",
    caught_by="has_the_queries_in_the_first_third",
    says="The first third holds the keys and the second the queries: the order is queries, keys, values.",
)
def keys_first(mha):
    return stacked(mha, ("w_k", "w_q", "w_v"))


@wrong(
    "fuse_qkv",
    caught_by="has_the_keys_in_the_second_third",
    says="Keys and values changed places: the order is queries, keys, values.",
)
def values_before_keys(mha):
    return stacked(mha, ("w_q", "w_v", "w_k"))


@wrong(
    "fuse_qkv",
    caught_by="has_the_values_in_the_last_third",
    says="The last third is the output projection w_o: it acts after the attention. The values are made by w_v.",
)
def output_projection_for_values(mha):
    return stacked(mha, ("w_q", "w_k", "w_o"))


@wrong(
    "fuse_qkv",
    caught_by="works_without_biases",
    says="A module made with bias=False has no biases to stack, they are None: then the fused layer has none either.",
)
def biases_taken_for_granted(mha):
    M = mha.w_q.in_features
    fused = nn.Linear(M, 3 * M, bias=mha.w_q.bias is not None, dtype=mha.w_q.weight.dtype)
    fused.weight.data = torch.cat([mha.w_q.weight.data, mha.w_k.weight.data, mha.w_v.weight.data])
    fused.bias.data = torch.cat([mha.w_q.bias.data, mha.w_k.bias.data, mha.w_v.bias.data])
    return fused


@wrong(
    "fuse_qkv",
    caught_by="has_the_parameters_of_one_linear_layer",
    says="The fused layer has no bias: where the three have biases, stack them too.",
)
def biases_forgotten(mha):
    fused = stacked(mha, ("w_q", "w_k", "w_v"))
    fused.bias = None
    return fused


@wrong(
    "fuse_qkv",
    caught_by="has_the_parameters_of_one_linear_layer",
    says="The biases of the fused layer are zero: stack those of the three layers.",
)
def biases_at_zero(mha):
    fused = stacked(mha, ("w_q", "w_k", "w_v"))
    if fused.bias is not None:
        fused.bias.data.zero_()
    return fused


@wrong(
    "fuse_qkv",
    caught_by="has_the_queries_in_the_first_third",
    says="The matrices are turned round: nn.Linear keeps its weight as (out, in) already, so stack them as they are.",
)
def matrices_turned(mha):
    fused = stacked(mha, ("w_q", "w_k", "w_v"))
    fused.weight.data = torch.cat([layer.weight.detach().T for layer in (mha.w_q, mha.w_k, mha.w_v)])
    return fused


@wrong(
    "fuse_qkv",
    caught_by="has_the_queries_in_the_first_third",
    says="You stack query, key and value head by head. Here the first third is all queries, the second all keys, the last all values.",
)
def head_by_head(mha):
    fused = stacked(mha, ("w_q", "w_k", "w_v"))
    for parameter in fused.parameters():
        parameter.data = parameter.data.unflatten(0, (3, mha.n_heads, -1)).transpose(0, 1).flatten(0, 2)
    return fused


@wrong(
    "fuse_qkv",
    caught_by="has_the_queries_in_the_first_third",
    says="The rows of the three matrices alternate: put one whole matrix below the other.",
)
def rows_alternate(mha):
    fused = stacked(mha, ("w_q", "w_k", "w_v"))
    for parameter in fused.parameters():
        parameter.data = parameter.data.unflatten(0, (3, -1)).transpose(0, 1).flatten(0, 1)
    return fused


@wrong(
    "fuse_qkv",
    caught_by="has_the_queries_in_the_first_third",
    says="The fused layer was made in float32 whatever the dtype of the module: make it with the dtype (and device) of its weights.",
)
def made_in_float32(mha):
    right = stacked(mha, ("w_q", "w_k", "w_v"))
    fused = nn.Linear(right.in_features, right.out_features, bias=right.bias is not None)
    with torch.no_grad():
        for mine, theirs in zip(fused.parameters(), right.parameters(), strict=True):
            mine.copy_(theirs)
    return fused


@wrong(
    "fuse_qkv",
    caught_by="has_the_keys_in_the_second_third",
    says="All three thirds are the queries: stack the matrices of w_q, w_k and w_v.",
)
def queries_three_times(mha):
    return stacked(mha, ("w_q", "w_q", "w_q"))


@wrong(
    "fuse_qkv",
    caught_by="makes_copies_and_leaves_the_module_as_it_was",
    says="The module reads from the fused layer now: who trains the one changes the other. Copy the numbers.",
)
def module_reads_from_the_fused_layer(mha):
    fused = stacked(mha, ("w_q", "w_k", "w_v"))
    for kind, parameter in fused.named_parameters():
        for layer, part in zip((mha.w_q, mha.w_k, mha.w_v), parameter.data.chunk(3), strict=True):
            getattr(layer, kind).data = part
    return fused


@wrong(
    "fuse_qkv",
    caught_by="makes_copies_and_leaves_the_module_as_it_was",
    says="The module that you were given comes out changed: it should stay as it was.",
)
def module_changed_on_the_way(mha):
    fused = stacked(mha, ("w_q", "w_k", "w_v"))
    with torch.no_grad():
        for parameter in (*mha.w_q.parameters(), *mha.w_k.parameters()):
            parameter.zero_()
    return fused


@wrong(
    "fuse_qkv",
    caught_by="works_without_biases",
    says="Where the three layers have no bias, yours has one of zeros: give it none, with bias=False.",
)
def a_bias_of_zeros_where_there_is_none(mha):
    fused = stacked(mha, ("w_q", "w_k", "w_v"))
    if fused.bias is None:
        fused.bias = nn.Parameter(torch.zeros_like(fused.weight[:, 0]))
    return fused


# load_from_pytorch


def copy_all(mha, torch_mha, names=("w_q", "w_k", "w_v"), kinds=("weight", "bias")):
    """Copy PyTorch's stacked projections into the layers of these names, and the output projection."""
    with torch.no_grad():
        for kind in kinds:
            source = getattr(torch_mha, f"in_proj_{kind}")
            if source is None:
                continue
            for name, part in zip(names, source.chunk(3), strict=True):
                getattr(getattr(mha, name), kind).copy_(part)
            getattr(mha.w_o, kind).copy_(getattr(torch_mha.out_proj, kind))


@wrong(
    "load_from_pytorch",
    caught_by="takes_the_weights_of_queries_keys_and_values",
    says="Keys and values changed places: in_proj_weight holds queries, keys, values, in this order.",
)
def keys_and_values_swapped(mha, torch_mha):
    copy_all(mha, torch_mha, ("w_q", "w_v", "w_k"))


@wrong(
    "load_from_pytorch",
    caught_by="takes_the_weights_of_queries_keys_and_values",
    says="Queries and keys changed places: in_proj_weight holds queries, keys, values, in this order.",
)
def queries_and_keys_swapped(mha, torch_mha):
    copy_all(mha, torch_mha, ("w_k", "w_q", "w_v"))


@wrong(
    "load_from_pytorch",
    caught_by="takes_biases_of_zero",
    says="You leave biases out where PyTorch's are all zero. Yours may hold something else: copy them whatever they are.",
)
def biases_of_zero_left_out(mha, torch_mha):
    copy_all(
        mha,
        torch_mha,
        kinds=("weight", "bias") if torch_mha.in_proj_bias is not None and torch_mha.in_proj_bias.any() else ("weight",),
    )


@wrong(
    "load_from_pytorch",
    caught_by="takes_their_biases",
    says="You copy the weights and no biases. A fresh nn.MultiheadAttention has biases of 0, so with one the fault doesn't show.",
)
def no_biases_copied(mha, torch_mha):
    copy_all(mha, torch_mha, kinds=("weight",))


@wrong(
    "load_from_pytorch",
    caught_by="takes_their_biases",
    says="The biases of the three projections, in_proj_bias, are not copied; that of the output is.",
)
def only_the_output_bias(mha, torch_mha):
    copy_all(mha, torch_mha, kinds=("weight",))
    with torch.no_grad():
        if mha.w_o.bias is not None:
            mha.w_o.bias.copy_(torch_mha.out_proj.bias)


@wrong(
    "load_from_pytorch",
    caught_by="takes_the_output_projection",
    says="The output projection is not copied: out_proj belongs into w_o.",
)
def output_projection_forgotten(mha, torch_mha):
    kept = {name: parameter.detach().clone() for name, parameter in mha.w_o.named_parameters()}
    copy_all(mha, torch_mha)
    mha.w_o.load_state_dict(kept)


@wrong(
    "load_from_pytorch",
    caught_by="takes_the_weights_of_queries_keys_and_values",
    says="You turn the matrices round: nn.MultiheadAttention keeps them as (out, in), like nn.Linear. Copy them as they are.",
)
def turned_on_the_way(mha, torch_mha):
    copy_all(mha, torch_mha)
    with torch.no_grad():
        for layer in (mha.w_q, mha.w_k, mha.w_v, mha.w_o):
            layer.weight.copy_(layer.weight.T.clone())


@wrong(
    "load_from_pytorch",
    caught_by="takes_the_weights_of_queries_keys_and_values",
    says="You take every third row of in_proj_weight: its first third belongs to the queries, the second to the keys, the last to the values.",
)
def every_third_row(mha, torch_mha):
    copy_all(mha, torch_mha)
    with torch.no_grad():
        for place, layer in enumerate((mha.w_q, mha.w_k, mha.w_v)):
            layer.weight.copy_(torch_mha.in_proj_weight[place::3])
            if layer.bias is not None:
                layer.bias.copy_(torch_mha.in_proj_bias[place::3])


@wrong(
    "load_from_pytorch",
    caught_by="takes_the_weights_of_queries_keys_and_values",
    says="All three projections got the first third of in_proj_weight: cut out a third for each.",
)
def first_third_for_all(mha, torch_mha):
    copy_all(mha, torch_mha)
    with torch.no_grad():
        for layer in (mha.w_k, mha.w_v):
            layer.load_state_dict(mha.w_q.state_dict())


@wrong(
    "load_from_pytorch",
    caught_by="works_without_biases",
    says="With bias=False PyTorch's in_proj_bias is None, and so is the bias of your layers: copy biases only where there are some.",
)
def biases_always_there(mha, torch_mha):
    copy_all(mha, torch_mha)
    with torch.no_grad():
        for layer, part in zip((mha.w_q, mha.w_k, mha.w_v), torch_mha.in_proj_bias.chunk(3), strict=True):
            layer.bias.copy_(part)


@wrong(
    "load_from_pytorch",
    caught_by="takes_the_weights_of_queries_keys_and_values",
    says="Nothing arrives in `mha`: you change a copy of it, or copy the other way round. Copy into the parameters of `mha` itself.",
)
def other_way_round(mha, torch_mha):
    with torch.no_grad():
        layers = mha.w_q, mha.w_k, mha.w_v
        torch_mha.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        torch_mha.out_proj.weight.copy_(mha.w_o.weight)
        if torch_mha.in_proj_bias is not None:
            torch_mha.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
            torch_mha.out_proj.bias.copy_(mha.w_o.bias)


@wrong(
    "load_from_pytorch",
    caught_by="takes_the_weights_of_queries_keys_and_values",
    says="Copying into a parameter must happen inside `with torch.no_grad():`, else PyTorch refuses it, for the graph would notice.",
)
def with_the_graph_watching(mha, torch_mha):
    for layer, part in zip((mha.w_q, mha.w_k, mha.w_v), torch_mha.in_proj_weight.chunk(3), strict=True):
        layer.weight.copy_(part)


@wrong(
    "load_from_pytorch",
    caught_by="makes_copies_and_leaves_pytorchs_module_as_it_was",
    says="Your parameters lie in the memory of PyTorch's: who trains the one changes the other. Copy the numbers, with copy_.",
)
def memory_shared(mha, torch_mha):
    layers = mha.w_q, mha.w_k, mha.w_v
    for kind in ("weight", "bias"):
        stack = getattr(torch_mha, f"in_proj_{kind}")
        if stack is not None:
            for layer, part in zip(layers, stack.data.chunk(3), strict=True):
                getattr(layer, kind).data = part
            getattr(mha.w_o, kind).data = getattr(torch_mha.out_proj, kind).data


@wrong(
    "load_from_pytorch",
    caught_by="makes_copies_and_leaves_pytorchs_module_as_it_was",
    says="The output projection is PyTorch's own object, which both modules share now: copy its numbers into yours.",
)
def output_projection_shared(mha, torch_mha):
    copy_all(mha, torch_mha)
    mha.w_o = torch_mha.out_proj


@wrong(
    "load_from_pytorch",
    caught_by="works_in_place_and_returns_nothing",
    says="You put new Parameters in place of the old ones. An optimizer holds the old ones and would train them: fill them, with copy_.",
)
def parameters_replaced(mha, torch_mha):
    copy_all(mha, torch_mha)
    for layer in (mha.w_q, mha.w_k, mha.w_v, mha.w_o):
        for name, parameter in list(layer.named_parameters()):
            setattr(layer, name, nn.Parameter(parameter.detach().clone()))


@wrong(
    "load_from_pytorch",
    caught_by="works_without_biases",
    says="Where there are no biases you add some of zero: the module has other parameters than before.",
)
def biases_of_zero_added(mha, torch_mha):
    copy_all(mha, torch_mha)
    for layer in (mha.w_q, mha.w_k, mha.w_v, mha.w_o):
        if layer.bias is None:
            layer.bias = nn.Parameter(torch.zeros_like(layer.weight[:, 0]))


@wrong(
    "load_from_pytorch",
    caught_by="leaves_the_parameters_in_the_graph",
    says="After loading the parameters learn no longer: leave requires_grad as it was.",
)
def parameters_frozen(mha, torch_mha):
    copy_all(mha, torch_mha)
    mha.requires_grad_(False)


# count_parameters


def biases(d_model, bias, layers=4):
    return layers * d_model if bias else 0


@wrong(
    "count_parameters",
    caught_by="counts_no_biases_where_there_are_none",
    says="You count three matrices: the output projection w_o is the fourth.",
)
def three_matrices(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    return 3 * d_model**2 + biases(d_model, bias, 3)


@wrong(
    "count_parameters",
    caught_by="counts_matrices_and_biases",
    says="You count no biases: unless bias is False, each of the four layers has d_model of them.",
)
def biases_never_counted(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    return 4 * d_model**2


@wrong(
    "count_parameters",
    caught_by="counts_no_biases_where_there_are_none",
    says="You count the biases always: with bias=False there are none.",
)
def biases_always_counted(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    return 4 * d_model * (d_model + 1)


@wrong(
    "count_parameters",
    caught_by="agrees_with_pytorch_for_any_number_of_heads",
    says="You count the projections once for each head: the heads share them, each head has its own rows. More heads cost nothing.",
)
def once_for_each_head(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    return n_heads * (4 * d_model**2 + biases(d_model, bias))


@wrong(
    "count_parameters",
    caught_by="agrees_with_pytorch_for_any_number_of_heads",
    says="You count one head: a layer makes the queries of all heads, so it has d_model rows, not d_model / n_heads.",
)
def one_head_counted(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    width = d_model // n_heads
    return 4 * d_model * width + biases(width, bias)


@wrong(
    "count_parameters",
    caught_by="agrees_with_pytorch_for_any_number_of_heads",
    says="You count the queries, keys and values of one head only, with the whole output projection.",
)
def one_head_and_the_output(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    width = d_model // n_heads
    return 3 * d_model * width + d_model**2 + (3 * width + d_model if bias else 0)


@wrong(
    "count_parameters",
    caught_by="counts_matrices_and_biases",
    says="You count one bias for a whole layer: nn.Linear has one for each of its d_model outputs.",
)
def one_bias_a_layer(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    return 4 * d_model**2 + (4 if bias else 0)


@wrong(
    "count_parameters",
    caught_by="counts_matrices_and_biases",
    says="You count the tensors, not the numbers in them: numel() tells how many a tensor holds.",
)
def tensors_counted(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    return 8 if bias else 4


@wrong(
    "count_parameters",
    caught_by="counts_matrices_and_biases",
    says="The number is right but a float: a number of parameters is an int, so divide with //.",
)
def a_float(d_model, n_heads, bias=True):
    divides(d_model, n_heads)
    return 4 * n_heads * (d_model * (d_model / n_heads)) + biases(d_model, bias)


@wrong(
    "count_parameters",
    caught_by="refuses_heads_that_do_not_divide_the_width",
    says="Where the heads don't divide the width there is no such module: raise a ValueError with both numbers.",
)
def any_width(d_model, n_heads, bias=True):
    return 4 * d_model**2 + biases(d_model, bias)


# GroupedQueryAttention


@wrong(
    "GroupedQueryAttention",
    caught_by="gives_the_weights_of_every_head",
    says="Heads take turns at the key heads, 0 1 0 1 (h % n_kv_heads): neighbours share one, 0 0 1 1, as h // (n_heads // n_kv_heads) says.",
)
class taking_turns(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        group = self.n_heads // self.n_kv_heads
        mixed, weights = scaled_dot_product_attention(q, k.repeat(1, group, 1, 1), v.repeat(1, group, 1, 1), for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="gives_the_weights_of_every_head",
    says="All heads read the first key head: each group of n_heads // n_kv_heads heads has its own.",
)
class first_key_head_for_all(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        k, v = (x[:, :1].expand(-1, self.n_heads, -1, -1) for x in (k, v))
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="gives_neighbouring_heads_the_same_values",
    says="The keys are shared by neighbouring heads, the values in turns: both go to the heads in the same way.",
)
class values_in_turns(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        v = v.repeat(1, self.n_heads // self.n_kv_heads, 1, 1)
        mixed, weights = scaled_dot_product_attention(q, self.repeated(k), v, for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="shares_one_key_head_among_all",
    says="You cut keys and values into n_heads heads too: they have only n_kv_heads, each as wide as a head of the queries.",
)
class keys_cut_like_queries(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = (split_heads(layer(x), self.n_heads) for layer, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="gives_the_weights_of_every_head",
    says="The key heads are not repeated. Where there is one alone PyTorch stretches it; two or more must each serve every head of their group.",
)
class never_repeated(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="gives_the_weights_of_every_head",
    says="You average the queries of each group. Every head keeps its own queries; only keys and values are shared.",
)
class queries_averaged(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        q = self.repeated(q.unflatten(1, (self.n_kv_heads, -1)).mean(2))
        mixed, weights = scaled_dot_product_attention(q, self.repeated(k), self.repeated(v), for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="gives_the_weights_of_every_head",
    says="You return one matrix of weights for each key head: return those of every query head, (B, H, T, S).",
)
class weights_of_the_groups(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, self.repeated(k), self.repeated(v), for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights.unflatten(1, (self.n_kv_heads, -1)).mean(2)


@wrong(
    "GroupedQueryAttention",
    caught_by="gives_the_only_value_through_both_projections",
    says="The output projection w_o is missing: without it the heads are never mixed.",
)
class heads_never_mixed(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, self.repeated(k), self.repeated(v), for_heads(mask))
        return merge_heads(mixed), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="gives_the_weights_of_every_head",
    says="You scale by the width of all keys together: each head compares D = M / H numbers, so the root of D counts.",
)
class scaled_by_all_keys(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        q = q / math.sqrt(self.n_kv_heads)
        mixed, weights = scaled_dot_product_attention(q, self.repeated(k), self.repeated(v), for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="obeys_masks_of_two_three_and_four_dimensions",
    says="A mask of (B, T, S) needs an axis for the heads, mask[:, None].",
)
class mask_without_heads(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mixed, weights = scaled_dot_product_attention(q, self.repeated(k), self.repeated(v), mask)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="obeys_masks_of_two_three_and_four_dimensions",
    says="The mask never reaches the attention: pass it on.",
)
class mask_left_out(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        if mask is not None and mask.dtype != torch.bool:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        mixed, weights = scaled_dot_product_attention(q, self.repeated(k), self.repeated(v))
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="gives_zero_weights_to_a_query_with_no_key",
    says="A query that may attend nothing gets NaN from PyTorch's softmax: its weights should be zero, as your scaled_dot_product_attention gives them.",
)
class nan_for_nothing(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        scores = q @ self.repeated(k).mT / math.sqrt(q.shape[-1])
        if mask is not None:
            if mask.dtype != torch.bool:
                raise TypeError(f"the mask must be boolean, got {mask.dtype}")
            scores = scores.masked_fill(~for_heads(mask), -math.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.w_o(merge_heads(weights @ self.repeated(v))), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="refuses_a_mask_that_is_not_boolean",
    says="You turn any mask into a boolean one, also a mask of floats whose meaning nobody knows: raise a TypeError.",
)
class all_masks_made_boolean(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        mask = mask if mask is None else for_heads(mask) != 0
        mixed, weights = scaled_dot_product_attention(q, self.repeated(k), self.repeated(v), mask)
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="refuses_heads_that_do_not_divide",
    says="The sizes are not checked: n_heads must divide d_model and n_kv_heads must divide n_heads, else a ValueError with the numbers.",
)
class sizes_not_checked(GroupedBase):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=True):
        nn.Module.__init__(self)
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        width = d_model // n_heads
        self.w_q = nn.Linear(d_model, n_heads * width, bias=bias)
        self.w_k = nn.Linear(d_model, n_kv_heads * width, bias=bias)
        self.w_v = nn.Linear(d_model, n_kv_heads * width, bias=bias)
        self.w_o = nn.Linear(n_heads * width, d_model, bias=bias)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        place = torch.arange(self.n_heads) * self.n_kv_heads // self.n_heads
        mixed, weights = scaled_dot_product_attention(q, k[:, place], v[:, place], for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights


@wrong(
    "GroupedQueryAttention",
    caught_by="passes_gradients_to_inputs_and_parameters",
    says="The shared keys and values are cut off from the graph (`.data` or `.detach()`): w_k and w_v would never learn.",
)
class shared_without_a_graph(GroupedBase):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(query, key, value)
        k, v = self.repeated(k).detach(), self.repeated(v).detach()
        mixed, weights = scaled_dot_product_attention(q, k, v, for_heads(mask))
        return self.w_o(merge_heads(mixed)), weights
