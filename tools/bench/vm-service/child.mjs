import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Starts a process that prints its port as one line and exits when its standard input closes.
 * @param {string} script
 * @param {string[]} args
 * @param {string[]} flags of Node
 */
export async function startChild(script, args, flags = []) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...flags, script, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error(`${script} exited`))),
  ]);
  return {
    /** Sends an empty line, which some of these processes answer with a line. */
    ask: () => child.stdin.write('\n'),
    line: async () => String((await once(child.stdout, 'data'))[0]).trim(),
    pid: child.pid,
    port: Number(String(line)),
    end: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
