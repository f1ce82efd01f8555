import itertools
import math

from tensor_views import contiguous, offset


def test_each_element_has_a_place_of_its_own(shape):
    strides = contiguous(shape)
    places = [offset(strides, index) for index in itertools.product(*map(range, shape))]
    assert places == list(range(math.prod(shape)))
