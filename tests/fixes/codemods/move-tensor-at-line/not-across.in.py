# cause: created-without-device
# spot: skip
# devices: device
def forward(self, x):
    return self.up(x, skip)
