export * from './directory-lock.js';
export * from './sqlite-database.js';
