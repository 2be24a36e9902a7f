import { allPortsContract } from '@headgate/testing';
import { __Name__Harness } from './testing/__name__-harness.contract.js';

allPortsContract('__name__', async () => new __Name__Harness(), {
  consoles: { greeting: /login: / },
  unavailable: [],
});
