refused: it is set in forward, maybe at every call, and not in __init__
