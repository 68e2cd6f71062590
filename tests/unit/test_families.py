import pytest

from gradaccum.activations import parameters_of, saved_bytes, trace
from gradaccum.architecture import architecture
from gradaccum.families import FAMILIES
from gradaccum.setting import Setting

SIZES = {"hidden_size": 48, "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 100}  # fmt: skip


def read(model_type, **more):
    return architecture({"model_type": model_type} | SIZES | more, tuple(FAMILIES))


@pytest.mark.parametrize("model_type", FAMILIES)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("checkpointing", ["none", "full"])
def test_every_family_is_written_down(model_type, attention, padded, checkpointing):
    setting = Setting(attention=attention, padded=padded, checkpointing=checkpointing)
    arch = read(model_type)
    found = trace(arch, setting, 2, 16)
    assert found.saved == saved_bytes(arch, setting, 2, 16) > 0
    first, _, later, after = found.phases
    gradients = sum(2 * p.count * times for p, times in found.parameters)
    assert first.gradients == (0, 0, 0)
    assert later.gradients == (gradients,) * 3
    # Nothing is left behind but inputs and gradients.
    assert after.end == later.start
    assert after.end - gradients == first.start


@pytest.mark.parametrize("model_type", FAMILIES)
@pytest.mark.parametrize("method", ["full", "lora", "qlora"])
def test_checkpointing_keeps_less(model_type, method):
    saved = [trace(read(model_type), Setting(method=method, checkpointing=how), 2, 16).saved for how in ("full", "none")]
    assert saved[0] < saved[1]


@pytest.mark.parametrize("model_type", FAMILIES)
@pytest.mark.parametrize("setting", [Setting(), Setting(attention="eager"), Setting(precision="bf16-mixed", method="lora")])
def test_repeated_layers_count_as_if_they_were_written_down(model_type, setting):
    # A layer more costs the same whether it is the third of its kind or the fourth.
    more = {"layer_types": ["full_attention"]} if model_type.startswith("gemma") else {}
    by_depth = [
        trace(
            read(model_type, **{"num_hidden_layers": n} | ({"layer_types": more["layer_types"] * n} if more else {})),
            setting,
            2,
            16,
        )
        for n in (2, 3, 4)
    ]
    saved, ends = [one.saved for one in by_depth], [one.phases[3].end for one in by_depth]
    assert saved[1] - saved[0] == saved[2] - saved[1] > 0
    assert ends[1] - ends[0] == ends[2] - ends[1] > 0


@pytest.mark.parametrize("head_dim, padded", [(16, False), (12, True)])
def test_flash_takes_head_sizes_in_steps_of_eight(head_dim, padded):
    found = trace(read("llama", head_dim=head_dim), Setting(), 2, 16)
    queries = [kept.entry.shape for kept in found.ledger if kept.entry.slot == "query"]
    assert set(queries) == {(2, 4, 16, 16)}
    assert any(kept.entry.size < 2 * 2 * 4 * 16 * 16 for kept in found.ledger if kept.entry.slot == "output") is False
    assert (head_dim % 8 != 0) is padded


def test_residuals_in_a_row_keep_as_much_as_side_by_side():
    side, row = (trace(read("gpt_neox", use_parallel_residual=flag), Setting(), 2, 16) for flag in (True, False))
    assert {p.name for p, _ in side.parameters} == {p.name for p, _ in row.parameters}
    assert row.saved - side.saved == 4 * 2 * 2 * 16 * 48


# As Transformers and peft call them; tests/verify asks Transformers itself.
WEIGHTS = {"weight", "bias", "cls_token", "position_embeddings"}
EXPERTS = {"gate_up_proj", "down_proj"}


@pytest.mark.parametrize("model_type", FAMILIES)
@pytest.mark.parametrize("method", ["full", "lora", "qlora"])
def test_weights_bear_the_names_of_the_original(model_type, method):
    parameters = [p for p, _ in parameters_of(read(model_type), Setting(method=method))]
    names = {p.name.rpartition(".")[2] for p in parameters}
    of_experts = EXPERTS if model_type in {"mixtral", "qwen3_moe"} else set()
    assert names <= WEIGHTS | of_experts | (set() if method == "full" else {"lora_A", "lora_B"})
    assert names >= {"weight"} | of_experts
    # Without adapters all weights learn; with them nothing else does.
    assert {p.name.rpartition(".")[2] for p in parameters if p.trainable} == (
        names if method == "full" else {"lora_A", "lora_B"}
    )


@pytest.mark.parametrize("attention, dtype", [("eager", "bf16"), ("sdpa", "bool")])
def test_an_encoder_has_a_mask_where_there_is_padding(attention, dtype):
    masks = []
    for padded in (False, True):
        found = trace(read("bert"), Setting(attention=attention, padded=padded, checkpointing="full"), 2, 16)
        masks.append([k.entry.dtype for k in found.ledger if k.entry.slot == "argument2"])
    assert masks == [[], [dtype]]
