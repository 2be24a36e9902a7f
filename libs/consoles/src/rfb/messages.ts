import type { Rectangle } from './rectangle.js';

/** The numbers of RFB's messages, and the messages themselves. Source: RFC 6143, section 7. */

export const VERSION = 'RFB 003.008\n';
export const SECURITY_NONE = 1;

export const ClientMessage = {
  setPixelFormat: 0,
  setEncodings: 2,
  updateRequest: 3,
  key: 4,
  pointer: 5,
  cutText: 6,
  qemu: 255,
} as const;

export const ServerMessage = { update: 0, colors: 1, bell: 2, cutText: 3 } as const;

/** The negative numbers are pseudo-encodings: features of a client other than pixels. */
export const Encoding = {
  raw: 0,
  copyRect: 1,
  hextile: 5,
  zrle: 16,
  desktopSize: -223,
  cursor: -239,
  /** Key events that carry the key's position on the keyboard. Source: rfbproto, "QEMU Extended Key Event". */
  qemuKey: -258,
} as const;

export function updateHeader(rectangles: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(rectangles, 2);
  return bytes;
}

export function rectangleHeader({ x, y, width, height }: Rectangle, encoding: number): Buffer {
  const bytes = Buffer.alloc(12);
  [x, y, width, height].forEach((value, index) => bytes.writeUInt16BE(value, index * 2));
  bytes.writeInt32BE(encoding, 8);
  return bytes;
}

export function updateRequest(incremental: boolean, { x, y, width, height }: Rectangle): Buffer {
  const bytes = Buffer.alloc(10);
  bytes[0] = ClientMessage.updateRequest;
  bytes[1] = incremental ? 1 : 0;
  [x, y, width, height].forEach((value, index) => bytes.writeUInt16BE(value, 2 + index * 2));
  return bytes;
}

export function setEncodings(encodings: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 + encodings.length * 4);
  bytes[0] = ClientMessage.setEncodings;
  bytes.writeUInt16BE(encodings.length, 2);
  encodings.forEach((encoding, index) => bytes.writeInt32BE(encoding, 4 + index * 4));
  return bytes;
}

export function readEncodings(list: Buffer): number[] {
  return Array.from({ length: list.length / 4 }, (_none, index) => list.readInt32BE(index * 4));
}

export function keyEvent(down: boolean, keysym: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.set([ClientMessage.key, down ? 1 : 0]);
  bytes.writeUInt32BE(keysym, 4);
  return bytes;
}

/** @param keycode the key's position, as an XT scan code */
export function qemuKeyEvent(down: boolean, keysym: number, keycode: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.set([ClientMessage.qemu, 0, 0, down ? 1 : 0]);
  bytes.writeUInt32BE(keysym, 4);
  bytes.writeUInt32BE(keycode, 8);
  return bytes;
}

/** @param buttons a bit for each button that is down */
export function pointerEvent(buttons: number, x: number, y: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.set([ClientMessage.pointer, buttons]);
  bytes.writeUInt16BE(x, 2);
  bytes.writeUInt16BE(y, 4);
  return bytes;
}

/** A clipboard, in Latin 1. */
export function cutText(type: typeof ClientMessage.cutText | typeof ServerMessage.cutText, text: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head[0] = type;
  head.writeUInt32BE(text.length, 4);
  return Buffer.concat([head, text]);
}
