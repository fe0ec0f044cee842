# cause: kernel-needs-gpu
# spot: rows.square().cpu()
scale = rows.square()
_scaled[(1,)](rows, scale)
