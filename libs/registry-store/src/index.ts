export * from './registry-database.js';
export * from './sqlite-api-token-store.js';
export * from './sqlite-audit-log.js';
export * from './sqlite-folder-store.js';
export * from './sqlite-journal.js';
export * from './sqlite-source-store.js';
export * from './sqlite-task-store.js';
export * from './sqlite-webhook-store.js';
