import { apiTokenStoreContract } from './contracts/api-token-store.contract.js';
import { webhookStoreContract } from './contracts/webhook-store.contract.js';
import { MemoryApiTokenStore } from './memory-api-token-store.js';
import { MemoryWebhookStore } from './memory-webhook-store.js';
import { folderStoreContract } from './contracts/folder-store.contract.js';
import { sourceStoreContract } from './contracts/source-store.contract.js';
import { taskStoreContract } from './contracts/task-store.contract.js';
import { MemoryFolderStore } from './memory-folder-store.js';
import { MemorySourceStore } from './memory-source-store.js';
import { MemoryTaskStore } from './memory-task-store.js';

folderStoreContract('memory', () => {
  const store = new MemoryFolderStore();
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
