"""What crosses the pipe arrives as it was sent, and a frame that lies is refused."""

import json
import socket
import struct
import threading
import time

import pytest
import torch

from course_utils.compare import Odd
from grader.sandbox import wire


@pytest.fixture
def pipe():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def crossing(pipe, value):
    sender = threading.Thread(target=wire.send, args=(pipe[0], value))
    sender.start()
    received = wire.receive(pipe[1], time.monotonic() + 5)
    sender.join()
    return received


@pytest.mark.parametrize(
    "value", [None, True, 3, -2.5, float("inf"), "π 注意", [1, (2, [3])], {"a": {"b": ()}}, torch.float16, wire.Seed(7)]
)
def test_plain_values_arrive_as_they_were(pipe, value):
    assert crossing(pipe, value) == value


@pytest.mark.parametrize("dtype", wire.DTYPES.values())
def test_tensors_keep_dtype_shape_values_and_order_in_memory(pipe, dtype):
    sent = (torch.arange(24).reshape(2, 3, 4) % 2).to(dtype).permute(2, 0, 1)
    received = crossing(pipe, sent)
    assert received.dtype == dtype and received.shape == (4, 2, 3) and received.stride() == sent.stride()
    assert torch.equal(received, sent)


def test_tensors_without_entries_or_dimensions_arrive(pipe):
    for sent in (torch.zeros(0, 3), torch.tensor(2.5), torch.ones(3).expand(2, 3)):
        received = crossing(pipe, sent)
        assert torch.equal(received, sent)


def test_a_subclass_arrives_as_what_it_holds(pipe):
    class Liar(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return True

    class Number(float):
        def __float__(self):
            return 99.0

    assert type(crossing(pipe, torch.ones(2).as_subclass(Liar))) is torch.Tensor
    received = crossing(pipe, Number(2.5))
    assert type(received) is float and received == 2.5


@pytest.mark.parametrize(
    "value", [{1, 2}, print, object(), (each for each in ()), torch.ones(2, device="meta"), torch.eye(2).to_sparse()]
)
def test_other_values_arrive_as_a_description(pipe, value):
    assert isinstance(crossing(pipe, value), Odd)


def frame(header, buffers=b"", lengths=None):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return wire.LENGTHS.pack(*(lengths or (len(header), len(buffers)))) + header + buffers


LYING = {
    "a header that is no JSON": frame(b"{"),
    "no tree": frame({"arrays": []}),
    "an unknown kind": frame({"tree": {"pickle": "x"}, "arrays": []}),
    "an array that is not there": frame({"tree": {"array": 3}, "arrays": []}),
    "fewer bytes than the shape": frame({"tree": None, "arrays": [["float64", [4], [0]]]}, b"12345678"),
    "more bytes than the shape": frame({"tree": None, "arrays": [["float64", [1], [0]]]}, b"1" * 16),
    "a shape below zero": frame({"tree": None, "arrays": [["float64", [-1], [0]]]}),
    "a shape beyond memory": frame({"tree": None, "arrays": [["float64", [2**39, 2**39], [0, 1]]]}),
    "an order that is none": frame({"tree": None, "arrays": [["float64", [1, 1], [0, 0]]]}, b"1" * 8),
    "a dtype that is none": frame({"tree": None, "arrays": [["float99", [1], [0]]]}, b"1" * 8),
    "a header too long": wire.LENGTHS.pack(wire.HEADER_LIMIT + 1, 0),
    "buffers too long": wire.LENGTHS.pack(2, wire.BUFFER_LIMIT + 1),
    "nesting without end": frame(b'{"arrays": [], "tree": ' + b'{"list": [' * 5000 + b"]}" * 5000 + b"}"),
}


@pytest.mark.parametrize("title", LYING)
def test_a_frame_that_lies_is_malformed(pipe, title):
    pipe[0].sendall(LYING[title])
    with pytest.raises(wire.Malformed):
        wire.receive(pipe[1], time.monotonic() + 5)


def test_half_a_frame_ends_at_the_deadline(pipe):
    pipe[0].sendall(struct.pack("!QQ", 100, 0) + b"{")
    with pytest.raises(wire.TimedOut):
        wire.receive(pipe[1], time.monotonic() + 0.2)


def test_a_closed_pipe_is_told_apart_from_silence(pipe):
    pipe[0].close()
    with pytest.raises(wire.Closed):
        wire.receive(pipe[1], time.monotonic() + 5)


def test_a_value_too_large_is_not_sent(pipe):
    with pytest.raises(wire.Malformed):
        wire.send(pipe[0], torch.zeros(wire.BUFFER_LIMIT // 8 + 1, dtype=torch.float64))
