# cause: unregistered-tensor
# spot: self.scale = self.scale.to(place)
# beside: self.scale = self.scale.to(place)
# name: self.levels
class Packed:
    def __init__(self, scale, levels):
        self.scale, self.levels = scale, levels

    def to(self, place):
        self.scale = self.scale.to(place)
        self.levels = self.levels.to(place)
        return self
