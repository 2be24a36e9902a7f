import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isVm, verifyProof, type BootProof, type SignedProof } from '@headgate/domain-contracts';
import { DirectoryTarget, ResticRepository } from '@headgate/restic-repository';
import { MemoryBackend, type MemoryBootProof } from '@headgate/testing';
import { Edge, type Reply } from '../testing/edge.js';
import { SERVICE_VERSION } from '../platform/service-version.js';

const TARGETS = '/api/ext/backups/targets';
const PASSWORD = 'correct horse battery';
const MIB = 1024 ** 2;
const ANN = { 'tailscale-user-login': 'ann' };

describe('proofs of backups', () => {
  let edge: Edge;
  let allowed: string;
  let boots: MemoryBootProof;
  let path: string;

  beforeEach(async () => {
    allowed = mkdtempSync(join(tmpdir(), 'headgate-proofs-'));
    edge = new Edge(new MemoryBackend('lab'));
    for (const known of edge.lab.engine.all()) if (isVm(known)) edge.lab.engine.put({ ...known, diskBytes: 4 * MIB });
    const file = join(edge.folder, 'headgate.yaml');
    writeFileSync(file, `admins: [ann]\nbackups: { folders: [${JSON.stringify(allowed)}] }\n`);
    await edge.open({}, ['--config', file]);
    boots = edge.lab.require('bootProof') as BootProof as MemoryBootProof;
    path = await backedUp();
  });
  afterEach(async () => {
    await edge.close();
    rmSync(allowed, { recursive: true });
  });

  const send = (method: string, to: string, body?: unknown): Promise<Reply> => edge.send(method, to, body, ANN);
  const ended = async (task: unknown): Promise<Reply['json']> => {
    for (;;) {
      const { json } = await send('GET', `/api/tasks/${String(task)}`);
      if (json['status'] !== 'running') return json;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const run = async (to: string, body: unknown): Promise<Reply['json']> => {
    const { status, json } = await send('POST', to, body);
    expect([status, json.error]).toEqual([202, undefined]);
    return ended(json['task']);
  };
  /** @returns the path of the point */
  const backedUp = async (): Promise<string> => {
    const repository = join(allowed, 'repository');
    await ResticRepository.create(new DirectoryTarget(repository), PASSWORD, { scrypt: { n: 2, r: 1, p: 1 } });
    const added = await send('POST', TARGETS, {
      name: 'nightly',
      kind: 'directory',
      path: repository,
      password: PASSWORD,
    });
    const target = String(added.json['id']);
    await run('/api/ext/vms/default/db/backup?context=lab', { target });
    const [point] = JSON.parse((await send('GET', `${TARGETS}/${target}/points`)).body) as { id: string }[];
    return `${TARGETS}/${target}/points/${String(point?.id)}`;
  };
  const listed = async (): Promise<unknown> => {
    const [point] = JSON.parse((await send('GET', path.replace(/\/[^/]*$/, ''))).body) as { proof?: unknown }[];
    return point?.proof;
  };
  const certificate = async (): Promise<SignedProof> =>
    (await send('GET', `${path}/proof`)).json as object as SignedProof;
  /** Changes one byte in the largest pack, which has the content of the disk. */
  const flipBit = (): void => {
    const data = join(allowed, 'repository', 'data');
    const packs = readdirSync(data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort((a, b) => statSync(b).size - statSync(a).size);
    const [pack = ''] = packs;
    const content = readFileSync(pack);
    content[40] = (content[40] ?? 0) ^ 1;
    rmSync(pack);
    writeFileSync(pack, content);
  };

  test('are planned, carried out, listed, and verified with the key of the service', async () => {
    expect(await listed()).toBeUndefined();
    expect((await send('GET', `${path}/proof`)).json['code']).toBe('PROOF_NOT_FOUND');
    const planned = await send('POST', `${path}/prove?dryRun=true`, { context: 'lab' });
    expect((planned.json['steps'] as { name: string }[]).map(({ name }) => name)).toEqual([
      'boot',
      'verify',
      'certify',
    ]);
    expect(boots.booted).toEqual([]);

    const task = await run(`${path}/prove`, {
      context: 'lab',
      command: { path: 'systemctl', args: ['is-system-running'] },
    });
    expect(task).toMatchObject({ status: 'done', result: { outcome: 'booted' } });
    expect(boots.booted).toMatchObject([
      { timeLimitMs: 300_000, command: { path: 'systemctl', args: ['is-system-running'] } },
    ]);
    expect(await listed()).toEqual({ state: 'booted', at: expect.any(String) });
    const { json } = await send('GET', '/api/ext/backups/proof-key');
    const verdict = await verifyProof(await certificate(), String(json['key']));
    expect(verdict).toMatchObject({
      isValid: true,
      certificate: { verified: 'all', service: { version: SERVICE_VERSION } },
    });
    const picture = await edge.send('GET', `${path}/proof/picture`, undefined, ANN);
    expect([picture.status, picture.body.slice(1, 4)]).toEqual([200, 'PNG']);
  });

  test('fail with a certificate that names the damaged blob', async () => {
    flipBit();
    const task = await run(`${path}/prove`, { context: 'lab' });
    expect(task).toMatchObject({ status: 'error', error: expect.stringMatching(/blob [0-9a-f]{64}/) });
    expect(await listed()).toMatchObject({ state: 'failed', reason: expect.stringMatching(/blob [0-9a-f]{64}/) });
    const { json } = await send('GET', '/api/ext/backups/proof-key');
    expect(await verifyProof(await certificate(), String(json['key']))).toMatchObject({
      isValid: true,
      certificate: { outcome: 'failed' },
    });
  });

  test('are refused without room on the host, an ability, or a point', async () => {
    const plan = boots.plan.bind(boots);
    boots.plan = async (request) => ({
      ...(await plan(request)),
      refusals: [{ code: 'WRONG_STATE', reason: 'lab has 1 MiB of memory free.', remedy: 'Stop a VM there.' }],
    });
    expect((await send('POST', `${path}/prove`, { context: 'lab' })).status).toBe(409);
    expect((await send('POST', `${path}/prove`, { context: 'nowhere' })).json['code']).toBe('CONTEXT_NOT_FOUND');
    const gone = path.replace(/[0-9a-f]{64}$/, 'f'.repeat(64));
    expect((await send('POST', `${gone}/prove`, { context: 'lab' })).json['code']).toBe('BACKUP_POINT_NOT_FOUND');
    expect((await send('POST', `${path}/prove`, { context: 'lab', timeLimitSeconds: 4 })).status).toBe(400);
    expect((await send('POST', `${path}/prove`, { context: 'lab', command: { path: '' } })).status).toBe(400);
    expect(boots.booted).toEqual([]);
  });
});
