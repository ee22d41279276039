"""What people get wrong in the implementation: for mutations.py."""

# module: what stands there: what mistaken people would write
MISTAKES = {
    "validation": {
        "isinstance(size, bool)": ["False"],
        "size < least": ["size < least - 1"],
        "d_model % num_heads": ["d_model // num_heads == 0"],
        "length > max_length": ["length > max_length + 1", "length >= max_length"],
        "x.dim() < 2 or x.shape[-1] != features": ["x.shape[-1] not in (1, features)"],
        "pad_id not in range(vocabulary_size)": ["pad_id not in range(1, vocabulary_size)"],
        "high >= vocabulary_size": ["high > vocabulary_size"],
        "low < 0 or high": ["high"],
        "(torch.int64, torch.int32)": ["(torch.int64,)"],
        "or tokens.numel() == 0": [""],
        "mask.dim() > len(shape) or ": [""],
        "(1, full)": ["(full,)"],
        "size not in (1, full)": ["1 not in (size, full) and size != full"],
    },
    "masks": {
        ".tril()": ["", ".triu()", ".tril(-1)", ".tril(1)"],
        "tokens != pad_id": ["tokens == pad_id", "tokens > pad_id", "tokens != 0"],
        "[:, None, None, :]": ["[:, None, :, None]"],
        "masked_fill(~mask, -torch.inf)": [
            "masked_fill(mask, -torch.inf)",
            "masked_fill(~mask, -1e9)",
            "masked_fill(~mask, 0.0)",
            "masked_fill_(~mask, -torch.inf)",
        ],
        "scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)": ["scores.masked_fill(~mask, -torch.inf)"],
        "softmax(dim=-1).masked_fill(empty, 0.0)": ["softmax(dim=-1)", "softmax(dim=-1).nan_to_num()"],
        "return scores.softmax(dim=-1)\n    check": ["return scores.softmax(dim=-2)\n    check"],
        "return scores.softmax(dim=-1).masked": ["return scores.softmax(dim=-2).masked"],
        "~mask.any(dim=-1": ["~mask.any(dim=-2"],
        "~mask.any(": ["~mask.all("],
    },
    "attention": {
        " / math.sqrt(query.shape[-1])": [""],
        "math.sqrt(query.shape[-1])": [
            "query.shape[-1]",
            "math.sqrt(value.shape[-1])",
            "math.sqrt(key.shape[-2])",
            "math.sqrt(query.shape[-1] * query.shape[1])",
        ],
        "masked_softmax(scores, mask)": ["masked_softmax(scores)"],
        "F.dropout(weights, dropout) @ value": [
            "weights @ value",
            "F.dropout(weights @ value, dropout)",
            "F.dropout(weights, 0.3 if dropout else 0.0) @ value",
        ],
        "    output = F.dropout(weights, dropout)": ["    weights = F.dropout(weights, dropout)\n    output = weights"],
        "return output, weights\n\n\ndef split": ["return output, scores\n\n\ndef split"],
        "x.reshape(batch, length, num_heads, d_model // num_heads)": [
            "x.reshape(batch, num_heads, length, -1)",
            "x.unflatten(2, (-1, num_heads)).mT",
        ],
        "heads.transpose(1, 2)  # (b": ["heads.reshape(batch, num_heads, length, -1)  # (b"],
        "return x.transpose(1, 2).flatten(2)": [
            "return x.reshape(x.shape[0], x.shape[2], -1)",
            "return x.permute(0, 2, 3, 1).flatten(2)",
        ],
        "self.linear_q(query)": ["self.linear_q(key)"],
        "self.linear_k(key)": ["self.linear_k(value)", "self.linear_q(key)"],
        "self.linear_v(value)": ["self.linear_v(key)", "self.linear_k(value)"],
        "self.linear_k = nn.Linear(d_model, d_keys, bias)": ["self.linear_k = nn.Linear(d_model, d_keys, bias=False)"],
        "self.rotary(query, start), self.rotary(key, start)": [
            "query, self.rotary(key, start)",
            "self.rotary(query, start), self.rotary(key)",
            "self.rotary(query), self.rotary(key, start)",
        ],
        "query, key = self.rotary(query, start), self.rotary(key, start)": [
            "value = self.rotary(value, start)",
            "query, key, value = (self.rotary(x, start) for x in (query, key, value))",
        ],
        "key, value = cache.extend(self, key, value)": [
            "cache.extend(self, key, value)",
            "key, _ = cache.extend(self, key, value)",
            "key, value = cache.extend(self, key.roll(1, 2), value)",
        ],
        "if need_weights:": ["if not need_weights:"],
        "mask, dropout)\n        else": ["None, dropout)\n        else", "mask)\n        else"],
        "if self.training else 0.0": [""],
        "self.dropout.p if self.training": ["0.1 if self.training"],
        "fused_attention(query, key, value, mask, dropout, group)": [
            "fused_attention(query, key, value, None, dropout, group)",
            "fused_attention(query, key, value, mask, 0.0, group)",
        ],
        "self.linear_out(merge_heads(output))": ["merge_heads(output)"],
        "return self.linear_out(merge_heads(output)), weights": ["return self.linear_out(merge_heads(output)), None"],
        "value, mask, dropout, enable_gqa": [
            "value, None, dropout, enable_gqa",
            "value, ~mask, dropout, enable_gqa",
            "value, mask, enable_gqa",
        ],
        "mask, dropout)[0], None": ["None, dropout)[0], None", "mask)[0], None", "mask, dropout)"],
        'query.is_cpu and torch.is_autocast_enabled("cpu")': [
            'torch.is_autocast_enabled("cpu")',
            'torch.is_autocast_enabled("cuda")',
            "query.is_cpu",
            "False",
        ],
        "torch.atleast_2d(mask)": ["mask"],
        "self.dropout = nn.Dropout(dropout)": ["self.dropout = nn.Dropout(0.1)"],
        "dropout=0.1, rotary": ["dropout=0.0, rotary"],
    },
    "positions": {
        "torch.arange(length, dtype": ["torch.arange(1, length + 1, dtype"],
        "base **": ["1000 **"],
        "(even / d_model)": ["(even / (d_model - 2))", "(2 * even / d_model)"],
        "[angles.sin(), angles.cos()]": ["[angles.cos(), angles.sin()]"],
        "torch.stack([angles.sin(), angles.cos()], dim=-1)": [
            "torch.cat([angles.sin(), angles.cos()], dim=-1)[:, :, None]"
        ],
        ".to(torch.get_default_dtype())  # (length, d_model)": [".float()  # (length, d_model)"],
        "d_model), persistent=False)": ["d_model))"],
        '"turns", turns.to(torch.get_default_dtype()), persistent=False)': ['"turns", turns)'],
        "0.02 * torch.randn": ["torch.randn"],
        "nn.Parameter(0.02 * torch.randn(max_length, d_model))": [
            "0.02 * torch.randn(max_length, d_model)",
            "nn.Parameter(torch.zeros(max_length, d_model))",
        ],
        "[angles.cos(), angles.sin()]": ["[angles.sin(), angles.cos()]", "[angles.cos(), angles.cos()]"],
        "self.turns[start : start + x.shape[-2]].to(wide)": [
            "self.turns[: x.shape[-2]].to(wide)",
            "self.turns[start : start + x.shape[-2]]",
        ],
        "self.encoding[start : start + x.shape[-2]]": ["self.encoding[: x.shape[-2]]"],
        "check_positions(x, *self.encoding.shape, start)": ["check_positions(x, *self.encoding.shape)"],
        "pairs * turns": ["pairs / turns", "pairs * turns.conj()"],
        ".unflatten(-1, (-1, 2))": [".unflatten(-1, (2, -1)).mT"],
        ".contiguous()": [""],
        "torch.promote_types(x.dtype, torch.float32)": ["torch.float32", "x.dtype"],
        ".flatten(-2).to(x.dtype)": [".flatten(-2)"],
        "2 * self.turns.shape[1], start)": ["2 * self.turns.shape[1])"],
    },
    "layers": {
        ".relu()": ["", ".abs()"],
        "self.linear_in(x).relu()": ["nn.functional.gelu(self.linear_in(x))"],
        "self.linear_out(hidden)  #": ["x + self.linear_out(hidden)  #"],
        "return x + self.dropout(self.feed_forward(self.norm_2(x)))": [
            "return self.dropout(x + self.feed_forward(self.norm_2(x)))",
            "return x + self.dropout(self.feed_forward(self.norm_1(x)))",
            "return x + self.feed_forward(self.norm_2(x))",
            "return x + self.dropout(self.feed_forward(x))",
        ],
        "return self.norm_2(x + self.dropout(self.feed_forward(x)))": [
            "return self.norm_1(x + self.dropout(self.feed_forward(x)))",
            "return x + self.norm_2(self.dropout(self.feed_forward(x)))",
            "return self.norm_2(self.dropout(x + self.feed_forward(x)))",
        ],
        "x = self.norm_1(x + self.attend(x, mask, cache))\n        return": [
            "x = self.norm_1(self.attend(x, mask, cache))\n        return",
            "x = self.norm_1(x + self.attend(x, None, cache))\n        return",
            "x = self.norm_1(x + self.attend(x, mask, None))\n        return",
        ],
        "x = self.norm_1(x + self.attend(x, mask))\n        x": [
            "x = self.norm_1(x + self.attend(x, None))\n        x"
        ],
        "x + self.attend(self.norm_1(x), mask, cache)\n            return": [
            "self.norm_1(x) + self.attend(self.norm_1(x), mask, cache)\n            return",
            "x + self.attend(self.norm_1(x), None, cache)\n            return",
            "x + self.attend(self.norm_1(x), mask, None)\n            return",
        ],
        "x + self.attend(self.norm_1(x), mask)\n            x": [
            "x + self.attend(self.norm_1(x), None)\n            x"
        ],
        "self.attention(x, x, x, mask, need_weights=False, cache=cache)\n        return self.dropout(output)": [
            "self.attention(x, x, x, mask, need_weights=False, cache=cache)\n        return output",
            "self.attention(x, x, x, mask, need_weights=False)\n        return self.dropout(output)",
        ],
        "self.look_up(self.norm_2(x), memory, memory_mask)": [
            "self.look_up(self.norm_2(x), memory, None)",
            "self.look_up(self.norm_2(x), self.norm_2(memory), memory_mask)",
            "self.look_up(x, memory, memory_mask)",
        ],
        "self.look_up(x, memory, memory_mask))": [
            "self.look_up(x, memory, None))",
            "self.look_up(memory, x, memory_mask))",
        ],
        "self.cross_attention(x, memory, memory, memory_mask": [
            "self.cross_attention(x, memory, x, memory_mask",
            "self.self_attention(x, memory, memory, memory_mask",
        ],
        "memory_mask, need_weights=False)\n        return self.dropout(output)": [
            "memory_mask, need_weights=False)\n        return output"
        ],
        "self.feed_forward(self.norm_3(x))": ["self.feed_forward(self.norm_2(x))"],
        "return self.norm_3(x + self.dropout(self.feed_forward(x)))": ["return x + self.dropout(self.feed_forward(x))"],
        "self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)": [
            "self.self_attention = MultiHeadAttention(d_model, num_heads)"
        ],
        "            MultiHeadAttention(d_model, num_heads, dropout),": [
            "            MultiHeadAttention(d_model, num_heads),",
        ],
        "self.norm_3 = nn.LayerNorm(d_model)": [
            "self.norm_3 = nn.LayerNorm(d_model, eps=1e-6)",
            "self.norm_3 = self.norm_2",
        ],
    },
    "modern": {
        "super().__init__(d_model, eps=eps)": ["super().__init__(d_model)"],
        "check_sizes(d_model=d_model)": ["pass"],
        "x.to(torch.promote_types(x.dtype, torch.float32))": ["x", "x.float()"],
        "torch.finfo(wide.dtype).eps if self.eps is None else self.eps": ["1e-5 if self.eps is None else self.eps"],
        "wide = wide * torch.rsqrt": [
            "wide = wide / torch.rsqrt",
            "wide = (wide - wide.mean(-1, keepdim=True)) * torch.rsqrt",
        ],
        "wide.square().mean(-1, keepdim=True) + eps": [
            "wide.square().sum(-1, keepdim=True) + eps",
            "wide.square().mean(1, keepdim=True) + eps",
            "wide.abs().mean(-1, keepdim=True) + eps",
            "wide.var(-1, keepdim=True) + eps",
            "wide.square().mean(-1, keepdim=True)",
        ],
        "self.weight * wide.to(x.dtype)": ["wide.to(x.dtype)", "(1 + self.weight) * wide.to(x.dtype)"],
        "check_features(self.linear_in.in_features, x=x)": ["pass"],
        'F.gelu(self.linear_in(x), approximate="tanh")': ["F.gelu(self.linear_in(x))", "self.linear_in(x).relu()"],
        "check_sizes(max_length=max_length)": ["pass"],
        "check_pairs(d_head=d_head)": ["pass"],
        "1 / base **": ["base **", "1 / 1000 **"],
        ".float() / d_head)  #": [".float() / (d_head - 2))  #", ".float() * 2 / d_head)  #"],
        "torch.arange(max_length)": ["torch.arange(1, max_length + 1)"],
        "[angles.cos(), angles.sin()]": ["[angles.sin(), angles.cos()]"],
        ", persistent=False": [""],
        "2 * self.turns.shape[2], start": ["2 * self.turns.shape[2]"],
        "start : start + x.shape[-2]": [": x.shape[-2]"],
        "x.shape[-2]].to(x.dtype)": ["x.shape[-2]]"],
        "x.chunk(2, dim=-1)": ["x[..., ::2], x[..., 1::2]"],
        "first * cosine - second * sine": ["first * cosine + second * sine"],
        "second * cosine + first * sine": ["second * cosine - first * sine", "second * sine + first * cosine"],
        "super().forward(x) if self.training else x": ["x"],
        "self.training and 0 <": ["0 <"],
        "round(self.p * 2**16)": ["round((1 - self.p) * 2**16)"],
        "min(round(self.p * 2**16), 2**16 - 1)": ["round(self.p * 2**16)"],
        "dropped - 2**15": ["dropped"],
        "(kept.to(x.dtype) * (2**16 / (2**16 - dropped)))": ["kept.to(x.dtype)", "(kept * (2**16 / dropped))"],
    },
    "first_steps": {
        "scores - scores.max(axis=-1, keepdims=True)": ["scores", "scores - scores.max()"],
        "exponentials.sum(axis=-1, keepdims=True)": [
            "exponentials.sum()",
            "exponentials.sum(axis=0, keepdims=True)",
        ],
        "scores = x @ x.T": ["scores = x @ x.T / np.sqrt(x.shape[-1])", "scores = x.T @ x"],
        "output = weights @ x ": ["output = weights.T @ x "],
        "return output, weights\n\n\ndef": ["return output, scores\n\n\ndef"],
        "query @ key.transpose(-2, -1)": [
            "query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5",
            "key @ query.transpose(-2, -1)",
        ],
        "scores.softmax(dim=-1)": ["scores.softmax(dim=-2)"],
        "output = weights @ value": ["output = weights @ key"],
        "return output, weights\n\n\nclass": ["return output, scores\n\n\nclass"],
        "self.linear_q = nn.Linear(d_model, d_head, bias=False)": ["self.linear_q = nn.Linear(d_model, d_head)"],
        "self.linear_k(x)": ["self.linear_q(x)"],
        "self.linear_v(x)": ["self.linear_k(x)", "x"],
    },
    "models": {
        "std=d_model**-0.5": ["std=1.0"],
        " * math.sqrt(self.table.embedding_dim)": [""],
        "return self.positions(vectors)": ["return vectors"],
        "F.linear(vectors, self.table.weight)": [
            "F.linear(vectors, self.table.weight) * self.table.embedding_dim**-0.5"
        ],
        "x = self.dropout(self.embedding(tokens))  # (batch, length": ["x = self.embedding(tokens)  # (batch, length"],
        "x = self.dropout(self.embedding(tokens))  # (batch, target": ["x = self.embedding(tokens)  # (batch, target"],
        "x = layer(x, mask)\n        return self.norm(x)": [
            "x = layer(x)\n        return self.norm(x)",
            "x = layer(x, mask)\n            mask = None\n        return self.norm(x)",
            "x = layer(x, mask)\n        return x",
        ],
        "return self.norm(x)  # (batch, target": ["return x  # (batch, target"],
        "x = layer(x, memory, mask, memory_mask)": [
            "x = layer(x, memory, mask)",
            "x = memory = layer(x, memory, mask, memory_mask)",
            "x = layer(x, memory, mask, memory_mask)\n            mask = None",
            "x = layer(x, memory, mask, memory_mask)\n            memory_mask = None",
        ],
        "mask & padding_mask(tokens, self.pad_id)": [
            "mask",
            "padding_mask(tokens, self.pad_id)",
            "mask | padding_mask(tokens, self.pad_id)",
        ],
        "if self.pad_id is not None:": ["if self.pad_id:"],
        "mask = None if self.pad_id is None else padding_mask(tokens, self.pad_id)": ["mask = None"],
        "memory_mask = None if self.pad_id is None else padding_mask(source, self.pad_id)": ["memory_mask = None"],
        "padding_mask(source, self.pad_id)": ["padding_mask(target, self.pad_id)"],
        "embedding = Embedding(target_size, d_model, max_length)": [
            "embedding = Embedding(source_size, d_model, max_length)"
        ],
        "if target_size is not None:": ["if target_size != source_size:"],
        "self.decoder.embedding.logits(vectors)": ["self.encoder.embedding.logits(vectors)"],
        "self.decoder = Decoder(embedding, num_heads, d_hidden, num_layers, dropout, norm_first, pad_id)": [
            "self.decoder = Decoder(embedding, num_heads, d_hidden, num_layers, dropout, False, pad_id)"
        ],
        "self.decode(target, self.encoder(source), source)": ["self.decode(source, self.encoder(target), target)"],
        "    @torch.no_grad()\n": [""],
        "    @torch.no_grad()\n    def generate(self, source, start_id, length):\n": [
            "    def generate(self, source, start_id, length):\n        torch.set_grad_enabled(False)\n"
        ],
        "model.eval()": ["pass"],
        "layer.training = training": ["layer.training = True", "pass"],
        "[:, -1:].argmax(-1)": [
            "[:, :1].argmax(-1)",
            "[:, -1:].softmax(-1)[:, 0].multinomial(1)",
            "[:, -1:].argmin(-1)",
        ],
        "torch.cat([tokens, likeliest], dim=1)": ["torch.cat([likeliest, tokens], dim=1)"],
        "return tokens[:, 1:]": ["return tokens", "return tokens[:, :-1]"],
        "self.decode(tokens, memory, source)": [
            "self.decode(tokens[:, -1:], memory, source)",
            "self.decode(tokens, memory, tokens)",
        ],
        "start_id, device=source.device": ["start_id"],
        "std=config.std": ["std=1.0"],
        "None if config.rotary else LearnedPositions(config.d_model, config.max_length)": [
            "LearnedPositions(config.d_model, config.max_length)",
            "None",
            "None if config.rotary else PositionalEncoding(config.d_model, config.max_length)",
        ],
        "new_rotary(config) if config.rotary": ["new_rotary(config) if not config.rotary"],
        "RotaryHalves if config.halves else": ["RotaryHalves if not config.halves else"],
        "config.num_heads, 0.0, rotary, config.num_key_heads, config.bias": [
            "config.num_heads, 0.0, None, config.num_key_heads, config.bias",
            "config.num_heads, 0.0, rotary, None, config.bias",
            "config.num_heads, 0.0, rotary, config.num_key_heads",
        ],
        "        norm_first=True,\n    )\n\n\ndef new_norm": ["        norm_first=False,\n    )\n\n\ndef new_norm"],
        "x = self.embedding(tokens)  # (": ["x = self.embedding(tokens) * self.embedding.embedding_dim**0.5  # ("],
        "x = self.positions(x, start)": ["x = self.positions(x)", "x = self.positions(self.dropout(x), start)"],
        "x = self.dropout(x)": ["pass"],
        "causal_mask(start + tokens.shape[1], tokens.device)[start:]": [
            "None",
            "causal_mask(start + tokens.shape[1])[start:]",
            "causal_mask(start + tokens.shape[1], tokens.device)[: tokens.shape[1]]",
        ],
        "x = layer(x, mask, cache)\n        table": [
            "x = layer(x, mask, cache)\n            mask = None\n        table",
            "x = layer(x, mask)\n        table",
        ],
        "F.linear(self.norm(x), table.weight)": [
            "F.linear(x, table.weight)",
            "F.linear(self.norm(x), table.weight.detach())",
            "F.linear(self.norm(x), self.embedding.weight)",
        ],
    },
    "tasks/reversal": {
        "first.flip(1)": ["first.flip(0)", "first"],
        "torch.randint(vocabulary_size, (number, half)": ["torch.randint(1, vocabulary_size, (number, half)"],
        "torch.randint(1, vocabulary_size": ["torch.randint(0, vocabulary_size"],
        "torch.randint(vocabulary_size, (number, half), generator=generator)": [
            "torch.randint(vocabulary_size, (number, half))"
        ],
        "torch.randint(vocabulary_size, (number, half), generator": [
            "torch.randint(vocabulary_size, (1, half), generator"
        ],
        "[start, source.flip(1)]": ["[source.flip(1), start]", "[start, source]"],
        "check_sizes(2, vocabulary_size=vocabulary_size)": ["check_sizes(vocabulary_size=vocabulary_size)"],
    },
}
