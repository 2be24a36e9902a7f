import { UniformGrant } from '@headgate/domain-contracts';

/**
 * The rights of a user who is not on the allowlist of administrators: to read everything but secrets, and to watch
 * consoles.
 */
export const readerGrant = (login: string): UniformGrant =>
  new UniformGrant('reader', login || 'a caller without a login', ['read', 'watch']);
