out.scatter_(1, ids, rows.to(out.device))
