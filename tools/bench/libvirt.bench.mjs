// libvirt over its RPC protocol and through virsh: single questions, a list of 1,000 domains, and power actions. The
// libvirtd is a private one with QEMU domains, started for this; that requires root. Run alone: node
// tools/bench/libvirt.bench.mjs
import { fileURLToPath } from 'node:url';
import { measure, whyUnavailable } from './libvirt/measure.mjs';

const MAX_OWN_MS = 5;
const MAX_LIST_MS = 300;
const MAX_PAUSE_MS = 1000;

export default async function run() {
  const reason = whyUnavailable(['libvirtd', 'virsh', 'qemu-system-x86_64']);
  if (reason !== undefined) return { name: 'libvirt', rows: [{ what: `skipped: ${reason}`, value: 0, unit: '' }] };
  const { domains, uploads, question, lists, operations, pause } = measure('libvirt.bench');
  const operation = (kind) => [
    { what: `${kind}: libvirt's own time`, value: operations.libvirt[kind], unit: 'ms' },
    {
      what: `${kind}: ours beyond it, with ${domains} domains`,
      value: operations.own[kind],
      unit: 'ms',
      target: `at most ${MAX_OWN_MS}`,
      ok: operations.own[kind] <= MAX_OWN_MS,
    },
  ];
  return {
    name: 'libvirt',
    rows: [
      { what: 'one question to a virsh of its own', value: question.virsh, unit: 'ms' },
      {
        what: "one question through the service's virsh, which runs on",
        value: question.fallback,
        unit: 'ms',
        ratio: question.fallback / question.virsh,
      },
      {
        what: 'one question over a held RPC connection',
        value: question.rpc,
        unit: 'ms',
        ratio: question.rpc / question.virsh,
        target: 'at most 0.1 of virsh',
        ok: question.rpc <= question.virsh / 10,
      },
      { what: `list of ${domains} domains through virsh`, value: lists.virsh, unit: 'ms' },
      ...['first', 'again'].map((kind) => ({
        what: `list of ${domains} domains over RPC, ${kind === 'first' ? 'the first' : 'with unchanged XML'}`,
        value: lists[kind],
        unit: 'ms',
        ratio: lists[kind] / lists.virsh,
        target: `under ${MAX_LIST_MS}`,
        ok: lists[kind] < MAX_LIST_MS,
      })),
      ...['start', 'tag', 'pause'].flatMap(operation),
      {
        what: `slowest pause of ${pause.count} during ${uploads} uploads`,
        value: pause.slowest,
        unit: 'ms',
        target: `under ${MAX_PAUSE_MS}`,
        ok: pause.slowest < MAX_PAUSE_MS,
      },
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));
