import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What the loader prints on the console of the firmware. */
export const LOADER_MESSAGE = 'The unsigned loader runs.';

const DISK_BYTES = 4 * 1024 ** 2;
const FILE_ALIGNMENT = 0x200;
const SECTION_ALIGNMENT = 0x1000;

/** A disk with an unsigned EFI program, at the path from which firmware starts a disk. Uses mtools. */
export async function diskWithUnsignedLoader(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'hgtest-loader-'));
  try {
    const [disk, loader] = [join(folder, 'disk.img'), join(folder, 'bootx64.efi')];
    await writeFile(disk, '');
    await truncate(disk, DISK_BYTES);
    await writeFile(loader, efiProgram(LOADER_MESSAGE));
    await run('mformat', ['-i', disk, '-T', String(DISK_BYTES / 512), '-h', '2', '-s', '32', '::']);
    await run('mmd', ['-i', disk, '::/EFI', '::/EFI/BOOT']);
    await run('mcopy', ['-i', disk, loader, '::/EFI/BOOT/BOOTX64.EFI']);
    return await readFile(disk);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * An EFI program for x86-64 that prints a message and then waits forever.
 * Sources: Microsoft's PE format, and UEFI 2.10, sections 4.3 (system table) and 12.4 (text output).
 */
function efiProgram(message: string): Buffer {
  const text = Buffer.from(`\r\n${message}\r\n\0`, 'utf16le');
  const code = Buffer.from([
    ...[0x48, 0x83, 0xec, 0x28], // sub rsp, 0x28
    ...[0x48, 0x8b, 0x4a, 0x40], // mov rcx, [rdx + 0x40]: the console of the system table
    ...[0x48, 0x8d, 0x15, 0x05, 0x00, 0x00, 0x00], // lea rdx, [rip + 5]: the text after the code
    ...[0xff, 0x51, 0x08], // call [rcx + 8]: print it
    ...[0xeb, 0xfe], // jmp to itself
  ]);
  const section = Buffer.concat([code, text]);
  const padded = Buffer.concat([section, Buffer.alloc(FILE_ALIGNMENT - (section.length % FILE_ALIGNMENT))]);
  return Buffer.concat([headers(padded.length), padded]);
}

function headers(codeBytes: number): Buffer {
  const header = Buffer.alloc(FILE_ALIGNMENT);
  const PE = 0x40;
  header.write('MZ', 0, 'latin1');
  header.writeUInt32LE(PE, 0x3c);
  header.write('PE\0\0', PE, 'latin1');
  const file = PE + 4;
  header.writeUInt16LE(0x8664, file); // x86-64
  header.writeUInt16LE(1, file + 2); // sections
  header.writeUInt16LE(0xf0, file + 16); // size of the optional header
  header.writeUInt16LE(0x0206, file + 18); // executable, no debug information, no line numbers
  const optional = file + 20;
  header.writeUInt16LE(0x20b, optional); // PE32+
  header.writeUInt32LE(codeBytes, optional + 4);
  header.writeUInt32LE(SECTION_ALIGNMENT, optional + 16); // entry point
  header.writeUInt32LE(SECTION_ALIGNMENT, optional + 20); // base of the code
  header.writeUInt32LE(SECTION_ALIGNMENT, optional + 32);
  header.writeUInt32LE(FILE_ALIGNMENT, optional + 36);
  header.writeUInt32LE(2 * SECTION_ALIGNMENT, optional + 56); // size in memory
  header.writeUInt32LE(FILE_ALIGNMENT, optional + 60); // size of the headers
  header.writeUInt16LE(10, optional + 68); // an EFI application
  header.writeUInt32LE(16, optional + 108); // data directories, all empty
  const section = optional + 0xf0;
  header.write('.text', section, 'latin1');
  header.writeUInt32LE(codeBytes, section + 8);
  header.writeUInt32LE(SECTION_ALIGNMENT, section + 12);
  header.writeUInt32LE(codeBytes, section + 16);
  header.writeUInt32LE(FILE_ALIGNMENT, section + 20);
  header.writeUInt32LE(0x60000020, section + 36); // code, executable, readable
  return header;
}
