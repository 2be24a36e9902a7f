export * from './registry-database.js';
export * from './sqlite-audit-log.js';
export * from './sqlite-folder-store.js';
export * from './sqlite-source-store.js';
export * from './sqlite-task-store.js';
