import { apiTokenStoreContract, sharedApiTokenStoreContract } from './contracts/api-token-store.contract.js';
import { sharedWebhookStoreContract, webhookStoreContract } from './contracts/webhook-store.contract.js';
import { roleStoreContract, sharedRoleStoreContract } from './contracts/role-store.contract.js';
import { MemoryRoleStore } from './memory-role-store.js';
import { MemoryApiTokenStore } from './memory-api-token-store.js';
import { MemoryWebhookStore } from './memory-webhook-store.js';
import { folderStoreContract } from './contracts/folder-store.contract.js';
import { shutdownTimesContract } from './contracts/shutdown-times.contract.js';
import {
  savedViewStoreContract,
  messageChannelStoreContract,
  messageRuleStoreContract,
  scheduledSnapshotStoreContract,
  scheduleStoreContract,
  sshKeyStoreContract,
} from './contracts/owned-store.contract.js';
import { sourceStoreContract } from './contracts/source-store.contract.js';
import { sampleExchangeContract } from './contracts/sample-exchange.contract.js';
import { sharedTaskStoreContract } from './contracts/shared-task-store.contract.js';
import { taskStoreContract } from './contracts/task-store.contract.js';
import {
  accountStoreContract,
  deviceLoginStoreContract,
  loginSessionStoreContract,
  userGroupsStoreContract,
} from './contracts/login-store.contract.js';
import {
  MemoryAccountStore,
  MemoryDeviceLoginStore,
  MemoryLoginSessionStore,
  MemoryUserGroupsStore,
} from './memory-login-stores.js';
import { MemoryFolderStore } from './memory-folder-store.js';
import { MemoryShutdownTimes } from './memory-shutdown-times.js';
import {
  MemorySavedViewStore,
  MemoryMessageChannelStore,
  MemoryMessageRuleStore,
  MemoryScheduledSnapshotStore,
  MemoryScheduleStore,
  MemorySshKeyStore,
} from './memory-owned-store.js';
import { MemorySourceStore } from './memory-source-store.js';
import { SharedSamples } from './memory-sample-exchange.js';
import { SharedTaskMemory } from './memory-shared-task-store.js';
import { MemoryTaskStore } from './memory-task-store.js';

folderStoreContract('memory', () => {
  const store = new MemoryFolderStore();
  return { store, reopen: () => store, close: () => undefined };
});

roleStoreContract('memory', () => {
  const store = new MemoryRoleStore();
  return { store, reopen: () => store, close: () => undefined };
});

sharedRoleStoreContract('memory', () => {
  const store = new MemoryRoleStore();
  return { join: async () => store, close: () => undefined };
});

shutdownTimesContract('memory', (maxTimes) => {
  const store = new MemoryShutdownTimes(maxTimes);
  return { store, reopen: () => store, close: () => undefined };
});

sshKeyStoreContract('memory', () => {
  const store = new MemorySshKeyStore();
  return { store, reopen: () => store, close: () => undefined };
});

savedViewStoreContract('memory', () => {
  const store = new MemorySavedViewStore();
  return { store, reopen: () => store, close: () => undefined };
});

messageChannelStoreContract('memory', () => {
  const store = new MemoryMessageChannelStore();
  return { store, reopen: () => store, close: () => undefined };
});
messageRuleStoreContract('memory', () => {
  const store = new MemoryMessageRuleStore();
  return { store, reopen: () => store, close: () => undefined };
});
scheduleStoreContract('memory', () => {
  const store = new MemoryScheduleStore();
  return { store, reopen: () => store, close: () => undefined };
});

scheduledSnapshotStoreContract('memory', () => {
  const store = new MemoryScheduledSnapshotStore();
  return { store, reopen: () => store, close: () => undefined };
});

sourceStoreContract('memory', () => {
  const store = new MemorySourceStore();
  return { store, reopen: () => store, close: () => undefined };
});

taskStoreContract('memory', () => {
  const store = new MemoryTaskStore();
  return { store, reopen: () => store, close: () => undefined };
});

apiTokenStoreContract('memory', () => {
  const store = new MemoryApiTokenStore();
  return { store, reopen: () => store, close: () => undefined };
});

webhookStoreContract('memory', (maxEvents) => {
  const store = new MemoryWebhookStore(maxEvents);
  return { store, reopen: () => store, close: () => undefined };
});

sharedTaskStoreContract('memory', () => {
  const memory = new SharedTaskMemory();
  return { join: async (replica) => memory.join(replica), close: () => undefined };
});

sharedApiTokenStoreContract('memory', () => {
  const store = new MemoryApiTokenStore();
  return { join: async () => store, close: () => undefined };
});

sharedWebhookStoreContract('memory', () => {
  const store = new MemoryWebhookStore();
  return { join: async () => store, close: () => undefined };
});

sampleExchangeContract('memory', () => {
  const shared = new SharedSamples();
  return { join: async () => shared.join(), close: () => undefined };
});

deviceLoginStoreContract('memory', () => {
  const store = new MemoryDeviceLoginStore();
  return { store, reopen: () => store, close: () => undefined };
});

userGroupsStoreContract('memory', () => {
  const store = new MemoryUserGroupsStore();
  return { store, reopen: () => store, close: () => undefined };
});

loginSessionStoreContract('memory', () => {
  const store = new MemoryLoginSessionStore();
  return { store, reopen: () => store, close: () => undefined };
});

accountStoreContract('memory', () => {
  const store = new MemoryAccountStore();
  return { store, reopen: () => store, close: () => undefined };
});
