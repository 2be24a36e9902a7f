import { t } from '@lingui/core/macro';
import type { HardwareView } from '@headgate/api-contracts';
import { useEffect, useRef } from 'react';
import type { Instance } from '../../../shared/instances/instance.js';
import { useNotify } from '../../../shared/ui/notifications.js';

const NONE: NonNullable<HardwareView['applying']> = [];

/** Why the size can't be changed again yet. */
export const applyingReason = ({ applying = NONE }: HardwareView): string | undefined =>
  applying.length === 0 ? undefined : t`Wait until the previous change is applied.`;

/** The changes that the running guest does not have yet, with both values. */
export function ApplyingChanges({ hardware: { applying = NONE } }: { hardware: HardwareView }) {
  return (
    <div role="status">
      {applying.length > 0 && (
        <ul className="hg-note" aria-label={t`Changes that are being applied`}>
          {applying.map(({ field, running, configured }) => (
            <li key={field}>
              {t`${field}: ${running || t`none`} now, ${configured || t`none`} is being applied by a live migration`}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Reports in a notice that the guest has the changes that were being applied, unless they need a restart after all. */
export function useAppliedNotice({ ref, name }: Instance, hardware: HardwareView | undefined): void {
  const notify = useNotify();
  const before = useRef<{ readonly ref: string; readonly fields: readonly string[] }>(undefined);
  useEffect(() => {
    const fields = hardware?.applying?.map(({ field }) => field) ?? [];
    const applied = before.current?.ref === ref ? before.current.fields : [];
    before.current = { ref, fields };
    if (!hardware || applied.length === 0 || fields.length > 0) return;
    if (hardware.pending.some(({ field }) => applied.includes(field))) return;
    notify({ variant: 'success', title: t`Changed the hardware of ${name}` });
  }, [hardware, ref, name, notify]);
}
