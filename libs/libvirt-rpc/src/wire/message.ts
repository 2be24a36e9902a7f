import { LibvirtError, RpcConnectionError } from '../errors.js';
import { array, int, nullable, string, struct, type Codec } from './codec.js';
import { HEADER_BYTES, LENGTH_BYTES, MAX_MESSAGE_BYTES } from './frames.js';
import { domain, network } from './types.js';
import { XdrReader } from './xdr-reader.js';
import { XdrWriter } from './xdr-writer.js';

/** https://libvirt.org/kbase/internals/rpc.html */
export const REMOTE_PROGRAM = 0x20008086;
/** The calls of the QEMU driver alone: qemu_protocol.x. */
export const QEMU_PROGRAM = 0x20008087;
export const KEEPALIVE_PROGRAM = 0x6b656570;
/** Of all programs. */
export const PROGRAM_VERSION = 1;

export const MessageType = { call: 0, reply: 1, event: 2, stream: 3, streamHole: 6 } as const;
export const MessageStatus = { ok: 0, error: 1, continue: 2 } as const;

export interface Header {
  readonly program: number;
  readonly version: number;
  readonly procedure: number;
  readonly type: number;
  readonly serial: number;
  readonly status: number;
}

export interface Message {
  readonly header: Header;
  readonly payload: Buffer;
}

export function decodeMessage(message: Buffer): Message {
  const [program, version, procedure, type, serial, status] = [0, 4, 8, 12, 16, 20].map((at) =>
    message.readUInt32BE(at),
  ) as [number, number, number, number, number, number];
  return {
    header: { program, version, procedure, type, serial, status },
    payload: message.subarray(HEADER_BYTES),
  };
}

/** A message with its length field. */
export function encodeMessage<T>(header: Header, codec: Codec<T>, value: T): Buffer {
  const writer = new XdrWriter(LENGTH_BYTES + HEADER_BYTES);
  codec.write(writer, value);
  return withHeader(writer.toBuffer(), header);
}

/** A message whose payload is plain bytes, as in streams. */
export function encodeRawMessage(header: Header, payload: Uint8Array): Buffer {
  const message = Buffer.allocUnsafe(LENGTH_BYTES + HEADER_BYTES + payload.length);
  message.set(payload, LENGTH_BYTES + HEADER_BYTES);
  return withHeader(message, header);
}

function withHeader(message: Buffer, { program, version, procedure, type, serial, status }: Header): Buffer {
  if (message.length > LENGTH_BYTES + MAX_MESSAGE_BYTES) {
    throw new RpcConnectionError('protocol', `A message of ${message.length} bytes is more than libvirt accepts.`);
  }
  [message.length, program, version, procedure, type, serial, status].forEach((field, i) =>
    message.writeUInt32BE(field, 4 * i),
  );
  return message;
}

const remoteError = struct({
  code: int,
  domain: int,
  message: nullable(string),
  level: int,
  relatedDomain: nullable(domain),
  detail1: nullable(string),
  detail2: nullable(string),
  detail3: nullable(string),
  number1: int,
  number2: int,
  relatedNetwork: nullable(network),
});

export function decodeError(payload: Buffer): LibvirtError {
  const { code, domain: part, message } = remoteError.read(new XdrReader(payload));
  return new LibvirtError(code, part, message ?? 'unknown error');
}

/** The payload of an error reply, for simulated servers. */
export const errorPayload: Codec<LibvirtError> = {
  write: (writer, error) =>
    remoteError.write(writer, {
      code: error.code,
      domain: error.domain,
      message: error.message,
      level: 2,
      relatedDomain: null,
      detail1: null,
      detail2: null,
      detail3: null,
      number1: 0,
      number2: 0,
      relatedNetwork: null,
    }),
  read: (reader) => {
    const { code, domain: part, message } = remoteError.read(reader);
    return new LibvirtError(code, part, message ?? 'unknown error');
  },
};

export const authTypes = array(int, 20);
