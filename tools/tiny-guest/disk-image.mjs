import {
  closeSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { lastLine, runCommand, searchPath } from '../local/run-command.mjs';

const SECTOR = 512;
const MIB = 1024 * 1024;

/** Partitions begin at 1 MiB, as everywhere; the code that starts the first one lies before it. */
const FIRST_SECTOR = MIB / SECTOR;

/** Virtual size of the disk; the file is smaller. */
const DISK_BYTES = 62 * MIB;

/** Dates and numbers that a file system would else choose by itself: the same parts give the same bytes. */
const EPOCH = 1_700_000_000;
const FAT_SERIAL = '48475447';
const ROOT_UUID = '6865616d-6761-4474-8000-74696e790001';

/**
 * What the kernel is told. The tests of its ciphers and the places it hides in would cost half a second under software
 * emulation; both consoles get its messages, and the serial one is the main one.
 */
const COMMAND_LINE =
  'console=tty0 console=ttyS0,115200 loglevel=7 cryptomgr.notests nokaslr mitigations=off no_timer_check panic=10';

const SYSLINUX_CONFIG = `SERIAL 0 115200
DEFAULT tiny
PROMPT 0
LABEL tiny
  KERNEL /vmlinuz
  INITRD /initrd
  APPEND ${COMMAND_LINE}
`;

/**
 * Writes the guest's disk: a boot partition (FAT, with SYSLINUX, the kernel and the RAM disk) and an empty root
 * partition (ext4) which the guest fills at its first boot. No mount, no loop device, no privilege.
 * @param {{ parts: import('./parts.mjs').Parts, initrd: Buffer, work: string, target: string }} options `target` becomes a qcow2
 */
export async function writeDiskImage({ parts, initrd, work, target }) {
  const raw = join(work, 'disk.raw');
  const boot = join(work, 'boot.fat');
  const root = join(work, 'root.ext4');
  const bootBytes = Math.ceil((statSync(parts.kernel).size + initrd.length + MIB) / MIB) * MIB;
  const rootBytes = DISK_BYTES - MIB - bootBytes;

  await makeBootPartition(parts, initrd, work, boot, bootBytes);
  await makeRootPartition(root, rootBytes);
  const disk = openSync(raw, 'w');
  try {
    writeSync(disk, bootRecord(readFileSync(parts.boot.mbr), bootBytes / SECTOR, rootBytes / SECTOR), 0, SECTOR, 0);
    copyInto(disk, boot, MIB);
    copyInto(disk, root, MIB + bootBytes);
  } finally {
    closeSync(disk);
  }
  truncateSync(raw, DISK_BYTES);
  await must('qemu-img', ['convert', '-q', '-f', 'raw', '-O', 'qcow2', raw, target]);
}

/**
 * @param {import('./parts.mjs').Parts} parts
 * @param {Buffer} initrd
 * @param {string} work
 * @param {string} image
 * @param {number} bytes
 */
async function makeBootPartition({ boot, kernel }, initrd, work, image, bytes) {
  const env = {
    SOURCE_DATE_EPOCH: String(EPOCH),
    TZ: 'UTC',
    MTOOLS_SKIP_CHECK: '1',
    MTOOLSRC: '/dev/null',
    PATH: `${boot.tools}:${searchPath()}`,
  };
  writeFileSync(image, '');
  truncateSync(image, bytes);
  const geometry = ['-H', String(FIRST_SECTOR), '-h', '64', '-s', '32', '-T', String(bytes / SECTOR)];
  await must(join(boot.tools, 'mformat'), ['-i', image, ...geometry, '-N', FAT_SERIAL, '-v', 'HEADGATE', '::'], env);
  await must(boot.syslinux, ['--install', image], env);
  const files = { vmlinuz: readFileSync(kernel), initrd, 'syslinux.cfg': Buffer.from(SYSLINUX_CONFIG) };
  for (const [name, data] of Object.entries(files)) {
    const path = join(work, name);
    writeFileSync(path, data);
    utimesSync(path, EPOCH, EPOCH);
    await must(join(boot.tools, 'mcopy'), ['-m', '-i', image, path, `::/${name}`], env);
  }
}

/**
 * @param {string} image
 * @param {number} bytes
 */
async function makeRootPartition(image, bytes) {
  writeFileSync(image, '');
  truncateSync(image, bytes);
  const fixed = ['-L', 'headgate-root', '-U', ROOT_UUID, '-E', `hash_seed=${ROOT_UUID},root_owner=0:0`];
  await must('mke2fs', ['-q', '-F', '-t', 'ext4', '-m', '0', ...fixed, image], { E2FSPROGS_FAKE_TIME: String(EPOCH) });
}

/**
 * The first sector: code that starts the active partition, and the table of partitions.
 * @param {Buffer} code
 * @param {number} bootSectors
 * @param {number} rootSectors
 */
function bootRecord(code, bootSectors, rootSectors) {
  const sector = Buffer.alloc(SECTOR);
  code.copy(sector, 0, 0, 440);
  partition(0x80, 0x0e, FIRST_SECTOR, bootSectors).copy(sector, 446);
  partition(0x00, 0x83, FIRST_SECTOR + bootSectors, rootSectors).copy(sector, 462);
  sector.writeUInt16BE(0x55aa, 510);
  return sector;
}

/** @param {number} flag @param {number} type @param {number} start @param {number} sectors */
function partition(flag, type, start, sectors) {
  const entry = Buffer.alloc(16);
  // Cylinders, heads and sectors say «look at the plain numbers» (1023, 254, 63).
  entry.set([flag, 0xfe, 0xff, 0xff, type, 0xfe, 0xff, 0xff]);
  entry.writeUInt32LE(start, 8);
  entry.writeUInt32LE(sectors, 12);
  return entry;
}

/** @param {number} disk @param {string} file @param {number} at */
function copyInto(disk, file, at) {
  const data = readFileSync(file);
  writeSync(disk, data, 0, data.length, at);
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
async function must(program, args, env) {
  const result = await runCommand(program, args, { env, timeoutMs: 120_000 });
  if (result.code !== 0) throw new Error(`${program.split('/').at(-1)} failed (${lastLine(result)}).`);
}
