import {
  SILENT_LOG,
  type Account,
  type DeviceLogin,
  type LoginSession,
  type MessageChannel,
  type MessageRule,
  type SavedView,
  type Schedule,
  type ScheduledSnapshots,
  type SshKey,
  type UserGroups,
} from '@headgate/domain-contracts';
import { ClusterStore, type ClusterStoreOptions } from './cluster-store.js';
import { KubeFolderStore } from './folders/kube-folder-store.js';
import { KubeReplicas } from './leases/kube-replicas.js';
import type { LeaseTimes } from './leases/lease-election.js';
import { KubeLoginStore } from './login/kube-login-store.js';
import { ACCOUNTS, DEVICE_LOGINS, SESSIONS, USER_GROUPS } from './login/login-kinds.js';
import { KubeReplyStore } from './replies/kube-reply-store.js';
import { KubeSampleExchange } from './samples/kube-sample-exchange.js';
import { KubeSourceStore } from './sources/kube-source-store.js';
import { KubeRoleStore } from './roles/kube-role-store.js';
import { KubeOwnedStore } from './owned/kube-owned-store.js';
import {
  MESSAGE_CHANNELS,
  MESSAGE_RULES,
  SAVED_VIEWS,
  SCHEDULED_SNAPSHOTS,
  SCHEDULES,
  SSH_KEYS,
} from './owned/owned-kinds.js';
import { KubeTaskStore } from './tasks/kube-task-store.js';
import { KubeApiTokenStore } from './tokens/kube-api-token-store.js';
import { KubeWebhookStore } from './webhooks/kube-webhook-store.js';

export interface KubeSharedStoreOptions extends ClusterStoreOptions {
  readonly leaseTimes?: LeaseTimes;
  /** The name of this process among the replicas; by default its host name and a random part. */
  readonly replica?: string;
  /** The length of the log of events for webhooks; by default 2000. */
  readonly maxEvents?: number;
  /** How many idempotency keys of a caller are kept; by default 2000. */
  readonly maxReplies?: number;
}

/** What several replicas of the service share, in one namespace of a cluster. */
export class KubeSharedStore {
  readonly folders: KubeFolderStore;
  readonly tasks: KubeTaskStore;
  readonly tokens: KubeApiTokenStore;
  readonly sessions: KubeLoginStore<LoginSession, 'session'>;
  readonly accounts: KubeLoginStore<Account, 'account'>;
  readonly deviceLogins: KubeLoginStore<DeviceLogin, 'deviceLogin'>;
  readonly userGroups: KubeLoginStore<UserGroups, 'userGroups'>;
  readonly roles: KubeRoleStore;
  readonly sources: KubeSourceStore;
  readonly sshKeys: KubeOwnedStore<SshKey, 'sshKey'>;
  readonly views: KubeOwnedStore<SavedView, 'view'>;
  readonly schedules: KubeOwnedStore<Schedule, 'schedule'>;
  readonly scheduledSnapshots: KubeOwnedStore<ScheduledSnapshots, 'snapshots'>;
  readonly messageChannels: KubeOwnedStore<MessageChannel, 'channel'>;
  readonly messageRules: KubeOwnedStore<MessageRule, 'rule'>;
  readonly webhooks: KubeWebhookStore;
  readonly samples: KubeSampleExchange;
  readonly replies: KubeReplyStore;
  readonly replicas: KubeReplicas;
  /** Whether the store was read, and this replica takes part. */
  isOpen = false;

  private constructor(
    private readonly store: ClusterStore,
    { leaseTimes, replica, maxEvents, maxReplies, log = SILENT_LOG }: KubeSharedStoreOptions,
  ) {
    this.replicas = new KubeReplicas(store, { times: leaseTimes, id: replica, log });
    this.folders = new KubeFolderStore(store);
    this.tasks = new KubeTaskStore(store, this.replicas.id, log);
    this.tokens = new KubeApiTokenStore(store, this.replicas, log);
    this.sessions = new KubeLoginStore(store, SESSIONS, this.replicas, log);
    this.accounts = new KubeLoginStore(store, ACCOUNTS, this.replicas, log);
    this.deviceLogins = new KubeLoginStore(store, DEVICE_LOGINS, this.replicas, log);
    this.userGroups = new KubeLoginStore(store, USER_GROUPS, this.replicas, log);
    this.roles = new KubeRoleStore(store, this.replicas, log);
    this.sources = new KubeSourceStore(store, log);
    this.sshKeys = new KubeOwnedStore(store, SSH_KEYS, log);
    this.views = new KubeOwnedStore(store, SAVED_VIEWS, log);
    this.schedules = new KubeOwnedStore(store, SCHEDULES, log);
    this.scheduledSnapshots = new KubeOwnedStore(store, SCHEDULED_SNAPSHOTS, log);
    this.messageChannels = new KubeOwnedStore(store, MESSAGE_CHANNELS, log);
    this.messageRules = new KubeOwnedStore(store, MESSAGE_RULES, log);
    this.webhooks = new KubeWebhookStore(store, { maxEvents, log });
    this.samples = new KubeSampleExchange(store, { log });
    this.replies = new KubeReplyStore(store, { maxPerCaller: maxReplies, log });
  }

  /** Sends no request. */
  static connect(options: KubeSharedStoreOptions): KubeSharedStore {
    return new KubeSharedStore(ClusterStore.open(options), options);
  }

  /**
   * Rewrites folders of an earlier format.
   * @throws DomainError when the store can't be reached or read; nothing else was changed then
   */
  async open(): Promise<void> {
    await this.folders.read();
    await Promise.all(this.watchedParts.map((part) => part.open()));
    this.replicas.start();
    this.isOpen = true;
  }

  /** Call after all work has stopped: the others continue it then. */
  async close(): Promise<void> {
    this.isOpen = false;
    await Promise.all(this.watchedParts.map((part) => part.close()));
    await this.replicas.close();
    await this.store.close();
  }

  private get watchedParts() {
    const { tasks, tokens, roles, sources, sshKeys, views, webhooks, samples, replies } = this;
    const logins = [this.sessions, this.accounts, this.deviceLogins, this.userGroups];
    const owned = [sshKeys, views, this.schedules, this.scheduledSnapshots, this.messageChannels, this.messageRules];
    return [tasks, tokens, ...logins, roles, sources, ...owned, webhooks, samples, replies];
  }
}
