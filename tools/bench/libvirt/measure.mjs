import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/**
 * The reason why this machine can't measure libvirt; undefined if it can.
 * @param {string[]} programs
 */
export function whyUnavailable(programs) {
  if (process.getuid?.() !== 0) return 'only root can start a libvirtd as another user';
  for (const program of programs) {
    try {
      execFileSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' });
    } catch {
      return `${program} is not installed`;
    }
  }
  return undefined;
}

/**
 * Bundles a measuring program like the applications, runs it and reads its figures.
 * @param {string} name of the file in the folder of the project
 * @param {{ adapter?: string, project?: string, folder?: string, args?: string[] }} options
 */
export function measure(
  name,
  { adapter = 'libvirt-adapter', project = `libs/${adapter}`, folder: source = 'src/bench', args: given = [] } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  try {
    const vite = join(root, 'node_modules/vite/bin/vite.js');
    const config = join(import.meta.dirname, '../vm-service/vite.config.js');
    const args = ['build', '--ssr', `${source}/${name}.ts`, '--outDir', folder, '--logLevel', 'error'];
    const cwd = join(root, project);
    execFileSync(process.execPath, [vite, ...args, '--config', config], { cwd, stdio: 'inherit' });
    const printed = execFileSync(process.execPath, [join(folder, `${name}.js`), ...given], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return JSON.parse(printed.trim().split('\n').at(-1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
