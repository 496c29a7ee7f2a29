// Python in workers. Each command gets a new worker, as it gets a new process in a terminal; the next worker starts
// while the student reads, so that a command need not wait for it.

/** Download the files of Python; return them by name. Each file is verified if its hash is known. */
async function download(parts, progress) {
  const files = {};
  let done = 0;
  let failed = false; // then the page shows why, and later progress must not replace that sentence
  const all = parts.reduce((sum, part) => sum + part.bytes, 0);
  const megabytes = (bytes) => (bytes / 1e6).toFixed(0);
  progress(`Downloading Python (${megabytes(all)} MB, once) …`);
  await Promise.all(
    parts.map(async ({ name, address, integrity, bytes }) => {
      try {
        const response = await fetch(address, integrity ? { integrity } : {});
        if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
        files[name] = await response.blob();
      } catch (error) {
        failed = true;
        throw new Error(`${name}: ${error.message}`);
      }
      done += bytes;
      if (!failed) progress(`Downloading Python: ${megabytes(done)} of ${megabytes(all)} MB …`);
    }),
  );
  return files;
}

export class Python {
  /** `parts` are the files to download, `lock` is Pyodide's list of packages, `progress` gets sentences. */
  constructor({ parts, lock, numpy }, progress) {
    this.prepared = this.prepare(parts, lock, numpy, progress);
    this.spare = this.begin();
  }

  async prepare(parts, lock, numpy, progress) {
    const [source, files] = await Promise.all([fetch("worker.js"), download(parts, progress)]);
    progress("Starting Python …");
    files["lock.json"] = new Blob([JSON.stringify(lock)]);
    // From a blob, so that the page's security policy applies to the worker.
    const script = URL.createObjectURL(new Blob([await source.text()], { type: "text/javascript" }));
    const module = await WebAssembly.compile(await files["pyodide.asm.wasm"].arrayBuffer());
    return { script, message: { files, module, numpy, base: new URL("python/", document.baseURI).href } };
  }

  /** Start a worker; return it with `ready`, a promise, and the functions that `run` replaces. */
  begin() {
    const process = { line() {}, progress() {}, end() {}, fail() {} };
    process.ready = this.prepared.then(
      ({ script, message }) =>
        new Promise((resolve, reject) => {
          if (process.over) return;
          const worker = new Worker(script, { type: "module" });
          const fail = (text) => [reject, process.fail].forEach((failed) => failed(new Error(text)));
          worker.onerror = (event) => fail(event.message || "the worker does not start");
          worker.onmessage = ({ data }) => {
            if (data.ready) resolve();
            else if ("line" in data) process.line(data.line);
            else if ("progress" in data) process.progress(JSON.parse(data.progress));
            else if ("failed" in data) fail(data.failed);
            else {
              message.compiled ??= data.compiled; // the next workers need not compile again
              process.end(data.ended);
            }
          };
          worker.postMessage(message);
          process.send = (job) => worker.postMessage({ job: JSON.stringify(job), collect: !message.compiled });
          process.terminate = () => worker.terminate();
        }),
    );
    process.ready.catch(() => {});
    return process;
  }

  get ready() {
    return this.spare.ready;
  }

  /** Run a job; return a promise of its exit status, or of null if it is stopped. */
  async run(job, line, progress = () => {}) {
    const process = this.spare;
    this.running = process;
    try {
      return await new Promise((end, fail) => {
        Object.assign(process, { line, progress, end, fail });
        process.ready.then(() => process.send(job)).catch(fail);
      });
    } finally {
      process.over = true;
      process.terminate?.();
      this.running = null;
      this.spare = this.begin();
    }
  }

  stop() {
    this.running?.end(null);
  }
}
