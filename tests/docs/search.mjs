// Ask the search of a built site, by its own worker and the site's own index.
// In: {"folder": of one language, "queries": [...]} as JSON; out: for each query the locations, best first.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import vm from "node:vm";

const { folder, queries } = JSON.parse(await text(process.stdin));
const workers = join(folder, "assets", "javascripts", "workers");
const [worker] = readdirSync(workers).filter((name) => /^search\..*\.js$/.test(name));

let receive;
let answer;
const context = { console, addEventListener: (_, listener) => (receive = listener), postMessage: (message) => answer(message) };
context.self = context;
vm.runInNewContext(readFileSync(join(workers, worker), "utf8"), context);

const ask = (message) =>
  new Promise((resolve) => {
    answer = resolve;
    receive({ data: message });
  });

const index = JSON.parse(readFileSync(join(folder, "search", "search_index.json"), "utf8"));
await ask({ type: 0, data: { ...index, options: { suggest: false } } });
const found = [];
for (const query of queries) {
  const { data } = await ask({ type: 2, data: query });
  found.push(data.items.map(([page]) => page.location));
}
process.stdout.write(JSON.stringify(found));
