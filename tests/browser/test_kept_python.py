"""What a browser keeps of Python: Pyodide's files, and the memory of its first start, in which it wakes up later."""

import json

import pytest

from gradaccum.api import run
from gradaccum.calculators import FORMS
from measure_site.boot import FORGET
from paths import shared_assets

START = """async () => {
  const script = document.querySelector('script[src$="calculator.mjs"]').src;
  const engine = await import(new URL('engine.mjs', script));
  await engine.boot();
  return engine.source;
}"""
ANSWERS = """async (requests) => {
  const script = document.querySelector('script[src$="calculator.mjs"]').src;
  const engine = await import(new URL('engine.mjs', script));
  return Promise.all(requests.map((request) => engine.run(request)));
}"""
KEPT = """async () => {
  const names = (await caches.keys()).filter((name) => name.startsWith('gradaccum-memory-'));
  const found = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map(({url}) => url)));
  return found.flat();
}"""
# Put something else in the place of what was kept: each way of damage is a function of the bytes.
DAMAGE = """async (damage) => {
  const ways = {
    cut: (packed) => packed.slice(0, packed.length / 2),
    changed: (packed) => { packed[packed.length >> 1] ^= 1; return packed; },
    'not packed': () => new Uint8Array(1 << 16),
    'of another build': async (packed) => pack((memory) => { memory[20] ^= 1; }, packed),
    'without contents': async (packed) => pack((memory) => memory.fill(0, memory.length >> 2), packed),
  };
  const through = async (bytes, stream) =>
    new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  const pack = async (change, packed) => {
    const memory = await through(packed, new DecompressionStream('gzip'));
    change(memory);
    return through(memory, new CompressionStream('gzip'));
  };
  const [name] = (await caches.keys()).filter((one) => one.startsWith('gradaccum-memory-'));
  const cache = await caches.open(name);
  const [request] = await cache.keys();
  const packed = new Uint8Array(await (await cache.match(request)).arrayBuffer());
  await cache.put(request, new Response(await ways[damage](packed)));
}"""
TOPICS = [form.topic for form in FORMS.values() if form.topic]
SOME = [
    {"calculator": "accumulation", "inputs": {"micro_batch": "٤", "accumulation_steps": 8, "replicas": 2}},
    {"calculator": "accumulation", "inputs": {"micro_batch": "x", "accumulation_steps": 8, "replicas": 2}},
    {"calculator": "training_memory", "inputs": {"model": "llama-3.1-8b", "micro_batch": 1, "sequence_length": 4096}},
    {"calculator": "plan", "inputs": {"model": "llama-3.2-1b", "sequence_length": 2048, "effective_batch": 64}},
    {"calculator": "recipe", "inputs": {"framework": "pytorch"}},
    {"calculator": "no such"},
    *({"calculator": "experiment", "inputs": {"name": topic}} for topic in TOPICS),
]


def requests():
    return [json.dumps({**one, "language": language, "view": True}) for one in SOME for language in ("ar", "en")]


@pytest.fixture(scope="module")
def await_kept(until, await_files):
    """Wait until Pyodide's files and a memory are kept, or until the addresses of all memories satisfy ``whole``."""

    def wait(page, whole=bool):
        await_files(page)
        until(page, KEPT, whole)

    return wait


def again(page):
    """The next visit of the same reader."""
    page.reload()
    return page.evaluate(START)


@pytest.fixture(scope="module")
def reader(kept_pages, await_kept):
    """A page of a reader whose browser has kept the memory."""
    page = kept_pages("ar/learn/pitfalls/clipping/")
    page.evaluate(START)
    await_kept(page)
    return page


def test_next_visit_wakes_up_and_answers_the_same_bytes(reader):
    before = len(reader.guard.asked)
    assert again(reader) == "memory"
    assert [url for url in reader.guard.asked[before:] if "jsdelivr" in url] == []
    assert reader.evaluate(ANSWERS, requests()) == [run(request) for request in requests()]
    reader.guard.check()


def test_what_the_reader_typed_is_not_in_what_is_kept(open_page, calculator_of, await_kept):
    page = open_page("en/")
    calculator_of(page).type("replicas", "987654321")
    calculator_of(page).answered()
    await_kept(page)
    assert page.evaluate("""async () => {
          const [name] = (await caches.keys()).filter((one) => one.startsWith('gradaccum-memory-'));
          const [response] = await (await caches.open(name)).matchAll();
          const text = await new Response(response.body.pipeThrough(new DecompressionStream('gzip'))).text();
          return [text.includes('activation_memory'), text.includes('987654321')];
        }""") == [True, False]


@pytest.mark.parametrize("damage", ["cut", "changed", "not packed", "of another build", "without contents"])
def test_damaged_memory_is_replaced(reader, damage, await_kept):
    reader.evaluate(DAMAGE, damage)
    assert again(reader) == "kept"
    assert reader.evaluate(ANSWERS, requests()[:2]) == [run(request) for request in requests()[:2]]
    await_kept(reader)
    assert again(reader) == "memory"
    reader.guard.check()


def test_one_memory_is_kept_at_a_time(reader, await_kept):
    """Of this build and this browser; that of an older build goes when a new one is written."""
    reader.evaluate(FORGET)
    reader.evaluate("caches.open('gradaccum-memory-older').then((cache) => cache.put('/older', new Response('')))")
    assert again(reader) == "kept"
    await_kept(reader, whole=lambda kept: len(kept) == 1 and "older" not in kept[0])
    assert again(reader) == "memory"
    reader.guard.check()


def test_damaged_file_of_pyodide_is_fetched_anew(reader, await_kept):
    """Its digest is checked each time; nothing but the digest could tell."""
    reader.evaluate(FORGET)
    reader.evaluate(
        """async () => {
          const cache = await caches.open((await caches.keys()).find((name) => name.startsWith('gradaccum-pyodide-')));
          const request = (await cache.keys()).find(({url}) => url.endsWith('.wasm'));
          const bytes = new Uint8Array(await (await cache.match(request)).arrayBuffer());
          bytes[bytes.length - 1] ^= 1;
          await cache.put(request, new Response(bytes));
        }"""
    )
    assert again(reader) == "cdn"
    assert reader.evaluate(ANSWERS, requests()[:2]) == [run(request) for request in requests()[:2]]
    await_kept(reader)
    reader.guard.check()


def test_python_starts_where_its_memory_cannot_be_written_down(open_page, calculator_of):
    """As it would be with a Pyodide that has no such thing any more."""
    page = open_page("ar/")
    script = (shared_assets() / "js" / "worker.mjs").read_text(encoding="utf-8").replace("makeMemorySnapshot", "noSuchThing")
    page.route("**/js/worker.mjs", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    with page.expect_console_message(lambda message: "could not be written down" in message.text, timeout=120_000):
        calculator_of(page).type("replicas", "4")
        calculator_of(page).shows(effective_batch="128")
