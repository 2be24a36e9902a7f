import type { LocalTrust } from './local-trust.js';

/** Sentences for the user about who on this machine may use the service. */
export function describeTrust({ kind, uids, oneTimeToken }: LocalTrust, url: string): string[] {
  switch (kind) {
    case 'open':
      return ['WARNING: --open lets every user and every program on this machine in, with all rights of a local user.'];
    case 'users':
      return [`On this machine it trusts the user IDs ${uids.join(', ')}; add others with SVC_TRUSTED_UIDS.`];
    case 'token':
      return [
        'This system does not report the users of connections, so a browser on this machine signs in with a token.',
        `Open this address once: ${url}/?token=${oneTimeToken}`,
      ];
  }
}
