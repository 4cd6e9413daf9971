"""Right answers of 00_start_here: other ways that must get full marks."""

import torch

from grader.bank import right


@right("softmax")
def library_call_with_empty_rows_filled(x, dim):
    empty = (x == float("-inf")).all(dim=dim, keepdim=True)
    return torch.softmax(x, dim=dim).masked_fill(empty, 0.0)


@right("softmax")
def library_call_with_nan_replaced(x, dim):
    return torch.nan_to_num(torch.softmax(x, dim), nan=0.0)


@right("softmax")
def through_logsumexp(x, dim):
    x = x - x.amax(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).min)
    total = torch.logsumexp(x, dim=dim, keepdim=True)
    empty = total == float("-inf")
    return torch.exp(x - total.masked_fill(empty, 0.0))


@right("softmax")
def maximum_clamped_and_sum_clamped(x, dim):
    largest = x.max(dim, keepdim=True).values.clamp(min=torch.finfo(x.dtype).min)
    e = (x - largest).exp()
    return e / e.sum(dim, keepdim=True).clamp(min=1.0)


@right("softmax")
def last_dimension_first_then_moved_back(x, dim):
    moved = x.movedim(dim, -1)
    largest = moved.detach().amax(-1)[..., None]
    e = torch.where(moved == float("-inf"), torch.zeros_like(moved), torch.exp(moved - largest))
    total = e.sum(-1)[..., None]
    return torch.where(total > 0, e / torch.where(total > 0, total, 1), 0).movedim(-1, dim)


@right("softmax")
def computed_in_double_precision(x, dim):
    wide = x.double()
    e = torch.exp(wide - wide.amax(dim, keepdim=True).nan_to_num(neginf=0.0))
    return (e / (e.sum(dim, keepdim=True) + 1e-30)).to(x.dtype)


@right("softmax")
def one_row_after_the_other(x, dim):
    rows = []
    for row in x.movedim(dim, -1).reshape(-1, x.shape[dim]):
        if torch.isneginf(row).all():
            rows.append(torch.zeros_like(row))
        else:
            e = torch.exp(row - row.max())
            rows.append(e / e.sum())
    return torch.stack(rows).reshape(x.movedim(dim, -1).shape).movedim(-1, dim)


@right("batched_outer")
def einsum(a, b):
    return torch.einsum("bt,bs->bts", a, b)


@right("batched_outer")
def matrix_product_of_column_and_row(a, b):
    return a[:, :, None] @ b[:, None, :]


@right("batched_outer")
def bmm(a, b):
    return torch.bmm(a.unsqueeze(-1), b.unsqueeze(-2))


@right("batched_outer")
def views(a, b):
    return a.view(a.shape[0], -1, 1) * b.view(b.shape[0], 1, -1)


@right("batched_outer")
def expanded_then_multiplied(a, b):
    batch, left, right_size = *a.shape, b.shape[1]
    return a.unsqueeze(2).expand(batch, left, right_size) * b.unsqueeze(1).expand(batch, left, right_size)


@right("batched_outer")
def every_pair_through_vmap(a, b):
    return torch.vmap(torch.outer)(a, b)


@right("batched_outer")
def repeated_along_the_new_dimension(a, b):
    return a[..., None].repeat(1, 1, b.shape[-1]).mul(b[:, None].repeat(1, a.shape[-1], 1))
