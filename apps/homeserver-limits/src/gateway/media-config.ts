import { isJsonObject } from '@headgate/matrix-protocol';
import type { MatrixResponse } from '@headgate/homeserver-contracts';

// Not in lib.es yet: numbers that keep their source text.
const exactNumbers = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(source: string): unknown;
};

/** Replaces the upload size with the cap, unless the upstream's is smaller. The rest of the response stays as it is. */
export function lowerUploadSize(response: MatrixResponse, cap: number): MatrixResponse {
  if (response.status !== 200 || !Buffer.isBuffer(response.body)) return response;
  const lowered = withLowerSize(response.body.toString('utf8'), cap);
  if (lowered === undefined) return response;
  const headers = response.headers.filter((_, i) => response.headers[i - (i % 2)]?.toLowerCase() !== 'content-length');
  return { ...response, headers, body: Buffer.from(lowered, 'utf8') };
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
