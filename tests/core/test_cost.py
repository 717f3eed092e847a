"""What a run costs, from its tokens and the prices of a million."""

import pytest

from opspilot.core.cost import Price
from opspilot.core.messages import Usage


@pytest.mark.parametrize(
    ("price", "usage", "cost"),
    [
        pytest.param(Price(2.0, 8.0), Usage(1_000_000, 500_000), 6.0, id="input and output have prices of their own"),
        pytest.param(Price(2.0, 8.0, 0.5), Usage(1_000_000, 0, 400_000), 1.4, id="cached input is cheaper"),
        pytest.param(Price(2.0, 8.0), Usage(1_000_000, 0, 400_000), 2.0, id="without a price of its own it is input"),
        pytest.param(Price(2.0, 8.0, 0.5), Usage(0, 0, 10), 0.000005, id="more cached than input costs nothing less"),
    ],
)
def test_what_tokens_cost(price: Price, usage: Usage, cost: float) -> None:
    assert price.of(usage) == pytest.approx(cost)
