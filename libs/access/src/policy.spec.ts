import { ACCESS_ACTIONS, ADMINISTRATOR, TOKEN_ACTIONS, type Grant } from '@headgate/domain-contracts';
import { buildVm } from '@headgate/testing';
import { BoundGrant, type GrantRules } from './bound-grant.js';
import { expectMembersAllowed } from './member-needs.js';
import {
  anyCaller,
  ownObjects,
  anyone,
  ct,
  eachMember,
  everything,
  faultOf,
  folders,
  refInBody,
  sharedData,
  visibleInstances,
  vm,
  vmOrCt,
  type Need,
} from './need.js';
import { expectAllowed, may, refusalOf, type Target } from './policy.js';
import { readerGrant } from './reader-grant.js';
import { RoleGrant } from './role-grant.js';
import { roleIn } from './roles.js';
import { TokenGrant } from './token-grant.js';

const db = { instance: buildVm({ ref: { name: 'db' } }), folder: 'prod' };
const web = { instance: buildVm({ ref: { name: 'web' } }) };
const refs = new Map([db, web].map((subject) => [`vm/lab/default/${subject.instance.ref.name}`, subject]));
const bind = (rules: GrantRules): Grant => new BoundGrant(rules, (ref) => refs.get(ref));
const role = (name: 'viewer' | 'operator' | 'admin') =>
  bind(new RoleGrant('ann', () => [roleIn({ folder: 'prod', role: name })]));
const grants = {
  administrator: ADMINISTRATOR,
  reader: readerGrant('bob'),
  token: bind(
    new TokenGrant(
      { name: 'ci', actions: TOKEN_ACTIONS, scope: { folder: 'prod' } },
      ({ folder }) => folder === 'prod',
    ),
  ),
  viewer: role('viewer'),
  operator: role('operator'),
  owner: role('admin'),
  roleless: bind(new RoleGrant('eve', () => [])),
};
const inside = { instance: db };
const outside = { instance: web };
const inFolder = { folder: { action: 'change', field: 'folder' } } as const;
const pvc = { also: { action: 'change', field: 'pvc' } } as const;

describe('the policy', () => {
  test.each<[string, Need, Target, string]>([
    ['anyone', anyone, {}, 'administrator reader token viewer operator owner roleless'],
    ['any caller', anyCaller, {}, 'administrator reader token viewer operator owner roleless'],
    ['objects of the caller', ownObjects, {}, 'administrator reader token viewer operator owner roleless'],
    ['what it may read', visibleInstances, {}, 'administrator reader token viewer operator owner roleless'],
    ['shared data', sharedData, {}, 'administrator reader viewer operator owner'],
    ['members', eachMember, {}, 'administrator token viewer operator owner roleless'],
    ['all reads', everything('read'), {}, 'administrator reader'],
    ['all changes', everything('change'), {}, 'administrator'],
    ['creation in a folder', everything('create', inFolder), { folder: 'prod' }, 'administrator'],
    ['the service', everything('manage'), {}, 'administrator'],
    ['reading', vm('read'), inside, 'administrator reader token viewer operator owner'],
    ['reading outside', vm('read'), outside, 'administrator reader'],
    ['watching', vmOrCt('watch'), inside, 'administrator reader token viewer operator owner'],
    ['typing', vmOrCt('console'), inside, 'administrator token operator owner'],
    ['power', vm('power'), inside, 'administrator token operator owner'],
    ['power of a container', ct('power'), inside, 'administrator token operator owner'],
    ['power outside', vm('power'), outside, 'administrator'],
    ['power of any instance', vm('power'), {}, 'administrator'],
    ['change', vm('change'), inside, 'administrator token owner'],
    ['change at ref', refInBody('guest'), inside, 'administrator token owner'],
    ['secrets', vm('secrets'), inside, 'administrator owner'],
    ['export', vm('export'), inside, 'administrator token owner'],
    ['clone', vm('change', { also: { action: 'create' } }), inside, 'administrator'],
    ['a new volume', vm('change', pvc), { ...inside, hasField: false }, 'administrator token owner'],
    ['a volume of anyone', vm('change', pvc), { ...inside, hasField: true }, 'administrator'],
    ['a volume, perhaps of anyone', vm('change', pvc), inside, 'administrator'],
    ['a folder', folders('change', ['path']), { folder: 'prod/new' }, 'administrator token owner'],
    ['another folder', folders('change', ['path']), { folder: 'production' }, 'administrator'],
    ['a member of it', folders('change', ['path'], { ref: true }), inside, 'administrator token owner'],
    ['power of a folder', folders('power', ['path']), { folder: 'prod' }, 'administrator token operator owner'],
    ['power by ref', vmOrCt('power'), { ref: 'vm/lab/default/db' }, 'administrator token operator owner'],
    ['power of a ref that does not exist', vmOrCt('power'), { ref: 'vm/lab/default/gone' }, 'administrator'],
  ])('allows %s to those who have the right', (_name, need, target, allowed) => {
    const names = Object.entries(grants).filter(([, grant]) => may(grant, need, target));
    expect(names.map(([name]) => name).join(' ')).toBe(allowed);
  });

  test.each<[string, unknown, string]>([
    ['subject', { of: 'planet', action: 'read' }, 'there is no need of "planet"'],
    ['action', { of: 'all', action: 'fly' }, 'there is no action "fly"'],
    ['action of an instance', { of: 'instance', at: 'path', action: 'fly' }, 'there is no action "fly"'],
    ['further action', vm('read', { also: { action: 'fly' as 'read' } }), 'there is no action "fly"'],
    ['prototype', { of: 'constructor' }, 'there is no need of "constructor"'],
  ])('allows a need with an unknown %s to no grant', (_name, unknown, fault) => {
    const need = unknown as Need;
    expect(faultOf(need)).toBe(fault);
    for (const grant of Object.values(grants)) {
      expect(refusalOf(grant, need, inside)).toBe(`Nothing is allowed here: ${fault}.`);
      expect(() => expectAllowed(grant, need, inside)).toThrow(expect.objectContaining({ code: 'NOT_PERMITTED' }));
    }
  });

  test('gives a token no right by an action that this release does not know', () => {
    const actions = ['fly'] as unknown as typeof TOKEN_ACTIONS;
    const grant = bind(new TokenGrant({ name: 'new', actions, scope: {} }, () => true));
    expect(may(grant, { of: 'all', action: 'fly' as 'read' })).toBe(false);
    expect(ACCESS_ACTIONS.filter((action) => may(grant, vm(action), inside))).toEqual(['read']);
  });

  test('explains a refusal with the right and the object, and to readers that it is for administrators', () => {
    const { reader, token, viewer } = grants;
    expect(refusalOf(reader, vm('power'), {})).toBe('Changing anything is for administrators; bob is not one.');
    expect(refusalOf(readerGrant(''), everything('manage', { doing: 'Reading the journal' }))).toBe(
      'Reading the journal is for administrators; a caller without a login is not one.',
    );
    expect(refusalOf(viewer, vm('power'), inside)).toBe('ann has no right to start or stop db.');
    expect(refusalOf(token, vm('change', pvc), inside)).toBe('The API token ci has no right to change another pvc.');
    expect(refusalOf(token, everything('manage'))).toBe('The API token ci has no right to manage the service.');
    expect(refusalOf(token, folders('change', ['path']), { folder: 'x' })).toBe(
      'The API token ci has no right to change the folder x.',
    );
    expect(refusalOf(token, sharedData)).toBe(
      'The API token ci has no right to read data that belongs to no instance.',
    );
  });
});

describe('members', () => {
  const refsOf = (...names: string[]) =>
    names.map((name) => ({ kind: 'vm' as const, context: 'lab', namespace: 'default', name }));

  test('are refused together, by the refs that are out of reach', () => {
    expect(() => expectMembersAllowed(grants.operator, { action: 'stop' }, refsOf('db', 'web', 'gone'))).toThrow(
      expect.objectContaining({
        code: 'NOT_PERMITTED',
        message: 'ann has no right to stop 2 of them.',
        details: { refs: ['vm/lab/default/web', 'vm/lab/default/gone'] },
      }),
    );
    expectMembersAllowed(grants.operator, { action: 'stop' }, refsOf('db'));
    expectMembersAllowed(ADMINISTRATOR, { action: 'delete' }, refsOf('db', 'web', 'gone'));
    for (const action of ['delete', 'tag', 'start'] as const)
      expect(() => expectMembersAllowed(grants.reader, { action }, refsOf('db'))).toThrow(/no right/);
  });

  test('are put into a folder only with the right to change it as well as them', () => {
    const folder = (path: string) => ({ action: 'folder' as const, folder: path });
    expectMembersAllowed(grants.owner, folder('prod/web'), refsOf('db'));
    expect(() => expectMembersAllowed(grants.owner, folder('test'), refsOf('db'))).toThrow(
      'ann has no right to change the folder test.',
    );
    expect(() => expectMembersAllowed(grants.owner, folder('prod'), refsOf('db', 'web'))).toThrow(/folder 1 of them/);
    expect(() => expectMembersAllowed(grants.operator, folder('prod'), refsOf('db'))).toThrow(/no right/);
    expectMembersAllowed(ADMINISTRATOR, folder('anywhere'), refsOf('db', 'web'));
  });

  test('are taken out of their folder only by those who may change everything', () => {
    expect(() => expectMembersAllowed(grants.owner, { action: 'unfolder' }, refsOf('db'))).toThrow(/1 of them/);
    expectMembersAllowed(ADMINISTRATOR, { action: 'unfolder' }, refsOf('db'));
  });

  test('can be migrated only by those who may change everything', () => {
    expect(() => expectMembersAllowed(grants.owner, { action: 'migrate' }, refsOf('db'))).toThrow(
      /to migrate 1 of them/,
    );
    const everywhere = bind(new TokenGrant({ name: 'ops', actions: ['change'], scope: {} }, () => true));
    expectMembersAllowed(everywhere, { action: 'migrate' }, refsOf('db'));
  });
});
