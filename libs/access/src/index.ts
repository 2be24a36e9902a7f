export * from './api-tokens.js';
export * from './bound-grant.js';
export * from './combine-grants.js';
export * from './roles.js';
export * from './token-changes.js';
export * from './token-grant.js';
export * from './token-text.js';
