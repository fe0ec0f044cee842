# cause: kernel-needs-gpu
# spot: row
# wanted: cuda:0
# devices: ;
def keep(row, stream):
    row.record_stream(stream)
