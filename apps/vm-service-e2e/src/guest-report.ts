import { virsh } from './leftovers.js';

const PAUSE_MS = 2000;
/**
 * The programs of the guest, and the threads of its kernel that wait for its disk, with their stacks; and the kernel's
 * last messages.
 */
const INSPECT = `for p in /proc/[0-9]*; do
  if [ -n "$(head -c 1 $p/cmdline)" ] || grep -q 'State:.D' $p/status; then
    echo "$p: $(grep State: $p/status) $(cat $p/comm)"
    cat $p/stack
  fi
done
dmesg | tail -n 30`;

/**
 * Describes a guest of this machine whose console is silent: the state of its domain, its disk twice, and what its
 * agent reports.
 */
export async function reportGuest(domain: string): Promise<string> {
  const parts: string[] = [];
  const add = async (...args: string[]): Promise<string> => {
    const text = await virsh(...args).catch((error: unknown) => String(error));
    parts.push(`${args[0]}: ${text.trim()}`);
    return text;
  };
  await add('domstate', domain, '--reason');
  for (let sample = 0; sample < 2; sample++) {
    await add('domstats', domain, '--cpu-total', '--block');
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const command = {
    execute: 'guest-exec',
    arguments: { path: '/bin/sh', arg: ['-c', INSPECT], 'capture-output': true },
  };
  const started = await add('qemu-agent-command', '--timeout', '10', domain, JSON.stringify(command));
  const pid = Number(/"pid":(\d+)/.exec(started)?.[1]);
  if (!Number.isNaN(pid)) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const status = JSON.stringify({ execute: 'guest-exec-status', arguments: { pid } });
    const answer = await virsh('qemu-agent-command', '--timeout', '10', domain, status).catch(String);
    parts.push(Buffer.from(/"out-data":"([^"]*)"/.exec(answer)?.[1] ?? '', 'base64').toString() || answer);
  }
  return parts.join('\n');
}
