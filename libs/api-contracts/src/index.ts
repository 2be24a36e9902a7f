export * from './answers.js';
export * from './containers.js';
export * from './fields.js';
export * from './folders.js';
export * from './queries.js';
export * from './sources.js';
export * from './tasks.js';
export * from './vms.js';
