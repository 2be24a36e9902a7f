import type { ConsoleSource, ConsoleStream, InstanceRef } from '@headgate/domain-contracts';
import { readUntil } from '@headgate/testing';

/** A seed with which root can log in to the tiny guest. */
export const ROOT_LOGIN = '#cloud-config\nchpasswd:\n  list: |\n    root:r00t\n';

/** Waits until the tiny guest has booted to its login prompt, and logs in as root. */
export async function openShell(consoles: ConsoleSource, ref: InstanceRef): Promise<ConsoleStream> {
  const { stream, backlog } = await consoles.openSerial(ref);
  const printed = backlog.toString('latin1');
  if (!printed.includes('login: ')) await readUntil(stream, /login: /, printed);
  await logIn(stream);
  return stream;
}

/** Types again what login flushed with its input. */
export async function logIn(stream: ConsoleStream): Promise<void> {
  stream.write('root\r');
  await readUntil(stream, /Password: /);
  for (;;) {
    stream.write('r00t\r');
    const timeout = AbortSignal.timeout(5000);
    const answer = await Promise.race([
      readUntil(stream, /# |incorrect/),
      new Promise<undefined>((resolve) => timeout.addEventListener('abort', () => resolve(undefined))),
    ]);
    if (answer === undefined) continue;
    if (!answer.includes('incorrect')) return;
    await readUntil(stream, /login: /);
    stream.write('root\r');
    await readUntil(stream, /Password: /);
  }
}

/** Runs a command at the shell prompt and returns its output. */
export async function shell(stream: ConsoleStream, command: string): Promise<string> {
  // The markers are split in the command, so that its echo does not match.
  stream.write(`echo "[be""gin]"; ${command}; echo "[en""d]"\r`);
  const output = await readUntil(stream, /\[begin\]\r?\n[\s\S]*\[end\]/);
  return (/\[begin\]\r?\n([\s\S]*)\[end\]/.exec(output)?.[1] ?? '').replaceAll('\r', '').trim();
}
