import { ListenAddress } from '@headgate/nest-kit';
import type { Settings } from '../config/load-config.js';
import type { LoginSection } from '../config/login-section.js';

/** Sentences for the user about how they log in. @param first the secret for the first account, if there is none yet */
export function describeLogin({ local, providers }: LoginSection, first: string | undefined, url: string): string[] {
  const ways = [...(local ? ['accounts of this service'] : []), ...providers.map(({ name }) => name)];
  return [
    `Users log in with ${ways.join(', ')}.`,
    ...(local && first !== undefined
      ? [`Create the first account, an administrator: ${url}/#/login?first=${first}`]
      : []),
  ];
}

/** A service that everyone on the network may use as an administrator should have a login. */
export function proposeLogin({ listen, admins, roles }: Settings): string[] {
  if (ListenAddress.parse(listen).isLoopback || admins.length > 0 || roles.length > 0) return [];
  return [
    'Everyone who reaches this address is an administrator. Add --login to let users log in, with a certificate or a proxy for HTTPS.',
  ];
}
