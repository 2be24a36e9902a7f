import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { findNode, projectEnvironment, root } from '../start/workspace.mjs';

/**
 * Runs one of the stress tests.
 * @param {string} spec its path in the project
 * @param {Record<string, string>} env
 * @param {{ project?: string, args?: string[] }} [options] vm-service and its stress tests when left out
 * @returns {Promise<boolean>} whether its tests passed
 */
export function runSpec(spec, env, { project = 'apps/vm-service', args = ['-c', 'jest.stress.config.js'] } = {}) {
  const child = spawn(findNode(), [join(root, 'node_modules/jest/bin/jest.js'), ...args, spec], {
    cwd: join(root, project),
    stdio: 'inherit',
    env: {
      ...projectEnvironment(),
      NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
      ...env,
    },
  });
  return new Promise((resolve) => void child.once('close', (code) => resolve(code === 0)));
}
