"""Trained weights: read from the file that was handed in, or trained once in the learner's process where there is none.

A file is a NumPy archive (.npz) of plain arrays, as course_utils.training.save_weights writes it. Nothing is unpickled, and
nothing is allocated that the file does not hold.
"""

import io
import zipfile
import zlib

import numpy as np
import torch

from course_utils.compare import Mismatch
from grader.sandbox.wire import Made
from grader.subjects import AnswerRaised
from grader.worker import Ended

SIZE_LIMIT = 64 << 20  # bytes of all arrays together
ARRAY_LIMIT = 2000


class Unusable(Exception):
    """This file holds no weights. The message is one line for the learner."""


def read(raw):
    """The bytes of a .npz file -> {name: tensor}. Raises Unusable."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            if len(members) > ARRAY_LIMIT or sum(each.file_size for each in members) > SIZE_LIMIT:
                raise Unusable(f"the file holds more than {ARRAY_LIMIT} arrays or more than {SIZE_LIMIT >> 20} MiB")
            return {each.filename.removesuffix(".npy"): _array(_content(archive, each)) for each in members}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise Unusable("the file is not a NumPy archive (.npz)") from error


def _content(archive, member):
    with archive.open(member) as file:
        content = file.read(member.file_size + 1)
    if len(content) != member.file_size:
        raise Unusable("the file is not a NumPy archive (.npz): a size in it is wrong")
    return content


def _array(content):
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
        return torch.from_numpy(np.ascontiguousarray(array))
    except (ValueError, TypeError, EOFError, MemoryError, OSError):
        raise Unusable("an array of the file can't be read: it must hold plain numbers") from None


class Trained:
    """What hidden checks of a trained exercise get as `trained`. One for all checks of one answer.

    ask: makes a call in the learner's process; raw: the bytes of the handed-in file, or None.
    """

    def __init__(self, name, ask=None, raw=None):
        self._name, self._ask, self._raw, self._known = name, ask, raw, {}

    def once(self, what, measure):
        """The result of measure(), made the first time that any check asks for `what`; an exception is remembered as well."""
        if what not in self._known:
            try:
                self._known[what] = measure(), None
            except (Mismatch, Ended, AnswerRaised) as problem:
                self._known[what] = None, problem
        value, problem = self._known[what]
        if problem:
            raise problem
        return value

    @property
    def weights(self):
        """{name: tensor}: parameters and buffers by name. Raises Mismatch, Ended or AnswerRaised where there are none."""
        return self.once("weights", self._trained_now if self._raw is None else self._handed_in)

    def _handed_in(self):
        try:
            return read(self._raw)
        except Unusable as reason:
            raise Mismatch(str(reason)) from None

    def _trained_now(self):
        made = Made(self._name, dtype=torch.float32)
        request = {"name": self._name, "on": made, "method": "state_dict", "args": [], "kwargs": {}}
        reply = self._ask({**request, "seed": 1, "wrt": None, "watch": False, "repeat": False})
        if "raised" in reply:
            raise AnswerRaised(reply["raised"], str(reply.get("message", "")))
        if not (isinstance(reply["value"], dict) and all(isinstance(each, torch.Tensor) for each in reply["value"].values())):
            raise Mismatch(f"{self._name}() should return the trained model, a torch.nn.Module")
        return reply["value"]
