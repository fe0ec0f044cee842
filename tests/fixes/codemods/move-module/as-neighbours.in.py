# spot: Head(args.width)
# wanted: cuda
# devices: (
def main(args):
    head = Head(args.width)
    for batch in loader:
        loss = head(encoder(batch.to(args.device))).mean()
