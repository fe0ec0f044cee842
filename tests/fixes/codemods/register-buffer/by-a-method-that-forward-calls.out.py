refused: it is set in fit, maybe at every call, and not in __init__
