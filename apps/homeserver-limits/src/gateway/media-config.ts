import { isJsonObject } from '@headgate/matrix-protocol';
import type { Answer } from '../wire/answer.js';

// lib.es does not know these yet: numbers that keep their spelling.
const exactNumbers = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(source: string): unknown;
};

/** Advertises the smaller of our cap and the upstream's own; everything else in its answer stays as it is. */
export function lowerUploadSize(answer: Answer, cap: number): Answer {
  if (answer.status !== 200 || !Buffer.isBuffer(answer.body)) return answer;
  const lowered = withLowerSize(answer.body.toString('utf8'), cap);
  if (lowered === undefined) return answer;
  const headers = answer.headers.filter((_, i) => answer.headers[i - (i % 2)]?.toLowerCase() !== 'content-length');
  return { status: 200, headers, body: Buffer.from(lowered, 'utf8') };
}

function withLowerSize(text: string, cap: number): string | undefined {
  try {
    const config: unknown = JSON.parse(text);
    if (!isJsonObject(config)) return undefined;
    const own = config['m.upload.size'];
    if (typeof own === 'number' && own <= cap) return undefined;
    const exact = exactNumbers.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined ? exactNumbers.rawJSON(source) : value,
    );
    return JSON.stringify({ ...(exact as object), 'm.upload.size': cap });
  } catch {
    return undefined;
  }
}
