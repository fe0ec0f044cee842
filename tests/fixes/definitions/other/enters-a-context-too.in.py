# cause: low-memory-mode
# spot: self.mixer(heard)
from contextlib import contextmanager


class Room:
    def __init__(self, ear, mixer):
        self.ear, self.small = ear, True
        self.mixer = mixer

    @contextmanager
    def awake(self, part):
        part.to("cuda")
        yield
        part.to("cpu")

    def hear(self, tone):
        with self.awake(self.ear):  # one at a time
            heard = self.ear(tone)
            return self.mixer(heard)
