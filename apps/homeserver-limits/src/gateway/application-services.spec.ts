import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationServices } from './application-services.js';

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

  test('exempts the users of a service that says so, but not its own sender', async () => {
    const services = await read('as_token: t\nsender_localpart: bot\nrate_limited: false\n');
    const ghost = { userId: '@ghost:b.example', deviceId: 'D' };
    expect(services.callerOf('t', ghost)).toEqual({ ...ghost, exemptFromRates: true });
    expect(services.callerOf('t', {})).toEqual({ userId: '@bot:b.example', exemptFromRates: false });
    expect(services.callerOf('other', {})).toBeUndefined();
  });

  test('exempts nobody by default', async () => {
    const services = await read('as_token: t\nsender_localpart: bot\n');
    expect(services.callerOf('t', { userId: '@ghost:b.example' })?.exemptFromRates).toBe(false);
  });

  test.each([
    ['sender_localpart: bot', 'as_token must be'],
    ['as_token: t', 'sender_localpart must be'],
    ['as_token: t\nsender_localpart: bot\nrate_limited: maybe', 'rate_limited must be'],
    ['[', 'cannot be read'],
    ['text', 'must be a registration'],
  ])('refuses %j and says why', async (yaml, problem) => {
    await expect(read(yaml)).rejects.toThrow(problem);
  });
});
