"""An answer that stands on another answer of the same learner: a module built in its own way, with its own loader."""

import json

import pytest
from conftest import cell_of, reference_of

from grader import course, submission

FUSED = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} features, {n_heads} heads")
        self.n_heads, self.p = n_heads, dropout
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model, bias=bias), nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, mask=None):
        biases = (None,) * 3 if self.qkv.bias is None else self.qkv.bias.chunk(3)
        inputs = zip((query, key, value), self.qkv.weight.chunk(3), biases)
        q, k, v = (split_heads(F.linear(*each), self.n_heads) for each in inputs)
        mask = mask[:, None] if mask is not None and mask.dim() == 3 else mask
        mixed, weights = scaled_dot_product_attention(q, k, v, mask, self.p, self.training)
        return self.out(merge_heads(mixed)), weights
"""
LOADER = """
def load_from_pytorch(mha, torch_mha: nn.MultiheadAttention):
    with torch.no_grad():
        put(mha.qkv.weight, torch_mha.in_proj_weight)
        if torch_mha.in_proj_bias is not None:
            put(mha.qkv.bias, torch_mha.in_proj_bias)
    mha.out.load_state_dict(torch_mha.out_proj.state_dict())


def put(mine, theirs):
    mine.copy_(theirs)
"""
SHARING = LOADER.replace("mine.copy_(theirs)", "mine.data = theirs.data")


@pytest.fixture
def score(grader):
    """A function that hands notebook 04 in with these two answers and gives the shares of their points."""

    def of(attention, loader):
        content = json.loads((course.ROOT / "notebooks" / "04_multi_head.ipynb").read_text("utf-8"))
        given = {"MultiHeadAttention": attention, "load_from_pytorch": loader}
        for name, source in given.items():
            if source is not None:
                cell_of(content, name)["source"] = source
        found = submission.read(json.dumps(content).encode(), "04_multi_head").answers
        results = {}
        for name in given:
            result = grader.grade(course.exercise(name), found[name].source, found[name].helpers)
            results[name] = result.score / result.max_score
        return results

    return of


def test_a_fused_matrix_is_judged_by_what_it_computes(score):
    assert score(FUSED, LOADER) == {"MultiHeadAttention": 1.0, "load_from_pytorch": 1.0}


def test_a_loader_of_its_own_is_judged_as_strictly(score):
    shares = score(FUSED, SHARING)
    assert shares["MultiHeadAttention"] == 1.0
    assert 0.7 < shares["load_from_pytorch"] < 1.0


def test_a_module_of_other_names_without_a_loader_gets_nothing(score):
    assert score(FUSED, None)["MultiHeadAttention"] == 0.0


def test_a_broken_module_of_our_names_leaves_the_loader_alone(score):
    broken = reference_of("MultiHeadAttention").replace("self.w_q(query)", "self.w_k(query)")
    shares = score(broken, reference_of("load_from_pytorch"))
    assert shares["MultiHeadAttention"] < 0.5
    assert shares["load_from_pytorch"] == 1.0
