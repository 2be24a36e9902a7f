import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { jest } from '@jest/globals';
import { findKubectl } from '@headgate/kube-sandbox/find-kubectl';

const run = promisify(execFile);
const project = join(import.meta.dirname, '../..');
const kubectl = findKubectl();
// A missing kubectl is named in the title, so that the report shows why the tests were skipped.
const testKubectl = kubectl ? test : test.skip;

// Building the program and starting kubectl for each call takes time.
jest.setTimeout(180_000);

describe('the stand-alone sandbox', () => {
  let folder: string;
  let program: ChildProcess | undefined;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sandbox-program-'));
    const vite = join(import.meta.dirname, '../../../../node_modules/vite/bin/vite.js');
    await run(process.execPath, [vite, 'build', '--outDir', folder], { cwd: project });
  });
  afterEach(async () => {
    if (program?.exitCode === null && program.signalCode === null) {
      program.kill('SIGKILL');
      await once(program, 'close');
    }
    program = undefined;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Waits until the program has printed how to reach it, or has exited. */
  const start = async (...args: string[]) => {
    const child = spawn(process.execPath, [join(folder, 'sandbox.js'), ...args], { env: { TMPDIR: folder } });
    program = child;
    const said = { output: '', errors: '' };
    const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    child.stderr.on('data', (data: Buffer) => (said.errors += data.toString()));
    await new Promise<void>((resolve) => {
      void ended.then(() => resolve());
      child.stdout.on('data', (data: Buffer) => {
        said.output += data.toString();
        if (said.output.includes('Ctrl-C ends it.')) resolve();
      });
    });
    const kubeconfig = /KUBECONFIG=(.*)/.exec(said.output)?.[1] ?? '';
    const url = /http:\/\/[\d.:]+\d/.exec(said.output)?.[0] ?? '';
    return { child, ended, kubeconfig, url, said };
  };

  test('states that its guests are simulated, and removes its kubeconfig on Ctrl-C', async () => {
    const { child, ended, kubeconfig, url, said } = await start('--vms', '3', '--kubevirt', '1.6');
    expect(said.output).toMatch(/KubeVirt 1\.6 with 3 virtual machines\.\nIts guests are simulated/);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(existsSync(kubeconfig)).toBe(true);
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(existsSync(kubeconfig)).toBe(false);
    await expect(fetch(`${url}/readyz`)).rejects.toThrow();
  });

  test.each(['kubevirt', 'cdi', 'snapshots', 'multus', 'metrics'])('starts without %s', async (part) => {
    const { kubeconfig, said } = await start('--without', part);
    expect(said).toEqual({ output: expect.stringContaining(`left out: ${part}.`), errors: '' });
    expect(existsSync(kubeconfig)).toBe(true);
  });

  test('exits with one sentence when the port is in use, and leaves no kubeconfig', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const file = join(folder, 'never');
    const { ended, said } = await start('--port', `${port}`, '--kubeconfig', file);
    holder.close();
    expect(await ended).toEqual([1, null]);
    expect(said.errors).toBe(`port ${port} is in use by another program; choose another\n`);
    expect(existsSync(file)).toBe(false);
  });

  test.each([
    ['--color', "Unknown option '--color'"],
    ['--vms=many', '--vms must be a number from 0 to 10000'],
    ['here', "Unexpected argument 'here'"],
  ])('exits with 2 and one sentence after %s, and does not start', async (argument, sentence) => {
    const { ended, said } = await start(argument);
    expect(await ended).toEqual([2, null]);
    expect(said).toEqual({ output: '', errors: `${sentence}\n` });
  });

  test('lists its options, and states that nothing is real', async () => {
    const { ended, said } = await start('--help');
    expect(await ended).toEqual([0, null]);
    expect(said.output).toContain("Nothing in it is real: its\nguests don't boot.");
    for (const option of [
      '--vms N',
      '--port P',
      '--kubeconfig FILE',
      '--kubevirt VERSION',
      '--without PART',
      '--help',
    ]) {
      expect(said.output).toContain(`\n  ${option}`);
    }
  });

  testKubectl(kubectl ? 'serves kubectl' : 'serves kubectl (skipped: no kubectl on the PATH)', async () => {
    const file = join(folder, 'given config');
    const { said } = await start('--kubeconfig', file);
    expect(said.output).toContain(`export KUBECONFIG='${file}'`);
    const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: file };
    const kube = async (...args: string[]): Promise<string> => (await run(kubectl!, args, { env })).stdout;
    expect(await kube('get', 'vms', '-A')).toMatch(/^NAMESPACE +NAME +AGE +STATUS +READY\n/);
    expect(await kube('api-resources', '--api-group=cdi.kubevirt.io')).toContain('datavolumes');
    const [namespace, name] = (
      await kube('get', 'vms', '-A', '--no-headers', '-o', 'custom-columns=A:.metadata.namespace,B:.metadata.name')
    )
      .split('\n')[0]!
      .split(/ +/);
    expect(await kube('label', 'vm', name!, '-n', namespace!, 'seen=yes')).toContain('labeled');
    expect(await kube('get', 'vms', '-A', '-l', 'seen=yes', '--no-headers')).toContain(name);
  });
});
