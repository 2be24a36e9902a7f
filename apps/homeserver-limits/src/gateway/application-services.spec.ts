import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationServices } from './application-services.js';

const GHOSTS = 'namespaces:\n  users:\n    - { exclusive: true, regex: "@ghost.*:b\\\\.example" }\n';

describe('ApplicationServices', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'appservices-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function read(yaml: string): Promise<ApplicationServices> {
    const path = join(folder, 'bridge.yaml');
    await writeFile(path, yaml);
    return ApplicationServices.read([path], 'b.example');
  }

  test('exempts the users of a service with rate_limited: false, but not its own sender', async () => {
    const services = await read(`as_token: t\nsender_localpart: bot\nrate_limited: false\n${GHOSTS}`);
    const ghost = { userId: '@ghost:b.example', deviceId: 'D' };
    expect(services.callerOf('t', ghost)).toEqual({ ...ghost, exemptFromRates: true });
    expect(services.callerOf('t', {})).toEqual({ userId: '@bot:b.example', exemptFromRates: false });
    expect(services.callerOf('other', {})).toBeUndefined();
  });

  test('exempts no user by default', async () => {
    const services = await read(`as_token: t\nsender_localpart: bot\n${GHOSTS}`);
    expect(services.callerOf('t', { userId: '@ghost:b.example' })?.exemptFromRates).toBe(false);
  });

  test('matches namespaces from the start of a user ID, and leaves other users to the homeserver', async () => {
    const services = await read(`as_token: t\nsender_localpart: bot\nrate_limited: false\n${GHOSTS}`);
    expect(services.callerOf('t', { userId: '@ghost7:b.example' })).toMatchObject({ userId: '@ghost7:b.example' });
    expect(services.callerOf('t', { userId: '@bot:b.example' })).toMatchObject({ exemptFromRates: false });
    expect(services.callerOf('t', { userId: '@nora:b.example' })).toBeUndefined();
    expect(services.callerOf('t', { userId: '@a@ghost:b.example' })).toBeUndefined();
    expect(services.exempts('t', '@nora:b.example')).toBe(true);
    expect(services.exempts('other', '@nora:b.example')).toBe(false);
  });

  test('leaves expressions of another dialect to the homeserver', async () => {
    const services = await read(`as_token: t\nsender_localpart: bot\nnamespaces: {users: [{regex: "(?i)@ghost"}]}`);
    expect(services.callerOf('t', { userId: '@ghost:b.example' })).toBeUndefined();
  });

  test('refuses two registrations with one token', async () => {
    await read('as_token: t\nsender_localpart: bot');
    const path = join(folder, 'bridge.yaml');
    expect(() => ApplicationServices.read([path, path], 'b.example')).toThrow(
      'as_token is also in another registration',
    );
  });

  test('quotes nothing of an invalid registration, because it holds tokens', async () => {
    await expect(read('as_token: "hunter2\nsender_localpart: {')).rejects.toThrow(
      /bridge\.yaml: not valid YAML: line \d+, column \d+$/,
    );
    for (const broken of ['as_token: "hunter2\nx: {', 'as_token: hunter2: x', 'as_token: *hunter2']) {
      await expect(read(broken)).rejects.not.toThrow('hunter2');
    }
  });

  test.each([
    ['sender_localpart: bot', 'as_token must be'],
    ['as_token: t', 'sender_localpart must be'],
    ['as_token: t\nsender_localpart: bot\nrate_limited: maybe', 'rate_limited must be'],
    ['[', 'not valid YAML: line 1, column 2'],
    ['as_token: t\nsender_localpart: bot\nnamespaces: {users: [ghost]}', 'namespaces.users must be'],
    ['as_token: t\nsender_localpart: bot\nnamespaces: []', 'namespaces.users must be'],
    ['text', 'must be a registration'],
  ])('refuses %j with the reason', async (yaml, problem) => {
    await expect(read(yaml)).rejects.toThrow(problem);
  });
});
