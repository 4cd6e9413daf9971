"""What crosses the pipe: plain values and raw arrays, length first. Nothing is ever unpickled.

A frame is two lengths (header, buffers; 8 bytes each, big endian), a JSON header and the arrays' bytes, one after another.
"""

import json
import struct
import time
from dataclasses import dataclass, field, fields

import torch

from course_utils.compare import Odd

LENGTHS = struct.Struct("!QQ")
HEADER_LIMIT = 1 << 20
BUFFER_LIMIT = 64 << 20
DIMENSIONS = 64

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.complex128,
        torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
    )
}  # fmt: skip


@dataclass(frozen=True)
class Seed:
    """Crosses the pipe in place of a torch.Generator: both sides make one with this seed."""

    value: int

    def generator(self):
        return torch.Generator().manual_seed(self.value)


@dataclass(frozen=True)
class Made:
    """An object that each side makes for itself: a class of the answer, or one of torch.nn as "torch.nn.NAME".

    weights: a tensor for each parameter, by name, or None for what the class draws. dtype: of the parameters. training: train() or
    eval(). then: calls (name, further arguments) made on the object before it is used; one that returns a module replaces it.
    """

    maker: str
    args: tuple = ()
    kwargs: dict = field(default_factory=dict)
    weights: dict | None = None
    dtype: torch.dtype = torch.float64
    training: bool = False
    then: tuple = ()


class Malformed(Exception):
    """A frame that no honest worker sends."""


class Closed(Exception):
    """The other side is gone."""


class TimedOut(Exception):
    """Nothing, or not everything, came before the deadline."""


def frame(value):
    """The bytes of one value as they cross the pipe. Raises Malformed where it is too large."""
    arrays = []
    header = json.dumps({"tree": _pack(value, arrays), "arrays": [spec for spec, _ in arrays]}).encode()
    size = sum(len(raw) for _, raw in arrays)
    if len(header) > HEADER_LIMIT or size > BUFFER_LIMIT:
        raise Malformed(f"a value of {len(header) + size} bytes is too large")
    return b"".join([LENGTHS.pack(len(header), size), header, *(raw for _, raw in arrays)])


def send(connection, value):
    """Send one value. Raises Malformed where it is too large, Closed where nobody listens."""
    content = frame(value)
    try:
        connection.sendall(content)
    except TimeoutError as error:
        raise TimedOut from error
    except OSError as error:
        raise Closed from error


def receive(connection, deadline=None):
    """Receive one value, until `deadline` on time.monotonic(). Raises Malformed, Closed or TimedOut."""
    header_size, size = LENGTHS.unpack(_read(connection, LENGTHS.size, deadline))
    if header_size > HEADER_LIMIT or size > BUFFER_LIMIT:
        raise Malformed("a frame is too large")
    header = _read(connection, header_size, deadline)
    buffers = _read(connection, size, deadline)
    try:
        content = json.loads(header)
        arrays = _arrays(content["arrays"], buffers)
        return _unpack(content["tree"], arrays)
    except Exception as error:
        raise Malformed("a frame can't be read") from error


def _read(connection, size, deadline):
    parts = bytearray()
    while len(parts) < size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimedOut
            connection.settimeout(left)
        try:
            part = connection.recv(min(size - len(parts), 1 << 20))
        except TimeoutError as error:
            raise TimedOut from error
        except OSError as error:
            raise Closed from error
        if not part:
            raise Closed
        parts += part
    return bytes(parts)


def _pack(value, arrays):
    """The value as JSON; tensors go to `arrays`. Subclasses of plain types are rebuilt as the plain type."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    for plain in (int, float, str):
        if isinstance(value, plain):
            return plain.__str__(value) if plain is str else plain.__pos__(value)
    if kind in (list, tuple):
        return {kind.__name__: [_pack(each, arrays) for each in value]}
    if kind is dict and all(type(key) is str for key in value):
        return {"dict": [[key, _pack(each, arrays)] for key, each in value.items()]}
    if kind is Made:
        return {"made": [_pack(getattr(value, each.name), arrays) for each in fields(Made)]}
    if kind in NAMED:
        return NAMED[kind](value)
    if isinstance(value, torch.Tensor):
        return _pack_tensor(value, arrays)
    return {"odd": f"a {kind.__name__}"[:80]}


# Values that cross as a name or a number.
NAMED = {
    Seed: lambda seed: {"seed": seed.value},
    torch.dtype: lambda dtype: {"dtype": str(dtype).removeprefix("torch.")},
    torch.device: lambda device: {"device": str(device)},
}


def _pack_tensor(value, arrays):
    """The bytes of a tensor, whatever a subclass pretends; its dimensions keep their order in memory."""
    with torch._C.DisableTorchFunctionSubclass():
        if value.layout is not torch.strided or value.device.type == "meta" or value.is_quantized or value.is_nested:
            return {"odd": f"a tensor on {value.device.type} with layout {value.layout}"}
        plain = torch.Tensor.as_subclass(value.detach(), torch.Tensor).cpu().resolve_conj().resolve_neg()
        name = str(plain.dtype).removeprefix("torch.")
        if name not in DTYPES:
            return {"odd": f"a tensor of {plain.dtype}"}
        order = sorted(range(plain.dim()), key=lambda dim: -plain.stride(dim))
        flat = plain.permute(order).contiguous().reshape(-1)
        arrays.append(([name, list(plain.shape), order], flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""))
    return {"array": len(arrays) - 1}


def _arrays(specs, buffers):
    arrays, start = [], 0
    for name, shape, order in specs:
        dtype = DTYPES[name]
        if len(shape) > DIMENSIONS:
            raise ValueError("more dimensions than a tensor has")
        if not all(type(size) is int and 0 <= size < 2**40 for size in shape) or sorted(order) != list(range(len(shape))):
            raise ValueError("a shape or its order of dimensions")
        count = 1
        for size in shape:
            count *= size
        stop = start + count * dtype.itemsize
        if stop > len(buffers):
            raise ValueError("fewer bytes than the shapes ask for")
        flat = torch.frombuffer(bytearray(buffers[start:stop]), dtype=dtype) if count else torch.empty(0, dtype=dtype)
        inverse = [order.index(dim) for dim in range(len(shape))]
        arrays.append(flat.reshape([shape[dim] for dim in order]).permute(inverse))
        start = stop
    if start != len(buffers):
        raise ValueError("more bytes than the shapes ask for")
    return arrays


def _unpack(tree, arrays):
    if not isinstance(tree, dict):
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        raise ValueError("a bare list")
    ((kind, content),) = tree.items()
    if kind in ("list", "tuple"):
        items = [_unpack(each, arrays) for each in content]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {str(key): _unpack(each, arrays) for key, each in content}
    return SINGLE[kind](content, arrays)


# How a value that is neither a list nor a dict is made from its content.
SINGLE = {
    "array": lambda content, arrays: arrays[content],
    "seed": lambda content, arrays: Seed(int(content)),
    "dtype": lambda content, arrays: DTYPES[content],
    "device": lambda content, arrays: torch.device(content),
    "odd": lambda content, arrays: Odd(str(content)[:120]),
    "made": lambda content, arrays: Made(*(_unpack(each, arrays) for each in content)),
}
