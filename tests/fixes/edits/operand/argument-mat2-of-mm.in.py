# move-tensor-at-line argument=mat2 op=wrapper_CUDA_mm
y = self.scale * z @ p.t()
#   ~~~~~~~~~~~~~~~^~~~~~~
