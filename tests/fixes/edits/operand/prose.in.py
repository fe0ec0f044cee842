# move-tensor-at-line
this is not python
