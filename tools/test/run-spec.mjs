import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { findNode, projectEnvironment, root } from '../start/workspace.mjs';

/**
 * Runs one of the stress tests of vm-service.
 * @param {string} spec its path in the project
 * @param {Record<string, string>} env
 * @returns {Promise<boolean>} whether its tests passed
 */
export function runSpec(spec, env) {
  const child = spawn(findNode(), [join(root, 'node_modules/jest/bin/jest.js'), '-c', 'jest.stress.config.js', spec], {
    cwd: join(root, 'apps/vm-service'),
    stdio: 'inherit',
    env: {
      ...projectEnvironment(),
      NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
      ...env,
    },
  });
  return new Promise((resolve) => void child.once('close', (code) => resolve(code === 0)));
}
