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

const SECTOR_BYTES = 512;
const MIB = 1024 * 1024;

/** The first partition begins at 1 MiB, as usual; the boot code is in front of it. */
const FIRST_SECTOR = MIB / SECTOR_BYTES;

/** Virtual size of the disk; the file is smaller. */
const DISK_BYTES = 62 * MIB;

/** Fixed values for timestamps and IDs that file systems would otherwise randomize, for reproducible builds. */
const EPOCH_SECONDS = 1_700_000_000;
const FAT_SERIAL = '48475447';
const ROOT_UUID = '6865616d-6761-4474-8000-74696e790001';

/**
 * The kernel command line. It disables cipher self-tests and KASLR, which take half a second under software emulation.
 * Kernel messages go to both consoles; the serial one is the main console.
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
 * Writes the disk: a boot partition (FAT, with SYSLINUX, the kernel and the RAM disk) and an empty root partition
 * (ext4) that the guest fills at its first boot. Needs neither mounts nor loop devices nor privileges.
 * @param {{ parts: import('./parts.mjs').Parts, initrd: Buffer, work: string, target: string }} options `target` is the
 *   qcow2 image to write
 */
export async function writeDiskImage({ parts, initrd, work, target }) {
  const raw = join(work, 'disk.raw');
  const boot = join(work, 'boot.fat');
  const root = join(work, 'root.ext4');
  const bootBytes = Math.ceil((statSync(parts.kernel).size + initrd.length + MIB) / MIB) * MIB;
  const rootBytes = DISK_BYTES - MIB - bootBytes;

  await writeBootPartition({ parts, initrd, work, image: boot, bytes: bootBytes });
  await writeRootPartition(root, rootBytes);
  const disk = openSync(raw, 'w');
  try {
    writeSync(
      disk,
      bootRecord(readFileSync(parts.boot.mbr), bootBytes / SECTOR_BYTES, rootBytes / SECTOR_BYTES),
      0,
      SECTOR_BYTES,
      0,
    );
    copyInto(disk, boot, MIB);
    copyInto(disk, root, MIB + bootBytes);
  } finally {
    closeSync(disk);
  }
  truncateSync(raw, DISK_BYTES);
  await runOrThrow('qemu-img', ['convert', '-q', '-f', 'raw', '-O', 'qcow2', raw, target]);
}

/**
 * @param {{ parts: import('./parts.mjs').Parts, initrd: Buffer, work: string, image: string, bytes: number }} partition
 */
async function writeBootPartition({ parts: { boot, kernel }, initrd, work, image, bytes }) {
  const env = {
    SOURCE_DATE_EPOCH: String(EPOCH_SECONDS),
    TZ: 'UTC',
    MTOOLS_SKIP_CHECK: '1',
    MTOOLSRC: '/dev/null',
    PATH: `${boot.tools}:${searchPath()}`,
  };
  writeFileSync(image, '');
  truncateSync(image, bytes);
  const geometry = ['-H', String(FIRST_SECTOR), '-h', '64', '-s', '32', '-T', String(bytes / SECTOR_BYTES)];
  await runOrThrow(
    join(boot.tools, 'mformat'),
    ['-i', image, ...geometry, '-N', FAT_SERIAL, '-v', 'HEADGATE', '::'],
    env,
  );
  await runOrThrow(boot.syslinux, ['--install', image], env);
  const files = { vmlinuz: readFileSync(kernel), initrd, 'syslinux.cfg': Buffer.from(SYSLINUX_CONFIG) };
  for (const [name, data] of Object.entries(files)) {
    const path = join(work, name);
    writeFileSync(path, data);
    utimesSync(path, EPOCH_SECONDS, EPOCH_SECONDS);
    await runOrThrow(join(boot.tools, 'mcopy'), ['-m', '-i', image, path, `::/${name}`], env);
  }
}

/**
 * @param {string} image
 * @param {number} bytes
 */
async function writeRootPartition(image, bytes) {
  writeFileSync(image, '');
  truncateSync(image, bytes);
  const fixed = ['-L', 'headgate-root', '-U', ROOT_UUID, '-E', `hash_seed=${ROOT_UUID},root_owner=0:0`];
  await runOrThrow('mke2fs', ['-q', '-F', '-t', 'ext4', '-m', '0', ...fixed, image], {
    E2FSPROGS_FAKE_TIME: String(EPOCH_SECONDS),
  });
}

/**
 * The master boot record: boot code and partition table.
 * @param {Buffer} code
 * @param {number} bootSectors
 * @param {number} rootSectors
 */
function bootRecord(code, bootSectors, rootSectors) {
  const sector = Buffer.alloc(SECTOR_BYTES);
  code.copy(sector, 0, 0, 440);
  partition(0x80, 0x0e, FIRST_SECTOR, bootSectors).copy(sector, 446);
  partition(0x00, 0x83, FIRST_SECTOR + bootSectors, rootSectors).copy(sector, 462);
  sector.writeUInt16BE(0x55aa, 510);
  return sector;
}

/** @param {number} flag @param {number} type @param {number} start @param {number} sectors */
function partition(flag, type, start, sectors) {
  const entry = Buffer.alloc(16);
  // The CHS values (1023, 254, 63) mean that the LBA fields apply.
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
async function runOrThrow(program, args, env) {
  const result = await runCommand(program, args, { env, timeoutMs: 120_000 });
  if (result.code !== 0) throw new Error(`${program.split('/').at(-1)} failed (${lastLine(result)}).`);
}
