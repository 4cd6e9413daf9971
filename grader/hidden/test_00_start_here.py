"""Hidden checks of 00_start_here."""

import torch

from course_utils.compare import close

MINUS_INFINITY = float("-inf")


def test_softmax__a_vector_of_scores_becomes_weights(student, reference, draw):
    scores = draw.normal(draw.number(3, 9))
    close(student.softmax(scores, 0), reference.softmax(scores, 0))


def test_softmax__weights_are_right_along_every_dimension(student, reference, draw):
    scores = draw.normal(*draw.sizes(3))
    for dim in draw.shuffled([0, 1, 2, -1, -2]):
        close(student.softmax(scores, dim), reference.softmax(scores, dim))


def test_softmax__huge_scores_are_no_trouble(student, reference, draw):
    rows, columns = draw.sizes(2, low=3)
    levels = torch.tensor(draw.shuffled([1e4, -1e4] + [0.0] * (rows - 2)), dtype=torch.float64)
    scores = levels[:, None] + draw.normal(rows, columns)
    close(student.softmax(scores, 1), reference.softmax(scores, 1))
    close(student.softmax(scores.T, 0), reference.softmax(scores.T, 0))
    spread = draw.uniform(-1e4, 1e4, rows, columns)
    close(student.softmax(spread, 1), reference.softmax(spread, 1))
    close(student.softmax(scores.float(), 1), reference.softmax(scores.float(), 1))


def test_softmax__a_score_of_minus_infinity_gets_no_weight(student, reference, draw):
    rows, columns = draw.sizes(2, low=3)
    keep = draw.mask(rows, columns, keep=0.5)
    keep[torch.arange(rows), draw.integers(0, columns, rows)] = True
    keep[0, 0], keep[0, 1] = False, True
    scores = draw.normal(rows, columns).masked_fill(~keep, MINUS_INFINITY)
    close(student.softmax(scores, -1), reference.softmax(scores, -1))


def test_softmax__nothing_but_minus_infinity_becomes_zeros(student, reference, draw):
    rows, columns = draw.sizes(2, low=3)
    scores = draw.normal(rows, columns)
    scores[draw.number(0, rows - 1)] = MINUS_INFINITY
    close(student.softmax(scores, 1), reference.softmax(scores, 1))
    close(student.softmax(scores.T, 0), reference.softmax(scores.T, 0))


def test_softmax__the_dtype_of_the_scores_is_kept(student, reference, draw):
    rows, columns = draw.sizes(2)
    for dtype in (torch.float32, torch.float16):
        scores = draw.normal(rows, columns, dtype=dtype)
        close(student.softmax(scores, 0), reference.softmax(scores, 0))


def test_softmax__gradients_flow_back_to_the_scores(student, reference, draw):
    scores = draw.normal(*draw.sizes(3))
    for dim in (1, -1):
        expected = reference.gradients("softmax", scores, dim, wrt=(0,))
        close(student.gradients("softmax", scores, dim, wrt=(0,)), expected, what="the gradient")


def test_batched_outer__one_row_alone_gives_every_product(student, reference, draw):
    left, right = draw.sizes(2)
    a, b = draw.normal(1, left), draw.normal(1, right)
    close(student.batched_outer(a, b), reference.batched_outer(a, b))


def test_batched_outer__every_row_of_a_batch_gives_every_product(student, reference, draw):
    batch, left, right = draw.sizes(3)
    a, b = draw.normal(batch, left), draw.normal(batch, right)
    close(student.batched_outer(a, b), reference.batched_outer(a, b))


def test_batched_outer__each_row_meets_its_own_partner_only(student, reference, draw):
    batch, left, right = draw.sizes(3, low=3)
    a, b = draw.normal(batch, left), draw.normal(batch, right)
    only = draw.number(1, batch - 1)
    a[torch.arange(batch) != only] = 0.0
    close(student.batched_outer(a, b), reference.batched_outer(a, b))


def test_batched_outer__the_dtype_is_kept(student, reference, draw):
    batch, left, right = draw.sizes(3)
    for dtype in (torch.float32, torch.float64):
        a, b = draw.normal(batch, left, dtype=dtype), draw.normal(batch, right, dtype=dtype)
        close(student.batched_outer(a, b), reference.batched_outer(a, b))


def test_batched_outer__gradients_flow_back_to_both(student, reference, draw):
    batch, left, right = draw.sizes(3)
    a, b = draw.normal(batch, left), draw.normal(batch, right)
    expected = reference.gradients("batched_outer", a, b, wrt=(0, 1))
    close(student.gradients("batched_outer", a, b, wrt=(0, 1)), expected, what="the gradient")


def test_batched_outer__no_loop_takes_the_rows_one_by_one(student, reference, draw):
    """A loop has to pick rows out of the batch, whatever its form: by an index, or by walking over the tensor."""
    batch, left, right = draw.sizes(3)
    a, b = draw.normal(batch, left), draw.normal(batch, right)
    got = student.by_hand("batched_outer", a, b, forbidden=("select", "unbind", "split"))
    close(got, reference.batched_outer(a, b))
