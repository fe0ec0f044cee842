"""A short traceback to try the page with, written for it."""

EXAMPLE = """\
INFO 2024-05-02 10:14:31 - accelerate.utils.modeling - device_map="auto": 32 layers over cuda:0, cuda:1
Traceback (most recent call last):
  File "/home/user/edit/run_edit.py", line 41, in <module>
    metrics, edited_model, _ = editor.edit(prompts=prompts, target_new=targets)
  File "/home/user/edit/editing/trainer.py", line 118, in edit
    logits = self.model(**batch).logits
  File "/opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1553, in _call_impl
    return forward_call(*args, **kwargs)
  File "/opt/conda/lib/python3.11/site-packages/accelerate/hooks.py", line 170, in new_forward
    output = module._old_forward(*args, **kwargs)
  File "/opt/conda/lib/python3.11/site-packages/transformers/models/llama/modeling_llama.py", line 945, in forward
    layer_outputs = decoder_layer(hidden_states, attention_mask=causal_mask)
  File "/opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1603, in _call_impl
    hook_result = hook(self, args, result)
  File "/home/user/edit/editing/hooks.py", line 57, in edit_output
    output[0][:, position, :] += delta
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!
"""
