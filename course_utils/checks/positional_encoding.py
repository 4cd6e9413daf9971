"""Public checks and hints of 03_positional_encoding."""

import math

import torch

from course_utils.compare import Mismatch, close, raises

# A float32 table held against numbers in float64: the rounding of its entries.
NEAR = {"atol": 1e-6, "rtol": 1e-6}


def exact(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def sinusoidal_encoding(answer, case):
    with case("position 0 of 4 columns: 0, 1, 0, 1"):
        close(answer(1, 4), torch.tensor([[0.0, 1.0, 0.0, 1.0]]))
    with case("3 positions, 4 columns: the angles are 0, 1, 2 and 0, 1/100, 2/100"):
        rows = [[math.sin(p), math.cos(p), math.sin(p / 100), math.cos(p / 100)] for p in range(3)]
        close(answer(3, 4), torch.tensor(rows))
    with case("3 columns: sine, cosine, and a sine of position / 10000^(2/3)"):
        slow = 10000 ** (2 / 3)
        close(answer(3, 3), torch.tensor([[math.sin(p), math.cos(p), math.sin(p / slow)] for p in range(3)]))
    with case("one column alone: the sines of the positions"):
        close(answer(3, 1), torch.tensor([[0.0], [math.sin(1)], [math.sin(2)]]))
    with case("position 5,000 of 6 columns is right to six digits, so the angles were float64"):
        angles = [5000 / 10000 ** (2 * i / 6) for i in range(3)]
        expected = [wave(angle) for angle in angles for wave in (math.sin, math.cos)]
        close(_tensor(answer(5001, 6))[-1], torch.tensor(expected), **NEAR)


def wavelengths(answer, case):
    with case("2 columns: one pair, 2π"):
        close(answer(2), exact([2 * math.pi]))
    with case("4 columns: 2π and 200π"):
        close(answer(4), exact([2 * math.pi, 200 * math.pi]))
    with case("8 columns: 2π times 1, 10, 100, 1000"):
        close(answer(8), 2 * math.pi * exact([1.0, 10.0, 100.0, 1000.0]))
    with case("3 columns: the last sine has one, too"):
        close(answer(3), 2 * math.pi * exact([1.0, 10000 ** (2 / 3)]))
    with case("1 column: 2π"):
        close(answer(1), exact([2 * math.pi]))


def shift_matrix(answer, case):
    with case("by 0, 4 columns: the identity"):
        close(answer(0, 4), torch.eye(4, dtype=torch.float64))
    with case("by 5, 2 columns: position 0, which is (0, 1), becomes (sin 5, cos 5)"):
        close(_tensor(answer(5, 2)) @ exact([0.0, 1.0]), exact([math.sin(5), math.cos(5)]))
    with case("by 3, 4 columns: position 4 becomes position 7"):
        close(_tensor(answer(3, 4)) @ _row(4), _row(7))
    with case("by -3, 4 columns: position 7 becomes position 4"):
        close(_tensor(answer(-3, 4)) @ _row(7), _row(4))
    with case("times its transpose: the identity"):
        matrix = _tensor(answer(3, 4))
        close(matrix @ matrix.T, torch.eye(4, dtype=torch.float64), what="the product")
    with case("13 columns raise a ValueError that says 13"):
        raises(ValueError, answer, 3, 13, mentions=("13",))


def _row(position):
    """The encoding of one position in four columns, in float64."""
    return exact([math.sin(position), math.cos(position), math.sin(position / 100), math.cos(position / 100)])


def _x(batch, length, dtype=torch.float32):
    return torch.arange(batch * length * 4, dtype=torch.float64).reshape(batch, length, 4).to(dtype)


def _table(length):
    return torch.stack([_row(position) for position in range(length)]).float()


def SinusoidalPositionalEncoding(answer, case):
    with case("2 sentences of 3 words: row t of the table is added to word t"):
        close(answer(4, 5)(_x(2, 3)), _x(2, 3) + _table(3), **NEAR)
    with case("the table is a buffer called pe, and there are no parameters"):
        module = answer(4, 5)
        _buffer(module, "pe", 5 * 4)
        close(len(list(module.parameters())), 0, what="the number of parameters")
    _module_cases(answer, case, lambda module: _table(module_length(module)))
    with case("gradient: it passes to x unchanged"):
        x = _x(1, 2).requires_grad_()
        _with_graph(answer(4, 5)(x)).sum().backward()
        close(x.grad, torch.ones(1, 2, 4), what="the gradient")


def module_length(module):
    """How many positions a module was made for: the rows of its first parameter or buffer of four columns."""
    for tensor in [*module.parameters(), *module.buffers()]:
        if tensor.shape[-1:] == (4,):
            return tensor.numel() // 4
    raise Mismatch("the module has no parameter and no buffer of d_model columns")


def LearnedPositionalEncoding(answer, case):
    with case("the parameter is called weight, (max_len, d_model)"):
        _only_parameter(answer(4, 5), "weight", (5, 4))
    with case("its 5,000 · 4 first numbers are normal: mean 0, standard deviation 0.02"):
        weight = answer(4).weight.detach()
        close(weight.std().item(), 0.02, atol=0.0007, rtol=0.0, what="the standard deviation")
        close(weight.mean().item(), 0.0, atol=0.001, rtol=0.0, what="the mean")
        close((weight.abs() > 0.02).float().mean().item(), 0.317, atol=0.03, rtol=0.0, what="the share beyond 0.02")
    with case("2 sentences of 3 words: row t of weight is added to word t"):
        module = answer(4, 5)
        close(module(_x(2, 3)), _x(2, 3) + module.weight[:3], **NEAR)
    _module_cases(answer, case, lambda module: module.weight.detach())
    with case("gradient: 2 sentences of 3 words give the first 3 rows of weight a 2 each, the others a 0"):
        module = answer(4, 5)
        _with_graph(module(_x(2, 3))).sum().backward()
        close(module.weight.grad, torch.tensor([[2.0]] * 3 + [[0.0]] * 2).expand(5, 4), what="the gradient of weight")


def HybridPositionalEncoding(answer, case):
    with case("the one parameter is called bias, (max_len, d_model), and starts at 0"):
        close(_only_parameter(answer(4, 5), "bias", (5, 4)), torch.zeros(5, 4), what="bias")
    with case("so a new module adds the sinusoid"):
        close(answer(4, 5)(_x(2, 3)), _x(2, 3) + _table(3), **NEAR)
    with case("with other numbers in bias it adds both"):
        module = _with_bias(answer(4, 5))
        close(module(_x(2, 3)), _x(2, 3) + _table(3) + module.bias[:3], **NEAR)
    _module_cases(answer, case, lambda module: _table(len(module.bias)) + module.bias.detach(), _with_bias)
    with case("gradient: 2 sentences of 3 words give the first 3 rows of bias a 2 each, the others a 0"):
        module = answer(4, 5)
        _with_graph(module(_x(2, 3))).sum().backward()
        close(module.bias.grad, torch.tensor([[2.0]] * 3 + [[0.0]] * 2).expand(5, 4), what="the gradient of bias")


def _with_bias(module):
    with torch.no_grad():
        module.bias.copy_(torch.arange(module.bias.numel()).reshape(module.bias.shape) / 8)
    return module


def _module_cases(answer, case, table, prepare=lambda module: module):
    """What all three modules promise. `table` gives what a module adds, row by row."""
    with case("exactly max_len = 5 words fit; 16 raise a ValueError that says 16 and 5"):
        module = prepare(answer(4, 5))
        close(module(_x(2, 5)), _x(2, 5) + table(module), **NEAR)
        raises(ValueError, module, _x(2, 16), mentions=("16", "5"))
    with case("dropout: nothing outside training; in training with p = 1/4 each entry of the sum is 0 or 4/3 as large"):
        module = prepare(answer(4, 64, 0.25))
        x = 100.0 + _x(8, 64)
        whole = x + table(module)
        close(module.eval()(x), whole, rtol=1e-5)
        _share_survives(module.train()(x), whole)
    with case("float16 in, float16 out; float64 in, float64 out"):
        module = prepare(answer(4, 5))
        for dtype in (torch.float16, torch.float64):
            close(module(_x(2, 3, dtype)), _x(2, 3, dtype) + table(module)[:3].to(dtype), atol=2e-2, rtol=2e-3)


def _share_survives(result, whole):
    close(
        torch.where(_tensor(result) == 0, 0.0, result * 0.75),
        torch.where(result == 0, 0.0, whole),
        rtol=1e-5,
        what="3/4 of the result",
    )
    if not 0.7 < (result != 0).float().mean() < 0.8:
        raise Mismatch("about three of four entries should survive")


def _buffer(module, name, size):
    buffers = dict(module.named_buffers())
    if name not in buffers or buffers[name].numel() != size:
        raise Mismatch(f"expected a buffer called {name} with {size} numbers; the buffers are: {', '.join(buffers) or 'none'}")


def _only_parameter(module, name, shape):
    parameters = dict(module.named_parameters())
    if list(parameters) != [name]:
        raise Mismatch(f"expected one parameter called {name}; the parameters are: {', '.join(parameters) or 'none'}")
    if tuple(parameters[name].shape) != shape:
        raise Mismatch(f"{name} has the wrong shape: expected {shape}, got {tuple(parameters[name].shape)}")
    return parameters[name]


def positional_encoding_2d(answer, case):
    s1, c1, s2, c2 = math.sin(1), math.cos(1), math.sin(2), math.cos(2)
    with case("a map of 2 rows and 3 columns, d_model = 4, by hand"):
        rows = [[0, 1, 0, 1], [0, 1, s1, c1], [0, 1, s2, c2], [s1, c1, 0, 1], [s1, c1, s1, c1], [s1, c1, s2, c2]]
        close(answer(2, 3, 4), torch.tensor(rows, dtype=torch.float32))
    with case("one row of 2 places, d_model = 8: the angles of the second place are 1 and 1/100"):
        second = [0, 1, 0, 1, s1, c1, math.sin(0.01), math.cos(0.01)]
        close(answer(1, 2, 8), torch.tensor([[0, 1] * 4, second], dtype=torch.float32))
    with case("one column of 2 places, d_model = 8"):
        second = [s1, c1, math.sin(0.01), math.cos(0.01), 0, 1, 0, 1]
        close(answer(2, 1, 8), torch.tensor([[0, 1] * 4, second], dtype=torch.float32))
    with case("d_model = 14 and d_model = 13 raise a ValueError that says so"):
        raises(ValueError, answer, 2, 3, 14, mentions=("14",))
        raises(ValueError, answer, 2, 3, 13, mentions=("13",))


def rotary_embedding(answer, case):
    s1, c1, s2, c2 = math.sin(1), math.cos(1), math.sin(2), math.cos(2)
    with case("the pair (3, 4) at positions 0, 1 and 2"):
        expected = exact([[3, 4], [3 * c1 - 4 * s1, 3 * s1 + 4 * c1], [3 * c2 - 4 * s2, 3 * s2 + 4 * c2]])
        close(answer(exact([[3, 4]] * 3), torch.arange(3)), expected)
    slow_sine, slow_cosine = math.sin(0.02), math.cos(0.02)
    with case("four columns at position 2: the second pair turns by 2/100"):
        close(answer(exact([[1, 0, 1, 0]]), torch.tensor([2])), exact([[c2, s2, slow_cosine, slow_sine]]))
    with case("with base 4 the second pair turns by 2/2"):
        close(answer(exact([[1, 0, 1, 0]]), torch.tensor([2]), 4.0), exact([[c2, s2, c1, s1]]))
    with case("positions 7, 0, -1 in this order"):
        expected = [[math.cos(p), math.sin(p)] for p in (7, 0, -1)]
        close(answer(exact([[1, 0]] * 3), torch.tensor([7, 0, -1])), exact(expected))
    with case("leading dimensions (2, 1): positions belong to the last but one"):
        x = exact([[[[1, 0], [1, 0], [1, 0]]], [[[2, 0], [2, 0], [2, 0]]]])
        close(answer(x, torch.arange(3)), x * exact([[1, 0], [c1, 0], [c2, 0]]) + x.roll(1, -1) * exact([[0, 0], [0, s1], [0, s2]]))
    with case("the pair (3, 4) keeps its length 5"):
        close(_tensor(answer(exact([[3, 4]] * 3), torch.arange(3))).norm(dim=-1), exact([5.0, 5.0, 5.0]), what="the length")
    with case("float32 stays float32 and float16 float16, and position 100,001 is still right"):
        far = torch.tensor([[math.cos(100_001), math.sin(100_001)]])
        close(answer(torch.tensor([[1.0, 0.0]]), torch.tensor([100_001])), far)
        close(answer(torch.tensor([[1.0, 0.0]]).half(), torch.tensor([1])), torch.tensor([[c1, s1]]).half())
    with case("a width of 13 raises a ValueError that says so"):
        raises(ValueError, answer, torch.ones(2, 13), torch.arange(2), mentions=("13",))
    with case("gradient: that of the sum is (cos 1 + sin 1, cos 1 - sin 1) at position 1"):
        x = exact([[3.0, 4.0]]).requires_grad_()
        _with_graph(answer(x, torch.tensor([1]))).sum().backward()
        close(x.grad, exact([[c1 + s1, c1 - s1]]), what="the gradient")


def _tensor(result):
    if not isinstance(result, torch.Tensor):
        raise Mismatch("expected a tensor (is a return missing?)")
    return result


def _with_graph(result):
    if not _tensor(result).requires_grad:
        raise Mismatch("no gradient can flow back: was the input detached, or turned into numbers or NumPy on the way?")
    return result


HINTS = {
    "sinusoidal_encoding": (
        "Make one matrix of angles first: positions as a column (max_len, 1), one speed for each pair as a row. Sines and cosines of"
        " the same angles then go into the columns in turn.",
        "Columns 0, 2, 4, … are table[:, 0::2], columns 1, 3, 5, … are table[:, 1::2]. The numbers 2i are torch.arange(0, d_model, 2,"
        " dtype=torch.float64). Where d_model is odd, there is one cosine less than angles: cut off the last angle for them.",
        "angles = positions / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model); then table = torch.empty(max_len,"
        " d_model); table[:, 0::2] = angles.sin(); and table[:, 1::2] gets the cosines of angles[:, : d_model // 2].",
    ),
    "wavelengths": (
        "The angle of pair i is position / 10000^(2i/d_model). For which position has it reached 2π?",
        "One number for each even column: torch.arange(0, d_model, 2, dtype=torch.float64) are the numbers 2i, also for an odd d_model.",
        "2 * math.pi * 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model) is the whole line.",
    ),
    "shift_matrix": (
        "Start with one pair. Write sin(a + b) and cos(a + b) with the two formulas, where a is the old angle and b that of the shift."
        " The factors of sin a and cos a are the entries of the block.",
        "The angle of pair i is 2π k / wavelength. Row 2i of the matrix makes the new sine, row 2i + 1 the new cosine. torch.block_diag"
        " puts small matrices along the diagonal of a large one; a loop that sets four entries for each pair does as well.",
        "Refuse an odd d_model with a ValueError. Then angles = 2 * math.pi * k / wavelengths(d_model), and each block is"
        " [[cos, sin], [-sin, cos]]: torch.block_diag(*blocks) with one such matrix for each angle.",
    ),
    "SinusoidalPositionalEncoding": (
        "In __init__ keep the table of sinusoidal_encoding, and keep it so that it moves with the module and is not learned. In forward"
        " compare lengths, add the first T rows, drop out.",
        "self.register_buffer(name, tensor) keeps a tensor under self.name. T is x.shape[1]. Rows (T, M) broadcast over the batch;"
        " .to(x.dtype) keeps the dtype of x. Send the sum through self.dropout.",
        'self.register_buffer("pe", sinusoidal_encoding(max_len, d_model)); and in forward, after a ValueError with both numbers where'
        " T > len(self.pe): return self.dropout(x + self.pe[:T].to(x.dtype)).",
    ),
    "LearnedPositionalEncoding": (
        "The parameter is made for you, but holds whatever was in memory: give it its first numbers. forward is that of the sinusoidal"
        " module, with another table.",
        "nn.init.normal_ fills a parameter with normal numbers; give it the standard deviation, not the variance. Take rows of"
        " self.weight itself, not of a copy or of .data, so that gradients reach it.",
        "nn.init.normal_(self.weight, std=0.02); and in forward, after the ValueError: return self.dropout(x + self.weight[:T].to(x.dtype)).",
    ),
    "HybridPositionalEncoding": (
        "Two tables of the same shape are added: one is fixed, a buffer, one is learned and starts at 0.",
        "nn.init.zeros_ fills a parameter with zeros. The sinusoid is registered as in your first module, or that module itself,"
        " without dropout, stands inside this one.",
        "nn.init.zeros_(self.bias), and a buffer pe as before; in forward, after the ValueError: return"
        " self.dropout(x + (self.pe[:T] + self.bias[:T]).to(x.dtype)).",
    ),
    "positional_encoding_2d": (
        "Two tables are enough: one for the rows of the map, one for its columns, each of width d_model // 2. Then put the right two"
        " rows beside each other for every place.",
        "For 2 rows and 3 columns the places need rows 0 0 0 1 1 1 of the first table and rows 0 1 2 0 1 2 of the second one. A tensor has"
        " the methods repeat_interleave(n, dim=0) and repeat(n, 1); indices made with // and % do as well.",
        "rows, columns = sinusoidal_encoding(height, d_model // 2), sinusoidal_encoding(width, d_model // 2); then torch.cat of"
        " rows.repeat_interleave(width, dim=0) and columns.repeat(height, 1) along dim=1. Before it a ValueError where d_model % 4.",
    ),
    "rotary_embedding": (
        "Make the angles (T, D/2) as for the table. Take the first numbers of all pairs, a, and the second ones, b; turn them; and put"
        " them back in turn.",
        "a = x[..., 0::2] and b = x[..., 1::2] have the shape (..., T, D/2), so cosines and sines (T, D/2) broadcast over whatever stands"
        " in front. torch.stack([new_a, new_b], dim=-1).flatten(-2) weaves them again. Angles in float64, then .to(x.dtype).",
        "speeds = base ** (-torch.arange(0, D, 2, dtype=torch.float64, device=x.device) / D); angles = positions.double()[:, None] *"
        " speeds; cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype); new_a = a * cos - b * sin; new_b = a * sin + b * cos. An odd D raises first.",
    ),
}
