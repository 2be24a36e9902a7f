import { randomBytes } from 'node:crypto';
import { SystemClock, type ImageOrigin, type InstanceRef, type VmSource } from '@headgate/domain-contracts';
import { InventoryRecorder, type BackendHarness } from '@headgate/testing';
import { KubeBackend } from '../kube-backend.js';

/** A small image that boots quickly. The environment can name another one for clusters that can't pull it. */
const IMAGE = process.env['HEADGATE_TEST_CONTAINER_DISK'] ?? 'kubevirt/cirros-container-disk-demo';

/** A small image that the cluster can download. */
const IMAGE_URL = process.env['HEADGATE_TEST_IMAGE_URL'];

/** A storage class other than the default one, to which disks can be moved. */
const STORAGE_CLASS = process.env['HEADGATE_TEST_STORAGE_CLASS'];

/** The adapter over a real cluster that the environment names. A second adapter plays the other clients. */
export class ClusterHarness implements BackendHarness {
  private readonly created: InstanceRef[] = [];

  private constructor(
    readonly backend: KubeBackend,
    private readonly other: KubeBackend,
    private readonly recorder: InventoryRecorder,
    private readonly namespace: string,
  ) {}

  static async open(file: string, namespace: string): Promise<ClusterHarness> {
    const settings = {
      context: 'cluster',
      kubeconfig: { file },
      clock: new SystemClock(),
      defaultNamespace: namespace,
    };
    const [backend, other] = [KubeBackend.open(settings), KubeBackend.open(settings)];
    await other.require('diagnostics').fix();
    const recorder = InventoryRecorder.over(other.require('inventory'));
    await recorder.whenListed();
    return new ClusterHarness(backend, other, recorder, namespace);
  }

  freshRef(): InstanceRef {
    const name = `contract-${randomBytes(4).toString('hex')}`;
    const ref: InstanceRef = { kind: 'vm', context: 'cluster', namespace: this.namespace, name };
    this.created.push(ref);
    return ref;
  }

  async givenVm(state: 'Stopped' | 'Running' | 'Paused'): Promise<InstanceRef> {
    const ref = this.freshRef();
    const source = await this.quickSource();
    const size = { cpu: 1, memoryBytes: 256 * 1024 ** 2, diskBytes: 1024 ** 3, start: state !== 'Stopped' };
    await this.other.require('provisioning').create({ ref, source, ...size });
    await this.recorder.untilVm(ref, ({ status }) => status === (state === 'Stopped' ? 'Stopped' : 'Running'));
    if (state === 'Paused') {
      await this.other.require('power').apply(ref, 'pause');
      await this.recorder.untilVm(ref, ({ status }) => status === 'Paused');
    }
    return ref;
  }

  async deleteExternally(ref: InstanceRef): Promise<void> {
    await this.other.require('provisioning').delete(ref);
  }

  async quickSource(): Promise<VmSource> {
    return { kind: 'containerDisk', image: IMAGE };
  }

  async diskSource(): Promise<VmSource> {
    if (IMAGE_URL === undefined) throw new Error('Set HEADGATE_TEST_IMAGE_URL to the URL of a small disk image.');
    return { kind: 'import', url: IMAGE_URL };
  }

  async givenStorage(): Promise<string> {
    if (STORAGE_CLASS === undefined) throw new Error('Set HEADGATE_TEST_STORAGE_CLASS to a second storage class.');
    return STORAGE_CLASS;
  }

  async imageOrigin(): Promise<ImageOrigin> {
    if (IMAGE_URL === undefined) throw new Error('Set HEADGATE_TEST_IMAGE_URL to the URL of a small disk image.');
    return { kind: 'url', url: IMAGE_URL };
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
    const present = this.created.filter((ref) => this.recorder.vm(ref));
    await Promise.all(present.map((ref) => this.other.require('provisioning').delete(ref)));
    const images = this.other.require('images');
    const names = new Set(this.created.map(({ name }) => name));
    const left = (await images.list()).filter(({ ref }) => names.has(ref.name) && ref.namespace === this.namespace);
    for (const { ref } of left) await images.delete(ref);
    await this.recorder.stop();
    await Promise.all([this.backend.close(), this.other.close()]);
  }
}
