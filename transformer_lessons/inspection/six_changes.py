"""What each change from GPT-2 to Llama did to the loss of lesson 10's small models, as measured.

Nats per character after 300 steps, one number for each seed from 0 on, by tests/proofs/benchmarks/modern_models.py.
"""

import torch

SMALL = {
    "GPT-2": (2.4196, 2.4212, 2.4177, 2.4170, 2.4100, 2.4484, 2.4242, 2.4390, 2.4349, 2.4417),
    "untied": (2.4419, 2.4323, 2.4376, 2.4246, 2.4267, 2.4459, 2.4378, 2.4511, 2.4481, 2.4536),
    "2 KV heads": (2.4224, 2.4410, 2.4210, 2.4245, 2.4144, 2.4257, 2.4240, 2.4395, 2.4341, 2.4374),
    "no biases": (2.4156, 2.4313, 2.4285, 2.4176, 2.4152, 2.4397, 2.4165, 2.4377, 2.4412, 2.4401),
    "RMSNorm": (2.4210, 2.4209, 2.4185, 2.4117, 2.4089, 2.4448, 2.4215, 2.4443, 2.4324, 2.4417),
    "SwiGLU": (2.4067, 2.4168, 2.4096, 2.3900, 2.4100, 2.4229, 2.4129, 2.4265, 2.4277, 2.4233),
    "rotary": (2.0973, 2.1067, 2.0836, 2.0950, 2.0867),
    "all six": (2.1584, 2.1580, 2.1683, 2.1200, 2.1106),
    "all but untying": (2.1016, 2.0725, 2.0765, 2.0595, 2.0639),
    "no positions": (2.4210, 2.4282, 2.4242, 2.4261, 2.4141),
    "larger start": (2.4410, 2.4435, 2.4364, 2.4368, 2.4309),  # of the learned positions
    "fixed sinusoids": (2.3405, 2.3382, 2.3411, 2.3505, 2.3519),  # as large as the embeddings
}
LARGE = {  # twice the width, depth and batch, and validated on 60,000 characters instead of 10,000
    "GPT-2": (2.238, 2.231, 2.254),
    "SwiGLU": (2.199, 2.181, 2.156),
    "rotary": (1.925, 1.928, 1.916),
    "all six": (1.908, 1.874, 1.892),
    "larger start": (2.123, 2.116, 2.107),
}


def beside_gpt2(losses, changes, seeds=5):
    """{change: its losses minus GPT-2's with the same seed}, for that many of the first seeds."""
    usual = torch.tensor(losses["GPT-2"][:seeds])
    return {change: torch.tensor(losses[change][:seeds]) - usual for change in changes}  # each (seeds)


def with_means(rows):
    """The same rows, with the mean of each beside its name."""
    means = {name: f"{numbers.mean():+.3f}".replace("-", "−") for name, numbers in rows.items()}
    return {f"{name}  {means[name]}": numbers for name, numbers in rows.items()}
