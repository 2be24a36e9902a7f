import type { Account, DeviceLogin, LoginSession, UserGroups } from '@headgate/domain-contracts';
import {
  SERVICE_DEVICE_LOGINS,
  SERVICE_LOGIN_ACCOUNTS,
  SERVICE_SESSIONS,
  SERVICE_USER_GROUPS,
} from '../../api/resources.js';
import type { LoginKind } from './kube-login-store.js';

const areTexts = (...fields: readonly unknown[]): boolean => fields.every((field) => typeof field === 'string');
const areTimes = (...times: readonly (string | undefined)[]): boolean =>
  times.every((time) => !Number.isNaN(Date.parse(time ?? '')));
const isHash = (text: string | undefined): boolean => /^[0-9a-f]{64}$/.test(text ?? '');

export const SESSIONS: LoginKind<LoginSession, 'session'> = {
  resource: SERVICE_SESSIONS,
  subject: 'session',
  prefix: 'session',
  field: 'session',
  keyOf: ({ id }) => id,
  isComplete: ({ id, hash, login, name, groups, provider, address, agent, createdAt, lastUsedAt, expiresAt }) =>
    areTexts(id, login, name, provider, address, agent, ...(groups ?? [undefined])) &&
    isHash(hash) &&
    areTimes(createdAt, lastUsedAt, expiresAt),
};

export const ACCOUNTS: LoginKind<Account, 'account'> = {
  resource: SERVICE_LOGIN_ACCOUNTS,
  subject: 'account',
  prefix: 'account',
  field: 'account',
  keyOf: ({ login }) => login,
  isComplete: ({ login, name, isAdmin, isDisabled, recovery, passkeys = [], createdAt, changedAt }) =>
    areTexts(login, name) &&
    typeof isAdmin === 'boolean' &&
    typeof isDisabled === 'boolean' &&
    Array.isArray(recovery) &&
    Array.isArray(passkeys) &&
    passkeys.every(({ id, publicKey, counter }) => areTexts(id, publicKey) && typeof counter === 'number') &&
    areTimes(createdAt, changedAt),
};

export const DEVICE_LOGINS: LoginKind<DeviceLogin, 'deviceLogin'> = {
  resource: SERVICE_DEVICE_LOGINS,
  subject: 'device login',
  prefix: 'device-login',
  field: 'deviceLogin',
  keyOf: ({ id }) => id,
  isComplete: ({ id, userCode, machine, address, actions, days, decision, createdAt, expiresAt }) =>
    isHash(id) &&
    areTexts(userCode, machine, address) &&
    Array.isArray(actions) &&
    typeof days === 'number' &&
    (decision === undefined || (areTexts(decision.id, decision.login) && typeof decision.isApproved === 'boolean')) &&
    areTimes(createdAt, expiresAt),
};

export const USER_GROUPS: LoginKind<UserGroups, 'userGroups'> = {
  resource: SERVICE_USER_GROUPS,
  subject: 'list of groups',
  prefix: 'user-groups',
  field: 'userGroups',
  keyOf: ({ login }) => login,
  isComplete: ({ login, groups, at }) => areTexts(login, ...(groups ?? [undefined])) && areTimes(at),
};
