// Backups of a running guest whose disk has changed by 1 MiB. There is no agent, so that nothing waits for a flush of
// its file systems. Run alone: npm run bench -- backups
import { fileURLToPath } from 'node:url';
import { measure, whyUnavailable } from './libvirt/measure.mjs';

const MAX_READ_MIB = 64;
const MAX_SECONDS = 3;

export default async function run() {
  const reason = whyUnavailable(['qemu-img', 'qemu-nbd', 'qemu-system-x86_64', 'libvirtd', 'virsh', 'setpriv']);
  if (reason !== undefined) return { name: 'backups', rows: [{ what: `skipped: ${reason}`, value: 0, unit: '' }] };
  const { diskMib, served, copied } = measure('backups.bench', {
    project: 'apps/vm-service',
    folder: 'src/backups/bench',
  });
  const rowsOf = (/** @type {string} */ how, /** @type {typeof served} */ { firstMs, nextMs, nextReadMib }) => [
    { what: `first backup of ${diskMib} MiB, ${how}`, value: firstMs / 1000, unit: 's' },
    {
      what: `backup after a change of 1 MiB, ${how}`,
      value: nextMs / 1000,
      unit: 's',
      target: `under ${MAX_SECONDS}`,
      ok: nextMs < MAX_SECONDS * 1000,
    },
    {
      what: 'read for it',
      value: nextReadMib,
      unit: 'MiB',
      target: `under ${MAX_READ_MIB}`,
      ok: nextReadMib < MAX_READ_MIB,
    },
  ];
  return {
    name: 'backups',
    rows: [...rowsOf('served by QEMU', served), ...rowsOf('copied first, with an I/O thread', copied)],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
