def sum_dim(rows, dim):
    return [sum(row) for row in rows] if dim else [sum(column) for column in zip(*rows, strict=True)]
