from snippet import devices


def assertion(values, where):
    """What one operation gets is on one device: check(x=x, y=y)."""
    found = devices(values, "its")
    if len(found) > 1:
        return f"FAIL: what is called with one another is on different devices: {found}"
