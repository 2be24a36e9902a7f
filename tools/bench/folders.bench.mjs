// Folders with 10,000 and 100,000 members, in the registry and in custom resources of a simulated cluster. Run alone:
// node tools/bench/folders.bench.mjs (with the Node that the lockfile brings)
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(import.meta.dirname, '../..');
const INSTANCES = 10_000;
const ABSENT = 90_000;
const MAX_TREE_MS = 20;

function build(folder) {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const config = join(import.meta.dirname, 'vm-service/vite.config.js');
  const args = ['build', '--ssr', 'src/bench/folders.bench.ts', '--outDir', folder, '--logLevel', 'error'];
  execFileSync(process.execPath, [vite, ...args, '--config', config], {
    cwd: join(root, 'apps/vm-service'),
    stdio: 'inherit',
  });
  return (absent, kind) =>
    JSON.parse(
      execFileSync(
        process.execPath,
        [join(folder, 'folders.bench.js'), INSTANCES, absent, kind, join(root, 'deploy/vm-service/crds')].map(String),
        { encoding: 'utf8' },
      ),
    );
}

export default async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-folders-bench-'));
  try {
    const measure = build(folder);
    const rows = [];
    for (const kind of ['file', 'cluster']) {
      const small = measure(0, kind);
      const large = measure(ABSENT, kind);
      const goal = { target: `${MAX_TREE_MS} ms`, ok: small.treeMs <= MAX_TREE_MS };
      rows.push(
        { what: `${kind}: tree with 10,000 members`, value: small.treeMs, unit: 'ms', ...goal },
        { what: `${kind}: summary of 10,000 members`, value: small.summaryMs, unit: 'ms' },
        { what: `${kind}: another folder for one of 10,000 members`, value: small.changeMs, unit: 'ms' },
        { what: `${kind}: another folder for one of 100,000 members`, value: large.changeMs, unit: 'ms' },
      );
      if (kind === 'cluster')
        rows.push(
          { what: 'cluster: a second replica shows a change, 10,000 members', value: small.followMs, unit: 'ms' },
          { what: 'cluster: a second replica shows a change, 100,000 members', value: large.followMs, unit: 'ms' },
          { what: 'cluster: start of a second replica, 100,000 members', value: large.openMs, unit: 'ms' },
        );
    }
    return { name: 'folders', rows };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table((await run()).rows);
