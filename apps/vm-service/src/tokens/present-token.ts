import type { LeashDto, TokenView } from '@headgate/api-contracts';
import type { ApiToken } from '@headgate/domain-contracts';

export function presentToken(
  { hash: _hash, actions, addresses = [], agent, isStopped, isOfDevice, scope, ...token }: ApiToken,
  expired: boolean,
): TokenView {
  const { actions: rehearsed, ...leash } = agent ?? { actions };
  return {
    ...token,
    actions: [...rehearsed],
    scope: { ...scope },
    addresses: [...addresses],
    device: isOfDevice === true,
    expired,
    ...(agent && { agent: leash as LeashDto, stopped: isStopped === true }),
  };
}
