import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ForeignProject } from './foreign-project.js';

const VM = { name: 'web-1', namespace: 'default', context: 'lab', status: 'Running', cpu: 2, mem: '4Gi', tags: [] };

/**
 * The rules for the command line as a product: one file that runs without any other package.
 * @param installed a project that has it
 */
export function describeCommandLine(installed: () => ForeignProject): void {
  let service: Server;

  beforeAll(async () => {
    service = createServer((request, response) => {
      const entries = request.url?.startsWith('/api/vms') ? [{ ...VM, ref: 'vm/lab/default/web-1' }] : [];
      response.setHeader('content-type', 'application/json').end(JSON.stringify(entries));
    });
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
  });
  afterAll(async () => {
    service.close();
    await once(service, 'close');
  });

  const run = (...args: string[]) => {
    const HEADGATE_SERVER = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    return installed().run('npx', ['headgate', ...args], { env: { HEADGATE_SERVER, HOME: installed().folder } });
  };

  test('has no dependencies', () => {
    const manifest = JSON.parse(installed().read('node_modules/@headgate/cli/package.json')) as object;
    expect(manifest).toMatchObject({ license: 'Apache-2.0', description: expect.stringMatching(/\.$/) });
    for (const own of ['private', 'nx', 'dependencies', 'peerDependencies', 'devDependencies'])
      expect(manifest).not.toHaveProperty(own);
  });

  test('prints its help, and lists the instances of a service', async () => {
    const help = await run('--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(/^Usage: headgate /);
    const { stdout, ...outcome } = await run('list', '-o', 'name');
    expect({ ...outcome, stdout }).toEqual({ code: 0, stdout: 'vm/lab/default/web-1\n', stderr: '' });
  });
}
