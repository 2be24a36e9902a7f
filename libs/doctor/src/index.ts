export * from './check-backends.js';
export * from './fix-backends.js';
