import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Task } from '@headgate/domain-contracts';
import { FakePodman } from '@headgate/plugins/testing';

const run = promisify(execFile);
const env = { ...process.env, NODE_OPTIONS: '' };
const TIMEOUT_MS = 240_000;

interface Outcome {
  readonly writes: number;
  readonly tasks: readonly Task[];
  /** How often the VM was created. */
  readonly created: number;
}

describe('a bootc build whose process is killed', () => {
  let folder: string;
  const podmans: FakePodman[] = [];
  let count = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-build-crash-'));
    // A bundle, because the process that is killed must be plain Node.
    const vite = createRequire(import.meta.url)
      .resolve('vite/package.json')
      .replace('package.json', 'bin/vite.js');
    const args = ['build', '--ssr', join(import.meta.dirname, 'build-process.ts'), '--outDir', join(folder, 'program')];
    await run(process.execPath, [vite, ...args, '--config', join(import.meta.dirname, 'vite.config.js')], {
      cwd: import.meta.dirname,
      env,
    });
    await run(process.execPath, [join(folder, 'program/build-process.js'), join(folder, 'installed'), '', 'install'], {
      env,
    });
  }, TIMEOUT_MS);

  afterAll(() => {
    for (const podman of podmans) podman.close();
    rmSync(folder, { recursive: true });
  });

  /** A new data folder with the plugin installed, on which processes run one after the other. */
  const openWorld = () => {
    const data = join(folder, `world-${count++}`);
    cpSync(join(folder, 'installed'), data, { recursive: true });
    const podman = new FakePodman();
    podmans.push(podman);
    const call = (phase: string, killAt: string) =>
      run(process.execPath, [join(folder, 'program/build-process.js'), data, podman.program, phase, killAt], { env });
    return {
      podman,
      complete: async (phase: string): Promise<Outcome> => JSON.parse((await call(phase, '')).stdout) as Outcome,
      kill: (killAt: string) => expect(call('start', killAt)).rejects.toMatchObject({ signal: 'SIGKILL' }),
      builds: () => (existsSync(join(data, 'builds')) ? readdirSync(join(data, 'builds')) : []),
    };
  };

  test(
    'continues at each journal step, creates the VM once, and leaves no disk',
    async () => {
      const { writes, created, tasks } = await openWorld().complete('start');
      expect([created, tasks.map(({ status }) => status)]).toEqual([1, ['done']]);
      expect(writes).toBeGreaterThan(5);
      const moments = Array.from({ length: writes }, (_none, index) => [
        `before:${index + 1}`,
        `after:${index + 1}`,
      ]).flat();
      const worker = async (): Promise<void> => {
        for (let killAt = moments.shift(); killAt !== undefined; killAt = moments.shift()) {
          const world = openWorld();
          await world.kill(killAt);
          const outcome = await world.complete('restart');
          const [statuses, count] = killAt === 'before:1' ? [[], 0] : [['done'], 1];
          const found = outcome.tasks.map(({ status, error }) => `${status}${error}`);
          expect([killAt, found, outcome.created, world.builds()]).toEqual([killAt, statuses, count, []]);
        }
      };
      await Promise.all([worker(), worker()]);
    },
    TIMEOUT_MS,
  );

  test(
    'while its container runs, removes the container and builds again',
    async () => {
      const world = openWorld();
      world.podman.behave({ run: 'hangs' });
      await world.kill('container');
      expect(world.builds()).toHaveLength(1);
      world.podman.behave({});
      const { tasks, created } = await world.complete('restart');
      expect([tasks[0]?.status, created]).toEqual(['done', 1]);
      const programs = world.podman.calls().map(([first]) => first);
      expect(programs).toEqual(['pull', 'image', 'rm', 'run', 'rm', 'run', 'rm']);
      expect(world.builds()).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
