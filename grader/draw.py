"""Random inputs of a hidden check: fresh for each run, the same again for the same seed."""

import hashlib

import torch

from grader.sandbox.wire import Seed


class Draw:
    """Inputs drawn from a seed, the exercise and the check, so that no order of checks or submissions matters.

    Tensors of two and more dimensions lie in memory with their dimensions in reverse order: an answer has to take
    non-contiguous inputs.
    """

    def __init__(self, seed, *place):
        digest = hashlib.sha256("/".join([str(seed), *place]).encode()).digest()
        self._generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))

    def sizes(self, count, low=2, high=9):
        """`count` pairwise distinct sizes between low and high, both included."""
        high = max(high, low + count - 1)
        return [low + int(offset) for offset in torch.randperm(high - low + 1, generator=self._generator)[:count]]

    def number(self, low, high):
        """One number between low and high: an int (both included) where both are ints, else a float."""
        if isinstance(low, int) and isinstance(high, int):
            return int(torch.randint(low, high + 1, (), generator=self._generator))
        return low + (high - low) * float(torch.rand((), generator=self._generator, dtype=torch.float64))

    def normal(self, *shape, dtype=torch.float64):
        """Standard normal numbers of this shape."""
        return _reversed_in_memory(torch.randn(shape, generator=self._generator, dtype=torch.float64).to(dtype))

    def uniform(self, low, high, *shape, dtype=torch.float64):
        """Uniform numbers of this shape, between low and high."""
        numbers = torch.rand(shape, generator=self._generator, dtype=torch.float64)
        return _reversed_in_memory((low + (high - low) * numbers).to(dtype))

    def probabilities(self, *shape, dtype=torch.float64):
        """Weights of this shape that sum to one along the last dimension."""
        return _reversed_in_memory(torch.softmax(self.normal(*shape), dim=-1).to(dtype))

    def integers(self, low, high, *shape):
        """Integers of this shape, from low up to high, high excluded."""
        return _reversed_in_memory(torch.randint(low, high, shape, generator=self._generator))

    def mask(self, *shape, keep=0.6):
        """A boolean mask of this shape, True with probability `keep`; the last dimension always holds a True and a False."""
        mask = torch.rand(shape, generator=self._generator) < keep
        if shape[-1] > 1:
            places = torch.rand(shape, generator=self._generator).argsort(-1)
            mask.scatter_(-1, places[..., :1], True).scatter_(-1, places[..., 1:2], False)
        return _reversed_in_memory(mask)

    def weights(self, instance, scale=0.5, dtype=torch.float64):
        """Normal numbers for every parameter of a module made by the reference, by name."""
        return {name: scale * self.normal(*tensor.shape, dtype=dtype) for name, tensor in instance.parameters().items()}

    def shuffled(self, sequence):
        """The items of the sequence in random order, as a list."""
        items = list(sequence)
        return [items[int(place)] for place in torch.randperm(len(items), generator=self._generator)]

    def generator(self):
        """A seed that arrives as a torch.Generator on either side of the pipe."""
        return Seed(self.number(0, 2**31))


def _reversed_in_memory(tensor):
    """The same tensor, its first dimension the fastest in memory."""
    order = list(reversed(range(tensor.dim())))
    return tensor.permute(order).contiguous().permute(order)
