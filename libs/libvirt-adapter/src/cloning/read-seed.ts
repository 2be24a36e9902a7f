import { open } from 'node:fs/promises';

const SECTOR_BYTES = 2048;
/** Place of the root directory's record: in the primary volume descriptor, which is the 16th sector. ECMA-119, 8.4. */
const ROOT_RECORD = 16 * SECTOR_BYTES + 156;
const MAX_DIRECTORY_BYTES = 64 * SECTOR_BYTES;
const MAX_USER_DATA_BYTES = 1024 ** 2;

interface DirectoryRecord {
  readonly name: string;
  readonly offset: number;
  readonly bytes: number;
}

/** The record of a file or directory. ECMA-119, 9.1. */
const readRecord = (data: Buffer, at: number): DirectoryRecord => ({
  name: data.toString('latin1', at + 33, at + 33 + data.readUInt8(at + 32)),
  offset: data.readUInt32LE(at + 2) * SECTOR_BYTES,
  bytes: data.readUInt32LE(at + 10),
});

/** The cloud-init user data on a disc that this service has written. @returns undefined if the file is no such disc */
export async function readUserData(path: string): Promise<string | undefined> {
  const handle = await open(path, 'r');
  try {
    const read = async (offset: number, bytes: number): Promise<Buffer> => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, offset);
      return buffer.subarray(0, bytesRead);
    };
    const start = await read(ROOT_RECORD, 34);
    if (start.length < 34) return undefined;
    const root = readRecord(start, 0);
    const directory = await read(root.offset, Math.min(root.bytes, MAX_DIRECTORY_BYTES));
    for (let at = 0; at + 34 <= directory.length && directory.readUInt8(at) > 0; at += directory.readUInt8(at)) {
      const { name, offset, bytes } = readRecord(directory, at);
      // ISO 9660 itself has no lower case and no hyphens.
      if (/^USER_DAT/i.test(name)) return (await read(offset, Math.min(bytes, MAX_USER_DATA_BYTES))).toString('utf8');
    }
    return undefined;
  } finally {
    await handle.close();
  }
}
