"""Mutants that `check` accepts although some numbers differ, and why they keep the contract: for mutants.py."""

SINGLE = "computed in single precision, which every check accepts"
FITTED = "a hole: at the offsets tried, wrong by less than 0.001, which a matrix fitted to the encoding may be"

WITHIN_THE_CONTRACT: dict = {
    "sinusoidal_encoding": {
        "pair = torch.arange(d_model // 2, dtype=torch.float64)  ->  pair = torch.arange(d_model // 2)": SINGLE,
    },
    "rotate": {
        "exponents = torch.arange(0, d, 2, dtype=torch.float64) / d  ->  exponents = torch.arange(0, d, 2) / d": SINGLE,
    },
    "shift_matrix": {
        "exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model  ->  "
        "exponents = torch.arange(0, d_model, 2) / d_model": SINGLE,
        "frequencies = 10000 ** (-exponents)  ->  frequencies = 10001 ** (-exponents)": FITTED,
        "frequencies = 10000 ** (-exponents)  ->  frequencies = 9999 ** (-exponents)": FITTED,
    },
}
