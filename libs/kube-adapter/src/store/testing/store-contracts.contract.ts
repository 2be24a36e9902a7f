import {
  accountStoreContract,
  apiTokenStoreContract,
  deviceLoginStoreContract,
  loginSessionStoreContract,
  sharedLoginStoreContract,
  folderStoreContract,
  messageChannelStoreContract,
  messageRuleStoreContract,
  replyStoreContract,
  sampleExchangeContract,
  sharedApiTokenStoreContract,
  sharedReplyStoreContract,
  sharedTaskStoreContract,
  sharedWebhookStoreContract,
  sourceStoreContract,
  savedViewStoreContract,
  roleStoreContract,
  sharedRoleStoreContract,
  scheduledSnapshotStoreContract,
  scheduleStoreContract,
  sshKeyStoreContract,
  taskStoreContract,
  userGroupsStoreContract,
  webhookStoreContract,
} from '@headgate/testing';
import type { KubeSharedStore, KubeSharedStoreOptions } from '../kube-shared-store.js';

/** A cluster with the definitions of the store, whose replicas have the role of the manifests. */
export interface StoreCluster {
  /** A replica that is connected, but has read nothing yet. */
  connect(options?: Partial<KubeSharedStoreOptions>): KubeSharedStore;
  join(options?: Partial<KubeSharedStoreOptions>): Promise<KubeSharedStore>;
  close(): Promise<void>;
}

/** The contract suites of everything that replicas share. */
export function storeContracts(title: string, open: () => Promise<StoreCluster>): void {
  folderStoreContract(title, async () => {
    const harness = await open();
    return {
      store: harness.connect().folders,
      reopen: () => harness.connect().folders,
      close: () => harness.close(),
    };
  });

  taskStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).tasks,
      reopen: async () => (await harness.join()).tasks,
      close: () => harness.close(),
    };
  });

  sharedTaskStoreContract(title, async () => {
    const harness = await open();
    return {
      join: async (replica) => (await harness.join({ replica })).tasks,
      close: () => harness.close(),
    };
  });

  loginSessionStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).sessions,
      reopen: async () => (await harness.join()).sessions,
      close: () => harness.close(),
    };
  });

  accountStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).accounts,
      reopen: async () => (await harness.join()).accounts,
      close: () => harness.close(),
    };
  });

  deviceLoginStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).deviceLogins,
      reopen: async () => (await harness.join()).deviceLogins,
      close: () => harness.close(),
    };
  });

  userGroupsStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).userGroups,
      reopen: async () => (await harness.join()).userGroups,
      close: () => harness.close(),
    };
  });

  sharedLoginStoreContract(title, async () => {
    const harness = await open();
    return {
      join: async (replica) => (await harness.join({ replica })).sessions,
      close: () => harness.close(),
    };
  });

  sshKeyStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).sshKeys,
      reopen: async () => (await harness.join()).sshKeys,
      close: () => harness.close(),
    };
  });

  savedViewStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).views,
      reopen: async () => (await harness.join()).views,
      close: () => harness.close(),
    };
  });

  scheduleStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).schedules,
      reopen: async () => (await harness.join()).schedules,
      close: () => harness.close(),
    };
  });

  messageChannelStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).messageChannels,
      reopen: async () => (await harness.join()).messageChannels,
      close: () => harness.close(),
    };
  });

  messageRuleStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).messageRules,
      reopen: async () => (await harness.join()).messageRules,
      close: () => harness.close(),
    };
  });

  scheduledSnapshotStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).scheduledSnapshots,
      reopen: async () => (await harness.join()).scheduledSnapshots,
      close: () => harness.close(),
    };
  });

  sourceStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).sources,
      reopen: async () => (await harness.join()).sources,
      close: () => harness.close(),
    };
  });

  apiTokenStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).tokens,
      reopen: async () => (await harness.join()).tokens,
      close: () => harness.close(),
    };
  });

  sharedApiTokenStoreContract(title, async () => {
    const harness = await open();
    return {
      join: async (replica) => (await harness.join({ replica })).tokens,
      close: () => harness.close(),
    };
  });

  roleStoreContract(title, async () => {
    const harness = await open();
    return {
      store: (await harness.join()).roles,
      reopen: async () => (await harness.join()).roles,
      close: () => harness.close(),
    };
  });

  sharedRoleStoreContract(title, async () => {
    const harness = await open();
    return {
      join: async (replica) => (await harness.join({ replica })).roles,
      close: () => harness.close(),
    };
  });

  webhookStoreContract(title, async (maxEvents) => {
    const harness = await open();
    return {
      store: (await harness.join({ maxEvents })).webhooks,
      reopen: async () => (await harness.join({ maxEvents })).webhooks,
      close: () => harness.close(),
    };
  });

  sharedWebhookStoreContract(title, async () => {
    const harness = await open();
    return {
      join: async (replica) => (await harness.join({ replica })).webhooks,
      close: () => harness.close(),
    };
  });

  sampleExchangeContract(title, async () => {
    const harness = await open();
    return {
      join: async (replica) => (await harness.join({ replica })).samples,
      close: () => harness.close(),
    };
  });

  replyStoreContract(title, async (maxReplies) => {
    const harness = await open();
    return {
      store: (await harness.join({ maxReplies })).replies,
      reopen: async () => (await harness.join({ maxReplies })).replies,
      close: () => harness.close(),
    };
  });

  sharedReplyStoreContract(title, async () => {
    const harness = await open();
    return {
      join: async (replica) => (await harness.join({ replica })).replies,
      close: () => harness.close(),
    };
  });
}
