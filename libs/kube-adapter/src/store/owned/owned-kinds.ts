import { bySshKeyName, byViewRank, type SavedView, type SshKey } from '@headgate/domain-contracts';
import { SERVICE_SSH_KEYS, SERVICE_VIEWS } from '../../api/resources.js';
import type { OwnedKind } from './kube-owned-store.js';

const areTexts = (...fields: readonly unknown[]): boolean => fields.every((field) => typeof field === 'string');

export const SSH_KEYS: OwnedKind<SshKey, 'sshKey'> = {
  resource: SERVICE_SSH_KEYS,
  subject: 'SSH key',
  prefix: 'sshkey',
  field: 'sshKey',
  isComplete: ({ owner, id, name, key, addedAt }) => areTexts(owner, id, name, key, addedAt),
  order: bySshKeyName,
};

export const SAVED_VIEWS: OwnedKind<SavedView, 'view'> = {
  resource: SERVICE_VIEWS,
  subject: 'saved view',
  prefix: 'view',
  field: 'view',
  isComplete: ({ owner, id, name, address, columns, rank, savedAt }) =>
    areTexts(owner, id, name, address, savedAt) &&
    typeof rank === 'number' &&
    (columns === null || (Array.isArray(columns) && areTexts(...columns))),
  order: byViewRank,
};
