import type { IncomingMessage } from 'node:http';
import { parse } from 'yaml';
import { apiError, badRequest, unsupportedMediaType } from '../api-error.js';
import { decodeProtobuf, PROTOBUF } from '../protobuf/decode-protobuf.js';

/** The limit of a real server: 3 MiB. */
const MAX_BYTES = 3 * 1024 * 1024;

/** @throws ApiError 413 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES)
      throw apiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BYTES}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function mediaTypeOf(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
}

const MEDIA_TYPES = ['application/json', 'application/yaml'];

/** An object in JSON, YAML or, for built-in kinds, protobuf. @throws ApiError 400, 415 */
export function decodeBody(request: IncomingMessage, body: Buffer, isBuiltIn = true): unknown {
  const type = mediaTypeOf(request);
  if (type === 'application/yaml') return decodeYaml(body);
  if (type === PROTOBUF && isBuiltIn) return decodeProtobuf(body);
  if (type === '' || type === '*/*' || type === 'application/json') return decodeJson(body);
  throw unsupportedMediaType(isBuiltIn ? [...MEDIA_TYPES, PROTOBUF] : MEDIA_TYPES);
}

/** @throws ApiError 400 */
export function decodeJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw badRequest(
      `the object provided is unrecognized (must be of type JSON): couldn't get version/kind; json parse error: ${String((error as Error).message)}`,
    );
  }
}

/** YAML includes JSON. @throws ApiError 400 */
export function decodeYaml(body: Buffer): unknown {
  try {
    return parse(body.toString('utf8'), { schema: 'core' });
  } catch (error) {
    throw badRequest(`error decoding YAML: ${String((error as Error).message)}`);
  }
}
