import type { MessageChannelView, MessageRuleView, MessageTargetView, MessageView } from '@headgate/api-contracts';
import {
  displayUrl,
  type Message,
  type MessageChannel,
  type MessageRule,
  type MessageTarget,
} from '@headgate/domain-contracts';

const NOTHING: MessageTargetView = {
  host: null,
  port: null,
  security: null,
  user: null,
  from: null,
  recipients: [],
  server: null,
  topic: null,
  webhook: null,
  hasSecret: false,
};

/** Names the fields that are shown: a new field, which may be a secret, does not appear in the view automatically. */
function presentTarget(target: MessageTarget): MessageTargetView {
  if (target.kind === 'webhook') return { ...NOTHING, webhook: target.webhook };
  if (target.kind === 'ntfy') {
    const { server, topic, token } = target;
    return { ...NOTHING, server: displayUrl(server), topic, hasSecret: token !== '' };
  }
  const { host, port, security, user, from, recipients, password } = target;
  return { ...NOTHING, host, port, security, user, from, recipients: [...recipients], hasSecret: password !== '' };
}

/** @param isManager whether the caller may see where it sends to */
export const presentChannel = (
  { id, name, shared, target, createdAt }: MessageChannel,
  isManager: boolean,
): MessageChannelView => ({
  id,
  name,
  kind: target.kind,
  shared,
  target: isManager ? presentTarget(target) : null,
  createdAt,
});

export function presentRule({ state, kinds, ...rule }: MessageRule): MessageRuleView {
  const { pending } = state;
  const waitingEvents = (pending?.events ?? []).reduce((sum, { count }) => sum + count, pending?.more ?? 0);
  return { ...rule, kinds: [...kinds], waitingEvents };
}

export const presentMessage = ({ text: _text, ...message }: Message, rule: MessageRule): MessageView => ({
  ...message,
  rule: rule.id,
  ruleName: rule.name,
  channel: rule.channel,
});
