"""Right answers to from_gpt2, each in a style of its own."""

import re

from transformer_lessons.exercises.catalogue.from_gpt2 import exercise


@exercise.right("the solution's replacements")
def replacements(tensors):
    namespace = {}
    exec(exercise.solution_text(), namespace)
    return namespace["from_gpt2"](tensors)


@exercise.right("layer by layer, every name written out")
def written_out(tensors):
    given = {name.replace("transformer.", ""): one for name, one in tensors.items()}
    found = {
        "embedding.weight": given["wte.weight"],
        "positions.encoding": given["wpe.weight"],
        "norm.weight": given["ln_f.weight"],
        "norm.bias": given["ln_f.bias"],
    }
    i = 0
    while f"h.{i}.ln_1.weight" in given:
        theirs, ours, d_model = f"h.{i}.", f"layers.{i}.", len(given["ln_f.bias"])
        for number in (1, 2):
            for last in ("weight", "bias"):
                found[f"{ours}norm_{number}.{last}"] = given[f"{theirs}ln_{number}.{last}"]
        for place, letter in enumerate("qkv"):
            rows = slice(place * d_model, (place + 1) * d_model)
            found[f"{ours}attention.linear_{letter}.weight"] = given[theirs + "attn.c_attn.weight"][:, rows].t()
            found[f"{ours}attention.linear_{letter}.bias"] = given[theirs + "attn.c_attn.bias"][rows]
        for part, name in (
            ("attn.c_proj", "attention.linear_out"),
            ("mlp.c_fc", "feed_forward.linear_in"),
            ("mlp.c_proj", "feed_forward.linear_out"),
        ):
            found[f"{ours}{name}.weight"] = given[f"{theirs}{part}.weight"].transpose(0, 1).contiguous()
            found[f"{ours}{name}.bias"] = given[f"{theirs}{part}.bias"].clone()
        i += 1
    return found


@exercise.right("with regular expressions, in float32 and sorted")
def with_expressions(tensors):
    found = {}
    for name in sorted(tensors):
        tensor = tensors[name].float()
        if tensor.dim() == 4:
            continue
        name = re.sub(r"^transformer\.", "", name)
        name = re.sub(r"^h\.", "layers.", re.sub(r"ln_(\d)", r"norm_\1", name)).replace("ln_f", "norm")
        name = name.replace("wpe.weight", "positions.encoding").replace("wte", "embedding")
        name = re.sub(
            r"mlp\.c_(fc|proj)", lambda found: "feed_forward.linear_" + {"fc": "in", "proj": "out"}[found[1]], name
        ).replace("attn.c_proj", "attention.linear_out")
        tensor = tensor.mT if tensor.dim() == 2 and "linear" in name + name.replace("c_attn", "linear") else tensor
        if "c_attn" in name:
            for letter, one in zip(
                "qkv", tensor.mT.tensor_split(3, -1) if tensor.dim() == 2 else tensor.tensor_split(3), strict=True
            ):
                found[name.replace("attn.c_attn", f"attention.linear_{letter}")] = one.mT if one.dim() == 2 else one
        else:
            found[name] = tensor
    return found
