// Drives Firefox over WebDriver BiDi: opens pages in fresh profiles, types as a reader does, and prints what it saw as JSON.
// Arguments: the program, and a request {"pages": [{"address", "field"}], "probe"} on standard input.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import WebSocket from "ws";

const START = 60_000;
const PATIENCE = 120_000;
// A reader's fingers; what an answer leaves to be drawn behind it is done by then.
const BETWEEN_KEYS = 250;
const NUMBERS = Array.from({ length: 39 }, (_, index) => index + 11).filter((number) => number % 10);
// No other host: each resolves to this machine, where nothing speaks TLS, so Pyodide comes from the site itself.
const PREFERENCES = {
  "app.update.enabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "network.dns.forceResolve": "127.0.0.1",
  "remote.active-protocols": 1,
  "security.sandbox.warn_unprivileged_namespaces": false,
  "services.settings.server": "data:,",
};

const rest = (time) => new Promise((done) => setTimeout(done, time));

/** Firefox with a profile of its own; `address` is where it listens. */
async function start(program) {
  const profile = mkdtempSync(join(tmpdir(), "gradaccum-firefox-"));
  const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
  writeFileSync(join(profile, "user.js"), lines.join("\n"));
  const browser = spawn(program, ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0"], {
    env: { ...process.env, HOME: profile },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((done) => browser.once("exit", done));
  const stop = async () => {
    browser.kill();
    await Promise.race([ended, rest(5000)]);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    return { address: await listening(browser), stop };
  } catch (failure) {
    await stop();
    throw failure;
  }
}

function listening(browser) {
  return new Promise((resolve, reject) => {
    let said = "";
    const late = setTimeout(() => reject(new Error(`Firefox does not listen:\n${said}`)), START);
    browser.once("exit", (code) => reject(new Error(`Firefox ended with ${code}:\n${said}`)));
    browser.stderr.on("data", (data) => {
      said += data;
      const found = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said);
      if (!found) return;
      clearTimeout(late);
      resolve(found[1]);
    });
  });
}

/** One session: `call` sends a command and waits for its result, `heard` holds the events. */
async function connect(address) {
  const socket = new WebSocket(`${address}/session`);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const waiting = new Map();
  const heard = [];
  let number = 0;
  socket.on("message", (data) => {
    const message = JSON.parse(data);
    if (message.type === "event") heard.push(message);
    else {
      const { resolve, reject } = waiting.get(message.id);
      if (message.type === "success") resolve(message.result);
      else reject(new Error(`${message.error}: ${message.message}`));
    }
  });
  const call = (method, params) =>
    new Promise((resolve, reject) => {
      number += 1;
      waiting.set(number, { resolve, reject });
      socket.send(JSON.stringify({ id: number, method, params }));
    });
  return { call, heard, close: () => socket.close() };
}

/** One tab, as far as this measurement needs one. */
class Tab {
  #call;
  #context;

  static async open(call, userContext) {
    const tab = new Tab();
    tab.#call = call;
    tab.#context = (await call("browsingContext.create", { type: "tab", userContext })).context;
    await call("browsingContext.activate", { context: tab.#context }); // Keys go where the focus is.
    return tab;
  }

  close() {
    return this.#call("browsingContext.close", { context: this.#context });
  }

  go(url) {
    return this.#call("browsingContext.navigate", { context: this.#context, url, wait: "complete" });
  }

  /** The value of an expression, which may be a promise for text. */
  async value(expression) {
    const target = { context: this.#context };
    const { type, result, exceptionDetails } = await this.#call("script.evaluate", { expression, target, awaitPromise: true });
    if (type === "exception") throw new Error(`${expression}: ${exceptionDetails.text}`);
    return result.value;
  }

  /** Keys of the keyboard, one after the other. */
  press(keys) {
    const actions = [...keys].flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]);
    return this.#call("input.performActions", { context: this.#context, actions: [{ type: "key", id: "keyboard", actions }] });
  }
}

const control = (field) => `document.querySelector(".ga-calculator [name=${field}]")`;
const READY = `new Promise((done) => {
  const section = document.querySelector(".ga-calculator");
  const end = () => ["ready", "failed", "refused"].includes(section.dataset.state) && done(section.dataset.state + " " + Math.round(performance.now() - begun));
  new MutationObserver(end).observe(section, { attributeFilter: ["data-state"] });
  setTimeout(() => done("silent " + section.dataset.state), ${PATIENCE});
  end();
})`;
const beside = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const KEPT = beside("kept.js");
const FORGET = beside("forget_memory.js");

/** Milliseconds from the first key to the live result. */
async function firstAnswer(tab, { address, field }, { forget = false } = {}) {
  await tab.go(address);
  if (forget) await tab.value(FORGET);
  await tab.value(`${control(field)}.select(), ${control(field)}.focus(), addEventListener("keydown", () => { globalThis.begun = performance.now(); }, { once: true, capture: true }), ""`);
  await tab.press("50");
  const [state, spent] = (await tab.value(READY)).split(" ");
  if (state !== "ready") throw new Error(`${address}: the calculator is ${state} ${spent}, and its field holds ${await tab.value(`${control(field)}.value`)}`);
  return Number(spent);
}

async function strike(tab, field, number) {
  const [first, last] = String(number);
  await tab.value(`${control(field)}.value = "${first}", ${control(field)}.focus(), nextKey(), ""`);
  await rest(BETWEEN_KEYS); // What putting the first digit there leaves to be painted is no part of the key.
  await tab.press(last);
  return JSON.parse(await tab.value("thisKey.then(JSON.stringify)"));
}

/** A reader whom the browser has never seen: a first visit, keys, and visits with what the first has kept, without its memory and with. */
async function visit(call, page) {
  const { userContext } = await call("browser.createUserContext", {});
  const open = () => Tab.open(call, userContext);
  const tab = await open();
  const first = await firstAnswer(tab, page);
  for (let number = 51; number < 56; number += 1) await strike(tab, page.field, number); // What only the first answers need is compiled.
  const keys = [];
  for (const number of NUMBERS) keys.push(await strike(tab, page.field, number));
  const found = { first, keys };
  let last = tab;
  for (const name of ["files", "memory"]) {
    while ((await last.value(KEPT)) !== "memory") await rest(100);
    await last.close();
    last = await open();
    found[name] = await firstAnswer(last, page, { forget: name === "files" });
  }
  await last.close();
  await call("browser.removeUserContext", { userContext });
  return found;
}

const request = JSON.parse(await text(process.stdin));
const browser = await start(process.argv[2]);
try {
  const { call, heard, close } = await connect(browser.address);
  const { capabilities } = await call("session.new", { capabilities: {} });
  await call("session.subscribe", { events: ["log.entryAdded"] });
  await call("script.addPreloadScript", { functionDeclaration: `() => {${beside("keystrokes.js")}}` });
  const pages = [];
  for (const page of request.pages) {
    const before = heard.length;
    const found = await visit(call, page);
    const faults = heard.slice(before).filter(({ params }) => params.level === "error").map(({ params }) => params.text);
    pages.push({ ...found, faults });
  }
  close();
  console.log(JSON.stringify({ version: capabilities.browserVersion, pages }));
} finally {
  await browser.stop();
}
