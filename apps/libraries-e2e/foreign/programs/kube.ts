import { ConsoleBroker, type Viewer } from '@headgate/consoles';
import { isVm, SystemClock, type InstanceRef } from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { KUBEVIRT_TRAITS, KubeBackend, readKubeconfigContexts } from '@headgate/kube-adapter';
import { kubevirtKind } from '@headgate/kube-adapter/kind';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { findKubectl } from '@headgate/kube-sandbox/find-kubectl';
import { KubevirtSimulation } from '@headgate/kubevirt-sandbox';

/** A terminal that collects the output of a console. */
class Terminal implements Viewer {
  readonly viewOnly = false;
  readonly buffered = 0;
  text = '';
  private readonly readers = new Set<() => void>();
  private readonly closed = new Set<() => void>();
  private readonly inputs = new Set<(data: Buffer) => void>();

  send(data: Buffer, sent: () => void): void {
    this.text += data.toString();
    sent();
    for (const read of this.readers) read();
  }
  /** Resolves when the text has appeared. */
  until(expected: string): Promise<void> {
    return new Promise((resolve) => {
      const read = (): void => void (this.text.includes(expected) && resolve());
      this.readers.add(read);
      read();
    });
  }
  type(text: string): void {
    for (const input of this.inputs) input(Buffer.from(text));
  }
  onInput(listener: (data: Buffer) => void): void {
    this.inputs.add(listener);
  }
  onClose(listener: () => void): void {
    this.closed.add(listener);
  }
  pause(): void {}
  resume(): void {}
  close(): void {
    for (const listener of this.closed) listener();
  }
}

const refOf = (name: string): InstanceRef => ({ kind: 'vm', context: 'lab', namespace: 'tailvm', name });

async function main(): Promise<void> {
  const clock = new SystemClock();
  const simulation = new KubevirtSimulation({ timeScale: 0 });
  const sandbox = await KubeSandbox.listen({ extensions: [simulation] });
  simulation.seedVm({ name: 'web', status: 'Stopped' }, { name: 'db' });
  const kubeconfig = { text: sandbox.kubeconfig() };
  const contexts = await readKubeconfigContexts(kubeconfig);
  const backend = KubeBackend.open({ context: 'lab', kubeconfig, clock });
  const fleet = new Fleet({ clock, present: ({ instance }) => instance.ref.name });
  fleet.attach(backend);
  await fleet.whenSynced();

  await backend.require('power').apply(refOf('web'), 'start');
  await fleet.waitFor(refOf('web'), (vm) => vm !== undefined && isVm(vm) && vm.status === 'Running', 30_000);
  const terminal = new Terminal();
  const broker = new ConsoleBroker(fleet, clock);
  await broker.openSerial(refOf('web'), backend.require('consoles'), terminal);
  terminal.type('\r');
  await terminal.until('login:');
  broker.close();

  const names: unknown = JSON.parse(Buffer.concat(fleet.list('vm').json).toString());
  const web = fleet.get(refOf('web'));
  await fleet.close();
  await backend.close();
  await sandbox.close();
  console.log(
    JSON.stringify({
      names,
      status: web && isVm(web) && web.status,
      server: contexts[0]?.server === sandbox.url,
      errors: simulation.errors,
      isKind: kubevirtKind.traits === KUBEVIRT_TRAITS,
      kubectl: ['string', 'undefined'].includes(typeof findKubectl('')),
    }),
  );
}

void main();
