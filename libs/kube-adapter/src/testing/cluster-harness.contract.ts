import { randomBytes } from 'node:crypto';
import {
  formatRef,
  SystemClock,
  type Creation,
  type ImageOrigin,
  type InstanceRef,
  type VirtualMachine,
  type VmSource,
} from '@headgate/domain-contracts';
import { InventoryRecorder, recordingReporter, type BackendHarness } from '@headgate/testing';
import { CLAIMS, DATA_VOLUMES } from '../api/resources.js';
import { NETWORKS } from '../cluster-suite/prepare-cluster.js';
import { openSuiteCluster, type SuiteCluster } from '../cluster-suite/suite-cluster.js';
import { DEFAULT_CONTAINER_DISK, NAME_PREFIX, type SuiteSettings } from '../cluster-suite/suite-settings.js';
import { KubeBackend } from '../kube-backend.js';

const MIB = 1024 ** 2;
const MEASURED_INTERVAL_MS = 1_000;
const SIZE = { cpu: 1, memoryBytes: 512 * MIB, diskBytes: 1024 * MIB };

/** The adapter over a cluster that the environment names. A second adapter plays the other clients. */
export class ClusterHarness implements BackendHarness {
  private readonly created: InstanceRef[] = [];
  readonly containerImage?: string;
  /** A shell prints a prompt, and no line. */
  readonly logImage = 'nginx:1.27';

  private constructor(
    readonly backend: KubeBackend,
    private readonly other: KubeBackend,
    private readonly recorder: InventoryRecorder,
    private readonly cluster: SuiteCluster,
  ) {
    if (this.settings.containerImage !== undefined) this.containerImage = this.settings.containerImage;
  }

  static async open(settings: SuiteSettings): Promise<ClusterHarness> {
    const options = {
      context: 'cluster',
      kubeconfig: { file: settings.kubeconfig },
      clock: new SystemClock(),
      defaultNamespace: settings.namespace,
    };
    const [backend, other] = [KubeBackend.open(options), KubeBackend.open(options)];
    const recorder = InventoryRecorder.over(other.require('inventory'));
    await recorder.whenListed();
    return new ClusterHarness(backend, other, recorder, openSuiteCluster(settings));
  }

  private get settings(): SuiteSettings {
    return this.cluster.settings;
  }

  freshRef(): InstanceRef {
    const name = NAME_PREFIX + randomBytes(4).toString('hex');
    const ref: InstanceRef = { kind: 'vm', context: 'cluster', namespace: this.settings.namespace, name };
    this.created.push(ref);
    return ref;
  }

  async givenVm(
    state: 'Stopped' | 'Running' | 'Paused',
    { booted = false }: { booted?: boolean } = {},
  ): Promise<InstanceRef> {
    const ref = this.freshRef();
    await this.create(ref, await this.quickSource(), state !== 'Stopped');
    if (state === 'Stopped') return ref;
    // Only the guest of a given image is known to have the agent.
    const needsAgent = booted && this.settings.containerDisk !== undefined;
    await this.becomes(ref, ({ status, ready, agentConnected }) =>
      needsAgent ? agentConnected : status === 'Running' && ready,
    );
    if (state === 'Paused') {
      await this.other.require('power').apply(ref, 'pause');
      await this.becomes(ref, ({ status }) => status === 'Paused');
    }
    return ref;
  }

  /** A container disk can't be exported. */
  async givenVmWithDisk(): Promise<InstanceRef> {
    const ref = this.freshRef();
    await this.create(ref, await this.diskSource(), false);
    return ref;
  }

  async givenNetworks(): Promise<readonly [string, string]> {
    return NETWORKS;
  }

  /** A metrics-server measures at intervals of about 15 s, and knows a new pod after the second one. */
  async untilMeasured(ref: InstanceRef): Promise<void> {
    for (;;) {
      const { instances } = await this.other.require('metrics').read();
      if (instances.some((reading) => formatRef(reading.ref) === formatRef(ref))) return;
      await this.cluster.clock.delay(MEASURED_INTERVAL_MS);
    }
  }

  async deleteExternally(ref: InstanceRef): Promise<void> {
    await this.other.require('provisioning').delete(ref);
  }

  async quickSource(): Promise<VmSource> {
    return { kind: 'containerDisk', image: this.settings.containerDisk ?? DEFAULT_CONTAINER_DISK };
  }

  async diskSource(): Promise<VmSource> {
    return { kind: 'import', url: this.given('imageUrl') };
  }

  async givenStorage(): Promise<string> {
    return this.given('storageClass');
  }

  async imageOrigin(): Promise<ImageOrigin> {
    return { kind: 'url', url: this.given('imageUrl') };
  }

  async openUnreachable(): Promise<KubeBackend> {
    const text = JSON.stringify({
      clusters: [{ name: 'gone', cluster: { server: 'http://127.0.0.1:1', 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'gone', context: { cluster: 'gone', user: 'gone' } }],
      users: [{ name: 'gone', user: {} }],
      'current-context': 'gone',
    });
    return KubeBackend.open({ context: 'gone', kubeconfig: { text }, clock: new SystemClock() });
  }

  async close(): Promise<void> {
    for (const ref of this.created) {
      if (this.recorder.vm(ref)) await this.other.require('provisioning').delete(ref);
      const container = { ...ref, kind: 'ct' as const };
      if (this.recorder.container(container)) await this.other.require('containers').delete(container);
    }
    await this.deleteVolumes();
    await this.recorder.stop();
    await Promise.all([this.backend.close(), this.other.close()]);
    this.cluster.close();
  }

  /** Images, and volumes that the suites have kept. Those of VMs and containers go with them. */
  private async deleteVolumes(): Promise<void> {
    const { api, discovery } = this.cluster;
    const { namespace } = this.settings;
    const kinds = (await discovery.facts()).hasCdi ? [DATA_VOLUMES, CLAIMS] : [CLAIMS];
    for (const kind of kinds) {
      for (const { metadata } of await api.list(kind, { namespace })) {
        const isLeft =
          !metadata.ownerReferences?.length && this.created.some(({ name }) => metadata.name?.startsWith(name));
        if (isLeft) await api.delete(kind, { namespace, name: metadata.name }, { uid: metadata.uid });
      }
    }
  }

  private async create(ref: InstanceRef, source: VmSource, start: boolean): Promise<void> {
    const { remaining }: Creation = await this.other.require('provisioning').create({ ref, source, ...SIZE, start });
    await remaining?.(recordingReporter());
    await this.becomes(ref, ({ status }) => status === (start ? 'Running' : 'Stopped'));
  }

  private becomes(ref: InstanceRef, isMet: (vm: VirtualMachine) => boolean): Promise<VirtualMachine> {
    return this.recorder.untilVm(ref, isMet);
  }

  private given(name: 'imageUrl' | 'storageClass'): string {
    const value = this.settings[name];
    if (value === undefined)
      throw new Error(`The suites of this ability need ${name}: see npm run test:cluster -- --help`);
    return value;
  }
}
