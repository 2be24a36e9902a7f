export * from './change-feed.js';
export * from './feed-view.js';
export * from './fleet.js';
export * from './fleet-entry.js';
export * from './fleet-reader.js';
export * from './query-entries.js';
export * from './node-promises.js';
