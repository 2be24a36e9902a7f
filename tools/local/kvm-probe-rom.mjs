/** The value that the program below writes to port 0xf4 if every instruction worked. */
const RESULT = 243;

/** QEMU's isa-debug-exit exits with (value << 1) | 1, truncated to eight bits. */
export const PROBE_EXIT_CODE = ((RESULT << 1) | 1) & 0xff;

/**
 * Boots like a kernel (real mode, protected mode, paging, long mode) and then runs five million rounds of a random
 * number generator through memory. A few instructions are not enough: on some machines KVM executes them, but so slowly
 * that no guest boots. Software emulation takes 0.1 s for this.
 */
const PROGRAM = [
  // 16 bit, at F000:0000
  'fa', //                      cli
  '2e660f0116c800', //          lgdtl %cs:0xc8
  '0f20c00c010f22c0', //        %cr0 |= 1: protected mode
  '66ea18000f000800', //        ljmpl $0x08, $0xf0018
  // 32 bit, at 0xf0018
  '66b810008ed88ec0', //        data segments
  'bf0010000031c0b9000c0000fcf3ab', // clear 0x1000 to 0x4000
  'c7050010000003200000', //    0x1000: the first table points to the second at 0x2000
  'c7050020000003300000', //    0x2000: which points to the third at 0x3000
  'c7050030000083000000', //    0x3000: which maps the first 2 MiB onto themselves
  '0f20e00c200f22e0', //        %cr4 |= PAE
  'b8001000000f22d8', //        %cr3 = 0x1000
  'b9800000c00f3280cc010f30', // EFER |= LME
  '0f20c00d000000800f22c0', //  %cr0 |= PG: long mode
  'ea7b000f001800', //          ljmp $0x18, $0xf007b
  // 64 bit, at 0xf007b
  'b801000000', //              mov $1, %eax
  'b9404b4c00', //              mov $5000000, %ecx
  'bf00800000', //              mov $0x8000, %edi
  '69c00d661900', //            imul $1664525, %eax, %eax
  '055ff36e3c', //              add $1013904223, %eax
  '8907', //                    mov %eax, (%rdi)
  '8b07', //                    mov (%rdi), %eax
  'ffc9', //                    dec %ecx
  '75ed', //                    jnz to the imul
  'c1e818', //                  shr $24, %eax
  '66baf400ee', //              out %al, $0xf4
  'f4', //                      hlt
].join('');

/**
 * The segment descriptors (null, 32-bit code, data, 64-bit code), followed by their size and address, which lgdtl reads
 * at 0xc8.
 */
const SEGMENTS = '0000000000000000' + 'ffff0000009bcf00' + 'ffff00000093cf00' + 'ffff0000009baf00' + '1f00a8000f00';
const SEGMENTS_AT = 0xa8;

/** An x86 CPU starts sixteen bytes below the end of its ROM: ljmpw $0xf000, $0x0000. */
const RESET_VECTOR = 'ea000000f0';
const RESET_VECTOR_AT = 0xfff0;

/**
 * A 64 KiB BIOS that contains only the probe.
 * @returns {Buffer}
 */
export function probeRom() {
  const rom = Buffer.alloc(0x10000, 0xf4);
  rom.write(PROGRAM, 0, 'hex');
  rom.write(SEGMENTS, SEGMENTS_AT, 'hex');
  rom.write(RESET_VECTOR, RESET_VECTOR_AT, 'hex');
  return rom;
}
