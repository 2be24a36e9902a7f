import { spawn } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const BOUNDARY = '@nx/enforce-module-boundaries';

const FORBIDDEN = [
  ['a feature that imports an adapter', 'libs/fleet/src/canary.ts', '@headgate/libvirt-adapter'],
  ['a feature that imports a feature', 'libs/fleet/src/canary.ts', '@headgate/tasks'],
  ['a library that imports the framework', 'libs/instances/src/canary.ts', '@nestjs/common'],
  ['the domain that imports the wire', 'libs/domain-contracts/src/canary.ts', '@headgate/api-contracts'],
  ['the limits that import virtual machines', 'libs/limits-core/src/canary.ts', '@headgate/domain-contracts'],
  ['the relay that imports Matrix', 'libs/http-relay/src/canary.ts', '@headgate/matrix-protocol'],
  ['the rules that import the framework', 'libs/limit-rules/src/canary.ts', '@nestjs/common'],
  ['a sandbox that imports the product', 'libs/kube-sandbox/src/canary.ts', '@headgate/domain-contracts'],
  ['the API server that imports KubeVirt', 'libs/kube-sandbox/src/canary.ts', '@headgate/kubevirt-sandbox'],
  ['a feature that imports the test library outside a spec', 'libs/fleet/src/canary.ts', '@headgate/testing'],
] as const;

const ALLOWED = [
  ['a feature that imports the domain', 'libs/fleet/src/canary.ts', '@headgate/domain-contracts'],
  ['a sandbox that imports the API server', 'libs/kubevirt-sandbox/src/canary.ts', '@headgate/kube-sandbox'],
  ['a spec that imports the test library', 'libs/fleet/src/canary.spec.ts', '@headgate/testing'],
] as const;

const sourceOf = (imported: string): string => `import * as canary from '${imported}';\nexport default canary;\n`;

/** The rules that each text breaks, found by ESLint in a process of its own. */
async function lint(texts: readonly { path: string; source: string }[]): Promise<string[][]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'lint-texts.mjs')], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  child.stdin.end(JSON.stringify(texts));
  let output = '';
  let complaints = '';
  child.stdout.on('data', (data) => (output += data));
  child.stderr.on('data', (data) => (complaints += data));
  await new Promise((resolve) => child.once('close', resolve));
  // The rule skips itself with this warning alone when Nx has no project graph: then it would prove nothing.
  expect(complaints).not.toMatch(/rule will be skipped/);
  return JSON.parse(output) as string[][];
}

describe('the layer rule', () => {
  const cases = [...FORBIDDEN, ...ALLOWED];
  let broken: string[][];

  beforeAll(async () => {
    broken = await lint(cases.map(([, path, imported]) => ({ path, source: sourceOf(imported) })));
  }, 120_000);

  test.each(FORBIDDEN)('refuses %s', (what) => {
    expect(broken[cases.findIndex(([name]) => name === what)]).toContain(BOUNDARY);
  });

  test.each(ALLOWED)('lets through %s', (what) => {
    expect(broken[cases.findIndex(([name]) => name === what)]).toEqual([]);
  });
});
