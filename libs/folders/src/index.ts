export * from './folder-changes.js';
export * from './folder-tree.js';
export * from './folders.js';
export * from './run-folder-action.js';
export * from './settle-members.js';
