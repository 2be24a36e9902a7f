import 'reflect-metadata';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMINISTRATOR, formatRef, type InstanceIdentity } from '@headgate/domain-contracts';
import { Folders } from '@headgate/folders';
import { buildVm, MemoryBackend, withStatus } from '@headgate/testing';
import { pino } from 'pino';
import { parse } from 'yaml';
import { parseCommandLine } from '../config/command-line.js';
import { loadSettings } from '../config/load-config.js';
import { createService } from '../create-app.js';
import { ReadFolders } from '../folders/read-folders.js';

// Folders with many members, for tools/bench: `folders.bench INSTANCES ABSENT file|cluster CRDS`. ABSENT members are of
// instances that do not exist. Prints one line of JSON: the milliseconds that the service needs to read the tree with
// all members and its summary, to change the folder of one instance, and, with a store in a cluster, until a second
// replica shows that change.

const [instances = '', absent = '', kind = '', crds = ''] = process.argv.slice(2);
const FOLDERS = 20;
const PART = 5_000;
const READS = 40;
const CHANGES = 40;
const FOLLOWED = 20;

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
const time = async (count: number, work: (index: number) => unknown): Promise<number> => {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const startedAt = performance.now();
    await work(index);
    times.push(performance.now() - startedAt);
  }
  return median(times);
};

const backend = new MemoryBackend('lab');
const refs: InstanceIdentity[] = [];
for (let index = 0; index < Number(instances); index++) {
  const vm = buildVm({ ref: { namespace: `team-${index % 40}`, name: `vm-${index}` }, uid: `vm-${index}` });
  backend.engine.put(withStatus(vm, index % 4 === 0 ? 'Stopped' : 'Running'));
  refs.push({ ref: formatRef(vm.ref), uid: vm.uid });
}
for (let index = 0; index < Number(absent); index++)
  refs.push({ ref: `vm/lab/gone/vm-${index}`, uid: `gone-${index}` });

const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
const kubeconfig = join(folder, 'kubeconfig');
const { KubeSandbox } = await import('@headgate/kube-sandbox');
const sandbox = await KubeSandbox.listen({ namespaces: ['headgate'] });
writeFileSync(kubeconfig, sandbox.kubeconfig());
const { resources } = parse(readFileSync(join(crds, 'kustomization.yaml'), 'utf8')) as { resources: string[] };
for (const file of resources)
  await fetch(`${sandbox.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parse(readFileSync(join(crds, file), 'utf8'))),
  });

const open = async (name: string) => {
  const loaded = loadSettings(parseCommandLine(['--data-dir', join(folder, name), '--listen', '127.0.0.1:0']), {});
  const store = { ...loaded.store, kind: kind as 'file' | 'cluster', kubeconfig };
  const service = await createService({
    settings: { ...loaded, store },
    contexts: {
      backends: [backend],
      simulated: new Set<string>(),
      hasTinyGuest: false,
      notes: [],
      close: async () => undefined,
    },
    log: pino({ level: 'error' }, pino.destination(2)),
    pageDir: folder,
  });
  await service.start();
  return service.app;
};

const app = await open('first');
const folders = app.get(Folders);
const pathOf = (index: number): string => `team-${index % FOLDERS}`;
const nothing = { removed: [], renamed: [], created: [], assigned: [] };
await folders.change(() => ({ ...nothing, created: Array.from({ length: FOLDERS }, (_none, index) => pathOf(index)) }));
for (let from = 0; from < refs.length; from += PART) {
  const assigned = refs.slice(from, from + PART).map((one, index) => ({ ...one, path: pathOf(from + index) }));
  await folders.change(() => ({ ...nothing, assigned }));
}
const reader = app.get(ReadFolders);
const assign = (index: number): Promise<void> => folders.change((tree) => tree.assign(refs[index]!, pathOf(index + 1)));
const treeMs = await time(READS, () => reader.read({ summary: false }, ADMINISTRATOR));
const summaryMs = await time(READS, () => reader.read({ summary: true }, ADMINISTRATOR));
const changeMs = await time(CHANGES, assign);

let followMs: number | undefined;
let openMs: number | undefined;
if (kind === 'cluster') {
  const startedAt = performance.now();
  const second = (await open('second')).get(Folders);
  openMs = performance.now() - startedAt;
  followMs = await time(FOLLOWED, async (index) => {
    const seen = Promise.withResolvers<void>();
    const unsubscribe = second.subscribe(() => seen.resolve());
    await assign(CHANGES + index);
    await seen.promise;
    unsubscribe();
  });
}
process.stdout.write(`${JSON.stringify({ treeMs, summaryMs, changeMs, followMs, openMs })}\n`);
rmSync(folder, { recursive: true });
process.exit(0);
