loss = criterion(out, y.to(out.device))
