# The names of the answers come from where this runs: behind the stand-ins, before the answer.
# ruff: noqa: F821
import torch


def after_loading(mha, torch_mha):
    """Call load_from_pytorch. Returns the names of parameters with which something happened that should not."""
    before, given = dict(mha.named_parameters()), {name: each.detach().clone() for name, each in torch_mha.named_parameters()}
    load_from_pytorch(mha, torch_mha)
    return {
        "replaced": [name for name, each in mha.named_parameters() if each is not before.get(name)],
        "frozen": [name for name, each in mha.named_parameters() if not each.requires_grad],
        "shared": sharing(mha, torch_mha),
        "changed": [name for name, each in torch_mha.named_parameters() if not torch.equal(each, given[name])],
    }


def after_fusing(mha):
    """Call fuse_qkv. Returns names of parameters, as above."""
    given = {name: each.detach().clone() for name, each in mha.named_parameters()}
    fused = fuse_qkv(mha)
    return {
        "shared": sharing(fused, mha),
        "changed": [name for name, each in mha.named_parameters() if not torch.equal(each, given[name])],
    }


def sharing(one, other):
    """The parameters of `one` that lie in the memory of a parameter of `other`."""
    memory = {each.untyped_storage().data_ptr() for each in other.parameters()}
    return [name for name, each in one.named_parameters() if each.untyped_storage().data_ptr() in memory]
