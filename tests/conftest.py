import pytest
import torch


@pytest.fixture
def exact():
    """Float64 by default, and the same draws whichever tests run before."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20170612)
    yield
    torch.set_default_dtype(before)
