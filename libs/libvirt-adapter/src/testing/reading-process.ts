import { spawn } from 'node:child_process';
import { SystemClock } from '@headgate/domain-contracts';
import { LOCAL_NAMESPACE } from '../domains/instance-name.js';
import { LibvirtBackend } from '../libvirt-backend.js';
import { VirshConnection } from '../virsh/virsh-connection.js';

/** A service that backs up a guest, and is killed with all processes of its group. */
export interface KilledReading {
  readonly context: string;
  readonly uri: string;
  readonly dataDir: string;
  readonly name: string;
  readonly series: string;
  readonly since?: string;
  /** `begun`: libvirt has just begun the backup. `read`: a block was read, and the next one is being read. */
  readonly killAt: 'begun' | 'read';
}

const [, script = '', text = '', role] = process.argv;
if (role === undefined) {
  const child = spawn(process.execPath, [script, text, 'leader'], { detached: true, stdio: 'inherit' });
  child.once('exit', (code, signal) => (signal === null ? process.exit(code ?? 1) : process.kill(process.pid, signal)));
} else await read(JSON.parse(text) as KilledReading);

async function read({ context, uri, dataDir, name, series, since, killAt }: KilledReading): Promise<void> {
  const kill = (): void => void process.kill(-process.pid, 'SIGKILL');
  // The timers of the clock do not keep a process running.
  setInterval(() => undefined, 1000);
  const connection = new VirshConnection({ uri });
  const { backups } = connection;
  for (const method of ['beginBackup', 'serveBackup'] as const) {
    const begin = backups[method].bind(backups) as (...args: unknown[]) => Promise<void>;
    backups[method] = async (...args: unknown[]) => {
      await begin(...args);
      if (killAt === 'begun') kill();
    };
  }
  const backend = LibvirtBackend.open({
    context,
    uri,
    dataDir,
    connection,
    clock: new SystemClock(),
    accelerator: () => Promise.resolve('tcg'),
  });
  const ref = { kind: 'vm', context, namespace: LOCAL_NAMESPACE, name } as const;
  const request = { series, ...(since !== undefined && { since }) };
  const { disks } = await backend.require('backupSource').open(ref, request, new AbortController().signal);
  const BLOCK_BYTES = 1024 ** 2;
  await disks[0]?.read(0, BLOCK_BYTES);
  void disks[0]?.read(BLOCK_BYTES, BLOCK_BYTES);
  kill();
}
