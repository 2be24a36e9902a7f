export * from './proxies.js';
export * from './targets.js';
export { asRequestLine } from './uri.js';
