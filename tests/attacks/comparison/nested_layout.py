# tries: a nested tensor, whose comparisons raise or are skipped
# source: THREATS 12
# expect: zero


def softmax(x, dim):
    return torch.nested.nested_tensor([x.detach().reshape(-1)])
