export * from './check-backends.js';
export * from './finding-history.js';
export * from './fix-backends.js';
export * from './fix-check.js';
