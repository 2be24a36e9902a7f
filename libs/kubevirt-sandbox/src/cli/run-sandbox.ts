import { KubeSandbox } from '@headgate/kube-sandbox';
import { KubevirtSimulation } from '../kubevirt-simulation.js';
import { type CommandLine, UsageError } from './command-line.js';
import { KubeconfigFile } from './kubeconfig-file.js';

export interface RunningSandbox {
  readonly sandbox: KubeSandbox;
  readonly kubeconfig: string;
  /** Stops the server and removes the kubeconfig. */
  close(): Promise<void>;
}

/** Starts a cluster from the command line. @throws UsageError when the port or the file is not available */
export async function runSandbox(options: CommandLine, say: (line: string) => void): Promise<RunningSandbox> {
  const { port, vms, kubevirt: kubevirtVersion, without } = options;
  const simulation = new KubevirtSimulation({ kubevirtVersion, without });
  const sandbox = await listen(port, simulation);
  try {
    seed(simulation, without.includes('kubevirt') ? 0 : vms);
    const file = KubeconfigFile.write(options.kubeconfig, sandbox.kubeconfig());
    announce(sandbox, file.path, options, say);
    const close = async (): Promise<void> => {
      file.remove();
      await sandbox.close();
    };
    return { sandbox, kubeconfig: file.path, close };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

async function listen(port: number, simulation: KubevirtSimulation): Promise<KubeSandbox> {
  try {
    return await KubeSandbox.listen({ port, extensions: [simulation] });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new UsageError(`port ${port} is in use by another program; choose another`);
    if (code === 'EACCES') throw new UsageError(`port ${port} is not permitted; choose one above 1023`);
    throw error;
  }
}

function seed(simulation: KubevirtSimulation, vms: number | undefined): void {
  if (vms === undefined) simulation.seedDemo();
  else simulation.seedFleet(vms);
}

function announce(
  sandbox: KubeSandbox,
  kubeconfig: string,
  { kubevirt, without }: CommandLine,
  say: (line: string) => void,
): void {
  const machines = sandbox.registry.find('virtualmachines.kubevirt.io')
    ? `KubeVirt ${kubevirt} with ${sandbox.store.count('virtualmachines.kubevirt.io')} virtual machines`
    : 'a bare Kubernetes';
  const missing = without.length > 0 ? `; left out: ${without.join(', ')}` : '';
  say(`A simulated cluster listens at ${sandbox.url}: ${machines}${missing}.`);
  say('Its guests are simulated: nothing boots, no image is fetched, and everything is gone when it ends.');
  say(`  export KUBECONFIG=${quoted(kubeconfig)}`);
  say('Ctrl-C ends it.');
}

/** Quotes a path for a POSIX shell. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);
