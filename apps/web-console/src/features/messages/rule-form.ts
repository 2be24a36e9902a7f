import { t } from '@lingui/core/macro';
import type { CreateMessageRuleDto, MessageRuleView, UpdateMessageRuleDto } from '@headgate/api-contracts';

/** The texts of the form of a rule. */
export interface RuleForm {
  readonly name: string;
  readonly channel: string;
  readonly enabled: boolean;
  readonly kinds: MessageRuleView['kinds'];
  readonly minSeverity: MessageRuleView['minSeverity'];
  readonly folder: string;
  readonly q: string;
  readonly delivery: MessageRuleView['delivery'];
  readonly digestAt: string;
  readonly timeZone: string;
  readonly quietFrom: string;
  readonly quietTo: string;
}

export const emptyRule = (): RuleForm => ({
  name: '',
  channel: '',
  enabled: true,
  kinds: ['instance.failed', 'context.lost', 'problem.began', 'task.failed', 'schedule.failed'],
  minSeverity: 'warning',
  folder: '',
  q: '',
  delivery: 'immediately',
  digestAt: '07:00',
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  quietFrom: '',
  quietTo: '',
});

export const formOf = ({ quietHours, folder = '', q = '', ...rule }: MessageRuleView): RuleForm => ({
  name: rule.name,
  channel: rule.channel,
  enabled: rule.enabled,
  kinds: rule.kinds,
  minSeverity: rule.minSeverity,
  folder,
  q,
  delivery: rule.delivery,
  digestAt: rule.digestAt,
  timeZone: rule.timeZone,
  quietFrom: quietHours?.from ?? '',
  quietTo: quietHours?.to ?? '',
});

const alwaysOf = ({ name, channel, enabled, kinds, minSeverity, delivery, digestAt, timeZone }: RuleForm) => ({
  name: name.trim(),
  channel,
  enabled,
  kinds: [...kinds],
  minSeverity,
  delivery,
  digestAt: digestAt.trim(),
  timeZone: timeZone.trim(),
});

/** A request that removes the fields that are empty now. */
export function updateOf(form: RuleForm): UpdateMessageRuleDto {
  const { folder, q, quietFrom, quietTo } = form;
  return {
    ...alwaysOf(form),
    folder: folder.trim() || null,
    q: q.trim() || null,
    quietHours: quietFrom.trim() === '' ? null : { from: quietFrom.trim(), to: quietTo.trim() },
  };
}

export function orderOf(form: RuleForm): CreateMessageRuleDto {
  const { folder, q, quietHours } = updateOf(form);
  return { ...alwaysOf(form), ...(folder && { folder }), ...(q && { q }), ...(quietHours && { quietHours }) };
}

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** Why the form can't be sent; undefined if it can. */
export function problemOf({ name, channel, kinds, delivery, digestAt, quietFrom, quietTo }: RuleForm) {
  if (name.trim() === '') return t`Enter a name first.`;
  if (channel === '') return t`Choose a channel first.`;
  if (kinds.length === 0) return t`Choose at least one event.`;
  if (delivery === 'digest' && !TIME.test(digestAt.trim())) return t`Enter the time of the digest, such as 07:00.`;
  const quiet = [quietFrom, quietTo].map((time) => time.trim());
  if (quiet.some((time) => time !== '') && !quiet.every((time) => TIME.test(time)))
    return t`Enter both times of the quiet hours, such as 22:00 and 06:00, or neither of them.`;
  return undefined;
}
