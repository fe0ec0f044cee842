def assertion(values, where):
    """Each parameter and buffer has values."""
    for found in where.values():
        if "meta" in found:
            return f"FAIL: {found['meta']} has no values, it is on meta"
