import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  accountStoreContract,
  apiTokenStoreContract,
  folderStoreContract,
  deviceLoginStoreContract,
  loginSessionStoreContract,
  userGroupsStoreContract,
  replyStoreContract,
  roleStoreContract,
  shutdownTimesContract,
  sourceStoreContract,
  savedViewStoreContract,
  messageChannelStoreContract,
  messageRuleStoreContract,
  scheduledSnapshotStoreContract,
  scheduleStoreContract,
  sshKeyStoreContract,
  taskStoreContract,
  webhookStoreContract,
} from '@headgate/testing';
import { RegistryDatabase } from './registry-database.js';
import { SqliteApiTokenStore } from './sqlite-api-token-store.js';
import { SqliteFolderStore } from './sqlite-folder-store.js';
import {
  SqliteAccountStore,
  SqliteDeviceLoginStore,
  SqliteLoginSessionStore,
  SqliteUserGroupsStore,
} from './sqlite-login-stores.js';
import { SqliteReplyStore } from './sqlite-reply-store.js';
import { SqliteRoleStore } from './sqlite-role-store.js';
import { SqliteShutdownTimes } from './sqlite-shutdown-times.js';
import { SqliteSourceStore } from './sqlite-source-store.js';
import { SqliteMessageChannelStore, SqliteMessageRuleStore } from './sqlite-message-stores.js';
import { SqliteScheduledSnapshotStore, SqliteScheduleStore } from './sqlite-schedule-stores.js';
import { SqliteSavedViewStore } from './sqlite-saved-view-store.js';
import { SqliteSshKeyStore } from './sqlite-ssh-key-store.js';
import { SqliteTaskStore } from './sqlite-task-store.js';
import { SqliteWebhookStore } from './sqlite-webhook-store.js';

function openHarness<Store>(build: (database: RegistryDatabase) => Store) {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-registry-'));
  const database = new RegistryDatabase(join(folder, 'registry.db')).open();
  return {
    store: build(database),
    reopen: (): Store => {
      database.close();
      return build(database.open());
    },
    close: (): void => {
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

folderStoreContract('SQLite', () => openHarness((database) => new SqliteFolderStore(database)));
shutdownTimesContract('SQLite', (maxTimes) => openHarness((database) => new SqliteShutdownTimes(database, maxTimes)));
sshKeyStoreContract('SQLite', () => openHarness((database) => new SqliteSshKeyStore(database)));
savedViewStoreContract('SQLite', () => openHarness((database) => new SqliteSavedViewStore(database)));
messageChannelStoreContract('SQLite', () => openHarness((database) => new SqliteMessageChannelStore(database)));
messageRuleStoreContract('SQLite', () => openHarness((database) => new SqliteMessageRuleStore(database)));
scheduleStoreContract('SQLite', () => openHarness((database) => new SqliteScheduleStore(database)));
scheduledSnapshotStoreContract('SQLite', () => openHarness((database) => new SqliteScheduledSnapshotStore(database)));
sourceStoreContract('SQLite', () => openHarness((database) => new SqliteSourceStore(database)));
taskStoreContract('SQLite', () => openHarness((database) => new SqliteTaskStore(database)));
deviceLoginStoreContract('SQLite', () => openHarness((database) => new SqliteDeviceLoginStore(database)));
userGroupsStoreContract('SQLite', () => openHarness((database) => new SqliteUserGroupsStore(database)));
loginSessionStoreContract('SQLite', () => openHarness((database) => new SqliteLoginSessionStore(database)));
accountStoreContract('SQLite', () => openHarness((database) => new SqliteAccountStore(database)));
apiTokenStoreContract('SQLite', () => openHarness((database) => new SqliteApiTokenStore(database)));
roleStoreContract('SQLite', () => openHarness((database) => new SqliteRoleStore(database)));
webhookStoreContract('SQLite', (maxEvents) => openHarness((database) => new SqliteWebhookStore(database, maxEvents)));
replyStoreContract('SQLite', (maxPerCaller) => openHarness((database) => new SqliteReplyStore(database, maxPerCaller)));
