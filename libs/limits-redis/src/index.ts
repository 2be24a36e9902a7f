export type { ServerOptions } from './redis-connection.js';
export { RedisWindows, type RedisWindowsOptions } from './redis-windows.js';
export { ServerAway, ServerTooSlow } from './server-errors.js';
