import {
  isVm,
  isWithinFolder,
  TOKEN_ACTIONS,
  type AccessAction,
  type AccessScope,
  type Role,
} from '@headgate/domain-contracts';
import { buildContainer, buildVm } from '@headgate/testing';
import { BoundGrant } from './bound-grant.js';
import { combineGrants } from './combine-grants.js';
import { RoleGrant } from './role-grant.js';
import { roleIn, Roles } from './roles.js';
import { TokenGrant, type ScopeMatch } from './token-grant.js';

const ACTIONS: readonly AccessAction[] = [...TOKEN_ACTIONS, 'watch', 'secrets', 'manage'];
const matches: ScopeMatch = ({ instance, folder }, scope) =>
  (scope.kind === undefined || isVm(instance) === (scope.kind === 'vm')) &&
  (scope.folder === undefined || (folder !== undefined && isWithinFolder(folder, scope.folder))) &&
  (scope.q === undefined || instance.ref.name.includes(scope.q));
const web = { instance: buildVm({ ref: { name: 'web' } }), folder: 'prod/web' };
const loose = { instance: buildVm({ ref: { name: 'loose' } }) };
const box = { instance: buildContainer(), folder: 'prod' };
const token = (actions: readonly (typeof TOKEN_ACTIONS)[number][], scope: AccessScope = {}) =>
  new TokenGrant({ name: 'ci', actions, scope }, matches);

describe('TokenGrant', () => {
  test.each(TOKEN_ACTIONS)('for %s allows that, and reading', (action) => {
    const expected = new Set<AccessAction>([action, 'read', ...(action === 'console' ? ['watch' as const] : [])]);
    for (const one of ACTIONS) expect([one, token([action]).allows(one, web)]).toEqual([one, expected.has(one)]);
  });

  test('never allows secrets, or managing the service', () => {
    const all = token(TOKEN_ACTIONS);
    for (const action of ['secrets', 'manage'] as const)
      expect([all.allows(action, web), all.allowsAll(action), all.allowsFolder(action, 'prod')]).toEqual([
        false,
        false,
        false,
      ]);
  });

  test.each<[AccessScope, boolean, boolean, boolean]>([
    [{}, true, true, true],
    [{ kind: 'vm' }, true, true, false],
    [{ folder: 'prod' }, true, false, true],
    [{ folder: 'prod/web' }, true, false, false],
    [{ folder: 'pro' }, false, false, false],
    [{ folder: 'prod', kind: 'ct' }, false, false, true],
    [{ q: 'web' }, true, false, false],
  ])('with the scope %j is for exactly those instances', (scope, ...expected) => {
    const grant = token(['read'], scope);
    expect([web, loose, box].map((subject) => grant.allows('read', subject))).toEqual(expected);
  });

  test.each<[AccessScope, boolean, boolean, boolean, boolean]>([
    [{}, true, true, true, true],
    [{ folder: 'prod' }, true, true, false, false],
    // Those that are in the folder later may not match.
    [{ folder: 'prod', q: 'web' }, false, false, false, false],
    [{ q: 'web' }, false, false, false, false],
    [{ kind: 'vm' }, false, false, false, false],
  ])('with the scope %j knows the folders that it covers', (scope, prod, inner, other, all) => {
    const grant = token(['power'], scope);
    const folders = ['prod', 'prod/web/eu', 'production'].map((path) => grant.allowsFolder('power', path));
    expect([...folders, grant.allowsAll('power')]).toEqual([prod, inner, other, all]);
    expect(grant.readsShared).toBe(all);
  });
});

describe('Roles', () => {
  const allowed: Readonly<Record<Role, readonly AccessAction[]>> = {
    viewer: ['read', 'watch'],
    operator: ['read', 'watch', 'console', 'power', 'create'],
    admin: ACTIONS,
  };

  test.each(['viewer', 'operator', 'admin'] as const)(
    '%s allows its actions in the folder and those in it only',
    (role) => {
      const grant = new Roles([{ login: 'Ann', folder: 'prod', role }]).of({ login: 'ann' });
      for (const action of ACTIONS) {
        const isAllowed = allowed[role].includes(action);
        expect([action, grant.allows(action, web), grant.allowsFolder(action, 'prod/web')]).toEqual([
          action,
          isAllowed,
          isAllowed,
        ]);
        expect([
          grant.allows(action, loose),
          grant.allowsFolder(action, 'production'),
          grant.allowsAll(action),
        ]).toEqual([false, false, false]);
      }
    },
  );

  test('in / hold everywhere', () => {
    const grant = new Roles([{ login: 'ann', folder: '/', role: 'operator' }]).of({ login: 'ann' });
    expect([grant.allows('power', loose), grant.allowsAll('power'), grant.allowsAll('manage')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([grant.allowsFolder('create', 'prod'), grant.allowsAll('create')]).toEqual([true, false]);
  });

  test('add up', () => {
    const roles = new Roles([
      { login: 'ann', folder: 'prod', role: 'viewer' },
      { login: 'ann', folder: 'prod/web', role: 'admin' },
    ]);
    expect([
      roles.of({ login: 'ann' }).allows('delete', web),
      roles.of({ login: 'ann' }).allows('delete', box),
    ]).toEqual([true, false]);
  });

  test.each(['', 'bob', 'anne', 'an'])('give "%s", who has none, no rights', (login) => {
    const grant = new Roles([{ login: 'ann', folder: '/', role: 'admin' }]).of({ login });
    for (const action of ACTIONS) expect([grant.allows(action, web), grant.allowsAll(action)]).toEqual([false, false]);
    expect(grant.readsShared).toBe(false);
  });

  test('of a token are not those of a user with the name', () => {
    const roles = new Roles([{ token: 'abcdefghij', folder: '/', role: 'admin' }]);
    expect([roles.isAdmin({ login: 'abcdefghij' }), roles.ofToken('abcdefghij')?.allowsAll('manage')]).toEqual([
      false,
      true,
    ]);
    expect(roles.ofToken('other')).toBeUndefined();
  });
});

describe('a combined grant', () => {
  test('allows what each of its parts allows', () => {
    const viewer = new RoleGrant('ann', () => [roleIn({ folder: 'prod', role: 'viewer' })]);
    const grant = combineGrants(token(['power'], { kind: 'vm' }), viewer, undefined);
    expect([grant.allows('read', web), grant.allows('power', web), grant.allows('read', box)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([grant.allowsFolder('read', 'prod'), grant.allowsAll('read'), grant.readsShared]).toEqual([
      false,
      false,
      false,
    ]);
    expect(grant.label).toBe('The API token ci');
  });

  test('that is bound to the fleet judges refs, and allows none that is unknown', () => {
    const grant = new BoundGrant(token(['read']), (ref) => (ref === 'vm/lab/default/web' ? web : undefined));
    expect([grant.allowsRef('read', 'vm/lab/default/web'), grant.allowsRef('read', 'vm/lab/default/gone')]).toEqual([
      true,
      false,
    ]);
    expect(grant.allowsRef('power', 'vm/lab/default/web')).toBe(false);
  });
});
