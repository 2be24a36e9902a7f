// Points git at the project's hooks. Run by npm after an install; does nothing outside a checkout.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
if (existsSync(join(root, '.git'))) {
  try {
    execFileSync('git', ['config', 'core.hooksPath', 'tools/hooks'], { cwd: root, stdio: 'ignore' });
  } catch {
    console.warn('git was not found: the commit hook is not installed.');
  }
}
