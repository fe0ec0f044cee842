# cause: kernel-needs-gpu
# spot: rows.square().cpu()
scale = rows.square().cpu()
_scaled[(1,)](rows, scale)
