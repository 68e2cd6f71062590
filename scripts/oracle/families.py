"""Which models are recorded: for each family tiny ones and a published one, from configuration objects only."""

from typing import Any

from .configurations import FULL_SAVED, Configuration, Point


def _theta(theta: float, **more: Any) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": theta, **more}


GPT2 = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
BERT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
HEADED = {"exclude_modules": ".*classifier"}


def _text(  # noqa: PLR0913, PLR0917 - rows of a table
    v: int, h: int, f: int, layers: int, heads: int, keys: int | None = None, **more: Any
) -> dict[str, Any]:
    fields = {
        "vocab_size": v,
        "hidden_size": h,
        "intermediate_size": f,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
    }
    return fields | ({} if keys is None else {"num_key_value_heads": keys}) | more


def _published(name: str, model: str, fields: dict[str, Any], *more_points: Point, **more: Any) -> Configuration:
    points = FULL_SAVED + more_points
    return Configuration(name, model, fields, **{"saved_points": points, "peak_points": FULL_SAVED} | more)


LLAMA3_8B_FIELDS = _text(128256, 4096, 14336, 32, 32, 8, max_position_embeddings=8192, rope_parameters=_theta(500000.0))
LLAMA32_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}

FAMILIES: dict[str, tuple[Configuration, ...]] = {
    "llama": (
        Configuration("tiny-llama3", "LlamaForCausalLM", _text(264, 64, 176, 3, 4, 2, head_dim=24)),
        Configuration("tiny-llama3.2", "LlamaForCausalLM", _text(264, 96, 152, 2, 6, 2, tie_word_embeddings=True)),
        _published(
            "Llama-3.2-1B",
            "LlamaForCausalLM",
            _text(
                128256,
                2048,
                8192,
                16,
                32,
                8,
                head_dim=64,
                max_position_embeddings=131072,
                rope_parameters=LLAMA32_ROPE,
                tie_word_embeddings=True,
            ),
        ),
        _published("llama3-8b", "LlamaForCausalLM", LLAMA3_8B_FIELDS, (1, 4096)),
    ),
    "granite": (
        Configuration(
            "tiny-granite",
            "GraniteForCausalLM",
            _text(
                264,
                64,
                176,
                3,
                4,
                2,
                embedding_multiplier=12.0,
                residual_multiplier=0.22,
                attention_multiplier=0.0625,
                logits_scaling=8.0,
            ),
        ),
    ),
    "gpt2": (
        Configuration(
            "tiny-gpt2",
            "GPT2LMHeadModel",
            {"vocab_size": 264, "n_embd": 72, "n_layer": 3, "n_head": 3, "n_inner": 200, "n_positions": 96, **GPT2},
        ),
        _published("gpt2", "GPT2LMHeadModel", GPT2, (1, 128), (2, 128)),
    ),
    "qwen2": (
        Configuration("tiny-qwen2", "Qwen2ForCausalLM", _text(264, 64, 176, 3, 4, 2)),
        _published(
            "Qwen2.5-0.5B",
            "Qwen2ForCausalLM",
            _text(151936, 896, 4864, 24, 14, 2, rope_parameters=_theta(1000000.0), tie_word_embeddings=True),
        ),
    ),
    "mistral": (
        Configuration("tiny-mistral", "MistralForCausalLM", _text(264, 64, 176, 3, 4, 2, head_dim=24, sliding_window=44)),
        _published(
            "Mistral-7B-v0.1",
            "MistralForCausalLM",
            _text(32000, 4096, 14336, 32, 32, 8, sliding_window=4096, rope_parameters=_theta(10000.0)),
            (1, 4096),
        ),
    ),
    "qwen3": (
        Configuration("tiny-qwen3", "Qwen3ForCausalLM", _text(264, 64, 176, 3, 4, 2, head_dim=24)),
        _published(
            "Qwen3-0.6B",
            "Qwen3ForCausalLM",
            _text(
                151936,
                1024,
                3072,
                28,
                16,
                8,
                head_dim=128,
                rope_parameters=_theta(1000000.0),
                tie_word_embeddings=True,
            ),
        ),
    ),
    "gemma2": (
        Configuration(
            "tiny-gemma2",
            "Gemma2ForCausalLM",
            _text(264, 64, 176, 3, 4, 2, head_dim=24, sliding_window=44),
            attentions=("eager",),
        ),
        _published(
            "gemma-2-2b",
            "Gemma2ForCausalLM",
            _text(256000, 2304, 9216, 26, 8, 4, head_dim=256, sliding_window=4096),
            attentions=("eager",),
        ),
    ),
    "gemma3_text": (
        Configuration(
            "tiny-gemma3",
            "Gemma3ForCausalLM",
            _text(
                264,
                64,
                176,
                3,
                4,
                1,
                head_dim=24,
                sliding_window=44,
                layer_types=["sliding_attention", "sliding_attention", "full_attention"],
            ),
        ),
        _published(
            "gemma-3-1b",
            "Gemma3ForCausalLM",
            _text(262144, 1152, 6912, 26, 4, 1, head_dim=256, sliding_window=512),
        ),
    ),
    "phi3": (
        Configuration("tiny-phi3", "Phi3ForCausalLM", _text(264, 64, 176, 3, 4, 2, sliding_window=44, pad_token_id=0)),
        _published(
            "Phi-3-mini",
            "Phi3ForCausalLM",
            _text(32064, 3072, 8192, 32, 32, 32, sliding_window=2047, rope_parameters=_theta(10000.0)),
        ),
    ),
    "olmo2": (
        Configuration("tiny-olmo2", "Olmo2ForCausalLM", _text(264, 64, 176, 3, 4, 2, pad_token_id=0)),
        _published(
            "OLMo-2-1B",
            "Olmo2ForCausalLM",
            _text(100352, 2048, 8192, 16, 16, 16, rope_parameters=_theta(500000.0)),
        ),
    ),
    "gpt_neox": (
        Configuration("tiny-gpt-neox", "GPTNeoXForCausalLM", _text(264, 72, 200, 3, 3)),
        _published(
            "pythia-410m",
            "GPTNeoXForCausalLM",
            _text(50304, 1024, 4096, 24, 16, max_position_embeddings=2048),
        ),
    ),
    "mixtral": (
        Configuration(
            "tiny-mixtral",
            "MixtralForCausalLM",
            _text(264, 64, 176, 3, 4, 2, num_local_experts=4, num_experts_per_tok=2),
        ),
        _published(
            "Mixtral-8x7B",
            "MixtralForCausalLM",
            _text(32000, 4096, 14336, 32, 32, 8, rope_parameters=_theta(1000000.0), sliding_window=None),
        ),
    ),
    "qwen3_moe": (
        Configuration(
            "tiny-qwen3-moe",
            "Qwen3MoeForCausalLM",
            _text(264, 64, 176, 3, 4, 2, head_dim=24, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=88),
        ),
    ),
    "bert": (
        Configuration(
            "tiny-bert",
            "BertForSequenceClassification",
            _text(264, 72, 200, 3, 3, max_position_embeddings=96, **BERT),
            head="sequences",
            lora=HEADED,
        ),
        _published(
            "bert-base-uncased",
            "BertForSequenceClassification",
            BERT,
            head="sequences",
            lora=HEADED,
            saved_points=((1, 512), (2, 384)),
            peak_points=((1, 512), (2, 384)),
        ),
    ),
    "vit": (
        Configuration(
            "tiny-vit",
            "ViTForImageClassification",
            {
                "hidden_size": 72,
                "intermediate_size": 200,
                "num_hidden_layers": 3,
                "num_attention_heads": 3,
                "image_size": 56,
                "patch_size": 8,
                "num_labels": 10,
                **BERT,
            },
            saved_points=((1, 50), (2, 50), (3, 50)),
            peak_points=((1, 50), (3, 50)),
            head="images",
            takes_mask=False,
            lora=HEADED,
        ),
        _published(
            "vit-base-patch16-224",
            "ViTForImageClassification",
            {"num_labels": 1000, **BERT},
            saved_points=((1, 197), (4, 197)),
            peak_points=((1, 197), (4, 197)),
            head="images",
            takes_mask=False,
            lora=HEADED,
        ),
    ),
}


def named(name: str) -> Configuration:
    """The configuration of this name."""
    return next(c for family in FAMILIES.values() for c in family if c.name == name)
