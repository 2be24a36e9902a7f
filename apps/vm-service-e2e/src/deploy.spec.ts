import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const cwd = join(import.meta.dirname, '../../../deploy/vm-service');
const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8', cwd });
const isInstalled = promtool('--version').status === 0;

describe('the files for Prometheus', () => {
  const title = 'the alert rules are valid, and fire when they should';
  (isInstalled ? test : test.skip)(isInstalled ? title : `${title}: promtool is not installed`, () => {
    for (const args of [
      ['check', 'rules', 'alerts.yaml'],
      ['test', 'rules', 'alerts.test.yaml'],
    ]) {
      const { status, stdout, stderr } = promtool(...args);
      expect([args, status, status === 0 ? '' : stdout + stderr]).toEqual([args, 0, '']);
    }
  });
});
