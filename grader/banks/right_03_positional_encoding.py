"""Other right answers of notebook 03: each must get full marks and no diagnosis."""

import cmath
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from grader.bank import right

# sinusoidal_encoding


@right("sinusoidal_encoding")
def by_loops(max_len, d_model):
    rows = []
    for position in range(max_len):
        row = []
        for column in range(d_model):
            angle = position / 10000 ** (2 * (column // 2) / d_model)
            row.append(math.sin(angle) if column % 2 == 0 else math.cos(angle))
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32)


@right("sinusoidal_encoding")
def through_exp_and_slices(max_len, d_model):
    position = torch.arange(0, max_len, dtype=torch.double).unsqueeze(1)
    speeds = torch.exp(torch.arange(0, d_model, 2, dtype=torch.double) * (-math.log(10000.0) / d_model))
    pe = torch.zeros(max_len, d_model, dtype=torch.double)
    pe[:, 0::2] = torch.sin(position * speeds)
    pe[:, 1::2] = torch.cos(position * speeds[: d_model // 2])
    return pe.float()


@right("sinusoidal_encoding")
def with_numpy(max_len, d_model):
    columns = np.arange(d_model)
    angles = np.arange(max_len)[:, None] / np.power(10000.0, 2 * (columns // 2) / d_model)
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return torch.from_numpy(angles).to(torch.float32)


@right("sinusoidal_encoding")
def shifted_sines(max_len, d_model):
    columns = torch.arange(d_model, dtype=torch.float64)
    speeds = 10000 ** (-(columns - columns % 2) / d_model)
    angles = torch.outer(torch.arange(max_len, dtype=torch.float64), speeds)
    return torch.sin(angles + columns % 2 * math.pi / 2).float()


@right("sinusoidal_encoding")
def powers_of_i(max_len, d_model):
    turn = torch.polar(
        torch.ones(1, dtype=torch.float64),
        torch.arange(max_len).double()[:, None] * 10000 ** (-torch.arange(0, d_model, 2).double() / d_model),
    )
    return torch.stack([turn.imag, turn.real], dim=2).reshape(max_len, -1)[:, :d_model].to(torch.float)


# wavelengths


@right("wavelengths")
def listed(d_model):
    return torch.tensor([2 * math.pi * 10000 ** (column / d_model) for column in range(0, d_model, 2)], dtype=torch.float64)


@right("wavelengths")
def over_the_frequencies(d_model):
    pairs = torch.arange(math.ceil(d_model / 2), dtype=torch.double)
    return 2 * torch.pi / torch.exp(-math.log(10000) * 2 * pairs / d_model)


@right("wavelengths")
def by_repeated_factors(d_model):
    waves = [2 * math.pi]
    while len(waves) < -(-d_model // 2):
        waves.append(waves[-1] * 10000 ** (2 / d_model))
    return torch.tensor(waves, dtype=torch.float64)


@right("wavelengths")
def numpy_powers(d_model):
    return torch.from_numpy(2 * np.pi * np.float_power(10000, np.arange(0, d_model, 2) / d_model))


# shift_matrix


@right("shift_matrix")
def entry_by_entry(k, d_model):
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i, wave in enumerate(wavelengths(d_model).tolist()):
        angle = 2 * math.pi * k / wave
        matrix[2 * i, 2 * i] = matrix[2 * i + 1, 2 * i + 1] = math.cos(angle)
        matrix[2 * i, 2 * i + 1] = math.sin(angle)
        matrix[2 * i + 1, 2 * i] = -math.sin(angle)
    return matrix


@right("shift_matrix")
def power_of_one_step(k, d_model):
    if d_model % 2:
        raise ValueError("odd d_model " + str(d_model))
    blocks = []
    for i in range(d_model // 2):
        turn = cmath.exp(1j / 10000 ** (2 * i / d_model))
        blocks.append(torch.tensor([[turn.real, turn.imag], [-turn.imag, turn.real]], dtype=torch.float64))
    return torch.linalg.matrix_power(torch.block_diag(*blocks), k)


@right("shift_matrix")
def exponential_of_a_generator(k, d_model):
    if d_model % 2 == 1:
        raise ValueError(f"{d_model} columns are no pairs")
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    evens = torch.arange(0, d_model, 2)
    speeds = 10000 ** (-evens.double() / d_model)
    generator[evens, evens + 1], generator[evens + 1, evens] = speeds, -speeds
    return torch.matrix_exp(k * generator)


@right("shift_matrix")
def diagonals_put_together(k, d_model):
    if d_model % 2:
        raise ValueError(f"d_model: {d_model}")
    angles = (2 * math.pi * k / wavelengths(d_model)).repeat_interleave(2)
    beside = angles.sin()[:-1].clone()
    beside[1::2] = 0
    return torch.diag(angles.cos()) + torch.diag(beside, 1) - torch.diag(beside, -1)


# SinusoidalPositionalEncoding


@right("SinusoidalPositionalEncoding")
class WithABatchDimension(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.max_len = max_len
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model).unsqueeze(0))

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError(f"got {x.size(1)} positions, at most {self.max_len} are possible")
        return self.dropout(x + self.pe[:, : x.size(1)].to(x.dtype))


@right("SinusoidalPositionalEncoding")
class NotSaved(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=False)

    def forward(self, x):
        length = x.shape[-2]
        if length > len(self.pe):
            raise ValueError(f"sequence of {length} for a table of {len(self.pe)}")
        return F.dropout((x + self.pe[:length]).to(x.dtype), self.p, self.training)


@right("SinusoidalPositionalEncoding")
class PickedByIndex(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        columns = torch.arange(d_model, dtype=torch.float64)
        angles = torch.arange(max_len, dtype=torch.float64)[:, None] / 10000 ** (2 * (columns // 2) / d_model)
        self.register_buffer("pe", torch.where(columns % 2 == 0, angles.sin(), angles.cos()).float())

    def forward(self, x):
        batch, length, _ = x.shape
        if not length <= self.pe.shape[0]:
            raise ValueError(f"{length} > {self.pe.shape[0]}")
        places = torch.arange(length, device=x.device).expand(batch, length)
        return self.drop(x + F.embedding(places, self.pe).type_as(x))


@right("SinusoidalPositionalEncoding")
class CopiedThenFilled(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        nn.Module.__init__(self)
        self.dropout = nn.Dropout(dropout, inplace=True)
        self.register_buffer("pe", torch.empty(max_len, d_model))
        self.pe.copy_(sinusoidal_encoding(max_len, d_model))

    def forward(self, x):
        T = x.shape[1]
        if T > self.pe.size(0):
            raise ValueError(f"T = {T} is larger than max_len = {self.pe.size(0)}")
        result = x.clone()
        result += self.pe[:T][None]
        return self.dropout(result)


# LearnedPositionalEncoding


@right("LearnedPositionalEncoding")
class DrawnAndScaled(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.weight = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x):
        if x.size(1) > self.weight.size(0):
            raise ValueError(f"{x.size(1)} positions; there are {self.weight.size(0)}")
        return self.dropout(x + self.weight[: x.size(1)].unsqueeze(0).to(x.dtype))


@right("LearnedPositionalEncoding")
class AnEmbeddingItself(nn.Embedding):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__(max_len, d_model)
        nn.init.normal_(self.weight, mean=0.0, std=0.02)
        self.p = dropout

    def forward(self, x):
        length = x.shape[1]
        if length > self.num_embeddings:
            raise ValueError(f"length {length} > max_len {self.num_embeddings}")
        rows = super().forward(torch.arange(length, device=x.device))
        return F.dropout(x + rows.to(x.dtype), p=self.p, training=self.training)


@right("LearnedPositionalEncoding")
class FilledWithoutGraph(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.max_len, self.drop = max_len, nn.Dropout(dropout)
        self.weight = nn.Parameter(torch.empty(max_len, d_model))
        with torch.no_grad():
            self.weight.normal_(0, 0.02)

    def forward(self, x):
        T = x.shape[1]
        if T > self.max_len:
            raise ValueError(f"at most {self.max_len} positions, got {T}")
        return self.drop((x + self.weight.narrow(0, 0, T)).to(x.dtype))


@right("LearnedPositionalEncoding")
class GatheredRows(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = dropout
        self.weight = nn.Parameter(torch.normal(0.0, 0.02, (max_len, d_model)))

    def forward(self, x):
        limit, length = len(self.weight), x.shape[1]
        if length > limit:
            raise ValueError(f"{length} does not fit into {limit}")
        rows = self.weight.index_select(0, torch.arange(length, device=self.weight.device))
        return torch.dropout(torch.add(x, rows.to(x)), self.dropout, self.training)


# HybridPositionalEncoding


@right("HybridPositionalEncoding")
class ModuleInside(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.bias = nn.Parameter(torch.zeros(max_len, d_model))
        self.sinusoid = SinusoidalPositionalEncoding(d_model, max_len)

    def forward(self, x):
        return self.dropout(self.sinusoid(x) + self.bias[: x.shape[1]].to(x.dtype))


@right("HybridPositionalEncoding")
class TableMadeAnew(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.bias = nn.Parameter(torch.zeros((max_len, d_model)))

    def forward(self, x):
        max_len, d_model = self.bias.shape
        length = x.size(1)
        if max_len < length:
            raise ValueError(f"max_len {max_len} is below {length}")
        added = sinusoidal_encoding(length, d_model).to(self.bias) + self.bias[:length]
        return F.dropout(x + added.type_as(x), self.p, self.training)


@right("HybridPositionalEncoding")
class OneTable(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.drop, self.max_len = nn.Dropout(dropout), max_len
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model)[None], persistent=False)
        self.bias = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.constant_(self.bias, 0.0)

    def forward(self, x):
        T = x.shape[1]
        if T > self.max_len:
            raise ValueError(f"T = {T}, max_len = {self.max_len}")
        return self.drop(x + (self.table + self.bias)[:, :T].to(x.dtype))


@right("HybridPositionalEncoding")
class RowByRow(nn.Module):
    def __init__(self, d_model, max_len=5000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.bias = nn.Parameter(torch.zeros(max_len, d_model))
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))

    def forward(self, x):
        if x.shape[1] > len(self.bias):
            raise ValueError(f"{x.shape[1]} and {len(self.bias)}")
        rows = x.unbind(1)
        sums = [row + self.pe[t].to(row) + self.bias[t].to(row) for t, row in enumerate(rows)]
        return self.dropout(torch.stack(sums, 1))


# positional_encoding_2d


@right("positional_encoding_2d")
def place_by_place(height, width, d_model):
    if d_model % 4 != 0:
        raise ValueError(f"4 does not divide {d_model}")
    rows, columns = sinusoidal_encoding(height, d_model // 2), sinusoidal_encoding(width, d_model // 2)
    return torch.stack([torch.cat([rows[r], columns[c]]) for r in range(height) for c in range(width)])


@right("positional_encoding_2d")
def expanded(height, width, d_model):
    if d_model % 4:
        raise ValueError("d_model is " + str(d_model))
    half = d_model // 2
    rows = sinusoidal_encoding(height, half)[:, None, :].expand(height, width, half)
    columns = sinusoidal_encoding(width, half)[None, :, :].expand(height, width, half)
    return torch.cat((rows, columns), dim=-1).reshape(height * width, d_model)


@right("positional_encoding_2d")
def indexed(height, width, d_model):
    if d_model / 4 != d_model // 4:
        raise ValueError(f"{d_model=}")
    table = sinusoidal_encoding(max(height, width), d_model // 2)
    place = torch.arange(height * width)
    return torch.hstack([table[place // width], table[place % width]])


@right("positional_encoding_2d")
def written_into_a_map(height, width, d_model):
    if d_model % 4 > 0:
        raise ValueError(f"{d_model} is no multiple of 4")
    half = d_model // 2
    speeds = torch.exp(torch.arange(0, half, 2, dtype=torch.float64) * (-math.log(10000) / half))
    down, across = (torch.arange(n, dtype=torch.float64)[:, None] * speeds for n in (height, width))
    table = torch.zeros(height, width, d_model)
    table[:, :, 0:half:2], table[:, :, 1:half:2] = down.sin()[:, None], down.cos()[:, None]
    table[:, :, half::2], table[:, :, half + 1 :: 2] = across.sin(), across.cos()
    return table.view(-1, d_model)


# rotary_embedding


@right("rotary_embedding")
def by_complex_numbers(x, positions, base=10000.0):
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"{width} columns are no pairs")
    speeds = base ** (-torch.arange(0, width, 2).double() / width)
    angles = torch.outer(positions.double(), speeds)
    turned = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous()) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


@right("rotary_embedding")
def with_a_partner(x, positions, base=10000.0):
    if x.shape[-1] % 2 == 1:
        raise ValueError(f"D = {x.shape[-1]} is odd")
    columns = torch.arange(x.shape[-1], dtype=torch.float64)
    angles = positions.double().unsqueeze(-1) / base ** ((columns - columns % 2) / x.shape[-1])
    partner = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
    return x * angles.cos().to(x.dtype) + partner * angles.sin().to(x.dtype)


@right("rotary_embedding")
def pair_by_pair(x, positions, base=10000.0):
    width = x.size(-1)
    if width % 2 != 0:
        raise ValueError("cannot pair " + str(width) + " columns")
    result = torch.empty_like(x)
    for i in range(width // 2):
        angle = positions.double() * base ** (-2 * i / width)
        cos, sin = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
        a, b = x[..., 2 * i], x[..., 2 * i + 1]
        result[..., 2 * i] = a * cos - b * sin
        result[..., 2 * i + 1] = a * sin + b * cos
    return result


@right("rotary_embedding")
def by_matrices(x, positions, base=10000.0):
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"width {width}")
    angles = positions.double()[:, None] * torch.exp(-math.log(base) * torch.arange(0, width, 2).double() / width)
    turn = torch.stack([angles.cos(), -angles.sin(), angles.sin(), angles.cos()], -1).reshape(*angles.shape, 2, 2)
    pairs = x.double().reshape(*x.shape[:-1], width // 2, 2, 1)
    return (turn @ pairs).reshape(x.shape).to(x.dtype)
