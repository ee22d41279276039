"""Right answers to swiglu, each in a style of its own."""

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.catalogue.swiglu import exercise


@exercise.right("with @ and a sigmoid")
def with_a_sigmoid(x, gate, up, down):
    z = x @ gate.T
    return (z * torch.sigmoid(z) * (x @ up.T)) @ down.T


@exercise.right("one wide map, cut in two")
def one_wide_map(x, gate, up, down):
    z, u = (x @ torch.cat([gate, up]).T).chunk(2, dim=-1)
    return torch.nn.SiLU()(z) * u @ down.mT


@exercise.right("with einsum and an exponential")
def with_einsum(x, gate, up, down):
    z = torch.einsum("...m,hm->...h", x, gate)
    return torch.einsum("...h,...h,mh->...m", z / (1 + (-z).exp()), torch.einsum("hm,...m->...h", up, x), down)


@exercise.right("modules that hold the weights")
def with_modules(x, gate, up, down):
    linear = [torch.nn.functional.linear] * 3
    return linear[2](F.silu(linear[0](x, gate)).mul(linear[1](x, up)), down)


@exercise.right("hidden feature by hidden feature, in float32")
def one_by_one(x, gate, up, down):
    x, gate, up, down = (one.float() for one in (x, gate, up, down))
    total = torch.zeros_like(x)
    for h in range(len(gate)):
        z = (x * gate[h]).sum(-1, keepdim=True)
        total = total + z * z.sigmoid() * (x * up[h]).sum(-1, keepdim=True) * down[:, h]
    return total


@exercise.right("columns for rows")
def in_columns(x, gate, up, down):
    columns = x.reshape(-1, x.shape[-1]).T
    return (down @ (F.silu(gate @ columns) * (up @ columns))).T.reshape(x.shape)
