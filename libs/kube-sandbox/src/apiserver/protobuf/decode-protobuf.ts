import { badRequest, unsupportedMediaType } from '../api-error.js';
import { MessageReader, type MessageType } from './message-reader.js';
import { MESSAGE_TYPES } from './message-types.js';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** The magic number of Kubernetes' protobuf encoding. */
const MAGIC = Buffer.from('k8s\0');

const ENVELOPE: MessageType = {
  1: {
    name: 'typeMeta',
    type: { message: { 1: { name: 'apiVersion', type: 'string' }, 2: { name: 'kind', type: 'string' } } },
  },
  2: { name: 'raw', type: 'bytes' },
};

/**
 * Decodes a protobuf object of one of the kinds that kubectl's own commands write.
 * @throws ApiError 400 malformed, 415 for other kinds
 */
export function decodeProtobuf(body: Buffer): Record<string, unknown> {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC))
    throw badRequest('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  try {
    const envelope = new MessageReader(body.subarray(MAGIC.length)).read(ENVELOPE);
    const { apiVersion = '', kind = '' } = (envelope['typeMeta'] ?? {}) as { apiVersion?: string; kind?: string };
    const type = MESSAGE_TYPES[`${apiVersion}/${kind}`];
    if (!type) throw unsupportedMediaType(['application/json', 'application/yaml']);
    return { apiVersion, kind, ...new MessageReader(Buffer.from(String(envelope['raw'] ?? ''), 'base64')).read(type) };
  } catch (error) {
    throw error instanceof RangeError ? badRequest(`unable to decode protobuf: ${error.message}`) : error;
  }
}
