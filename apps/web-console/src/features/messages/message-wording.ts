import { t } from '@lingui/core/macro';
import type { MessageChannelView, MessageRuleView, MessageView } from '@headgate/api-contracts';
import { perLanguage } from '../../shared/texts/per-language.js';
import type { StatusWording } from '../../shared/ui/status-tone.js';

export const channelKinds = perLanguage((): Readonly<Record<MessageChannelView['kind'], string>> => ({
  mail: t`Mail`,
  ntfy: 'ntfy',
  webhook: t`Webhook`,
}));

export const messageKinds = perLanguage((): Readonly<Record<MessageRuleView['kinds'][number], string>> => ({
  'instance.failed': t`An instance failed`,
  'instance.recovered': t`An instance works again`,
  'context.lost': t`A context was lost`,
  'context.returned': t`A context is back`,
  'problem.began': t`A health check found a problem`,
  'problem.ended': t`A problem has ended`,
  'task.failed': t`A task failed`,
  'schedule.failed': t`A run of a schedule failed`,
  'schedule.missed': t`A run of a schedule was missed`,
}));

export const severities = perLanguage((): Readonly<Record<MessageRuleView['minSeverity'], string>> => ({
  info: t`Information`,
  warning: t`Warning`,
  error: t`Error`,
}));

/** How the outcome of a message is shown. */
export const outcomes = perLanguage((): Readonly<Record<MessageView['status'], StatusWording>> => ({
  waiting: { tone: 'progress', icon: 'arc', words: t`Waiting` },
  sent: { tone: 'success', icon: 'dot', words: t`Sent` },
  failed: { tone: 'danger', icon: 'diamond', words: t`Failed` },
}));
