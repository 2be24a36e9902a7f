import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeIf, KUBECTL } from './machine.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { until } from './until.js';

const VM = `
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: { name: web, namespace: lab }
spec:
  runStrategy: Halted
  template:
    spec:
      domain:
        devices: { disks: [{ name: root, disk: { bus: virtio } }], interfaces: [{ name: default, masquerade: {} }] }
        resources: { requests: { memory: 1Gi } }
      networks: [{ name: default, pod: {} }]
      volumes: [{ name: root, containerDisk: { image: images/tiny:1 } }]
`;

describeIf(KUBECTL ? undefined : 'kubectl is not installed', 'kubectl against the sandbox', () => {
  let folder: string;
  let cluster: SimulatedCluster;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-kubectl-'));
    cluster = await SimulatedCluster.start('lab', { sandbox: { namespaces: ['lab'] } });
    writeFileSync(join(folder, 'kubeconfig'), cluster.sandbox.kubeconfig(), { mode: 0o600 });
    writeFileSync(join(folder, 'vm.yaml'), VM);
  });
  afterAll(async () => {
    await cluster?.close();
    rmSync(folder, { recursive: true });
  });

  const options = (): string[] => [
    '--kubeconfig',
    join(folder, 'kubeconfig'),
    '--cache-dir',
    join(folder, 'cache'),
    '-n',
    'lab',
  ];
  const kubectl = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(KUBECTL ?? '', [...options(), ...args], { timeout: 180_000 })).stdout;

  test('applies, labels, patches, shows, describes and watches a VM', async () => {
    expect(await kubectl('apply', '-f', join(folder, 'vm.yaml'))).toMatch(/virtualmachine.kubevirt.io\/web created/);
    expect(await kubectl('apply', '-f', join(folder, 'vm.yaml'))).toMatch(/unchanged/);
    const watch = spawn(KUBECTL ?? '', [...options(), 'get', 'vm', 'web', '-w'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let watched = '';
    watch.stdout.on('data', (data: Buffer) => (watched += String(data)));
    const ended = new Promise((resolve) => watch.once('close', resolve));
    await until(
      'the watch shows it stopped',
      async () => watched,
      (text) => /web .*Stopped/.test(text),
    );
    await kubectl('label', 'vm', 'web', 'team=blue');
    await kubectl('patch', 'vm', 'web', '--type', 'merge', '-p', '{"spec":{"runStrategy":"Always"}}');
    await kubectl('wait', 'vm', 'web', '--for=condition=Ready', '--timeout=180s');
    await until(
      'the watch shows it running',
      async () => watched,
      (text) => /web .*Running/.test(text),
    );
    watch.kill();
    await ended;
    expect(await kubectl('get', 'vm', '-l', 'team=blue', '-o', 'name')).toBe('virtualmachine.kubevirt.io/web\n');
    expect(await kubectl('describe', 'vm', 'web')).toMatch(/Events:[\s\S]*(Started|SuccessfulCreate)/);
  });

  test('runs commands in a pod and reads its log', async () => {
    cluster.simulation.seedContainer({ namespace: 'lab', name: 'box' });
    await kubectl('wait', 'pod', 'box', '--for=condition=Ready', '--timeout=180s');
    expect(await kubectl('exec', 'box', '--', 'echo', 'hello')).toBe('hello\n');
    expect((await kubectl('logs', 'box')).length).toBeGreaterThan(0);
  });

  test('deletes a VM with everything that belongs to it', async () => {
    await kubectl('delete', 'vm', 'web', '--wait=true', '--timeout=180s');
    await kubectl('wait', 'vmi', 'web', '--for=delete', '--timeout=180s');
    expect(await kubectl('get', 'vm,vmi', '-o', 'name')).toBe('');
  });
});
