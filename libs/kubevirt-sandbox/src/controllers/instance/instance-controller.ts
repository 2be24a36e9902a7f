import type { ObjectKey } from '@headgate/kube-sandbox';
import { suffers } from '../../inherited-faults.js';
import { RESOURCES } from '../../resources.js';
import { findCondition, isTrue, removeCondition } from '../../types/condition.js';
import type { PersistentVolumeClaim, Pod } from '../../types/core-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import { chooseNode } from '../pods/node-choice.js';
import { freesNode } from '../../pods/node-load.js';
import { isFinal } from '../../machines/printable-status.js';
import { VM_FINALIZER } from '../../machines/instance-builder.js';
import { needsVolumesChange } from '../../machines/volume-migration.js';
import { VolumeUsers } from '../../machines/volume-users.js';
import { connectAgent, disconnectAgent } from './agent-connection.js';
import { guestFacts, type GuestRegistry } from './guest-registry.js';
import { selectNode } from '../../storage-classes/select-node.js';
import { stepHotplug } from './hotplug-volumes.js';
import { enterPhase, GUEST_NOT_RUNNING, updateCondition } from './instance-phase.js';
import { hasOutdatedClaims, refreshClaims } from './claim-refresh.js';
import { endLauncher } from './launcher-end.js';
import { launcherPod } from './launcher-pod.js';
import { shutdownOf } from './power-button.js';
import { setRunning, updateReadiness } from './running-status.js';
import { startObstacle } from './start-conditions.js';

const HANDLER = { component: 'virt-handler' };
const EVICTION_REQUESTED = 'EvictionRequested';
export const MIGRATION_LABEL = 'kubevirt.io/migrationJobUID';

/** Drives VMIs through their phases, from Pending to the end, with their launcher pods and guests. */
export class InstanceController extends Controller<VirtualMachineInstance> {
  private readonly volumeUsers = new VolumeUsers();
  private readonly waitingForNetworks = new Map<string, ObjectKey>();
  /** VMIs with disks that wait for their first consumer, for which there was no node. */
  private readonly waitingForNodes = new Map<string, ObjectKey>();

  constructor(
    context: SimulationContext,
    private readonly guests: GuestRegistry,
  ) {
    super(context, RESOURCES.vmi, 'virtualmachine-controller');
    guests.onAction((vmi, action) => {
      const current = context.store.get<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata);
      if (!current || current.metadata.uid !== vmi.metadata.uid || isFinal(current)) return;
      if (action === 'power-off') this.finish(current, 'Succeeded');
      else this.losesAgent(current);
    });
  }

  protected override watchRelated(): void {
    this.index<VirtualMachineInstance>(RESOURCES.vmi, ({ object, type }) =>
      this.volumeUsers.note(object, type === 'DELETED' ? [] : (object.spec.volumes ?? [])),
    );
    this.watchOwned(RESOURCES.pod, 'VirtualMachineInstance');
    this.watchFaults((target) => this.enqueue(target));
    for (const resource of [RESOURCES.claim, RESOURCES.dataVolume]) {
      this.watch(resource, ({ object }) => {
        for (const key of this.volumeUsers.of(object)) this.enqueue(key);
      });
    }
    this.watch(RESOURCES.nad, () => this.retry(this.waitingForNetworks));
    this.watch(RESOURCES.node, () => this.retry(this.waitingForNodes));
    this.watch<Pod>(RESOURCES.pod, ({ type, object, previous }) => {
      if (freesNode(previous, type === 'DELETED' ? undefined : object)) this.retry(this.waitingForNodes);
    });
  }

  private retry(waiting: Map<string, ObjectKey>): void {
    const keys = [...waiting.values()];
    waiting.clear();
    for (const key of keys) this.enqueue(key);
  }

  protected override reconcile(vmi: VirtualMachineInstance): void {
    const pod = this.activePod(vmi);
    if (isFinal(vmi)) return this.tearDown(vmi, pod);
    if (vmi.metadata.deletionTimestamp || pod?.metadata.deletionTimestamp) return this.shutDown(vmi);
    switch (vmi.status?.phase ?? '') {
      case '':
        this.change(vmi, (draft) => enterPhase(draft, 'Pending', this.now));
        return;
      case 'Pending':
        return this.createPod(vmi);
      case 'Scheduling':
        return pod ? this.followPod(vmi, pod) : this.finish(vmi, 'Failed');
      case 'Scheduled':
        return pod ? this.startGuest(vmi, pod) : this.finish(vmi, 'Failed');
      case 'Running':
        return pod && pod.status?.phase === 'Running' ? this.keepRunning(vmi, pod) : this.finish(vmi, 'Failed');
    }
  }

  private get now(): string {
    return this.context.clock.timestamp();
  }

  /** The pod that the guest runs in, not the one that it migrates to. */
  private activePod({ metadata, status }: VirtualMachineInstance): Pod | undefined {
    const pods = this.context.store.ownedBy<Pod>(RESOURCES.pod, metadata.uid!);
    const active = status?.activePods ?? {};
    return (
      pods.find((pod) => active[pod.metadata.uid!] === status?.nodeName && status?.nodeName !== undefined) ??
      pods.find((pod) => !pod.metadata.labels?.[MIGRATION_LABEL])
    );
  }

  private createPod(vmi: VirtualMachineInstance): void {
    const obstacle = startObstacle(this.context, vmi);
    switch (obstacle?.kind) {
      case 'missing-claim':
        return this.failSync(vmi, 'FailedPvcNotFound', obstacle.message);
      case 'missing-network':
        this.waitingForNetworks.set(vmi.metadata.uid!, vmi.metadata);
        this.recordEvent(vmi, 'FailedCreate', `Error creating pod: ${obstacle.message}`, { warning: true });
        return this.failSync(vmi, 'FailedCreate', obstacle.message);
      case 'not-permitted':
        this.recordEvent(vmi, 'FailedCreate', `Error creating pod: ${obstacle.message}`, { warning: true });
        return this.failSync(vmi, 'FailedCreate', obstacle.message);
      case 'wants-node':
        return this.placeClaims(vmi, obstacle.claims);
      case 'waiting':
        return;
    }
    if (!this.took(vmi, 'scheduling', 'vmiScheduling')) return;
    const pod = this.context.store.create<Pod>(RESOURCES.pod, launcherPod(this.context, vmi));
    this.recordEvent(vmi, 'SuccessfulCreate', `Created virtual machine pod ${pod.metadata.name}`);
    this.change(vmi, (draft) => {
      enterPhase(draft, 'Scheduling', this.now);
      removeCondition(draft.status!.conditions ?? [], 'Synchronized');
      updateCondition(draft, GUEST_NOT_RUNNING, this.now);
    });
  }

  /** KubeVirt runs a short-lived pod so that the scheduler places such claims. Here the node is chosen without one. */
  private placeClaims(vmi: VirtualMachineInstance, claims: PersistentVolumeClaim[]): void {
    const { node } = chooseNode(this.context, launcherPod(this.context, vmi));
    if (!node) this.waitingForNodes.set(vmi.metadata.uid!, vmi.metadata);
    for (const claim of claims) selectNode(this.context, claim, node?.metadata.name);
  }

  private failSync(vmi: VirtualMachineInstance, reason: string, message: string): void {
    this.change(vmi, (draft) => {
      updateCondition(draft, { type: 'Synchronized', status: 'False', reason, message }, this.now);
    });
  }

  private followPod(vmi: VirtualMachineInstance, pod: Pod): void {
    const scheduled = findCondition(pod.status?.conditions, 'PodScheduled');
    if (scheduled?.status === 'False') {
      this.change(vmi, (draft) => {
        const { reason, message } = scheduled;
        updateCondition(draft, { type: 'PodScheduled', status: 'False', reason, message }, this.now);
      });
      return;
    }
    const waiting = pod.status?.containerStatuses?.find(({ state }) => /Pull/.test(state.waiting?.reason ?? ''))?.state
      .waiting;
    if (waiting) return this.failSync(vmi, waiting.reason, waiting.message ?? '');
    if (pod.status?.phase !== 'Running') return;
    this.change(vmi, (draft) => {
      const status = draft.status!;
      for (const type of ['Synchronized', 'PodScheduled']) removeCondition((status.conditions ??= []), type);
      enterPhase(draft, 'Scheduled', this.now);
      status.nodeName = pod.spec.nodeName;
      status.qosClass = 'Burstable';
      status.activePods = { [pod.metadata.uid!]: pod.spec.nodeName! };
      status.launcherContainerImageVersion = pod.spec.containers[0]!.image;
      draft.metadata.labels = { ...draft.metadata.labels, 'kubevirt.io/nodeName': pod.spec.nodeName! };
    });
  }

  private startGuest(vmi: VirtualMachineInstance, pod: Pod): void {
    if (!this.took(vmi, 'guest', 'vmiRunning')) return;
    const host = pod.spec.nodeName;
    if (suffers(this.context, 'crash-loop', vmi)) return this.finish(vmi, 'Failed');
    this.recordEvent(vmi, 'Created', 'VirtualMachineInstance defined.', { ...HANDLER, host });
    this.recordEvent(vmi, 'Started', 'VirtualMachineInstance started.', { ...HANDLER, host });
    this.change(vmi, (draft) => setRunning(this.context, draft, pod));
  }

  private keepRunning(vmi: VirtualMachineInstance, pod: Pod): void {
    const isPaused = isTrue(vmi.status?.conditions, 'Paused');
    if (!isPaused && suffers(this.context, 'boot-power-off', vmi)) return this.finish(vmi, 'Succeeded');
    if (!isPaused && suffers(this.context, 'boot-crash', vmi)) return this.finish(vmi, 'Failed');
    this.guests.peek(vmi)?.freeze(isPaused);
    this.followAgent(vmi);
    this.followEviction(vmi);
    if (hasOutdatedClaims(this.context, vmi)) this.change(vmi, (draft) => refreshClaims(this.context, draft));
    this.followNetworkChange(vmi);
    if (needsVolumesChange(vmi)) {
      const change = { type: 'VolumesChange', status: 'True', message: 'migrate volumes' } as const;
      this.change(vmi, (draft) => updateCondition(draft, change, this.now));
    }
    stepHotplug(this.context, vmi, pod, {
      took: (step) => this.took(vmi, step, 'hotplugStep'),
      recordEvent: (reason, message) => this.recordEvent(vmi, reason, message, HANDLER),
      patch: (change) => {
        this.change(vmi, (draft) => {
          draft.status!.volumeStatus = change(draft.status!.volumeStatus ?? []);
        });
      },
    });
  }

  /** Shows whether the VMI has to leave its node. */
  private followEviction(vmi: VirtualMachineInstance): void {
    const isRequested = Boolean(vmi.status?.evacuationNodeName) && this.context.release.since('1.7');
    if (isRequested === isTrue(vmi.status?.conditions, EVICTION_REQUESTED)) return;
    this.change(vmi, (draft) => {
      const requested = { type: EVICTION_REQUESTED, status: 'True', reason: EVICTION_REQUESTED } as const;
      if (isRequested) updateCondition(draft, requested, this.now);
      else removeCondition(draft.status!.conditions ?? [], EVICTION_REQUESTED);
    });
  }

  private followAgent(vmi: VirtualMachineInstance): void {
    const connected = isTrue(vmi.status?.conditions, 'AgentConnected');
    if (suffers(this.context, 'agent-gone', vmi)) {
      if (connected) this.losesAgent(vmi);
      return;
    }
    if (connected || isTrue(vmi.status?.conditions, 'Paused') || suffers(this.context, 'boot-hang', vmi)) return;
    const facts = guestFacts(this.context, vmi);
    if (!facts.profile.agent || !this.took(vmi, 'agent', 'agentConnected')) return;
    this.change(vmi, (draft) => connectAgent(draft, facts, this.now));
  }

  /** Handles a guest that reboots, or whose agent stops answering. */
  private losesAgent(vmi: VirtualMachineInstance): void {
    this.restartStep(vmi, 'agent');
    this.change(vmi, disconnectAgent);
  }

  /** A changed NIC waits a while in case it can be plugged in place, then requests a migration. */
  private followNetworkChange(vmi: VirtualMachineInstance): void {
    const required = findCondition(vmi.status?.conditions, 'MigrationRequired');
    if (required?.status !== 'False' || !this.took(vmi, 'plug nics', 'nicHotplugGrace')) return;
    this.restartStep(vmi, 'plug nics');
    this.change(vmi, (draft) =>
      updateCondition(
        draft,
        {
          type: 'MigrationRequired',
          status: 'True',
          reason: 'AutoMigrationDueToLiveUpdate',
          message: 'VMI interfaces or volumes are changed',
        },
        this.now,
      ),
    );
  }

  /** Asks the guest to power off, and kills it after its grace period. */
  private shutDown(vmi: VirtualMachineInstance): void {
    if (vmi.status?.phase !== 'Running') return this.finish(vmi, 'Failed');
    const { outcome, afterMs } = shutdownOf(this.context, vmi);
    const host = vmi.status.nodeName;
    if (afterMs > 0 && this.first(vmi, 'signaled'))
      this.recordEvent(vmi, 'ShuttingDown', 'Signaled Graceful Shutdown', { ...HANDLER, host });
    // A shorter grace period that is requested later ends the wait, so the name of the step contains it.
    if (!this.took(vmi, `shut down ${outcome} ${afterMs}`, afterMs)) return;
    this.finish(vmi, outcome);
  }

  private finish(vmi: VirtualMachineInstance, phase: 'Succeeded' | 'Failed'): void {
    const pod = this.activePod(vmi);
    const wasRunning = vmi.status?.phase === 'Running';
    if (phase === 'Succeeded') this.guests.peek(vmi)?.shutDown();
    this.guests.end(vmi);
    this.change(vmi, (draft) => {
      const conditions = (draft.status!.conditions ??= []);
      enterPhase(draft, phase, this.now);
      for (const type of ['AgentConnected', 'Paused', 'MigrationRequired']) removeCondition(conditions, type);
      updateCondition(
        draft,
        { type: 'Ready', status: 'False', reason: 'PodTerminating', message: 'virt-launcher pod is terminating' },
        this.now,
      );
    });
    if (wasRunning || phase === 'Failed') {
      const message = `The VirtualMachineInstance ${phase === 'Succeeded' ? 'was shut down' : 'crashed'}.`;
      const host = vmi.status?.nodeName;
      this.recordEvent(vmi, 'Stopped', message, { ...HANDLER, host, warning: phase === 'Failed' });
    }
    if (pod) endLauncher(this.context, pod, phase);
  }

  private tearDown(vmi: VirtualMachineInstance, pod: Pod | undefined): void {
    if (!vmi.metadata.deletionTimestamp) return;
    if (!this.took(vmi, 'tear down', 'vmiTeardown')) return;
    if (pod) this.context.discard(RESOURCES.pod, pod.metadata, 0);
    this.recordEvent(vmi, 'Deleted', 'Signaled Deletion', HANDLER);
    const owned = vmi.metadata.ownerReferences?.some(
      ({ kind, uid }) => kind === 'VirtualMachine' && this.context.store.findByUid(uid) !== undefined,
    );
    this.change(vmi, ({ metadata }) => {
      metadata.finalizers = metadata.finalizers?.filter(
        (finalizer) => finalizer !== this.context.release.vmiFinalizer && (owned || finalizer !== VM_FINALIZER),
      );
    });
  }

  /** Pauses or resumes a guest, as the pause subresources do. */
  hold(key: ObjectKey, paused: boolean): void {
    const vmi = this.context.store.get<VirtualMachineInstance>(RESOURCES.vmi, key);
    if (!vmi || vmi.status?.phase !== 'Running') return;
    if (!paused) this.guests.resume(vmi);
    this.change(vmi, (draft) => {
      if (!paused) removeCondition(draft.status!.conditions!, 'Paused');
      else {
        const message = 'VMI was paused by user';
        updateCondition(draft, { type: 'Paused', status: 'True', reason: 'PausedByUser', message }, this.now);
      }
      updateReadiness(draft, this.now);
    });
  }

  /** Reboots the guest inside the same VMI. */
  reset(vmi: VirtualMachineInstance): void {
    this.guests.peek(vmi)?.reboot();
    this.losesAgent(vmi);
  }

  protected override cleanUp({ namespace, name }: ObjectKey): void {
    for (const waiting of [this.waitingForNetworks, this.waitingForNodes]) {
      for (const [uid, key] of waiting) {
        if (key.namespace === namespace && key.name === name) waiting.delete(uid);
      }
    }
  }
}
