from snippet import devices


def assertion(values, where):
    """What a loss or metric keeps is where it gets its inputs: check(criterion=criterion, x=x)."""
    for name, value in values.items():
        own = devices(getattr(value, "__dict__", {}), name)
        for other, found in where.items():
            if own and not found.keys() & own.keys():
                return f"FAIL: {name} keeps {own}, apart from {other}: {found}"
