def assertion(values, where):
    """What a kernel of the GPU is called with is on a GPU."""
    if where and all(found.keys() == {"cpu"} for found in where.values()):
        return f"FAIL: all is on the cpu: {where}"
