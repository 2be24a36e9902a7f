import { existsSync } from 'node:fs';
import { once } from 'node:events';
import type { ForeignProject } from './foreign-project.js';
import { COUNT_MODULES, type LoadedModules } from './loaded-modules.js';

const EXAMPLES = 'libs/kubevirt-sandbox/examples';

/**
 * The rules for the sandbox as a product: its program, its size, its examples.
 * @param installed a project that has it
 */
export function describeSandbox(installed: () => ForeignProject): void {
  let project: ForeignProject;

  beforeAll(() => {
    project = installed();
  });

  test('runs as a program until it is interrupted, and prints its kubeconfig', async () => {
    const program = project.spawn('npx', ['@headgate/kubevirt-sandbox', '--vms', '1000'], { detached: true });
    const closed = once(program, 'close');
    let output = '';
    for await (const text of program.stdout!.setEncoding('utf8')) {
      output += String(text);
      if (output.includes('Ctrl-C ends it.')) break;
    }
    expect(output).toContain('A simulated cluster');
    const kubeconfig = /KUBECONFIG=(\S+)/.exec(output)?.[1] ?? '';
    const url = /http:\/\/[\d.:]+\d/.exec(output)?.[0] ?? '';
    const list = await fetch(`${url}/apis/kubevirt.io/v1/virtualmachines?limit=1`);
    expect(await list.json()).toMatchObject({ metadata: { remainingItemCount: 999 } });
    expect(existsSync(kubeconfig)).toBe(true);
    // Like Ctrl-C in a terminal: npx and the program receive it.
    process.kill(-program.pid!, 'SIGINT');
    await closed;
    expect(existsSync(kubeconfig)).toBe(false);
  });

  test('refuses an option with one sentence and the exit code 2', async () => {
    const outcome = await project.run('npx', ['@headgate/kubevirt-sandbox', '--vms', 'many']);
    expect(outcome).toEqual({ code: 2, stdout: '', stderr: '--vms must be a number from 0 to 10000\n' });
  });

  test.each(['kubevirt-sandbox', 'kube-sandbox'])('%s loads no framework and no client', async (name) => {
    project.write('count-modules.mjs', COUNT_MODULES);
    const { code, stdout, stderr } = await project.run(process.execPath, ['count-modules.mjs', `@headgate/${name}`]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const loaded = JSON.parse(stdout) as LoadedModules;
    const own =
      name === 'kubevirt-sandbox'
        ? ['@headgate/kube-sandbox', '@headgate/kubevirt-sandbox']
        : ['@headgate/kube-sandbox'];
    expect(Object.keys(loaded).sort()).toEqual([...own, 'ws', 'yaml'].sort());
    expect(loaded[`@headgate/${name}`]).toBeGreaterThan(50);
  });

  test.each(['jest', 'vitest'])('serves the tests of the example with %s', async (runner) => {
    const folder = `examples/${runner}`;
    project.add(`${EXAMPLES}/${runner}`, folder);
    const { code, stdout, stderr } = await project.run('npm', ['test', '--silent'], { cwd: folder });
    expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
    expect(stdout + stderr).toMatch(/Tests:? +\d passed/);
  });
}
