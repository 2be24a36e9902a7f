import { vm } from '@headgate/access';

/** To connect to a TCP port of the guest. */
export const PORTS = vm('ports', { doing: 'Connecting to ports' });
