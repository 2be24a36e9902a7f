// libvirt over its RPC protocol and through virsh: single questions, a list of 1,000 domains, and power actions. The libvirtd is a
// private one with QEMU domains, started for this; that requires root. Run alone: node tools/bench/libvirt.bench.mjs
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(import.meta.dirname, '../..');
const MAX_OWN_MS = 5;
const MAX_LIST_MS = 300;
const MAX_PAUSE_MS = 1000;

/** Why this machine can't run it; undefined if it can. */
function whyUnavailable() {
  if (process.getuid?.() !== 0) return 'only root can start a libvirtd as another user';
  for (const program of ['libvirtd', 'virsh', 'qemu-system-x86_64']) {
    try {
      execFileSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' });
    } catch {
      return `${program} is not installed`;
    }
  }
  return undefined;
}

/** Bundles the measuring program like the applications, runs it and reads its figures. */
function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  try {
    const vite = join(root, 'node_modules/vite/bin/vite.js');
    const config = join(import.meta.dirname, 'vm-service/vite.config.js');
    const args = [
      'build',
      '--ssr',
      'src/bench/libvirt.bench.ts',
      '--outDir',
      folder,
      '--logLevel',
      'error',
      '--config',
      config,
    ];
    execFileSync(process.execPath, [vite, ...args], { cwd: join(root, 'libs/libvirt-adapter'), stdio: 'inherit' });
    const printed = execFileSync(process.execPath, [join(folder, 'libvirt.bench.js')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return JSON.parse(printed.trim().split('\n').at(-1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export default async function run() {
  const reason = whyUnavailable();
  if (reason !== undefined) return { name: 'libvirt', rows: [{ what: `skipped: ${reason}`, value: 0, unit: '' }] };
  const { domains, uploads, question, lists, operations, pause } = measure();
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
      { what: 'one question through virsh', value: question.virsh, unit: 'ms' },
      {
        what: 'one question over a held RPC connection',
        value: question.rpc,
        unit: 'ms',
        ratio: question.rpc / question.virsh,
        target: 'at most 0.1 of virsh',
        ok: question.rpc <= question.virsh / 10,
      },
      { what: `list of ${domains} domains through virsh`, value: lists.virsh, unit: 'ms' },
      {
        what: `list of ${domains} domains over RPC, with their XML parsed`,
        value: lists.rpc,
        unit: 'ms',
        ratio: lists.rpc / lists.virsh,
        target: `under ${MAX_LIST_MS}`,
        ok: lists.rpc < MAX_LIST_MS,
      },
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
