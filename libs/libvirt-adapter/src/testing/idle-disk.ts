import { execFile } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Text on the first serial port after the firmware has finished. */
export const IDLE_TEXT = 'halted';

const SECTOR_BYTES = 512;
export const IDLE_DISK_BYTES = 16 * 1024 ** 2;
/**
 * The second half of the disk: content that compression does not make small, so that an export waits for its reader.
 */
const CONTENT_OFFSET = IDLE_DISK_BYTES / 2;
const SIGNATURE = [0x55, 0xaa];
/**
 * Prints the text and halts the processor:
 *
 *     0: cld; xor ax, ax; mov ds, ax; mov si, 0x7c17; mov dx, 0x3f8
 *    11: lodsb; test al, al; jz 19; out dx, al; jmp 11
 *    19: cli; hlt; jmp 19
 */
const PROGRAM = Buffer.from('fc31c08ed8be177cbaf803ac84c07403eeebf8faf4ebfc', 'hex');

/**
 * Writes the image of a disk with a boot sector and meaningless content. Unlike a guest with an operating system, it
 * takes no processor time, and does not react to the power button.
 */
export async function writeIdleDisk(path: string, text = IDLE_TEXT): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hgtest-idle-'));
  try {
    const disk = Buffer.alloc(IDLE_DISK_BYTES);
    randomFillSync(disk, CONTENT_OFFSET);
    PROGRAM.copy(disk);
    disk.write(`${text}\r\n\0`, PROGRAM.length, 'latin1');
    disk.set(SIGNATURE, SECTOR_BYTES - SIGNATURE.length);
    const raw = join(folder, 'disk.raw');
    await writeFile(raw, disk);
    await promisify(execFile)('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, path]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
