# spot: Head(args.width)
# wanted: cuda
# devices: (
def main(args):
    head = Head(args.width)
    for a, b in loader:
        a, b = a.to(args.device), b.to(encoder.device)
