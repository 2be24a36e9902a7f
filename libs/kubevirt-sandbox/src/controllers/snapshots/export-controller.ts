import { randomBytes } from 'node:crypto';
import type { KubeObject } from '@headgate/kube-sandbox';
import { EXPORT_CERTIFICATE } from './export-certificate.js';
import { RESOURCES } from '../../resources.js';
import { setCondition } from '../../types/condition.js';
import type { Pod, Secret } from '../../types/core-kinds.js';
import type { ExportLink, VmExport } from '../../types/kubevirt-kinds.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import { exportSource } from './export-source.js';
import { goDuration } from './snapshot-conditions.js';

const DEFAULT_TTL_MS = 2 * 3_600_000;

/** Offers the disks of stopped VMs, of snapshots and of claims for download. */
export class ExportController extends Controller<VmExport> {
  constructor(
    context: SimulationContext,
    private readonly proxyUrl: (opened: () => void) => string | undefined,
  ) {
    super(context, RESOURCES.export, 'export-controller');
  }

  protected override watchRelated(): void {
    for (const resource of [RESOURCES.vm, RESOURCES.vmi, RESOURCES.claim, RESOURCES.snapshot]) {
      this.watch(resource, ({ object }) => {
        if (this.context.store.count(RESOURCES.export) === 0) return;
        for (const { metadata } of this.context.store.list<VmExport>(RESOURCES.export, {
          namespace: object.metadata.namespace,
        })) {
          this.enqueue(metadata);
        }
      });
    }
  }

  protected override reconcile(vmExport: VmExport): void {
    if (vmExport.metadata.deletionTimestamp) return;
    const ttl = goDuration(vmExport.spec.ttlDuration) ?? DEFAULT_TTL_MS;
    if (this.took(vmExport, 'time to live', ttl)) return this.context.discard(RESOURCES.export, vmExport.metadata);
    if (!vmExport.status) return this.begin(vmExport, ttl);
    const source = exportSource(this.context, vmExport);
    const { virtualMachineName } = source;
    if ('skipped' in source) {
      const { reason, message } = source.skipped;
      return this.reportState(vmExport, 'Skipped', reason, message, virtualMachineName);
    }
    if ('waiting' in source) return this.pause(vmExport, source.waiting, virtualMachineName);
    if (vmExport.status.phase === 'Ready') return;
    if (!vmExport.status.tokenSecretRef) this.createToken(vmExport);
    this.createPod(vmExport, source.claims);
    const url = this.proxyUrl(() => this.enqueue(vmExport.metadata));
    if (!this.took(vmExport, 'pod', 'exportReady') || !url) {
      return this.reportState(vmExport, 'Pending', 'PodPending', '', virtualMachineName);
    }
    this.offer(vmExport, source.claims, url, virtualMachineName);
  }

  private get now(): string {
    return this.context.clock.timestamp();
  }

  private podName = ({ metadata }: VmExport): string => `virt-export-${metadata.name}`;

  private begin(vmExport: VmExport, ttlMs: number): void {
    const { namespace } = vmExport.metadata;
    const { tokenSecretRef } = vmExport.spec;
    const serviceName = this.podName(vmExport);
    if (!this.context.find(RESOURCES.service, namespace, serviceName)) {
      this.context.store.create<KubeObject & { spec: object }>(RESOURCES.service, {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: serviceName, namespace, ownerReferences: [controlledBy(vmExport)] },
        spec: {
          ports: [{ port: 443, targetPort: 8443, protocol: 'TCP' }],
          selector: { 'kubevirt.io.virt-export-service': serviceName },
        },
      });
      this.recordEvent(vmExport, 'ServiceCreated', `Created service ${namespace}/${serviceName}`);
    }
    this.change(vmExport, (draft) => {
      draft.status = {
        phase: 'Pending',
        serviceName,
        ...(tokenSecretRef && { tokenSecretRef }),
        ttlExpirationTime: this.context.clock.timestamp(ttlMs),
        conditions: [],
      };
      setCondition(draft.status.conditions!, { type: 'Ready', status: 'False', reason: 'Initializing' }, this.now);
    });
  }

  /** A client that names no token gets one once there is something to export. */
  private createToken(vmExport: VmExport): void {
    const { namespace, name } = vmExport.metadata;
    const tokenSecretRef = `export-token-${name}`;
    if (!this.context.find(RESOURCES.secret, namespace, tokenSecretRef)) {
      this.context.store.create<Secret>(RESOURCES.secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: tokenSecretRef, namespace, ownerReferences: [controlledBy(vmExport)] },
        type: 'Opaque',
        data: { token: Buffer.from(randomBytes(15).toString('base64url')).toString('base64') },
      });
      this.recordEvent(vmExport, 'SecretCreated', `Created default secret ${namespace}/${tokenSecretRef}`);
    }
    this.change(vmExport, ({ status }) => void (status!.tokenSecretRef = tokenSecretRef));
  }

  private createPod(vmExport: VmExport, claims: string[]): void {
    const { namespace } = vmExport.metadata;
    const name = this.podName(vmExport);
    if (this.context.find(RESOURCES.pod, namespace, name)) return;
    this.context.store.create<Pod>(RESOURCES.pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        labels: { 'kubevirt.io.virt-export-service': name },
        ownerReferences: [controlledBy(vmExport)],
      },
      spec: {
        restartPolicy: 'Never',
        containers: [
          {
            name: 'exporter',
            image: `registry.example.org/kubevirt/virt-exportserver:${this.context.release.tag}`,
            resources: { requests: { cpu: '100m', memory: '200Mi' } },
          },
        ],
        volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      },
    });
    this.recordEvent(vmExport, 'ExporterPodCreated', `Created exporter pod ${namespace}/${name}`);
  }

  private offer(vmExport: VmExport, claims: string[], proxy: string, virtualMachineName: string | undefined): void {
    const { namespace, name } = vmExport.metadata;
    const version = this.context.release.since('1.9') ? 'v1' : 'v1beta1';
    const external = `${proxy}/api/export.kubevirt.io/${version}/namespaces/${namespace}/virtualmachineexports/${name}`;
    this.change(vmExport, (draft) => {
      const status = draft.status!;
      status.phase = 'Ready';
      if (virtualMachineName) status.virtualMachineName = virtualMachineName;
      status.links = {
        internal: links(`https://${this.podName(vmExport)}.${namespace}.svc`, claims),
        external: links(external, claims),
      };
      setCondition(status.conditions!, { type: 'Ready', status: 'True', reason: 'PodReady' }, this.now);
      setCondition(status.conditions!, { type: 'PVCReady', status: 'True', reason: 'PVCBound' }, this.now);
    });
  }

  /** Stops the export while the disks are in use: its pod is deleted, and it waits. */
  private pause(
    vmExport: VmExport,
    { reason, message }: { reason: string; message: string },
    virtualMachineName?: string,
  ): void {
    const key = { namespace: vmExport.metadata.namespace, name: this.podName(vmExport) };
    if (this.context.store.get(RESOURCES.pod, key)) {
      this.context.discard(RESOURCES.pod, key, 0);
      this.recordEvent(vmExport, 'ExportPaused', message);
    }
    this.restartStep(vmExport, 'pod');
    this.reportState(vmExport, 'Pending', reason, message, virtualMachineName);
  }

  private reportState(
    vmExport: VmExport,
    phase: string,
    reason: string,
    message: string,
    virtualMachineName?: string,
  ): void {
    this.change(vmExport, (draft) => {
      const status = draft.status!;
      status.phase = phase;
      delete status.links;
      if (virtualMachineName) status.virtualMachineName = virtualMachineName;
      const said = message ? { message } : {};
      setCondition(status.conditions!, { type: 'Ready', status: 'False', reason, ...said }, this.now);
      const bound = reason === 'PodPending';
      const claimReason = bound ? 'PVCBound' : reason === 'InUse' ? 'InUse' : 'PVCNotFound';
      setCondition(
        status.conditions!,
        { type: 'PVCReady', status: bound ? 'True' : 'False', reason: claimReason },
        this.now,
      );
    });
  }
}

const links = (base: string, claims: string[]): ExportLink => ({
  cert: EXPORT_CERTIFICATE,
  volumes: claims.map((name) => ({
    name,
    formats: [
      { format: 'raw', url: `${base}/volumes/${name}/disk.img` },
      { format: 'gzip', url: `${base}/volumes/${name}/disk.img.gz` },
    ],
  })),
});
