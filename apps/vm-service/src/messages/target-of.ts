import type { CreateMessageChannelDto, UpdateMessageChannelDto } from '@headgate/api-contracts';
import { DomainError, type MessageTarget } from '@headgate/domain-contracts';
import type { TargetChange } from '@headgate/messages';

/**
 * The target of a new channel.
 * @throws DomainError INVALID_INPUT unless there is exactly one
 */
export function targetOf(body: CreateMessageChannelDto): MessageTarget {
  const { mail, ntfy, webhook } = body;
  expectOne(body, true);
  if (mail) return { kind: 'mail', ...mail, user: mail.user ?? '', password: mail.password ?? '' };
  if (ntfy) return { kind: 'ntfy', ...ntfy, token: ntfy.token ?? '' };
  return { kind: 'webhook', webhook: webhook?.webhook ?? '' };
}

/**
 * The changed settings of a channel; undefined if there are none.
 * @throws DomainError INVALID_INPUT for those of several kinds
 */
export function targetChangeOf(body: UpdateMessageChannelDto): TargetChange | undefined {
  const { mail, ntfy, webhook } = body;
  expectOne(body, false);
  if (mail) return { kind: 'mail', ...mail } as TargetChange;
  if (ntfy) return { kind: 'ntfy', ...ntfy } as TargetChange;
  return webhook && { kind: 'webhook', ...webhook };
}

function expectOne({ mail, ntfy, webhook }: UpdateMessageChannelDto, isRequired: boolean): void {
  const count = [mail, ntfy, webhook].filter((one) => one !== undefined).length;
  if (count > 1 || (isRequired && count === 0))
    throw new DomainError('INVALID_INPUT', 'A channel must have exactly one of mail, ntfy and webhook.');
}
