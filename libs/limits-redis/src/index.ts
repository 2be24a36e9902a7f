export { ServerTooSlow, type ServerOptions } from './redis-connection.js';
export { RedisWindows, type RedisWindowsOptions } from './redis-windows.js';
