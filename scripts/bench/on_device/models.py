"""The models that are measured: a small language model in plain PyTorch, and Llama as Transformers builds it."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

IGNORED = -100
Batch = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class TinySizes:
    """Of the model in plain PyTorch; small, because its gradients are taken in fp64."""

    vocabulary: int = 96
    width: int = 32
    heads: int = 4
    layers: int = 2
    length: int = 24


class TinyLanguageModel(nn.Module):
    """Embedding, transformer layers with LayerNorm, head. No layer looks across samples."""

    def __init__(self, sizes: TinySizes, dropout: float = 0.0) -> None:
        super().__init__()
        width = sizes.width
        self.embedding = nn.Embedding(sizes.vocabulary, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, sizes.heads, 4 * width, dropout, "gelu", batch_first=True, norm_first=True)
            for _ in range(sizes.layers)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, sizes.vocabulary)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits of shape (b, s, V)."""
        x = self.embedding(ids)
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], device=ids.device, dtype=x.dtype)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=True)
        return self.head(self.norm(x))


def tiny(device: torch.device, dtype: torch.dtype, dropout: float = 0.0) -> TinyLanguageModel:
    """The small model with the same weights every time, whatever the device and the precision."""
    torch.manual_seed(1)
    return TinyLanguageModel(TinySizes(), dropout).double().to(device, dtype).train()


def tokens(device: torch.device, samples: int, *, even: bool = True, seed: int = 2) -> Batch:
    """Ids and targets; uneven ones ignore all but the first few targets of a row, another number in each row."""
    sizes = TinySizes()
    random = torch.Generator().manual_seed(seed)
    ids = torch.randint(sizes.vocabulary, (samples, sizes.length), generator=random)
    targets = torch.randint(sizes.vocabulary, (samples, sizes.length), generator=random)
    if not even:
        kept = torch.randint(1, sizes.length, (samples, 1), generator=random)
        targets[torch.arange(sizes.length) >= kept] = IGNORED
    return ids.to(device), targets.to(device)


def summed_loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Cross-entropy, summed over the targets that count."""
    ids, targets = batch
    return nn.functional.cross_entropy(model(ids).flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum")


def target_count(batch: Batch) -> int:
    """Targets that count."""
    return int((batch[1] != IGNORED).sum())


# A CPU takes the small one; on a GPU activations should outweigh everything, as they do in practice.
LLAMA = {
    "cpu": {
        "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 512, "max_position_embeddings": 256,
    },
    "cuda": {
        "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 12, "num_attention_heads": 16,
        "num_key_value_heads": 4, "head_dim": 64, "vocab_size": 32000, "max_position_embeddings": 2048,
    },
}  # fmt: skip
LENGTH = {"cpu": 64, "cuda": 1024}


def llama_config(kind: str, **changes: Any) -> dict[str, Any]:
    """The `config.json` of the measured Llama, which the calculator reads as well."""
    return {"model_type": "llama", "tie_word_embeddings": False, **LLAMA[kind], **changes}


def llama(config: dict[str, Any], device: torch.device, dtype: torch.dtype, attention: str) -> nn.Module:
    """Llama of Transformers, with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415 - most claims do without Transformers

    torch.manual_seed(1)
    with torch.device(device):
        made = LlamaConfig(**{name: value for name, value in config.items() if name != "model_type"}, use_cache=False)
        return LlamaForCausalLM._from_config(made, dtype=dtype, attn_implementation=attention).train()  # noqa: SLF001


def rows(config: dict[str, Any], device: torch.device, samples: int, length: int, seed: int) -> dict[str, torch.Tensor]:
    """One micro-batch of full sequences."""
    random = torch.Generator().manual_seed(seed)
    ids = torch.randint(config["vocab_size"], (samples, length), generator=random).to(device)
    return {"input_ids": ids, "labels": ids.clone()}
