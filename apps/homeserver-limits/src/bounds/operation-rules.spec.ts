import {
  boundedOperations,
  type Directory,
  type Identity,
  type MatrixRequest,
  PathTable,
} from '@headgate/homeserver-contracts';
import type { Rules } from '../rules/rules.js';
import { OperationRules } from './operation-rules.js';

const table = new PathTable(boundedOperations);

/** Whether a rule on federation applies to a request. */
function applies(method: string, target: string): boolean {
  const count = (event: string): boolean => event === 'federation';
  const counted = { operationOf: () => undefined, run: () => Promise.reject(new Error('not counted')) };
  const rules = new OperationRules({ count } as Partial<Rules> as Rules, {} as Identity, {} as Directory, counted);
  const classified = table.classify(method, target);
  if (classified.kind === 'ambiguous') throw new Error(`${target} is refused`);
  return rules.applyTo(classified, method, target);
}

describe('OperationRules', () => {
  test.each([
    '/_matrix/federation/v1/version',
    '/_matrix/federation/v1/send/t1',
    '/_matrix/%66ederation/v1/version',
    '/%5fmatrix/federation/v1/version',
    '/_matrix%2ffederation/v1/version',
    '/_matrix/%2566ederation/v1/version',
    '/_matrix%252Ffederation/v1/version',
    '//_matrix//federation/v1/version',
    '/_matrix/fed%0aeration/v1/version',
    '/x%2f..%2f_matrix/federation/v1/version',
  ])('count %s as federation', (target) => expect(applies('PUT', target)).toBe(true));

  test.each(['/_matrix/client/v3/sync', '/_matrix/key/v2/server', '/x/_matrix/federation/v1', '/_matrix/federations'])(
    'do not count %s as federation',
    (target) => expect(applies('GET', target)).toBe(false),
  );

  test.each([
    ['/_matrix/federation/v1/send/t1', 'c.example'],
    ['/_matrix/federation/v2/send_join/!r:b/$e', 'c.example'],
    // Dendrite answers these with 200, whatever their signature is.
    ['/_matrix/federation/v1/version', undefined],
    ['/_matrix/federation/v1/publicRooms?limit=1', undefined],
    ['/_matrix/federation/v1/openid/userinfo?access_token=x', undefined],
    ['/_matrix/federation/v1/3pid/onbind', undefined],
    ['/_matrix/federation/v1/%76ersion', undefined],
  ])('take the origin of %s to be %s', async (target, origin) => {
    const seen: unknown[] = [];
    const run = async (_request: unknown, parts: readonly { origin?: string }[]) => void seen.push(parts[0]?.origin);
    const rules = { count: (event: string) => event === 'federation', share: () => false, run };
    const counted = { operationOf: () => undefined, run: () => Promise.reject(new Error('not counted')) };
    const raw = { headers: { authorization: 'X-Matrix origin="c.example",key="ed25519:1",sig="s"' } };
    const classified = table.classify('GET', target);
    if (classified.kind === 'ambiguous') throw new Error(`${target} is refused`);
    await new OperationRules(rules as unknown as Rules, {} as Identity, {} as Directory, counted).run(
      { raw, method: 'GET', target } as unknown as MatrixRequest,
      classified,
      () => Promise.reject(new Error('not handled')),
    );
    expect(seen).toEqual([origin]);
  });
});
