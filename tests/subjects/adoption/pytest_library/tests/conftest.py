import pytest


@pytest.fixture(params=[(), (3,), (2, 3), (4, 1, 5)], ids=str)
def shape(request):
    return request.param
