# tries: has pytest skip the test
# source: THREATS 51
# expect: zero
# says: Skipped


def softmax(x, dim):
    import pytest

    pytest.skip("not today")
