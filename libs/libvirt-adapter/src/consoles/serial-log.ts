import { open, type FileHandle } from 'node:fs/promises';

/** The amount of earlier output that is shown when a console opens. */
const BACKLOG_BYTES = 256 * 1024;

/**
 * The end of the file to which virtlogd writes the output of a guest's serial line.
 * @returns an empty buffer when there is no such file or this user may not read it
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
 * Removes from the end of the log the bytes that the open line delivers as well: output between opening the line and
 * reading the log is in both.
 */
export function withoutOverlap(log: Buffer, delivered: Buffer): Buffer {
  for (let length = Math.min(log.length, delivered.length); length > 0; length--) {
    if (log.subarray(log.length - length).equals(delivered.subarray(0, length)))
      return log.subarray(0, log.length - length);
  }
  return log;
}
