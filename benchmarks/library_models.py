"""Makes, in the current folder, the small models of random weights of benchmarks/library_facts.py."""

from __future__ import annotations

import json
from pathlib import Path

from diffusers import (
    AutoencoderKL,
    DDIMScheduler,
    DDPMPipeline,
    DDPMScheduler,
    StableDiffusionPipeline,
    UNet2DConditionModel,
    UNet2DModel,
)
from peft import LoraConfig, get_peft_model
from PIL import Image
from sentence_transformers import SentenceTransformer, models
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    CLIPTextConfig,
    CLIPTextModel,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    ViTForImageClassification,
    ViTImageProcessor,
)

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "g",
    "h",
    "i",
    "j",
    "k",
]
SMALL = {
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "vocab_size": 16,
    "max_position_embeddings": 32,
}


def tokenizer() -> PreTrainedTokenizerFast:
    inner = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    inner.pre_tokenizer = Whitespace()
    found = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        eos_token="[SEP]",
        bos_token="[CLS]",
        model_max_length=16,
    )
    found.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
    return found


def gpt2() -> GPT2LMHeadModel:
    tokens = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    sizes = {"n_layer": 4, "n_head": 2, "n_embd": 8, "vocab_size": 16, "n_positions": 32}
    return GPT2LMHeadModel(GPT2Config(**sizes, **tokens))


def words() -> None:
    """Models of texts and pictures, of sentences, and an adapter."""
    t5 = T5Config(
        d_model=8,
        d_kv=4,
        d_ff=8,
        num_layers=1,
        num_heads=2,
        vocab_size=16,
        decoder_start_token_id=0,
    )
    vit = ViTConfig(
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        image_size=8,
        patch_size=4,
    )
    for name, model in {
        "gpt2": gpt2(),
        "bert": BertForSequenceClassification(BertConfig(**SMALL)),
        "encoder": BertModel(BertConfig(**SMALL)),
        "t5": T5ForConditionalGeneration(t5),
    }.items():
        model.save_pretrained(name)
        tokenizer().save_pretrained(name)
    ViTForImageClassification(vit).save_pretrained("vit")
    ViTImageProcessor(size={"height": 8, "width": 8}).save_pretrained("vit")
    CLIPTextModel(CLIPTextConfig(**SMALL, projection_dim=8)).save_pretrained("clip-text")
    parts = [models.Transformer("encoder"), models.Pooling(8)]
    SentenceTransformer(modules=parts, device="cpu").save("st")
    adapter = LoraConfig(r=2, target_modules=["c_attn"], task_type="CAUSAL_LM", fan_in_fan_out=True)
    get_peft_model(gpt2(), adapter).save_pretrained("lora")
    config = Path("lora", "adapter_config.json")
    told = json.loads(config.read_text()) | {"base_model_name_or_path": "gpt2"}
    config.write_text(json.dumps(told))


def pictures() -> None:
    """Models and pipelines of diffusion, and a picture."""
    small = {
        "sample_size": 8,
        "in_channels": 1,
        "out_channels": 1,
        "layers_per_block": 1,
        "norm_num_groups": 4,
    }
    plain = UNet2DModel(
        **small,
        block_out_channels=(8, 8),
        down_block_types=("DownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "UpBlock2D"),
    )
    DDPMPipeline(plain, DDPMScheduler(num_train_timesteps=10)).save_pretrained("ddpm")
    vae = AutoencoderKL(
        in_channels=1,
        out_channels=1,
        block_out_channels=(8,),
        down_block_types=("DownEncoderBlock2D",),
        up_block_types=("UpDecoderBlock2D",),
        norm_num_groups=4,
        latent_channels=1,
        sample_size=8,
    )
    vae.save_pretrained("vae")
    told = UNet2DConditionModel(
        **small,
        block_out_channels=(8,),
        down_block_types=("CrossAttnDownBlock2D",),
        up_block_types=("CrossAttnUpBlock2D",),
        cross_attention_dim=8,
        attention_head_dim=4,
    )
    told.save_pretrained("cunet")
    StableDiffusionPipeline(
        vae=vae,
        text_encoder=CLIPTextModel.from_pretrained("clip-text"),
        tokenizer=tokenizer(),
        unet=told,
        scheduler=DDIMScheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained("sd")
    Image.new("RGB", (8, 8)).save("cat.png")


if __name__ == "__main__":
    words()
    pictures()
