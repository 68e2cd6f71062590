// Runs in the page: for each text, the milliseconds until the answer stands in the page, and until it is painted.
// The pause in which the form waits for more keys is the site's own choice and stands apart: the form is asked at once.
async ([name, texts]) => {
  const section = document.querySelector(".ga-calculator");
  const control = section.querySelector(`[name=${name}]`);
  const { port1, port2 } = new MessageChannel();
  const turn = () => new Promise((done) => {
    port2.onmessage = done;
    port1.postMessage(0);
  });
  // After a frame's callbacks comes its paint, and after that the next turn.
  const painted = () => new Promise((done) => requestAnimationFrame(() => turn().then(done)));
  const answered = () => new Promise((done) => {
    const watcher = new MutationObserver(() => {
      if (section.dataset.state !== "ready") return;
      watcher.disconnect();
      done();
    });
    watcher.observe(section, { attributeFilter: ["data-state"] });
  });
  const rounds = [];
  for (const text of texts) {
    section.dataset.state = "measured";
    control.value = text;
    await painted();
    const shown = answered();
    const begun = performance.now();
    control.form.requestSubmit();
    await shown;
    const standing = performance.now() - begun;
    await painted();
    rounds.push([standing, performance.now() - begun]);
  }
  return rounds;
}
