// Runs in every page before its own scripts: takes the times of one key, from the keyboard's event to the paint that shows the answer.
{
  const { port1, port2 } = new MessageChannel();
  let round = null;
  const now = () => performance.now();

  const OwnWorker = globalThis.Worker;
  globalThis.Worker = class extends OwnWorker {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", ({ data }) => {
        if (data.kind === "answer" && round) round.answered ??= now();
      });
    }

    postMessage(message) {
      if (message.kind === "run" && round) round.asked ??= now();
      super.postMessage(message);
    }
  };

  // A frame's callbacks come before its layout and paint, and the next message after them.
  const painted = () =>
    new Promise((done) => {
      requestAnimationFrame(() => {
        port2.onmessage = done;
        port1.postMessage(0);
      });
    });

  /** The times of the next key, in milliseconds since it was struck. */
  globalThis.nextKey = () => {
    round = {};
    const { promise, resolve } = Promise.withResolvers();
    addEventListener("keydown", ({ timeStamp }) => { round.struck = timeStamp; }, { once: true, capture: true });
    const result = document.querySelector(".ga-calculator .ga-result");
    const watcher = new MutationObserver(async () => {
      // On a busy machine what the key before left to be drawn may still come.
      if (round?.answered === undefined) return;
      watcher.disconnect();
      const shown = now();
      await painted();
      const { struck, asked, answered } = round;
      round = null;
      resolve({ python: answered - asked, in_page: shown - struck, painted: now() - struck });
    });
    watcher.observe(result, { subtree: true, childList: true, characterData: true });
    globalThis.thisKey = promise;
  };
}
