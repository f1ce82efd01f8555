def add(a, b):
    return [x + y for x, y in zip(a, b, strict=True)]


def mul(a, b):
    return [x * y for x, y in zip(a, b, strict=True)]
