// The disk of a new VM on libvirt, from a new image and from one in the cache, snapshots and clones. The libvirtd is a
// private one, which requires root. Run alone: node tools/bench/storage.bench.mjs
import { fileURLToPath } from 'node:url';
import { measure, whyUnavailable } from './libvirt/measure.mjs';

const MAX_CACHED_MS = 1000;
const MAX_KIB_PER_VM = 1024;
const MAX_SNAPSHOT_MS = 300;
const MAX_CLONE_MS = 1000;

export default async function run() {
  const reason = whyUnavailable(['libvirtd', 'qemu-img', 'qemu-system-x86_64']);
  if (reason !== undefined) return { name: 'storage', rows: [{ what: `skipped: ${reason}`, value: 0, unit: '' }] };
  const { contentMib, first, cached, slowest, copy, bytesPerVm, snapshot, snapshotOwnPart, clone } =
    measure('storage.bench');
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
      { what: 'a snapshot of a stopped VM', value: snapshot, unit: 'ms' },
      {
        what: "of that, beyond libvirt's own time",
        value: snapshotOwnPart,
        unit: 'ms',
        target: `under ${MAX_SNAPSHOT_MS}`,
        ok: snapshotOwnPart < MAX_SNAPSHOT_MS,
      },
      {
        what: 'a clone: the whole operation',
        value: clone,
        unit: 'ms',
        ratio: clone / copy,
        target: `under ${MAX_CLONE_MS}`,
        ok: clone < MAX_CLONE_MS,
      },
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
