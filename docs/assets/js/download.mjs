// Fetch a file as bytes, give up when nothing arrives for a while, and refuse it when its digest is not the expected one.
//
// The browser's own `integrity` option would check the digest too, but it hands over nothing before the last byte, so a
// connection that hangs could only be told from a slow one by a limit on the whole download: too short for a slow reader,
// too long for a blocked one. Reading the stream here lets a slow download go on and ends a silent one in seconds.

/** Digests can only be computed in a secure context (https, or localhost). */
export const canVerify = Boolean(globalThis.crypto?.subtle);

/**
 * @param {string} address
 * @param {{integrity?: string, silence?: number, signal?: AbortSignal, cache?: RequestCache}} options
 *   integrity: "sha384-…"; silence: milliseconds without a byte after which the download counts as dead
 * @returns {Promise<Uint8Array>}
 */
export async function download(address, { integrity, silence = 5000, signal, cache = "default" } = {}) {
  const quiet = new AbortController();
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => quiet.abort(new Error(`${address}: nothing arrived for ${silence} ms`)), silence);
  };
  const stop = () => quiet.abort(signal.reason);
  signal?.addEventListener("abort", stop, { once: true });
  heard();
  try {
    signal?.throwIfAborted();
    const response = await fetch(address, { signal: quiet.signal, credentials: "omit", cache });
    if (!response.ok) throw new Error(`${address}: HTTP ${response.status}`);
    const bytes = await readAll(response, heard);
    if (integrity) await verify(bytes, integrity, address);
    return bytes;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

async function readAll(response, heard) {
  const reader = response.body.getReader();
  const parts = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    heard();
    parts.push(part.value);
    length += part.value.length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export async function verify(bytes, integrity, address) {
  const [, bits, expected] = /^sha(256|384|512)-(.+)$/.exec(integrity);
  const digest = new Uint8Array(await crypto.subtle.digest(`SHA-${bits}`, bytes));
  if (btoa(String.fromCharCode(...digest)) !== expected) throw new Error(`${address}: its digest is not ${integrity}`);
}
