def assertion(values, where):
    """Each parameter and buffer has values."""
    for name, found in where.items():
        if "meta" in found:
            return f"FAIL: {found['meta']} of {name} has no values, it is on meta"
