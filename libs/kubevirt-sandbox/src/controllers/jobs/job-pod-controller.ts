import { suffers } from '../../inherited-faults.js';
import type { DiskContents } from '../../proxies/disk-contents.js';
import { RESOURCES } from '../../resources.js';
import { setCondition } from '../../types/condition.js';
import type { Pod } from '../../types/core-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import type { SimulatedProgram } from '../../pods/program.js';
import { simulatedProgram } from './simulated-program.js';

export const isOfJob = ({ metadata }: Pod): boolean =>
  metadata.ownerReferences?.some(({ kind, controller }) => kind === 'Job' && controller === true) === true;

/** Runs the containers of Jobs: unlike others, they print their lines and end. */
export class JobPodController extends Controller<Pod> {
  private readonly programs = new Map<string, SimulatedProgram>();
  private readonly printed = new Map<string, number>();

  constructor(
    context: SimulationContext,
    private readonly contents: DiskContents,
  ) {
    super(context, RESOURCES.pod, 'kubelet');
  }

  protected override watchRelated(): void {
    this.watch<Pod>(RESOURCES.pod, ({ type, object }) => {
      const uid = object.metadata.uid ?? '';
      if (type !== 'DELETED' || !isOfJob(object)) return;
      this.programs.delete(uid);
      this.printed.delete(uid);
      this.context.output.forget(uid);
    });
    this.watchFaults(() => this.enqueueRunning());
  }

  protected override reconcile(pod: Pod): void {
    if (!isOfJob(pod) || pod.metadata.deletionTimestamp || pod.status?.phase !== 'Running') return;
    const program = this.programOf(pod);
    if (!this.print(pod, program.lines) || suffers(this.context, 'container-hangs', pod)) return;
    this.end(pod, program);
  }

  private programOf(pod: Pod): SimulatedProgram {
    const uid = pod.metadata.uid ?? '';
    const [container] = pod.spec.containers;
    const known = this.programs.get(uid);
    if (known || !container) return known ?? { lines: [], exitCode: 0 };
    const failing: SimulatedProgram = { lines: ['error: simulated failure'], exitCode: 1 };
    const program = suffers(this.context, 'container-fails', pod)
      ? failing
      : (this.context.chooseProgram?.(pod, container) ?? simulatedProgram(this.context, pod, container));
    this.programs.set(uid, program);
    return program;
  }

  /** @returns whether all lines are printed */
  private print(pod: Pod, lines: readonly string[]): boolean {
    const uid = pod.metadata.uid ?? '';
    for (let index = this.printed.get(uid) ?? 0; index < lines.length; index++) {
      if (!this.took(pod, `line ${index}`, 'programLine')) return false;
      this.printed.set(uid, index + 1);
      this.context.output.append(uid, lines[index] ?? '');
    }
    return true;
  }

  private end(pod: Pod, { exitCode, reason, message, disk }: SimulatedProgram): void {
    if (exitCode === 0 && disk) this.contents.write(disk.claim, disk.content);
    const now = this.context.clock.timestamp();
    const ended = reason ?? (exitCode === 0 ? 'Completed' : 'Error');
    this.change(pod, (draft) => {
      const status = (draft.status ??= {});
      status.phase = exitCode === 0 ? 'Succeeded' : 'Failed';
      status.containerStatuses = status.containerStatuses?.map((container) => ({
        ...container,
        ready: false,
        started: false,
        state: {
          terminated: {
            exitCode,
            reason: ended,
            ...(message === undefined ? {} : { message }),
            startedAt: container.state.running?.startedAt ?? now,
            finishedAt: now,
          },
        },
      }));
      for (const type of ['Ready', 'ContainersReady']) {
        const why = exitCode === 0 ? 'PodCompleted' : 'PodFailed';
        setCondition((status.conditions ??= []), { type, status: 'False', reason: why }, now);
      }
    });
  }

  private enqueueRunning(): void {
    for (const { metadata } of this.context.store.list<Pod>(RESOURCES.pod, { where: (pod) => isOfJob(pod as Pod) }))
      this.enqueue(metadata);
  }
}
