import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VmView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { Attempt } from './login-attempt.js';
import { CLIENT_SECRET, OpenIdPeer } from './openid-peer.js';
import { RunningService } from './running-service.js';

const TIMEOUT_MS = 400_000;
const DEVICE = '/api/ext/login/device';

describe('the groups of a login at a real provider', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-groups-'));
  let peer: OpenIdPeer;
  let service: RunningService;

  beforeAll(async () => {
    peer = await OpenIdPeer.listen();
    const clientSecretFile = join(folder, 'secret');
    writeFileSync(clientSecretFile, `${CLIENT_SECRET}\n`, { mode: 0o600 });
    const client = { clientId: 'headgate', clientSecretFile, scopes: ['profile', 'groups'], groupsClaim: 'groups' };
    const login = { providers: [{ id: 'corp', name: 'Example Corp', issuer: peer.issuer, ...client }] };
    const roles = [{ group: 'ops', folder: '/', role: 'viewer' }];
    const config = { login, roles, admins: ['corp:root'] };
    writeFileSync(join(folder, 'headgate.yaml'), JSON.stringify(config));
    service = await RunningService.start(['--sandbox=5', '--config', join(folder, 'headgate.yaml')]);
    peer.open(service.url, ['corp']);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await service?.stop();
    await peer?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test(
    'give a program the rights of its user, until a login without them',
    async () => {
      const logIn = async (groups: string[]): Promise<Api> => {
        peer.groups.set('ann', groups);
        const cookie = await new Attempt(service.url).logIn('ann');
        return new Api(service.url, { cookie, origin: service.url });
      };
      const ann = await logIn(['ops']);
      const anyone = new Api(service.url);
      const order = { machine: 'laptop', actions: ['read'] };
      const begun = (await anyone.send<Record<string, string>>('POST', DEVICE, order)).body;
      await ann.send('POST', `${DEVICE}/approve`, { userCode: begun['userCode'] });
      const { deviceCode } = begun;
      const { body } = await anyone.send<{ token: string }>('POST', `${DEVICE}/token`, { deviceCode });
      const program = new Api(service.url, { authorization: `Bearer ${body.token}` });
      const count = async (): Promise<number> => (await program.send<VmView[]>('GET', '/api/vms')).body.length;
      expect(await count()).toBe(5);
      await logIn(['dev']);
      expect(await count()).toBe(0);
      await logIn(['dev', 'ops']);
      expect(await count()).toBe(5);
    },
    TIMEOUT_MS,
  );
});
