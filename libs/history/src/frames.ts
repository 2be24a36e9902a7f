import { constants, crc32, deflateRaw, inflateRawSync } from 'node:zlib';
import { promisify } from 'node:util';

const deflate = promisify(deflateRaw);

/** checksum u32, length of the payload u32, kind u8, coding u8, u16 unused, first time f64, last time f64 */
const HEADER_BYTES = 28;
/** Packing fewer bytes saves less than it takes to unpack them. */
const MIN_PACKED_BYTES = 512;
const PACKED = 1;

/**
 * `head`: the contexts when a file begins. `entries`: entries when it begins. `records`: changes. `resumed`: the
 * changes during a gap. `alive`: nothing has changed until then.
 */
export const FRAME_KINDS = ['head', 'entries', 'records', 'resumed', 'alive'] as const;
export type FrameKind = (typeof FRAME_KINDS)[number];

/** A frame of a file. Its times are those of its changes, in milliseconds since the epoch. */
export interface Frame {
  readonly kind: FrameKind;
  readonly first: number;
  readonly last: number;
  readonly payload: Buffer;
  readonly isPacked: boolean;
  /** Where the next frame begins. */
  readonly end: number;
}

export interface FrameContent {
  readonly kind: FrameKind;
  readonly first: number;
  readonly last: number;
  readonly json: string;
}

export async function encodeFrame({ kind, first, last, json }: FrameContent): Promise<Buffer> {
  const plain = Buffer.from(json);
  const isPacked = plain.length >= MIN_PACKED_BYTES;
  const payload = isPacked ? await deflate(plain, { level: constants.Z_BEST_SPEED }) : plain;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(payload.length, 4);
  header.writeUInt8(FRAME_KINDS.indexOf(kind), 8);
  header.writeUInt8(isPacked ? PACKED : 0, 9);
  header.writeDoubleLE(first, 12);
  header.writeDoubleLE(last, 20);
  header.writeUInt32LE(crc32(payload, crc32(header.subarray(4))), 0);
  return Buffer.concat([header, payload]);
}

/** @returns undefined when the frame at this place is incomplete or damaged */
export function frameAt(file: Buffer, at: number): Frame | undefined {
  if (at + HEADER_BYTES > file.length) return undefined;
  const end = at + HEADER_BYTES + file.readUInt32LE(at + 4);
  const kind = FRAME_KINDS[file.readUInt8(at + 8)];
  if (end > file.length || kind === undefined) return undefined;
  if (file.readUInt32LE(at) !== crc32(file.subarray(at + 4, end))) return undefined;
  return {
    kind,
    first: file.readDoubleLE(at + 12),
    last: file.readDoubleLE(at + 20),
    payload: file.subarray(at + HEADER_BYTES, end),
    isPacked: file.readUInt8(at + 9) === PACKED,
    end,
  };
}

/** The JSON value of a frame. It is unpacked at once: a frame is small, and a list has hundreds of them. */
export function contentOf({ payload, isPacked }: Frame): unknown {
  return JSON.parse((isPacked ? inflateRawSync(payload) : payload).toString());
}
