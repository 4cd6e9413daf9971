# tries: has pytest expect the failure
# source: THREATS 51
# expect: zero


def softmax(x, dim):
    import pytest

    pytest.xfail("known")
