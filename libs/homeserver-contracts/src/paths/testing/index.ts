export * from './proxies.js';
export { DENDRITE, operationAt } from './servers.js';
export * from './targets.js';
export { asRequestLine } from './uri.js';
