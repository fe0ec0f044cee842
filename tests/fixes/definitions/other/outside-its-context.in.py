# cause: low-memory-mode
# spot: self.ear(tone)
# move: self.awake(self.ear)
class Room:
    def hear(self, tone):
        with self.awake(self.ear):
            first = self.ear(tone)
        return self.again(tone) - first

    def again(self, tone):
        heard = self.ear(tone)
        return heard
