# spot: Head(width)
# wanted: cuda
# devices: (
def main(width):
    head = Head(width)
    accelerator = Accelerator()
    for x in loader:
        x = x.to(accelerator.device)
