import type { BackupPointView } from '@headgate/api-contracts';
import { consistencies, proofWording } from '../../shared/backups/backup-wording.js';

/** How many rows are shown before the user asks for more. */
export const SHOWN_POINTS = 100;

/**
 * The backups whose VM, time, state of disks or proof has all words of a search.
 * @param dateText of a time, as it is shown
 */
export function searchPoints<P extends BackupPointView>(
  points: readonly P[],
  search: string,
  dateText: (time: string) => string,
): P[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return points.filter((point) => {
    const text = [
      decodeURIComponent(point.ref),
      point.time,
      dateText(point.time),
      consistencies()[point.consistency],
      point.proof ? proofWording()[point.proof.state].words : '',
    ]
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
