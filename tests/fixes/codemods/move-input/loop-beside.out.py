# spot: for ids, mask, labels in loader:
# name: labels
# beside: ids, mask = ids.to(args.device, non_blocking=True), mask.to(args.device)
for ids, mask, labels in loader:
    optimizer.zero_grad()
    labels = labels.to(args.device)
    ids, mask = ids.to(args.device, non_blocking=True), mask.to(args.device)
    loss = criterion(model(ids, mask), labels)
