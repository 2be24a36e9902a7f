import { t } from '@lingui/core/macro';
import type { NodeDetailsView } from '@headgate/api-contracts';
import type { StatusWording } from '../../shared/ui/status-tone.js';
import { readableNumber } from '../../shared/texts/formats.js';

/** The state of a node as a shape, a color and words. */
export function nodeState({ ready, schedulable }: Pick<NodeDetailsView, 'ready' | 'schedulable'>): StatusWording {
  if (!ready) return { tone: 'danger', icon: 'diamond', words: t`Not ready` };
  if (!schedulable) return { tone: 'neutral', icon: 'bars', words: t`Takes no new VMs` };
  return { tone: 'success', icon: 'dot', words: t`Ready` };
}

export const cpuText = (millicores: number): string => `${readableNumber(Number((millicores / 1000).toFixed(1)))} CPUs`;
