import type { Socket } from 'node:net';
import { MAX_READ_BYTES, type NbdExport } from './nbd-export.js';
import type { SocketReader } from './socket-reader.js';

// https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
const MAGIC = 0x4e42444d41474943n;
const OPTION_MAGIC = 0x49484156454f5054n;
const OPTION_REPLY_MAGIC = 0x3e889045565a9n;
const FIXED_NEWSTYLE = 1;
const NO_ZEROES = 2;
const OPTION_HEADER_BYTES = 16;
const MAX_OPTION_BYTES = 4096;
/** QEMU sends fewer than 10. */
const MAX_OPTIONS = 64;
const [OPTION_EXPORT_NAME, OPTION_ABORT, OPTION_LIST, OPTION_INFO, OPTION_GO] = [1, 2, 3, 6, 7];
const [REPLY_ACK, REPLY_SERVER, REPLY_INFO] = [1, 2, 3];
const ERROR_UNSUPPORTED = 0x8000_0001;
const ERROR_INVALID = 0x8000_0003;
const ERROR_UNKNOWN = 0x8000_0006;
const INFO_EXPORT = 0;
const INFO_BLOCK_SIZE = 3;
const PREFERRED_BLOCK_BYTES = 4096;
/** The flags of an export: it has flags, is read-only, and looks the same over all connections. */
const EXPORT_FLAGS = 1 | 2 | 256;
const OLD_PADDING_BYTES = 124;

/**
 * The fixed newstyle handshake of a server, without TLS and structured replies.
 * @returns the chosen export; undefined when the client has left, has violated the protocol or wants none of them
 */
export async function acceptClient(
  socket: Socket,
  reader: SocketReader,
  exports: ReadonlyMap<string, NbdExport>,
): Promise<{ readonly name: string; readonly disk: NbdExport } | undefined> {
  socket.write(greeting());
  const flags = (await reader.take(4))?.readUInt32BE(0);
  if (flags === undefined || (flags & FIXED_NEWSTYLE) === 0 || (flags & ~(FIXED_NEWSTYLE | NO_ZEROES)) !== 0)
    return undefined;
  for (let count = 0; count < MAX_OPTIONS; count++) {
    const option = await readOption(reader);
    if (!option) return undefined;
    const { code, payload } = option;
    const reply = (type: number, data?: Buffer): boolean => socket.write(optionReply(code, type, data));
    if (code === OPTION_ABORT) {
      reply(REPLY_ACK);
      return undefined;
    } else if (code === OPTION_LIST) {
      if (payload.length > 0) reply(ERROR_INVALID);
      else {
        for (const name of exports.keys()) reply(REPLY_SERVER, sized(name));
        reply(REPLY_ACK);
      }
    } else if (code === OPTION_EXPORT_NAME) {
      const name = payload.toString('utf8');
      const disk = exports.get(name);
      // The protocol has no reply for a name that does not exist.
      if (!disk) return undefined;
      socket.write(exportReply(disk.sizeBytes, (flags & NO_ZEROES) === 0));
      return { name, disk };
    } else if (code === OPTION_GO || code === OPTION_INFO) {
      const name = requestedName(payload);
      const disk = name === undefined ? undefined : exports.get(name);
      if (name === undefined) reply(ERROR_INVALID);
      else if (!disk) reply(ERROR_UNKNOWN);
      else {
        reply(REPLY_INFO, exportInfo(disk.sizeBytes));
        reply(REPLY_INFO, blockSizes());
        reply(REPLY_ACK);
        if (code === OPTION_GO) return { name, disk };
      }
    } else reply(ERROR_UNSUPPORTED);
  }
  return undefined;
}

async function readOption(
  reader: SocketReader,
): Promise<{ readonly code: number; readonly payload: Buffer } | undefined> {
  const header = await reader.take(OPTION_HEADER_BYTES);
  if (header?.readBigUInt64BE(0) !== OPTION_MAGIC) return undefined;
  const [code, length] = [header.readUInt32BE(8), header.readUInt32BE(12)];
  if (length > MAX_OPTION_BYTES) return undefined;
  const payload = length === 0 ? Buffer.alloc(0) : await reader.take(length);
  return payload && { code, payload };
}

/** @returns undefined for a payload that is not as long as it says */
function requestedName(payload: Buffer): string | undefined {
  if (payload.length < 6) return undefined;
  const length = payload.readUInt32BE(0);
  if (length + 6 > payload.length) return undefined;
  const requests = payload.readUInt16BE(4 + length);
  if (payload.length !== length + 6 + 2 * requests) return undefined;
  return payload.toString('utf8', 4, 4 + length);
}

function greeting(): Buffer {
  const message = Buffer.alloc(18);
  message.writeBigUInt64BE(MAGIC, 0);
  message.writeBigUInt64BE(OPTION_MAGIC, 8);
  message.writeUInt16BE(FIXED_NEWSTYLE | NO_ZEROES, 16);
  return message;
}

function optionReply(option: number, type: number, data: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(20);
  header.writeBigUInt64BE(OPTION_REPLY_MAGIC, 0);
  header.writeUInt32BE(option, 8);
  header.writeUInt32BE(type, 12);
  header.writeUInt32BE(data.length, 16);
  return Buffer.concat([header, data]);
}

function sized(name: string): Buffer {
  const text = Buffer.from(name);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text]);
}

function exportInfo(sizeBytes: number): Buffer {
  const info = Buffer.alloc(12);
  info.writeUInt16BE(INFO_EXPORT, 0);
  info.writeBigUInt64BE(BigInt(sizeBytes), 2);
  info.writeUInt16BE(EXPORT_FLAGS, 10);
  return info;
}

function blockSizes(): Buffer {
  const info = Buffer.alloc(14);
  info.writeUInt16BE(INFO_BLOCK_SIZE, 0);
  info.writeUInt32BE(1, 2);
  info.writeUInt32BE(PREFERRED_BLOCK_BYTES, 6);
  info.writeUInt32BE(MAX_READ_BYTES, 10);
  return info;
}

function exportReply(sizeBytes: number, isPadded: boolean): Buffer {
  const reply = Buffer.alloc(10 + (isPadded ? OLD_PADDING_BYTES : 0));
  reply.writeBigUInt64BE(BigInt(sizeBytes), 0);
  reply.writeUInt16BE(EXPORT_FLAGS, 8);
  return reply;
}
