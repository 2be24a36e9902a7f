/** @jest-environment node */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** Lints a text as if it were in that file, with the workspace's own configuration. */
function lint(file: string, code: string): string[] {
  const script = join(ROOT, 'node_modules/eslint/bin/eslint.js');
  const command = [
    script,
    '--stdin',
    '--stdin-filename',
    `apps/web-console/src/${file}`,
    '--format',
    'json',
    '--rule',
    '{"@nx/enforce-module-boundaries":"off"}',
  ];
  try {
    execFileSync(process.execPath, command, {
      cwd: ROOT,
      input: code,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    return [];
  } catch (error) {
    const [{ messages }] = JSON.parse(String((error as { stdout: Buffer }).stdout)) as [
      { messages: { ruleId: string }[] },
    ];
    return messages.map(({ ruleId }) => ruleId);
  }
}

describe('the zones of the console', () => {
  test('refuse a feature that imports another feature', () => {
    const code = "export { CreateVmDialog } from '../../create-vm/components/create-vm-dialog.js';\n";
    expect(lint('features/fleet/components/canary.ts', code)).toEqual(['no-restricted-imports']);
  }, 30_000);

  test('refuse shared code that imports a feature', () => {
    expect(lint('shared/ui/canary.ts', "export * from '../../features/fleet/fleet-view.js';\n")).toEqual([
      'no-restricted-imports',
    ]);
  }, 30_000);

  test('allow a feature its own files and shared files', () => {
    const code = "export * from '../fleet-view.js';\nexport * from '../../../shared/tasks/use-tasks.js';\n";
    expect(lint('features/fleet/components/canary.ts', code)).toEqual([]);
  }, 30_000);
});
