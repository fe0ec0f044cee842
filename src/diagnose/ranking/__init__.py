"""From facts and neighbouring incidents to causes with confidence."""
