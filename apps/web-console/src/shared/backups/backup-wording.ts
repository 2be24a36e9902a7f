import { t } from '@lingui/core/macro';
import type { BackupPointView, BackupTargetStateView } from '@headgate/api-contracts';
import { perLanguage } from '../texts/per-language.js';
import type { StatusWording } from '../ui/status-tone.js';

/** In which state a backup has the disks. */
export const consistencies = perLanguage((): Readonly<Record<BackupPointView['consistency'], string>> => ({
  stopped: t`VM was stopped`,
  frozen: t`File systems were frozen`,
  crash: t`As after a power failure`,
}));

/** Whether a backup has booted when that was last tried. */
export const proofWording = perLanguage(
  (): Readonly<Record<NonNullable<BackupPointView['proof']>['state'], StatusWording>> => ({
    booted: { tone: 'success', icon: 'dot', words: t`Booted` },
    failed: { tone: 'danger', icon: 'diamond', words: t`Did not boot` },
  }),
);

export const targetWording = perLanguage((): Readonly<Record<BackupTargetStateView['state'], StatusWording>> => ({
  ready: { tone: 'success', icon: 'dot', words: t`Ready` },
  locked: { tone: 'warning', icon: 'triangle', words: t`Locked` },
  unusable: { tone: 'danger', icon: 'diamond', words: t`Unusable` },
}));
