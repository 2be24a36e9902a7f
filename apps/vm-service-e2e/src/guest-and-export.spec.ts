import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import type { CheckpointView, InstanceEventView, GuestInfoView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { leftoversOf, removeLeftovers } from './leftovers.js';
import { describeIf, noGuestsBecause } from './machine.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { until } from './until.js';

const START_TIMEOUT_MS = 600_000;
const ADMIN = { 'tailscale-user-login': 'ann' };
const USER = { 'tailscale-user-login': 'eve' };
const ALLOWLIST = { SVC_ADMINS: 'ann' };
const run = promisify(execFile);

describeIf(noGuestsBecause(), 'the guest and the disk of a VM on libvirt, over HTTP', () => {
  let service: RunningService;
  let api: Api;
  let folder: string;
  const name = `hgtest-${randomBytes(4).toString('hex')}`;
  const vm = `/api/vms/local/${name}`;
  const ref = `vm/local/local/${name}`;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-exports-'));
    service = await RunningService.start(['--local'], { env: ALLOWLIST });
    api = new Api(service.url, ADMIN);
    const body = { name, image: 'tiny', cpu: 1, mem: '192Mi', disk: '64Mi', start: true };
    expect((await api.send('POST', '/api/vms', body)).status).toBe(201);
    await api.untilVm(name, 'runs', (one) => one?.status === 'Running');
    // Its agent does not answer until the guest goes on.
    expect((await api.send('POST', `${vm}/pause`)).status).toBe(200);
    await api.untilVm(name, 'is paused', (one) => one?.status === 'Paused');
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await removeLeftovers(name);
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const download = async (path: string, headers: Record<string, string> = ADMIN): Promise<IncomingMessage> => {
    const request = get(`${service.url}${path}`, { headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response.on('error', () => undefined);
  };
  const nameOf = ({ headers }: IncomingMessage): string | undefined =>
    /filename="([^"]+)"/.exec(headers['content-disposition'] ?? '')?.[1];
  /** Saves a download under the name that the service gives it. */
  const save = async (path: string): Promise<string> => {
    const response = await download(path);
    expect(response.statusCode).toBe(200);
    const file = join(folder, nameOf(response) ?? '');
    if (file.endsWith('.gz')) await pipeline(response, createGunzip(), createWriteStream(file.slice(0, -3)));
    else await pipeline(response, createWriteStream(file));
    return file;
  };
  const checkpoints = async (): Promise<string[]> =>
    (await api.send<CheckpointView[]>('GET', `/api/ext/vms/local/${name}/checkpoints`)).body.map((one) => one.name);
  /** Whether anything of an export is left on this machine. */
  const untilNoExport = () =>
    until(
      'nothing of an export is left',
      async () => [
        ...(await leftoversOf(name)).filter((one) => one.includes('-backup')),
        ...processesWith('qemu-nbd').filter((one) => one.includes(service.dataDir)),
      ],
      (left) => left.length === 0,
    );

  test('answers 503 for a guest whose agent does not answer', async () => {
    const { status, body } = await api.send('GET', `${vm}/guestinfo`);
    expect([status, body['code']]).toEqual([503, 'GUEST_AGENT_UNREACHABLE']);
    const request = { ref, path: '/bin/true' };
    expect((await api.send('POST', '/api/ext/guest/command', request)).status).toBe(503);
    expect((await api.send('POST', `${vm}/unpause`)).status).toBe(200);
  });

  test('reads the system of the guest through its agent', async () => {
    await api.untilVm(name, 'has its agent', (one) => one?.agentConnected === true);
    // A guest that still boots may need longer for an answer than the service waits.
    const { body } = await until(
      'the agent answers',
      () => api.send<GuestInfoView>('GET', `${vm}/guestinfo`),
      ({ status }) => status === 200,
    );
    expect(body.os.kernel).toMatch(/^\d+\./);
    expect(body.filesystems.map(({ mountPoint }) => mountPoint)).toContain('/');
  });

  test('runs programs and sets passwords for administrators, and audits both without secrets', async () => {
    const command = { ref, path: '/bin/sh', args: ['-c', 'echo kept > /root/kept; sync; cat /root/kept; exit 3'] };
    const done = await api.send('POST', '/api/ext/guest/command', command);
    expect(done).toMatchObject({ status: 200, body: { exitCode: 3, stdout: 'kept\n', stderr: '' } });
    const password = { ref, user: 'root', password: 'S3cret-of-the-test' };
    expect(await api.send('POST', '/api/ext/guest/password', password)).toEqual({
      status: 200,
      body: { status: 'ok' },
    });
    const user = new Api(service.url, USER);
    for (const [path, body] of [
      ['command', command],
      ['password', password],
    ] as const) {
      const refused = await user.send('POST', `/api/ext/guest/${path}`, body);
      expect([path, refused.status, refused.body['code']]).toEqual([path, 403, 'NOT_PERMITTED']);
    }
    const { body: events } = await api.send<InstanceEventView[]>('GET', `${vm}/events`);
    expect(events.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['run /bin/sh in guest', 'set guest password of root']),
    );
    expect(JSON.stringify(events)).not.toMatch(/S3cret|kept/);
  });

  test('exports the disk of the running guest with a checkpoint, and then the changes', async () => {
    for (const path of [`${vm}/export`, `${vm}/export?since=none`]) {
      const refused = await download(path);
      expect([path, refused.resume().statusCode]).toEqual([path, path.endsWith('none') ? 404 : 409]);
    }
    const refused = await download(`${vm}/export?checkpoint=one`, USER);
    expect(refused.resume().statusCode).toBe(403);
    await save(`${vm}/export?checkpoint=one&format=qcow2`);
    const command = { ref, path: '/bin/sh', args: ['-c', 'echo later > /root/later; sync'] };
    expect((await api.send('POST', '/api/ext/guest/command', command)).body).toMatchObject({ exitCode: 0 });
    expect(await save(`${vm}/export?since=one&checkpoint=two`)).toBe(join(folder, `${name}-two.qcow2`));
    expect(await checkpoints()).toEqual(['one', 'two']);
    await untilNoExport();
  });

  test('removes everything of an export whose client leaves, or whose service is killed, and the guest runs on', async () => {
    const left = await download(`${vm}/export?checkpoint=left`);
    await once(left, 'readable');
    left.destroy();
    await untilNoExport();
    const killed = await download(`${vm}/export?checkpoint=killed`);
    await once(killed, 'readable');
    const { dataDir } = service;
    for (const line of processesWith(dataDir).filter((one) => one.includes('main.js')))
      process.kill(Number.parseInt(line, 10), 'SIGKILL');
    await service.interrupt();
    service = await RunningService.start(['--local'], { dataDir, env: ALLOWLIST });
    api = new Api(service.url, ADMIN);
    await api.untilVm(name, 'runs', (one) => one?.status === 'Running');
    await untilNoExport();
    await until('no checkpoint is left', checkpoints, (names) => names.join() === 'one,two');
    await api.untilVm(name, 'has its agent', (one) => one?.agentConnected === true);
  });

  test('exports the disk of the stopped VM, which is the chain of its increments', async () => {
    expect((await api.send('POST', `${vm}/pause`)).status).toBe(200);
    await api.untilVm(name, 'is paused', (one) => one?.status === 'Paused');
    const last = await save(`${vm}/export?since=two`);
    expect((await api.send('POST', `${vm}/stop?force=true`)).status).toBe(200);
    await api.untilVm(name, 'has stopped', (one) => one?.status === 'Stopped');

    const head = await fetch(`${service.url}${vm}/export`, { method: 'HEAD', headers: ADMIN });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    expect((await download(`${vm}/export`, USER)).resume().statusCode).toBe(403);
    const leaving = await download(`${vm}/export`);
    await once(leaving, 'readable');
    leaving.destroy();
    await untilNoExport();
    expect(await save(`${vm}/export`)).toBe(join(folder, `${name}.img.gz`));
    expect(await save(`${vm}/export?format=qcow2`)).toBe(join(folder, `${name}.qcow2`));
    for (const [format, other] of [
      ['raw', join(folder, `${name}.img`)],
      ['qcow2', join(folder, `${name}.qcow2`)],
    ] as const) {
      const { stdout } = await run('qemu-img', ['compare', '-f', 'qcow2', '-F', format, last, other]);
      expect(stdout).toContain('Images are identical');
    }
  });

  test('deletes the VM with its checkpoints', async () => {
    expect((await api.send('DELETE', vm)).status).toBe(200);
    expect(await leftoversOf(name)).toEqual([]);
  });
});
