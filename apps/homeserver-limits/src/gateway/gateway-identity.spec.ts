import type { MatrixRequest } from '@headgate/homeserver-contracts';
import { ApplicationServices } from './application-services.js';
import { GatewayIdentity } from './gateway-identity.js';
import type { QueryResult, UpstreamQueries } from './upstream-queries.js';

describe('GatewayIdentity', () => {
  let now: number;
  let lookups: number;
  let respond: () => Promise<void>;
  let identity: GatewayIdentity;
  beforeEach(() => {
    [now, lookups] = [0, 0];
    respond = async () => undefined;
    const asCaller = async (request: MatrixRequest): Promise<QueryResult> => {
      lookups++;
      await respond();
      const [user] = request.token()?.split('-') ?? [];
      return { status: 200, body: { user_id: `@${user}:b` }, retryAfter: undefined };
    };
    const services = ApplicationServices.read([], 'b');
    const options = { serverName: 'b', ttlMs: 100, now: () => now };
    identity = new GatewayIdentity({ asCaller } as unknown as UpstreamQueries, services, options);
  });

  const callerOf = (token: string) =>
    identity.callerOf({ token: () => token, query: new URLSearchParams() } as unknown as MatrixRequest);

  test('looks a token up once while it is cached', async () => {
    for (let i = 0; i < 3; i++) expect((await callerOf('nora-1')).userId).toBe('@nora:b');
    expect(lookups).toBe(1);
    now = 100;
    await callerOf('nora-1');
    expect(lookups).toBe(2);
  });

  test('drops all tokens of a user, and no others', async () => {
    for (const token of ['nora-1', 'nora-2', 'olaf-1']) await callerOf(token);
    now = 1;
    identity.forgetUserOf('nora-1');
    now = 2;
    for (const token of ['nora-1', 'nora-2', 'olaf-1', 'nora-2']) await callerOf(token);
    expect(lookups).toBe(5);
  });

  test('does not cache a lookup that a revocation has overtaken', async () => {
    await callerOf('nora-1');
    now = 1;
    respond = async () => {
      now = 2;
      identity.forgetUserOf('nora-1');
    };
    await callerOf('nora-2');
    respond = async () => undefined;
    now = 3;
    await callerOf('nora-2');
    expect(lookups).toBe(3);
  });
});
