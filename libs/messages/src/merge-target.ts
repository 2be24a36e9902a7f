import {
  definedFields,
  DomainError,
  type MailTarget,
  type MessageTarget,
  type NtfyTarget,
} from '@headgate/domain-contracts';

/** The new values of some settings of a target. */
export type TargetChange = { readonly kind: MessageTarget['kind'] } & Partial<
  Omit<MailTarget, 'kind'> & Omit<NtfyTarget, 'kind'> & { readonly webhook: string }
>;

/** Where the secret of a target is sent to. Another such place must not get it. */
const PLACES = {
  mail: { secret: 'password', fields: ['host', 'port', 'security', 'user'] },
  ntfy: { secret: 'token', fields: ['server'] },
  webhook: undefined,
} as const;

/**
 * The target with changed settings. Its secret stays with its server: with another server or user, it must be given
 * again.
 * @throws DomainError INVALID_INPUT
 */
export function mergeTarget(target: MessageTarget, change: TargetChange): MessageTarget {
  if (change.kind !== target.kind)
    throw new DomainError(
      'INVALID_INPUT',
      `${change.kind}: the channel is of the kind ${target.kind}, which can't be changed; create another channel.`,
    );
  const changed = definedFields(change);
  const merged = { ...target, ...changed } as MessageTarget;
  const place = PLACES[target.kind];
  const stored = target as unknown as Record<string, unknown>;
  if (place && stored[place.secret] !== '' && !(place.secret in changed)) {
    const other = place.fields.find(
      (field) => field in changed && (changed as Record<string, unknown>)[field] !== stored[field],
    );
    if (other !== undefined)
      throw new DomainError(
        'INVALID_INPUT',
        `${target.kind}.${place.secret}: give it again, because ${other} is another one; it is not sent to other servers.`,
      );
  }
  return merged;
}

/** @throws DomainError INVALID_INPUT for settings that do not fit together */
export function expectTarget(target: MessageTarget): void {
  if (target.kind !== 'mail') return;
  if ((target.user === '') !== (target.password === ''))
    throw new DomainError('INVALID_INPUT', 'mail.user and mail.password must be given together, or neither of them.');
}
