import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** Read from the source, because a tool imports no library. */
const ABILITIES = [
  ...readFileSync(join(root, 'libs/domain-contracts/src/ports/backend.port.ts'), 'utf8').matchAll(
    /^ {2}(\w+): true,$/gm,
  ),
].map(([, name]) => name);
const TIMEOUT_MS = 120_000;

async function run(command: string[], options: { cwd?: string; stdin?: string } = {}): Promise<[number, string]> {
  const child = spawn(process.execPath, command, {
    cwd: options.cwd ?? root,
    env: { ...process.env, NODE_OPTIONS: '--experimental-vm-modules', FORCE_COLOR: '0' },
  });
  child.stdin.end(options.stdin ?? '');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const code = await new Promise<number>((resolve) => child.once('close', resolve));
  return [code, output];
}

const filesIn = (library: string): string[] =>
  readdirSync(library, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(library, join(entry.parentPath, entry.name)));

describe('npm run new -- adapter', () => {
  const name = `engine-${randomBytes(4).toString('hex')}`;
  // In dist, which Git and the other tools ignore, at the depth of a library: the generated files use relative paths.
  const library = join(root, 'dist', name);

  beforeAll(async () => {
    const [code, output] = await run(['tools/new/new.mjs', 'adapter', name, '--into', 'dist']);
    expect([code, output]).toEqual([0, expect.stringContaining(`Created dist/${name}`)]);
  }, TIMEOUT_MS);
  afterAll(() => rmSync(library, { recursive: true, force: true }));

  test('fills every template', () => {
    const files = filesIn(library);
    expect(files).toEqual(expect.arrayContaining([`src/${name}-backend.ts`, 'src/kind.ts']));
    for (const file of files) {
      expect(file).not.toMatch(/__|\.tpl$/);
      expect(readFileSync(join(library, file), 'utf8')).not.toMatch(/__\w+__/);
    }
  });

  test(
    'generates code that type-checks',
    async () => {
      const tsc = join(root, 'node_modules/typescript-native/bin/tsc');
      expect(await run([tsc, '-p', library])).toEqual([0, expect.any(String)]);
    },
    TIMEOUT_MS,
  );

  test(
    'generates code that passes lint as an adapter',
    async () => {
      const texts = filesIn(library)
        .filter((file) => file.endsWith('.ts'))
        .map((file) => ({ path: `libs/kube-adapter/${file}`, source: readFileSync(join(library, file), 'utf8') }));
      const [code, output] = await run(['tools/lint/lint-texts.mjs'], { stdin: JSON.stringify(texts) });
      expect([code, output]).toEqual([0, JSON.stringify(texts.map(() => []))]);
    },
    TIMEOUT_MS,
  );

  test(
    'generates contract tests that fail because the abilities are missing',
    async () => {
      const jest = join(root, 'node_modules/jest/bin/jest.js');
      const [code, output] = await run([jest, '--colors=false', '--reporters=default'], { cwd: library });
      expect(code).toBe(1);
      expect(ABILITIES).toContain('power');
      for (const ability of ABILITIES) expect(output).toMatch(new RegExp(`Engine\\w+ has no ${ability} yet\\.`));
      expect(output).toMatch(/✓ has a kind that fits into URLs/);
      expect(output).not.toMatch(/SyntaxError|Cannot find module/);
    },
    TIMEOUT_MS,
  );
});
