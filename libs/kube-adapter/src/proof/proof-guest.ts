import type { Duplex } from 'node:stream';
import {
  DomainError,
  firstBootSign,
  LoginPrompt,
  messageOf,
  type BootSign,
  type ConsoleSource,
  type InstancePower,
  type InstanceRef,
  type SerialLine,
} from '@headgate/domain-contracts';
import { conditionOf, isTrue } from '../api/kube-object.js';
import type { PodObject, VmiObject, VmObject } from '../api/object-types.js';
import { PODS, VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';
import { CREATED_BY } from '../migration/find-target.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';

/** How long the cluster may take to run the guest, with the time for a new node and for images of pods. */
const START_TIMEOUT_MS = 10 * 60_000;
const REOPEN_MS = 1000;
const OPEN_ATTEMPTS = 5;

export interface ProofGuestDeps extends WatchDeps {
  readonly consoles: Pick<ConsoleSource, 'openSerial' | 'openVnc'>;
  readonly power: Pick<InstancePower, 'apply'>;
}

/** An error of the cluster, which says nothing about the backup. */
class ClusterFailure extends Error {
  constructor(readonly failure: DomainError) {
    super(failure.message);
  }
}

/** How a guest has shown that it is up, or why it has not. */
export interface SeenBoot {
  readonly sign?: BootSign;
  readonly problem?: string;
  readonly bootMs: number;
}

/** The guest of a proof, which the cluster starts paused. */
export class ProofGuest {
  constructor(
    private readonly deps: ProofGuestDeps,
    private readonly ref: InstanceRef,
  ) {}

  /** @throws DomainError BACKEND_TIMEOUT or BACKEND_FAILED with the reason of the cluster */
  async whenStarted(signal: AbortSignal): Promise<VmiObject> {
    const late = new AbortController();
    let reason = 'KubeVirt has not begun';
    const cancel = this.deps.clock.after(START_TIMEOUT_MS, () => late.abort());
    try {
      return await this.follow(undefined, AbortSignal.any([signal, late.signal]), (vmi) => {
        const { phase = '' } = vmi.status ?? {};
        reason = obstacleOf(vmi) ?? `its phase is ${phase || 'unknown'}`;
        if (phase === 'Failed' || phase === 'Succeeded')
          throw new DomainError('BACKEND_FAILED', `The VM of the proof has ended before its guest ran: ${reason}.`);
        return phase === 'Running';
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!late.signal.aborted) throw error instanceof ClusterFailure ? error.failure : error;
      const vm = await this.deps.api.find<VmObject>(VIRTUAL_MACHINES, this.ref);
      const refusal = conditionOf(vm?.status?.conditions, 'Failure')?.message;
      const minutes = START_TIMEOUT_MS / 60_000;
      throw new DomainError(
        'BACKEND_TIMEOUT',
        `The cluster did not start the VM of the proof in ${minutes} minutes: ${withoutDot(refusal ?? reason)}.`,
      );
    } finally {
      cancel();
    }
  }

  /**
   * Lets the guest run until it shows a sign.
   * @throws DomainError when the cluster fails, which says nothing about the guest
   */
  async boot(vmi: VmiObject, timeLimitMs: number, signal: AbortSignal): Promise<SeenBoot> {
    const { clock, power } = this.deps;
    // Before the guest prints anything.
    const serial = await this.openFirst(signal);
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const wait = { clock, timeLimitMs, signal: either, subject: 'its agent or a login prompt' };
    try {
      await power.apply(this.ref, 'unpause');
      const started = clock.now();
      const seen = (more: Omit<SeenBoot, 'bootMs'>): SeenBoot => ({ ...more, bootMs: clock.now() - started });
      try {
        const sign = await firstBootSign(wait, (ended) => [this.agentSign(vmi, ended), this.promptSign(serial, ended)]);
        return seen({ sign });
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ClusterFailure) throw error.failure;
        if (!DomainError.is(error, 'BACKEND_TIMEOUT', 'WRONG_STATE')) throw error;
        // The cluster may have been lost meanwhile, and the sign with it.
        const last = await this.deps.api.find<VmiObject>(VM_INSTANCES, this.ref);
        if (isTrue(last?.status?.conditions, 'AgentConnected')) return seen({ sign: { kind: 'agent' } });
        return seen({ problem: messageOf(error) });
      }
    } finally {
      over.abort();
      serial.stream.destroy();
    }
  }

  private async openFirst(signal: AbortSignal): Promise<SerialLine> {
    for (let attempt = 1; ; attempt++) {
      try {
        const serial = await this.deps.consoles.openSerial(this.ref);
        serial.stream.on('error', () => undefined);
        return serial;
      } catch (error) {
        if (attempt === OPEN_ATTEMPTS || DomainError.is(error, 'BACKEND_FORBIDDEN', 'NOT_SUPPORTED')) throw error;
        await this.deps.clock.delay(REOPEN_MS, signal);
        signal.throwIfAborted();
      }
    }
  }

  private async agentSign(vmi: VmiObject, signal: AbortSignal): Promise<BootSign> {
    const ended = await this.follow(vmi, signal, (version) => {
      if (isTrue(version.status?.conditions, 'AgentConnected')) return true;
      expectNoError(version);
      return hasEnded(version);
    });
    if (!hasEnded(ended)) return { kind: 'agent' };
    const reason = await this.launcherFailure(ended);
    if (reason !== undefined)
      throw new ClusterFailure(
        new DomainError('BACKEND_FAILED', `The cluster has ended the VM of the proof: ${reason}.`),
      );
    if (ended.status?.phase === 'Succeeded')
      throw new DomainError('WRONG_STATE', 'The guest has powered off before it was up.');
    throw new DomainError('WRONG_STATE', 'The guest has crashed before it was up.');
  }

  private async promptSign(first: SerialLine, signal: AbortSignal): Promise<BootSign> {
    const prompt = new LoginPrompt();
    let line: Duplex = first.stream;
    for (;;) {
      try {
        for await (const data of line) {
          const found = prompt.find(data as Buffer);
          if (found) return found;
        }
      } catch {
        // It is opened again, as after its end.
      }
      line = await this.reopened(signal);
    }
  }

  /** API servers restart, and close all consoles then. */
  private async reopened(signal: AbortSignal): Promise<Duplex> {
    const { clock, consoles } = this.deps;
    for (;;) {
      await clock.delay(REOPEN_MS, signal);
      signal.throwIfAborted();
      const opened = await consoles.openSerial(this.ref).catch(() => undefined);
      if (!opened) continue;
      const { stream } = opened;
      stream.on('error', () => undefined);
      if (signal.aborted) stream.destroy();
      signal.throwIfAborted();
      signal.addEventListener('abort', () => stream.destroy(), { once: true });
      // KubeVirt keeps no output, and a newline makes a guest print its prompt again.
      stream.write('\r');
      return stream;
    }
  }

  /** Follows the instance until a version of it matches. @param given only the one with its uid */
  private async follow(
    given: VmiObject | undefined,
    signal: AbortSignal,
    matches: (vmi: VmiObject) => boolean,
  ): Promise<VmiObject> {
    const { namespace, name } = this.ref;
    let found: VmiObject | undefined;
    await followObject<VmiObject>({
      ...this.deps,
      resource: VM_INSTANCES,
      object: given ?? { metadata: { namespace, name } },
      signal,
      onChange: (vmi) => {
        if (vmi.metadata.deletionTimestamp !== undefined) throw deleted();
        if (!matches(vmi)) return false;
        found = vmi;
        return true;
      },
      onRemoved: () => {
        throw deleted();
      },
    });
    return found as VmiObject;
  }

  /** Why the pod of the guest has ended without its guest. */
  private async launcherFailure({ metadata: { namespace, uid } }: VmiObject): Promise<string | undefined> {
    const labelSelector = `${CREATED_BY}=${uid}`;
    const options = { ...(namespace !== undefined && { namespace }), labelSelector };
    const [pod] = await this.deps.api.list<PodObject>(PODS, options);
    if (!pod) return 'its pod was deleted';
    const { reason, message, conditions, containerStatuses = [] } = pod.status ?? {};
    const disruption = conditions?.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True');
    if (reason || disruption) return withoutDot(message || disruption?.message || reason || 'its pod was evicted');
    if (pod.metadata.deletionTimestamp !== undefined) return 'its pod was deleted';
    const killed = containerStatuses.find(({ state }) => state?.terminated?.reason === 'OOMKilled');
    return killed && 'its pod ran out of memory';
  }
}

const hasEnded = ({ status }: VmiObject): boolean => ['Succeeded', 'Failed'].includes(status?.phase ?? '');

/** A guest whose disks can't be written is paused. */
function expectNoError({ status }: VmiObject): void {
  const paused = conditionOf(status?.conditions, 'Paused');
  if (paused?.status !== 'True' || paused.reason !== 'PausedIOError') return;
  const reason = withoutDot(paused.message || paused.reason);
  throw new ClusterFailure(new DomainError('BACKEND_FAILED', `The cluster has paused the VM of the proof: ${reason}.`));
}

const deleted = (): ClusterFailure =>
  new ClusterFailure(new DomainError('CONFLICT', 'The VM of the proof was deleted before its guest was up.'));

const withoutDot = (text: string): string => text.replace(/\.$/, '');

/** Why the cluster does not run the guest yet. */
function obstacleOf({ status }: VmiObject): string | undefined {
  for (const type of ['PodScheduled', 'Synchronized', 'DataVolumesReady']) {
    const condition = conditionOf(status?.conditions, type);
    if (condition?.status === 'False' && condition.message) return withoutDot(condition.message);
  }
  return undefined;
}
