// JSON in which each number is text, because numbers have up to 19 digits, more than a JavaScript
// number can hold.

/** Parses JSON with each number as text. */
export function read(text) {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
  return JSON.parse(text.replace(token, (found) => (found[0] === '"' ? found : `"${found}"`)));
}

/** Writes a definition that was read, with its numbers as numbers. */
export function written(document) {
  const limits = /"(minimum|maximum|maxLength)":"(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)"/g;
  return JSON.stringify(document).replace(limits, '"$1":$2');
}
