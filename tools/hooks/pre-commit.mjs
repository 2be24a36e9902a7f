// Formats the staged files with Prettier and scans them for secrets. Tests run in CI, not here.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSecrets } from './secrets.mjs';

const root = join(import.meta.dirname, '../..');
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });

const staged = git('diff', '--cached', '--name-only', '--diff-filter=ACMR', '-z').split('\0').filter(Boolean);
const unstaged = new Set(git('diff', '--name-only', '-z').split('\0').filter(Boolean));

const findings = staged
  .filter((file) => existsSync(join(root, file)) && file !== 'package-lock.json')
  .flatMap((file) => findSecrets(readFileSync(join(root, file), 'utf8')).map((what) => `${file}: ${what}`));
if (findings.length > 0) {
  console.error(`This commit contains a secret:\n  ${findings.join('\n  ')}`);
  process.exit(1);
}

// Skip partly staged files: formatting would stage the rest of them too.
const whole = staged.filter((file) => !unstaged.has(file));
const prettier = join(root, 'node_modules/prettier/bin/prettier.cjs');
if (whole.length > 0 && existsSync(prettier)) {
  execFileSync(process.execPath, [prettier, '--write', '--ignore-unknown', '--log-level', 'warn', ...whole], {
    cwd: root,
    stdio: 'inherit',
  });
  git('add', '--', ...whole);
}
