import type { SessionView } from '@headgate/api-contracts';
import type { LoginSession } from '@headgate/domain-contracts';

/** @param current the ID of the session of the request */
export const presentSession = (
  { hash: _hash, idToken: _idToken, name: _name, groups, ...session }: LoginSession,
  current: string | undefined,
): SessionView => ({ ...session, groups: [...groups], current: session.id === current });
