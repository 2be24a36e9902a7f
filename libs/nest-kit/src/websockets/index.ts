export * from './path-ws-adapter.js';
