import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  SystemClock,
  type ImageOrigin,
  type ImageRef,
  type InstanceRef,
  type VmSource,
  type VmStatus,
} from '@headgate/domain-contracts';
import { KubeSandbox, type KubeSandboxOptions, type SandboxClock } from '@headgate/kube-sandbox';
import { KubevirtSimulation, type SimulationOptions } from '@headgate/kubevirt-sandbox';
import type { ClaimObject } from '../api/object-types.js';
import { InventoryRecorder, recordingReporter, type BackendHarness } from '@headgate/testing';
import { KubeBackend, type KubeBackendOptions } from '../kube-backend.js';
import { disturb, HurriedClock, skewedClock } from './faulty-cluster.contract.js';

export const NAMESPACE = 'tailvm';
const CONTEXT = 'prod';
const CONTAINER_DISK: VmSource = { kind: 'containerDisk', image: 'registry.example.org/containerdisks/fedora:42' };

const IMPORT: VmSource = { kind: 'import', url: 'https://images.example/fedora.qcow2' };

export interface SandboxHarnessOptions {
  readonly sandbox?: KubeSandboxOptions;
  readonly simulation?: SimulationOptions;
  readonly backend?: Partial<KubeBackendOptions>;
  /** A user of the sandbox whose rights are enforced. Default: the administrator. */
  readonly user?: string;
  /** Whether the images of the contract suites are uploaded instead of imported from a URL. */
  readonly uploads?: boolean;
  /**
   * Whether requests and watches fail as they do in a busy cluster with a bad network, and how many hours its clock is
   * ahead.
   */
  readonly disturbed?: { readonly hoursAhead: number };
  /** The source of the VMs of the contract suites. Default: a container disk, which needs no storage. */
  readonly source?: VmSource;
}

/** The adapter over a simulated cluster whose guests start and stop immediately. */
export class SandboxHarness implements BackendHarness {
  private names = 0;
  private folder?: string;

  private constructor(
    readonly sandbox: KubeSandbox,
    readonly simulation: KubevirtSimulation,
    readonly backend: KubeBackend,
    /** Records the reports of the adapter's inventory. */
    readonly recorder: InventoryRecorder,
    private readonly source: VmSource,
    private readonly uploads: boolean,
    private readonly clock: SandboxClock | undefined,
  ) {}

  static async open({
    sandbox,
    simulation,
    backend,
    user,
    uploads = false,
    source = CONTAINER_DISK,
    disturbed,
  }: SandboxHarnessOptions = {}): Promise<SandboxHarness> {
    const simulated = new KubevirtSimulation({ timeScale: 0, ...simulation });
    const clock = disturbed && skewedClock(disturbed.hoursAhead);
    const listening = await KubeSandbox.listen({
      ...(clock && { clock }),
      ...sandbox,
      extensions: [...(sandbox?.extensions ?? []), simulated],
    });
    if (disturbed) disturb(listening, NAMESPACE);
    const opened = KubeBackend.open({
      context: CONTEXT,
      kubeconfig: { text: listening.kubeconfig(user) },
      clock: disturbed ? new HurriedClock() : new SystemClock(),
      nodeScheduling: true,
      ...backend,
    });
    const recorder = InventoryRecorder.over(opened.require('inventory'));
    await recorder.until(() => recorder.calls.length > 0);
    return new SandboxHarness(listening, simulated, opened, recorder, source, uploads, clock);
  }

  freshRef(): InstanceRef {
    return { kind: 'vm', context: CONTEXT, namespace: NAMESPACE, name: `vm-${++this.names}` };
  }

  freshContainer(): InstanceRef {
    return { ...this.freshRef(), kind: 'ct' };
  }

  async givenVm(state: 'Stopped' | 'Running' | 'Paused'): Promise<InstanceRef> {
    const ref = this.freshRef();
    const source = await this.quickSource();
    const size = { cpu: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3 };
    const spec = { ref, source, ...size, start: state !== 'Stopped' };
    const { remaining } = await this.backend.require('provisioning').create(spec);
    // A new VM is Stopped for a moment, until its disk is being filled.
    await remaining?.(recordingReporter());
    await this.becomes(ref, state === 'Stopped' ? 'Stopped' : 'Running');
    if (state === 'Paused') {
      await this.backend.require('power').apply(ref, 'pause');
      await this.becomes(ref, 'Paused');
    }
    return ref;
  }

  /** The simulated guests have an echo. */
  async givenEcho() {
    return { ref: await this.givenVm('Running'), port: 7, closedPort: 9 };
  }

  /** A container disk can't be exported. */
  async givenVmWithDisk(): Promise<InstanceRef> {
    const ref = this.freshRef();
    const source = IMPORT;
    const size = { cpu: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3 };
    const { remaining } = await this.backend.require('provisioning').create({ ref, source, ...size, start: false });
    await remaining?.(recordingReporter());
    await this.becomes(ref, 'Stopped');
    return ref;
  }

  /** The node of a VM that runs is in another object, whose watch may be behind that of the VMs. */
  async becomes(ref: InstanceRef, status: VmStatus): Promise<void> {
    const isRunning = status === 'Running';
    await this.recorder.untilVm(
      ref,
      (vm) => vm.status === status && vm.ready === isRunning && (!isRunning || vm.node !== undefined),
    );
  }

  async givenNetworks(): Promise<readonly [string, string]> {
    const names = ['lan-1', 'lan-2'] as const;
    for (const name of names) {
      this.sandbox.store.create('network-attachment-definitions.k8s.cni.cncf.io', {
        apiVersion: 'k8s.cni.cncf.io/v1',
        kind: 'NetworkAttachmentDefinition',
        metadata: { name, namespace: NAMESPACE },
        spec: { config: JSON.stringify({ cniVersion: '1.0.0', name, type: 'bridge', bridge: name }) },
      } as never);
    }
    return names;
  }

  async writeAsGuest(
    ref: InstanceRef,
    { offset, length, byte }: { readonly offset: number; readonly length: number; readonly byte: number },
  ): Promise<void> {
    await this.simulation.writeDisk(ref.namespace, await this.rootClaimOf(ref), offset, Buffer.alloc(length, byte));
  }

  async deleteExternally({ namespace, name }: InstanceRef): Promise<void> {
    this.sandbox.store.delete('virtualmachines.kubevirt.io', { namespace, name });
  }

  async quickSource(): Promise<VmSource> {
    return this.source;
  }

  async diskSource(): Promise<VmSource> {
    return IMPORT;
  }

  /** A second storage class whose volumes are shared between nodes, like those of the default one. */
  async givenStorage(): Promise<string> {
    const { store } = this.sandbox;
    const found = store.get('storageclasses.storage.k8s.io', { name: 'ceph-block' }) as unknown as Record<
      string,
      unknown
    >;
    const name = 'ceph-fast';
    if (!store.get('storageclasses.storage.k8s.io', { name }))
      store.create('storageclasses.storage.k8s.io', { ...found, metadata: { name } } as never);
    return name;
  }

  async storageOf(ref: InstanceRef): Promise<string | undefined> {
    return this.rootClaim(ref)?.spec?.storageClassName;
  }

  async rootClaimOf(ref: InstanceRef): Promise<string> {
    const { name } = this.rootClaim(ref)?.metadata ?? {};
    if (name === undefined) throw new Error(`${ref.name} has no claim.`);
    return name;
  }

  private rootClaim({ namespace, name }: InstanceRef): ClaimObject | undefined {
    const claims = this.sandbox.store.list('persistentvolumeclaims', { namespace }) as unknown as ClaimObject[];
    return claims.find(({ metadata }) => metadata.name?.startsWith(`${name}-root-`));
  }

  async imageOrigin(): Promise<ImageOrigin> {
    if (!this.uploads) return { kind: 'url', url: 'https://images.example/disk.qcow2?key=hidden' };
    return { kind: 'upload', file: await this.givenFile('the bytes of a disk') };
  }

  /** A file that is removed with the harness. */
  async givenFile(content: string): Promise<string> {
    this.folder ??= await mkdtemp(join(tmpdir(), 'hgtest-sandbox-'));
    const file = join(this.folder, randomUUID());
    await writeFile(file, content);
    return file;
  }

  /** The importer retries until then, or the upload server does not start. */
  holdImport({ namespace, name }: ImageRef): () => void {
    const { faults } = this.simulation;
    const fault = this.uploads ? 'upload-not-ready' : 'import-unreachable';
    faults.inject(fault, { namespace, name });
    return () => faults.clear(fault, { namespace, name });
  }

  async openUnreachable(): Promise<KubeBackend> {
    const text = this.sandbox.kubeconfig().replace(/server: \S+/, 'server: http://127.0.0.1:1');
    return KubeBackend.open({
      context: 'gone',
      kubeconfig: { text },
      clock: new SystemClock(),
      nodeScheduling: true,
    });
  }

  async close(): Promise<void> {
    await this.recorder.stop();
    await this.backend.close();
    await this.sandbox.close();
    this.clock?.stop();
    if (this.folder !== undefined) await rm(this.folder, { recursive: true });
  }
}
