import { randomBytes, X509Certificate } from 'node:crypto';
import { describeOnIncus, InventoryRecorder, TINY_ALIAS } from '@headgate/testing';
import type { IncusBackend } from './incus-backend.js';
import { IncusHarness } from './contracts/incus-harness.contract.js';

const MIB = 1024 ** 2;

describeOnIncus('a server on the network', (flavor) => {
  let harness: IncusHarness;
  let fingerprint: string;
  const opened: IncusBackend[] = [];

  beforeAll(async () => {
    harness = await IncusHarness.open(flavor, { listens: true });
    const certificate = new X509Certificate(await harness.daemon.certificate());
    fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
  });
  afterEach(async () => {
    for (const backend of opened.splice(0)) await backend.close();
  });
  afterAll(() => harness.close());

  const remote = (...args: Parameters<IncusHarness['openRemote']>): IncusBackend => {
    const backend = harness.openRemote(...args);
    opened.push(backend);
    return backend;
  };
  /** @returns a new token of the server */
  const token = async (...options: string[]): Promise<string> => {
    const name = `client-${randomBytes(4).toString('hex')}`;
    const names = flavor === 'incus' ? [name] : ['--name', name];
    const output = await harness.daemon.run('config', 'trust', 'add', ...names, ...options);
    return output.trim().split('\n').at(-1) ?? '';
  };
  const firstCheck = async (backend: IncusBackend) => (await backend.require('diagnostics').checks())[0];

  test('accepts the service with a token, once, and then knows its certificate', async () => {
    const trustToken = await token();
    const backend = remote({ trustToken, fingerprint });
    const recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
    const ref = { kind: 'ct', context: backend.context, namespace: 'default', name: `far-${opened.length}` } as const;
    const sizes = { cpu: 1, memoryBytes: 64 * MIB, diskBytes: 64 * MIB };
    await backend
      .require('containers')
      .create({ ref, image: TINY_ALIAS, ...sizes, storageClass: '', privileged: false });
    await recorder.untilContainer(ref, ({ phase }) => phase === 'Running');
    await backend.require('containers').delete(ref);
    await recorder.until(() => recorder.instance(ref) === undefined);
    await recorder.stop();
    // The token is used up.
    const again = harness.openRemote({ trustToken, fingerprint });
    opened.push(again);
    expect(await firstCheck(again)).toMatchObject({ status: 'error', message: expect.stringContaining('refuses') });
  });

  test('refuses a service whose certificate it does not know, with the remedy', async () => {
    const backend = remote({ fingerprint });
    const recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.until(() => recorder.calls.includes('lost BACKEND_FORBIDDEN'));
    await recorder.stop();
    expect((await firstCheck(backend))?.message).toMatch(/refuses this service.*incus config trust add/);
  });

  test('is not trusted when it has another certificate than the expected one', async () => {
    const trustToken = await token();
    const backend = remote({ fingerprint: 'a'.repeat(64), trustToken });
    expect((await firstCheck(backend))?.message).toMatch(/has the certificate [0-9a-f]{64}, not the expected one/);
    // Nothing was sent to it: the token is still good.
    expect(await firstCheck(remote({ fingerprint, trustToken }))).toMatchObject({ status: 'ok' });
  });

  test('is not trusted without a fingerprint, because no authority has signed its certificate', async () => {
    expect(await firstCheck(remote({ trustToken: await token() }))).toMatchObject({
      status: 'error',
      message: expect.stringMatching(/self-signed|unable to verify/),
    });
  });

  test('shows only the project for which its certificate is restricted', async () => {
    await harness.daemon.run(
      'project',
      'create',
      'web',
      '-c',
      'features.images=false',
      '-c',
      'features.profiles=false',
    );
    await harness.daemon.run('init', TINY_ALIAS, 'inside', '--project', 'web');
    await harness.daemon.run('init', TINY_ALIAS, 'outside');
    const backend = remote({ fingerprint, trustToken: await token('--restricted', '--projects', 'web') }, 'web');
    expect(backend.traits.namespaces).toEqual({ default: 'web', isOnlyOne: true });
    const recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
    expect([...recorder.instances.values()].map(({ ref }) => ref.name)).toEqual(['inside']);
    await harness.daemon.run('start', 'inside', '--project', 'web');
    const inside = { kind: 'ct', context: backend.context, namespace: 'web', name: 'inside' } as const;
    await recorder.untilContainer(inside, ({ phase }) => phase === 'Running');
    const hardware = backend.requireFor('ct', 'hardware');
    const memoryBytes = 128 * 1024 ** 2;
    await hardware.apply(inside, { kind: 'scale', memoryBytes, restart: false });
    expect(await hardware.read(inside)).toMatchObject({ memoryBytes });
    const outside = { ...inside, namespace: 'default', name: 'outside' };
    await expect(backend.require('containers').delete(outside)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    expect(await harness.daemon.instances()).toContain('outside');
    await recorder.stop();
  });
});
