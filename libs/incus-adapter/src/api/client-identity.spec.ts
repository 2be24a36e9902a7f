import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientIdentity } from './client-identity.js';

describe('ClientIdentity', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'headgate-identity-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('creates a certificate once, and keeps it for later processes', async () => {
    const path = join(folder, 'incus/lab');
    const first = await new ClientIdentity(path, Date.now).load();
    expect(await new ClientIdentity(path, Date.now).load()).toEqual(first);
    expect(await readdir(path)).toEqual(['client.json']);
    expect((await stat(join(path, 'client.json'))).mode & 0o077).toBe(0);
  });

  test('reads given files, and again after a failure', async () => {
    const files = { certificate: join(folder, 'c.crt'), key: join(folder, 'c.key') };
    const identity = new ClientIdentity(folder, Date.now, files);
    await expect(identity.load()).rejects.toThrow('c.crt');
    await writeFile(files.certificate, 'certificate');
    await writeFile(files.key, 'key');
    expect(await identity.load()).toEqual({ certificate: 'certificate', key: 'key' });
  });
});
