import { fileURLToPath } from 'node:url';
import { startServer } from './start-server.mjs';

const SCRIPT = fileURLToPath(new URL('../../vm-service/dev-service.mjs', import.meta.url));

/**
 * Starts the real service over instances in memory, on a free port.
 * @param {string[]} options of apps/vm-service/dev-service.mjs
 */
export const startDevService = (options) => startServer([SCRIPT, '--port', '0', ...options]);
