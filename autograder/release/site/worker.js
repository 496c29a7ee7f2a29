// Runs one command in Python. The page gives it every file, so it makes no request. Messages to the page:
// {ready}, {line: text}, {progress: JSON}, {ended: exit status, compiled: a zip or null}, {failed: text}.

const FOLDER = "/home/pyodide/homework";

function serve(files) {
  // Pyodide fetches its files by URL; answer from those that the page has downloaded and verified.
  self.fetch = async (address) => {
    const name = new URL(String(address?.url ?? address)).pathname.split("/").pop();
    if (!(name in files)) throw new TypeError(`${name} is not part of this page`);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(files[name], { headers: { "Content-Type": type } });
  };
}

async function load(file) {
  const address = URL.createObjectURL(new Blob([file], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

async function start({ files, module, compiled, numpy, base }) {
  serve(files);
  if (module) {
    WebAssembly.instantiateStreaming = async (_, imports) => ({
      module,
      instance: await WebAssembly.instantiate(module, imports),
    });
  }
  await load(files["pyodide.asm.js"]);
  const { loadPyodide } = await load(files["pyodide.mjs"]);
  const python = await loadPyodide({ indexURL: base, lockFileURL: `${base}lock.json` });
  const print = { batched: (line) => postMessage({ line }) };
  python.setStdout(print);
  python.setStderr(print);
  await python.loadPackage(base + numpy, { messageCallback: () => {}, errorCallback: () => {} });
  const packages = python.runPython("import site; site.getsitepackages()[0]");
  const unpack = async (file, extractDir) => python.unpackArchive(await file.arrayBuffer(), "zip", { extractDir });
  await unpack(files["pytest.zip"], packages);
  await unpack(files["homework.zip"], FOLDER);
  if (compiled) await unpack(compiled, "/");
  python.FS.writeFile(`${packages}/in_browser.py`, new Uint8Array(await files["in_browser.py"].arrayBuffer()));
  python.FS.chdir(FOLDER);
  python.pyimport("in_browser").prepare([packages, FOLDER]);
  return python;
}

let python;

self.onmessage = async ({ data }) => {
  try {
    if (data.files) {
      python = await start(data);
      postMessage({ ready: true });
    } else {
      const { main, compiled } = python.pyimport("in_browser");
      const ended = main(data.job, (progress) => postMessage({ progress }));
      postMessage({ ended, compiled: data.collect ? new Blob([compiled().toJs()]) : null });
    }
  } catch (error) {
    postMessage({ failed: String(error?.message ?? error) });
  }
};
