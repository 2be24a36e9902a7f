// The export of a disk of libvirt, compared with the compressor and the converter alone. Run alone: npm run bench --
// export
import { fileURLToPath } from 'node:url';
import { measure, whyUnavailable } from './libvirt/measure.mjs';

const MIN_RATIO = 0.9;
const MAX_GROWTH_MIB = 64;

export default async function run() {
  const reason = whyUnavailable(['qemu-img', 'qemu-nbd']);
  if (reason !== undefined) return { name: 'export', rows: [{ what: `skipped: ${reason}`, value: 0, unit: '' }] };
  const { diskMib, growthMib, compressor, exported, converter, converted } = measure('export.bench');
  const speed = (/** @type {number} */ ms) => (diskMib / ms) * 1000;
  const comparison = (/** @type {number} */ alone, /** @type {number} */ ours) => ({
    ratio: alone / ours,
    target: `at least ${MIN_RATIO}`,
    ok: alone / ours >= MIN_RATIO,
  });
  return {
    name: 'export',
    rows: [
      { what: `gzip alone on a disk with ${diskMib} MiB`, value: speed(compressor), unit: 'MiB/s' },
      { what: 'export as raw.gz', value: speed(exported), unit: 'MiB/s', ...comparison(compressor, exported) },
      { what: 'qemu-img alone, compressed qcow2', value: speed(converter), unit: 'MiB/s' },
      { what: 'export as qcow2', value: speed(converted), unit: 'MiB/s', ...comparison(converter, converted) },
      {
        what: 'growth of the process during an export',
        value: growthMib,
        unit: 'MiB',
        target: `under ${MAX_GROWTH_MIB}`,
        ok: growthMib < MAX_GROWTH_MIB,
      },
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
