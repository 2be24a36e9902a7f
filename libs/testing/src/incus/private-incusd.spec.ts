import { readdirSync } from 'node:fs';
import { get } from 'node:http';
import { json } from 'node:stream/consumers';
import { describeOnIncus } from './describe-on-incus.js';
import { PrivateIncusd, TINY_ALIAS } from './private-incusd.js';

const START_TIMEOUT_MS = 60_000;

describeOnIncus('a private daemon', (flavor) => {
  let daemon: PrivateIncusd;
  beforeAll(async () => {
    daemon = await PrivateIncusd.start(flavor, { name: 'first' });
  }, START_TIMEOUT_MS);
  afterAll(() => daemon.close());

  test('answers on its socket, with a name of its own', async () => {
    const answer = await ask(daemon, '/1.0');
    expect(answer.metadata).toMatchObject({ auth: 'trusted', environment: { server: flavor, server_name: 'first' } });
  });

  test('runs the tiny container, which goes on while the daemon is killed and started again', async () => {
    await daemon.run('launch', TINY_ALIAS, 'web');
    expect(await daemon.run('exec', 'web', '--', 'hostname')).toBe('web\n');
    const page = ['exec', 'web', '--', 'wget', '-qO-', 'http://127.0.0.1/'];
    expect(await daemon.run(...page)).toContain('Headgate tiny container');
    await daemon.run('exec', 'web', '--', 'sh', '-c', 'echo kept > /run/file');

    await daemon.kill();
    await expect(ask(daemon, '/1.0')).rejects.toThrow();
    await daemon.resume();
    expect(await daemon.run('exec', 'web', '--', 'cat', '/run/file')).toBe('kept\n');
    await daemon.run('stop', 'web');
  });

  test('shares nothing with another one', async () => {
    const other = await PrivateIncusd.start(flavor, { listens: true });
    try {
      await daemon.run('init', TINY_ALIAS, 'mine');
      expect(await other.instances()).toEqual([]);
      await other.run('launch', TINY_ALIAS, 'mine');
      expect(await daemon.run('list', 'mine', '--format', 'csv', '--columns', 's')).toBe('STOPPED\n');
      expect(other.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
      expect(await other.certificate()).toContain('BEGIN CERTIFICATE');
    } finally {
      await other.close();
    }
    expect(await daemon.instances()).toContain('mine');
  });

  test('leaves no process, file or control group when it is closed with a container running', async () => {
    const other = await PrivateIncusd.start(flavor);
    const folder = other.socket.split('/').slice(0, 3).join('/');
    const name = `left-${process.pid}`;
    try {
      await other.run('launch', TINY_ALIAS, name);
    } finally {
      await other.close();
    }
    expect(readdirSync('/tmp').filter((entry) => folder.endsWith(`/${entry}`))).toEqual([]);
    expect(controlGroups(name)).toEqual([]);
  });
});

test('a daemon that does not listen has no URL', async () => {
  expect(() => Object.create(PrivateIncusd.prototype).url).toThrow('This daemon does not listen on the network.');
});

interface Answer {
  readonly metadata: unknown;
}

async function ask(daemon: PrivateIncusd, path: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  get({ socketPath: daemon.socket, path }, (response) => resolve(json(response) as Promise<Answer>)).on(
    'error',
    reject,
  );
  return promise;
}

/** The control groups of a container in all hierarchies. */
function controlGroups(name: string): string[] {
  const root = '/sys/fs/cgroup';
  const hierarchies = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [root, ...hierarchies.map((entry) => `${root}/${entry.name}`)].flatMap((folder) =>
    readdirSync(folder).filter((entry) => entry.endsWith(`.${name}`)),
  );
}
