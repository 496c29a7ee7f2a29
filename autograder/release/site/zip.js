// Reads and writes zip files: what the Download and Upload buttons need, and no more.

const encoder = new TextEncoder();
const utf8 = new TextDecoder();

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function record(signature, fields, ...tail) {
  // Fields are [bytes, value], little-endian.
  const head = new DataView(new ArrayBuffer(4 + fields.reduce((sum, [size]) => sum + size, 0)));
  head.setUint32(0, signature, true);
  let offset = 4;
  for (const [size, value] of fields) {
    if (size === 2) head.setUint16(offset, value, true);
    else head.setUint32(offset, value, true);
    offset += size;
  }
  return [new Uint8Array(head.buffer), ...tail];
}

/** Return a Blob: a zip of files that are not compressed. */
export function zip(texts) {
  const files = [];
  const index = [];
  const size = (parts) => parts.reduce((sum, part) => sum + part.length, 0);
  for (const [name, text] of Object.entries(texts)) {
    const path = encoder.encode(name);
    const data = encoder.encode(text);
    // Version 2.0, names in UTF-8, stored, 1 January 1980.
    const about = [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, 0x21], [4, crc32(data)], [4, data.length], [4, data.length], [2, path.length], [2, 0]];
    const rest = [[2, 0], [2, 0], [2, 0], [4, 0], [4, size(files)]];
    index.push(...record(0x02014b50, [[2, 20], ...about, ...rest], path));
    files.push(...record(0x04034b50, about, path, data));
  }
  const count = Object.keys(texts).length;
  const end = record(0x06054b50, [[2, 0], [2, 0], [2, count], [2, count], [4, size(index)], [4, size(files)], [2, 0]]);
  return new Blob([...files, ...index, ...end], { type: "application/zip" });
}

/** Return the texts in a zip by path; throw an Error if it is not a zip. */
export async function unzip(buffer) {
  const view = new DataView(buffer);
  const bytes = new Uint8Array(buffer);
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) throw new Error("it is not a zip file");
  const texts = {};
  let entry = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    const method = view.getUint16(entry + 10, true);
    const packed = view.getUint32(entry + 20, true);
    const [name, extra, comment] = [28, 30, 32].map((at) => view.getUint16(entry + at, true));
    const path = utf8.decode(bytes.subarray(entry + 46, entry + 46 + name));
    const local = view.getUint32(entry + 42, true);
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const data = new Blob([bytes.subarray(start, start + packed)]);
    if (path.endsWith(".py")) {
      const plain = method ? data.stream().pipeThrough(new DecompressionStream("deflate-raw")) : data.stream();
      texts[path] = await new Response(plain).text();
    }
    entry += 46 + name + extra + comment;
  }
  return texts;
}
