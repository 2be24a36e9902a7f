import {
  BoundGrant,
  EVERYWHERE,
  may,
  readerGrant,
  RoleGrant,
  roleIn,
  TokenGrant,
  type GrantRules,
  type AllNeed,
  type InstanceNeed,
  type Need,
  type Target,
} from '@headgate/access';
import {
  isWithinFolder,
  ROLES,
  TOKEN_ACTIONS,
  type AccessScope,
  type AccessSubject,
  type Grant,
  type Instance,
  type Role,
  type TokenAction,
} from '@headgate/domain-contracts';
import type { Route } from '../identity/routes.js';
import { row } from './reference-pages.js';

const FOLDER = 'prod';
/** The grants of the page look at nothing but the folder. */
const SUBJECT: AccessSubject = { instance: { ref: { name: 'web' } } as Instance, folder: FOLDER };

/**
 * Who may do what: every route and socket with its need, and what that takes of each kind of caller, as the policy
 * decides it.
 */
export const permissionsPage = (routes: readonly Route[]): string =>
  [
    '# Permissions',
    '',
    'Every route and socket, what it needs of its caller, and who has that. An administrator may use all of them. Generated from the',
    'code, by asking the policy; do not edit.',
    '',
    '- **Reader**: a user who is not on the allowlist, while there is one and no roles are configured.',
    '- **Token**: the actions that an API token must be created for. Its scope must contain the instance or the folder; "on everything"',
    '  is a token without a scope. It also needs the rights of its creator.',
    '- **Role**: the least role, and where a user must have it. The role `admin` in `/` is that of an administrator.',
    '',
    row('route', 'needs', 'of', 'reader', 'token', 'role'),
    row('---', '---', '---', '---', '---', '---'),
    ...routes.flatMap(({ method, path, need }) =>
      need
        ? [
            row(
              `\`${method} ${path}\``,
              actionOf(need),
              objectOf(need),
              readerCell(need),
              tokenCell(need),
              roleCell(need),
            ),
          ]
        : [],
    ),
    '',
  ].join('\n');

const code = (text: string): string => `\`${text}\``;

const actionOf = (need: Need): string => ('action' in need ? code(need.action) : '');

function objectOf(need: Need): string {
  switch (need.of) {
    case 'anyone':
      return 'anyone, without an identity';
    case 'visitor':
      return 'anyone who may log in, or any caller without a login';
    case 'caller':
      return 'any caller';
    case 'agent':
      return 'agents';
    case 'own':
      return 'the objects of the caller';
    case 'shared':
      return 'data of no instance';
    case 'visible':
      return 'the instances that the caller may read';
    case 'members':
      return 'each instance that the body chooses, by the action';
    case 'all':
      return `${need.action === 'manage' ? 'the service' : 'everything'}${folderWords(need)}`;
    case 'instance':
      return `${instanceWords(need)}${alsoWords(need)}`;
    case 'folder': {
      const fields = need.fields.map((field) => code(field)).join(' and ');
      return `the ${need.fields.length > 1 ? 'folders' : 'folder'} at ${fields}${need.ref ? ', and the instance at `ref`' : ''}`;
    }
  }
}

/** The folder that the body may name in addition. */
function folderWords({ action, folder }: AllNeed): string {
  if (!folder) return '';
  const { field, unless } = folder;
  const words = `, and with ${code(field)} ${code(folder.action)} in that folder`;
  if (!unless) return words;
  return `${words}; with a role ${code(action)} in that folder is enough, without ${unless.map(code).join(' and ')}`;
}

function instanceWords({ at, kind }: InstanceNeed): string {
  if (at === 'ref') return 'the instance at `ref`';
  return kind === undefined
    ? 'the VM or container of the path'
    : `the ${kind === 'vm' ? 'VM' : 'container'} of the path`;
}

function alsoWords({ also }: InstanceNeed): string {
  if (!also) return '';
  const object = also.action === 'manage' ? 'the service' : 'everything';
  return `, and ${also.field === undefined ? '' : `with ${code(also.field)} `}${code(also.action)} of ${object}`;
}

/** The objects of a request about an instance in a folder, without the field that would need more. */
function targetsOf(need: Need): Target[] {
  if (need.of === 'instance') return [{ instance: SUBJECT, hasField: false }];
  if (need.of === 'folder') return [{ folder: FOLDER }, ...(need.ref ? [{ instance: SUBJECT }] : [])];
  return [{}];
}

const allows = (grant: Grant, need: Need): boolean => targetsOf(need).every((target) => may(grant, need, target));
const bound = (rules: GrantRules): Grant => new BoundGrant(rules, () => undefined);

const readerCell = (need: Need): string => (allows(readerGrant(''), need) ? 'yes' : 'no');

function tokenCell(need: Need): string {
  const scope = [{ folder: FOLDER }, {}].find((one) => allows(token(TOKEN_ACTIONS, one), need));
  if (!scope) return 'no';
  const needed = TOKEN_ACTIONS.filter((action) => {
    const others = TOKEN_ACTIONS.filter((other) => other !== action);
    return !allows(token(others, scope), need);
  });
  const actions = needed.length === 0 ? 'any' : needed.map(code).join(' and ');
  return 'folder' in scope ? actions : `${actions} on everything`;
}

const token = (actions: readonly TokenAction[], scope: AccessScope): Grant =>
  bound(
    new TokenGrant(
      { name: '', actions, scope },
      ({ folder }, wanted) => wanted.folder === undefined || isWithinFolder(folder ?? '', wanted.folder),
    ),
  );

function roleCell(need: Need): string {
  if (allows(bound(new RoleGrant('', () => [])), need)) return 'none';
  const inFolder = ROLES.find((role) => allows(ofRole(FOLDER, role), need));
  if (inFolder) return `${code(inFolder)}${need.of === 'shared' ? ' in any folder' : ''}`;
  const everywhere = ROLES.find((role) => allows(ofRole(EVERYWHERE, role), need));
  if (!everywhere) return 'no';
  const target = { folder: FOLDER, hasField: false };
  const within = ROLES.find((role) => may(ofRole(FOLDER, role), need, target));
  return `${code(everywhere)} in ${code(EVERYWHERE)}${within ? `, or ${code(within)} in the folder` : ''}`;
}

const ofRole = (folder: string, role: Role): Grant => bound(new RoleGrant('', () => [roleIn({ folder, role })]));
