// The disk of a new VM on libvirt: from a new image, and from one in the cache. The libvirtd is a private one, which requires root.
// Run alone: node tools/bench/storage.bench.mjs
import { fileURLToPath } from 'node:url';
import { measure, whyUnavailable } from './libvirt/measure.mjs';

const MAX_CACHED_MS = 1000;
const MAX_KIB_PER_VM = 1024;

export default async function run() {
  const reason = whyUnavailable(['libvirtd', 'qemu-img', 'qemu-system-x86_64']);
  if (reason !== undefined) return { name: 'storage', rows: [{ what: `skipped: ${reason}`, value: 0, unit: '' }] };
  const { contentMib, first, cached, slowest, copy, bytesPerVm } = measure('storage.bench');
  return {
    name: 'storage',
    rows: [
      { what: `plain copy of an image with ${contentMib} MiB`, value: copy, unit: 'ms' },
      { what: 'first VM from it: download, conversion, disk', value: first, unit: 'ms', ratio: first / copy },
      {
        what: 'another VM from it: the whole creation',
        value: cached,
        unit: 'ms',
        ratio: cached / copy,
        target: `under ${MAX_CACHED_MS}`,
        ok: cached < MAX_CACHED_MS,
      },
      { what: 'the slowest of them', value: slowest, unit: 'ms' },
      {
        what: 'space in the pool per further VM',
        value: bytesPerVm / 1024,
        unit: 'KiB',
        target: `under ${MAX_KIB_PER_VM}`,
        ok: bytesPerVm < MAX_KIB_PER_VM * 1024,
      },
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
