# spot: rows, str(kind)
# cause: dataparallel-replica-state
TABLES = {}


def table(rows, kind, device):
    key = rows, str(kind)
    if key not in TABLES:
        TABLES[key] = torch.ones(rows, device=device)
    return TABLES[key]
