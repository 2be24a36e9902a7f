import { open, type FileHandle } from 'node:fs/promises';
import { DomainError } from '@headgate/domain-contracts';

export interface DiskImage {
  readonly format: 'qcow2' | 'raw' | 'vmdk' | 'vhdx';
  /** The virtual size; 0 where only qemu-img knows it. */
  readonly bytes: number;
}

const HEADER_BYTES = 104;
/** Bit in `incompatible_features`: the data is in an external file. */
const EXTERNAL_DATA_FILE = 1n << 2n;

/** Formats that would otherwise be accepted as raw disks. */
const UNSUPPORTED_FORMATS: readonly (readonly [name: string, magic: Buffer])[] = [
  ['VMDK 3', Buffer.from('COWD')],
  ['VHD', Buffer.from('conectix')],
  ['VDI', Buffer.from('<<< ')],
  ['QED', Buffer.from('QED\0')],
  ['zip', Buffer.from('PK\x03\x04', 'latin1')],
  ['bzip2', Buffer.from('BZh')],
  ['7-Zip', Buffer.from('7z\xbc\xaf\x27\x1c', 'latin1')],
  // Compressed more than once: one layer is removed by the download.
  ['gzip', Buffer.from('\x1f\x8b', 'latin1')],
  ['zstd', Buffer.from('\x28\xb5\x2f\xfd', 'latin1')],
  ['xz', Buffer.from('\xfd7zXZ\0', 'latin1')],
];

const VMDK_MAGIC = Buffer.from('KDMV');
const VHDX_MAGIC = Buffer.from('vhdxfile');
const SECTOR_BYTES = 512;
/** QEMU reads the name of a parent image in this part of the file, and the description where the header says. */
const VMDK_DESCRIPTION_BYTES = 64 * 1024;

/** The first bytes in which a text is recognized. A disk has zeros there. */
const TEXT_SAMPLE_BYTES = 4096;
/** Volume descriptors of ISO 9660 and UDF are at this offset. */
const VOLUME_DESCRIPTOR_OFFSET_BYTES = 32_769;
const VOLUME_DESCRIPTORS = ['CD001', 'BEA01'];

/**
 * Reads the header of an untrusted image. A qcow2 image can name other files of this machine as its backing or data
 * file; such an image is rejected before any program opens it. Source:
 * https://gitlab.com/qemu-project/qemu/-/blob/master/docs/interop/qcow2.txt
 * @throws DomainError INVALID_SOURCE
 */
export async function inspectImage(file: string): Promise<DiskImage> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    if (size === 0) throw invalid('The image is empty.');
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const header = buffer.subarray(0, bytesRead);
    if (isQcow2(header)) return inspectQcow2(header);
    if (startsWith(header, VMDK_MAGIC)) return await inspectVmdk(handle, header);
    if (startsWith(header, VHDX_MAGIC)) return { format: 'vhdx', bytes: 0 };
    for (const [name, magic] of UNSUPPORTED_FORMATS) {
      if (startsWith(header, magic)) throw invalid(`The image is a ${name} file: convert it to qcow2 or raw first.`);
    }
    if (await isText(handle)) throw invalid('The image is a text, not a disk.');
    return { format: 'raw', bytes: size };
  } finally {
    await handle.close();
  }
}

/**
 * Checks that a file is an ISO image.
 * @throws DomainError INVALID_SOURCE
 */
export async function checkIso(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    const { buffer } = await handle.read(Buffer.alloc(5), 0, 5, VOLUME_DESCRIPTOR_OFFSET_BYTES);
    if (!VOLUME_DESCRIPTORS.includes(buffer.toString('latin1')))
      throw invalid('The file is not an ISO image: use import for the image of a disk.');
  } finally {
    await handle.close();
  }
}

async function isText(handle: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(TEXT_SAMPLE_BYTES), 0, TEXT_SAMPLE_BYTES, 0);
  const sample = buffer.subarray(0, bytesRead);
  return !sample.some((byte) => byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d, 0x1b].includes(byte));
}

function inspectQcow2(header: Buffer): DiskImage {
  if (header.length < 72) throw invalid('The qcow2 image ends within its header.');
  const version = header.readUInt32BE(4);
  if (version !== 2 && version !== 3)
    throw invalid(`The image is qcow2 version ${version}: only versions 2 and 3 are supported.`);
  if (header.readBigUInt64BE(8) !== 0n)
    throw invalid('The qcow2 image has a backing file: flatten it with `qemu-img convert` first.');
  if (header.readUInt32BE(32) !== 0) throw invalid('The qcow2 image is encrypted: decrypt it first.');
  if (version === 3 && header.length >= 80 && (header.readBigUInt64BE(72) & EXTERNAL_DATA_FILE) !== 0n) {
    throw invalid('The qcow2 image keeps its data in another file: make it one file with `qemu-img convert` first.');
  }
  const bytes = header.readBigUInt64BE(24);
  if (bytes === 0n || bytes > BigInt(Number.MAX_SAFE_INTEGER))
    throw invalid('The qcow2 image claims an impossible size.');
  return { format: 'qcow2', bytes: Number(bytes) };
}

/**
 * A VMDK file can name other files: as its parent, or, when it claims no size of its own, as its extents.
 * Source: https://gitlab.com/qemu-project/qemu/-/blob/master/block/vmdk.c
 */
async function inspectVmdk(handle: FileHandle, header: Buffer): Promise<DiskImage> {
  if (header.length < 72) throw invalid('The VMDK image ends within its header.');
  const version = header.readUInt32LE(4);
  if (version < 1 || version > 3)
    throw invalid(`The image is VMDK version ${version}: only versions 1 to 3 are supported.`);
  const [capacity, offset] = [header.readBigUInt64LE(12), header.readBigUInt64LE(28)];
  if (capacity === 0n) throw invalid('The VMDK image keeps its data in other files: make it one file first.');
  const bytes = capacity * BigInt(SECTOR_BYTES);
  if (bytes > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid('The VMDK image claims an impossible size.');
  const starts = [0, Number(offset) * SECTOR_BYTES].filter((start) => Number.isSafeInteger(start));
  for (const start of starts) {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(VMDK_DESCRIPTION_BYTES),
      0,
      VMDK_DESCRIPTION_BYTES,
      start,
    );
    if (buffer.subarray(0, bytesRead).includes('parentFileNameHint'))
      throw invalid('The VMDK image is the difference to another file: make it one file first.');
  }
  return { format: 'vmdk', bytes: Number(bytes) };
}

const startsWith = (header: Buffer, magic: Buffer): boolean => header.subarray(0, magic.length).equals(magic);

/** The QEMU limit for the name of a backing file. */
const MAX_BACKING_NAME_BYTES = 1023;

/** The backing file that the header of a qcow2 image names, as it is written there. */
export async function backingFileOf(handle: FileHandle): Promise<string | undefined> {
  const { buffer: header, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  if (bytesRead < 24 || !isQcow2(header)) return undefined;
  const offset = Number(header.readBigUInt64BE(8));
  const length = Math.min(header.readUInt32BE(16), MAX_BACKING_NAME_BYTES);
  if (offset === 0 || length === 0) return undefined;
  const { buffer, bytesRead: nameLength } = await handle.read(Buffer.alloc(length), 0, length, offset);
  return toFileName(buffer.toString('utf8', 0, nameLength));
}

/** QEMU also accepts `file:` URLs and JSON descriptions. */
function toFileName(name: string): string | undefined {
  if (!name.startsWith('json:')) return name.replace(/^file:/, '');
  return /"(?:file\.)?filename"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(name)?.[1];
}

const isQcow2 = (header: Buffer): boolean => header.subarray(0, 4).equals(Buffer.from('QFI\xfb', 'latin1'));

const invalid = (message: string): DomainError => new DomainError('INVALID_SOURCE', message);
