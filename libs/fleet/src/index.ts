export * from './fleet.js';
export * from './fleet-entry.js';
export * from './query-entries.js';
