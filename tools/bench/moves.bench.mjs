// The copy of a disk between two files of this machine, compared with its two halves alone. Run alone: npm run bench --
// moves
import { fileURLToPath } from 'node:url';
import { measure, whyUnavailable } from './libvirt/measure.mjs';

const MIN_RATIO = 0.8;

export default async function run() {
  const reason = whyUnavailable(['qemu-img', 'qemu-nbd']);
  if (reason !== undefined) return { name: 'moves', rows: [{ what: `skipped: ${reason}`, value: 0, unit: '' }] };
  const { diskMib, read, write, move, hash, reference, fill, fileRead, fileWrite } = measure('moves.bench');
  const speed = (/** @type {number} */ ms) => (diskMib / ms) * 1000;
  const ratio = Math.max(read, write) / move;
  // Each half alone as fast as any program does it.
  const fillRatio = Math.max(Math.min(read, fileRead), Math.min(write, fileWrite)) / fill;
  return {
    name: 'moves',
    rows: [
      { what: `read the source alone, ${diskMib} MiB without zeros`, value: speed(read), unit: 'MiB/s' },
      { what: 'write the destination alone', value: speed(write), unit: 'MiB/s' },
      {
        what: 'copy, compared with the slower one',
        value: speed(move),
        unit: 'MiB/s',
        ratio,
        target: `at least ${MIN_RATIO}`,
        ok: ratio >= MIN_RATIO,
      },
      { what: 'read the source alone, by qemu-img from its file', value: speed(fileRead), unit: 'MiB/s' },
      { what: 'write the destination alone, by qemu-img into its file', value: speed(fileWrite), unit: 'MiB/s' },
      {
        what: 'copy from file to file on this machine, compared with the slower one',
        value: speed(fill),
        unit: 'MiB/s',
        ratio: fillRatio,
        target: `at least ${MIN_RATIO}`,
        ok: fillRatio >= MIN_RATIO,
      },
      {
        what: 'the same copy by qemu-img between two servers, compared with the slower one',
        value: speed(reference),
        unit: 'MiB/s',
        ratio: Math.max(read, write) / reference,
      },
      { what: 'hash one end for the comparison', value: speed(hash), unit: 'MiB/s' },
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
