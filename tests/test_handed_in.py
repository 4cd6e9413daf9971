"""Files of trained weights: plain numbers are read, everything else is refused in one line."""

import io
import zipfile

import numpy as np
import pytest
import torch

from course_utils.compare import Mismatch
from grader import handed_in
from grader.subjects import AnswerRaised


def npz(**arrays):
    """The bytes of an archive of arrays."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def archive(members):
    """The bytes of a zip file with these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in members.items():
            written.writestr(name, content)
    return file.getvalue()


def npy(array):
    """The bytes of one array."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def test_arrays_come_back_by_name_with_their_numbers():
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    read = handed_in.read(npz(**{"layers.0.weight": weight, "fortran": np.asfortranarray(weight), "count": np.array(7)}))
    assert read["layers.0.weight"].equal(torch.from_numpy(weight))
    assert read["fortran"].equal(torch.from_numpy(weight))
    assert read["count"].item() == 7


HEADER_OF_A_PETABYTE = npy(np.zeros(2)).replace(b"(2,), }", b"(%d,), }" % 10**14)[:-16]

UNUSABLE = {
    "nothing": b"",
    "no archive": b"weights",
    "cut off": npz(weight=np.ones(1000))[:-30],
    "a pickled object": archive({"weight.npy": npy(np.array([{"a": 1}], dtype=object))}),
    "no array": archive({"weight.npy": b"\x93NUMPY\x01\x00"}),
    "text": archive({"notes.txt": b"hello"}),
    "a header that promises a petabyte": archive({"weight.npy": HEADER_OF_A_PETABYTE}),
    "words for numbers": archive({"weight.npy": npy(np.array(["a", "b"]))}),
    "a bomb": archive({"weight.npy": bytes(handed_in.SIZE_LIMIT + 1)}),
    "too many": archive({str(number): b"" for number in range(handed_in.ARRAY_LIMIT + 1)}),
    "a password": archive({"weight.npy": npy(np.ones(3))}).replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"
    ),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_what_holds_no_weights_is_refused_in_one_line(what):
    with pytest.raises(handed_in.Unusable) as refusal:
        handed_in.read(UNUSABLE[what])
    assert "\n" not in str(refusal.value)


def test_the_file_comes_first_and_training_fills_in():
    asked = []

    def ask(request):
        asked.append(request["on"].maker)
        return {"value": {"weight": torch.ones(2)}}

    from_file = handed_in.Trained("trained", ask, npz(weight=np.zeros(2)))
    assert from_file.weights["weight"].equal(torch.zeros(2, dtype=torch.float64)) and asked == []
    from_training = handed_in.Trained("trained", ask)
    assert from_training.weights["weight"].equal(torch.ones(2))
    assert from_training.weights and asked == ["trained"], "trained once, however often a check asks"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"raised": ["ValueError"], "message": "no"}, AnswerRaised),
        ({"value": None}, Mismatch),
        ({"value": {"weight": "heavy"}}, Mismatch),
    ],
)
def test_training_that_gives_no_weights_is_the_answers_mistake_each_time(reply, error):
    trained = handed_in.Trained("trained", lambda request: reply)
    for _ in range(2):
        with pytest.raises(error):
            trained.weights  # noqa: B018
