import { open, type FileHandle } from 'node:fs/promises';

/** How much of what scrolled by is worth showing. */
const BACKLOG_BYTES = 256 * 1024;

/**
 * The end of the file in which virtlogd keeps what a guest prints on its serial line.
 * @returns empty when there is none, or this user may not read it
 */
export async function readSerialLog(file: string | undefined, maxBytes = BACKLOG_BYTES): Promise<Buffer> {
  if (file === undefined) return Buffer.alloc(0);
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    const { size } = await handle.stat();
    const length = Math.min(size, maxBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead);
  } catch {
    return Buffer.alloc(0);
  } finally {
    await handle?.close();
  }
}

/**
 * Cuts off the end of the log what the open line delivers again: bytes printed between the opening of the line and the
 * reading of the log are in both.
 */
export function withoutOverlap(log: Buffer, delivered: Buffer): Buffer {
  for (let length = Math.min(log.length, delivered.length); length > 0; length--) {
    if (log.subarray(log.length - length).equals(delivered.subarray(0, length)))
      return log.subarray(0, log.length - length);
  }
  return log;
}
