import { boundedOperations, type Directory, type Identity, PathTable } from '@headgate/homeserver-contracts';
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
});
