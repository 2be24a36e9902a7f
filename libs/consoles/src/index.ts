export * from './console-broker.js';
export * from './viewer.js';
