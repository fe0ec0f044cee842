# cause: low-memory-mode
# spot: Mixer(8)
from contextlib import contextmanager


class Room:
    def __init__(self, ear, mixer):
        self.ear, self.small = ear, True
        self.mixer = Mixer(8)

    @contextmanager
    def awake(self, part):
        part.to("cuda")
        yield
        part.to("cpu")

    def hear(self, tone):
        with self.awake(self.ear):  # one at a time
            heard = self.ear(tone)
            return self.mixer(heard)
