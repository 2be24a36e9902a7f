import {
  byInstanceUid,
  byMessageName,
  byScheduleName,
  bySshKeyName,
  byViewRank,
  type MessageChannel,
  type MessageRule,
  type SavedView,
  type Schedule,
  type ScheduledSnapshots,
  type SshKey,
} from '@headgate/domain-contracts';
import {
  SERVICE_MESSAGE_CHANNELS,
  SERVICE_MESSAGE_RULES,
  SERVICE_SCHEDULED_SNAPSHOTS,
  SERVICE_SCHEDULES,
  SERVICE_SSH_KEYS,
  SERVICE_VIEWS,
} from '../../api/resources.js';
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

export const SCHEDULES: OwnedKind<Schedule, 'schedule'> = {
  resource: SERVICE_SCHEDULES,
  subject: 'schedule',
  prefix: 'schedule',
  field: 'schedule',
  isComplete: ({
    owner,
    id,
    name,
    enabled,
    cron,
    timeZone,
    jitterSeconds,
    missed,
    job,
    createdAt,
    changedAt,
    after,
    runs,
  }) =>
    areTexts(owner, id, name, cron, timeZone, missed, job?.kind, createdAt, changedAt, after) &&
    typeof enabled === 'boolean' &&
    typeof jitterSeconds === 'number' &&
    typeof job?.params === 'object' &&
    Array.isArray(runs) &&
    runs.every((run) => areTexts(run.id, run.planned, run.trigger, run.status, run.recordedAt)),
  order: byScheduleName,
};

export const SCHEDULED_SNAPSHOTS: OwnedKind<ScheduledSnapshots, 'snapshots'> = {
  resource: SERVICE_SCHEDULED_SNAPSHOTS,
  subject: 'list of snapshots of a schedule',
  prefix: 'scheduled-snapshots',
  field: 'snapshots',
  isComplete: ({ owner, id, uid, snapshots }) =>
    areTexts(owner, id, uid) && Array.isArray(snapshots) && snapshots.every(({ name }) => areTexts(name)),
  order: byInstanceUid,
};

export const MESSAGE_CHANNELS: OwnedKind<MessageChannel, 'channel'> = {
  resource: SERVICE_MESSAGE_CHANNELS,
  subject: 'channel of messages',
  prefix: 'message-channel',
  field: 'channel',
  isComplete: ({ owner, id, name, shared, target, createdAt, changedAt }) =>
    areTexts(owner, id, name, target?.kind, createdAt, changedAt) && typeof shared === 'boolean',
  order: byMessageName,
};

export const MESSAGE_RULES: OwnedKind<MessageRule, 'rule'> = {
  resource: SERVICE_MESSAGE_RULES,
  subject: 'rule of messages',
  prefix: 'message-rule',
  field: 'rule',
  isComplete: ({ owner, id, name, enabled, channel, kinds, timeZone, createdAt, changedAt, state }) =>
    areTexts(owner, id, name, channel, timeZone, createdAt, changedAt, state?.endedUntil, state?.digestAfter) &&
    typeof enabled === 'boolean' &&
    [kinds, state?.sources, state?.open, state?.considered, state?.messages].every(Array.isArray),
  order: byMessageName,
};
