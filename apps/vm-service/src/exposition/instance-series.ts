import { isRunningStatus, isVm } from '@headgate/domain-contracts';
import type { FleetEntry } from '@headgate/fleet';

/** The series that each instance has, in the order of the lines that are rendered for it. */
export const INSTANCE_SERIES = [
  'svc_instance_info',
  'svc_instance_running',
  'svc_instance_ready',
  'svc_instance_cpu_cores',
  'svc_instance_memory_bytes',
] as const;

/**
 * Renders the series of instances. An entry of the fleet never changes, so its lines are rendered once, and not with
 * each collection.
 */
export class InstanceSeries {
  private readonly rendered = new WeakMap<FleetEntry, readonly string[]>();

  /** One line for each of the series. */
  linesOf(entry: FleetEntry): readonly string[] {
    let lines = this.rendered.get(entry);
    if (!lines) this.rendered.set(entry, (lines = render(entry)));
    return lines;
  }
}

export const runs = ({ instance }: FleetEntry): boolean =>
  isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running';

export const stateOf = ({ instance }: FleetEntry): string => (isVm(instance) ? instance.status : instance.phase);

function render(entry: FleetEntry): string[] {
  const { instance, folder = '' } = entry;
  const { ref, backend, ready, cpu, memoryBytes, node = '' } = instance;
  const isRunning = runs(entry);
  const template = String(isVm(instance) && instance.isTemplate);
  const start = `name="${escapeLabel(ref.name)}",kind="${ref.kind}",backend="${escapeLabel(backend)}",context="${escapeLabel(ref.context)}",namespace="${escapeLabel(ref.namespace)}",pool="${escapeLabel(folder)}"`;
  const info = `${start},node="${escapeLabel(isRunning ? node : '')}",template="${template}"`;
  const values = [1, Number(isRunning), Number(ready), cpu, memoryBytes];
  return INSTANCE_SERIES.map((name, index) => `${name}{${index === 0 ? info : start}} ${values[index]}`);
}

/** Source: Prometheus text format. */
const escapeLabel = (value: string): string =>
  /[\\"\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;
