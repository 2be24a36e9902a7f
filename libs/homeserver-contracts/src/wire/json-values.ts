import { MAX_JSON_DEPTH } from '@headgate/matrix-protocol';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Whether JSON can be parsed quickly, or has too many values or levels. */
export type JsonSize = 'fits' | 'too many values' | 'too deep';

/**
 * Measures JSON without parsing it. Parsing takes time by the number of values: a body of 4 MiB of them would block the
 * process for half a second, one with a few long strings for some milliseconds.
 */
export function measureJson(json: Uint8Array, maxValues: number): JsonSize {
  // Each comma and each opening bracket precedes a value, or an empty container is the value itself.
  let values = 0;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (isInString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isInString = false;
      continue;
    }
    if (byte === QUOTE) isInString = true;
    else if (byte === COMMA) values++;
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      values++;
      if (++depth > MAX_JSON_DEPTH) return 'too deep';
    }
    if (values > maxValues) return 'too many values';
  }
  return 'fits';
}
