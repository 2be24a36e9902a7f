import { t } from '@lingui/core/macro';
import type { ScheduledRunView } from '@headgate/api-contracts';
import { perLanguage } from '../../shared/texts/per-language.js';
import type { StatusWording } from '../../shared/ui/status-tone.js';

/** How the outcome of a run is shown. */
export const runWording = perLanguage((): Readonly<Record<ScheduledRunView['status'], StatusWording>> => ({
  starting: { tone: 'progress', icon: 'arc', words: t`Starting` },
  running: { tone: 'progress', icon: 'arc', words: t`Running` },
  done: { tone: 'success', icon: 'dot', words: t`Done` },
  error: { tone: 'danger', icon: 'diamond', words: t`Failed` },
  empty: { tone: 'neutral', icon: 'ring', words: t`Nothing matched` },
  skipped: { tone: 'warning', icon: 'triangle', words: t`Skipped` },
  missed: { tone: 'warning', icon: 'triangle', words: t`Missed` },
}));
