const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * Whether JSON contains more than `max` values. Parsing takes time by the number of values: a body of 4 MiB of them would block the
 * process for half a second, one with a few long strings for some milliseconds.
 */
export function hasMoreValuesThan(max: number, json: Uint8Array): boolean {
  // Each comma and each opening bracket precedes a value, or an empty container is the value itself.
  let values = 0;
  let isInString = false;
  for (let at = 0; at < json.length && values <= max; at++) {
    const byte = json[at];
    if (isInString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT) values++;
  }
  return values > max;
}
