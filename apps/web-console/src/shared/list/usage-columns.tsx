import { t } from '@lingui/core/macro';
import type { UsageView } from '@headgate/api-contracts';
import { isMeasured, type Instance } from '../instances/instance.js';
import type { Usages } from '../fleet/use-usage.js';
import type { ListColumn } from './list-kind.js';

/** The used part of the CPUs that an instance has, from 0 to 1, or a little more because the emulator uses some too. */
export function cpuShare(
  { cpu }: Pick<Instance, 'cpu'>,
  usage: Pick<UsageView, 'cpu'> | undefined,
): number | undefined {
  const used = usage?.cpu ?? null;
  return used === null || cpu === 0 ? undefined : used / (cpu * 1000);
}

export function memoryShare(usage: UsageView | undefined): number | undefined {
  const { usedBytes = null, totalBytes = null } = usage?.memory ?? {};
  return usedBytes === null || totalBytes === null || totalBytes === 0 ? undefined : usedBytes / totalBytes;
}

export const percentage = (share: number): string => `${Math.round(share * 100)}%`;

/** The columns of current usage, of the measured instances. */
export const usageColumns = (usages: Usages) => ({
  cpuUsage: shareColumn(t`CPU use`, 'CPU', 6, (entry) => cpuShare(entry, currentUsage(entry, usages))),
  memUsage: shareColumn(t`Mem. use`, t`Mem.`, 6.5, (entry) => memoryShare(currentUsage(entry, usages))),
});

/** The service keeps the last sample; of a guest that does not run, or that may not, it is from the past. */
const currentUsage = (entry: Instance, usages: Usages): UsageView | undefined =>
  !entry.stale && isMeasured(entry) ? usages.get(entry.ref) : undefined;

function shareColumn(
  label: string,
  cardLabel: string,
  width: number,
  shareOf: (entry: Instance) => number | undefined,
): ListColumn<Instance> {
  return {
    label,
    cardLabel,
    order: (entry) => shareOf(entry) ?? '',
    text: (entry) => textOf(shareOf(entry)),
    width,
    numeric: true,
    keepPriority: 7,
    cell: (entry) => <Meter share={shareOf(entry)} />,
  };
}

const textOf = (share: number | undefined): string => (share === undefined ? '' : percentage(share));

const Meter = ({ share }: { share: number | undefined }) =>
  share !== undefined && (
    <span className="hg-meter">
      <span className="hg-meter-bar" aria-hidden="true">
        <span style={{ inlineSize: `${Math.min(share, 1) * 100}%` }} />
      </span>
      {textOf(share)}
    </span>
  );
