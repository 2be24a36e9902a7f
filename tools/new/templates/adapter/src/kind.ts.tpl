import type { BackendKind } from '@headgate/domain-contracts';
import { __Name__Settings } from './__name__-settings.js';
import { __NAME___TRAITS } from './__name__-traits.js';

/** The only import from this library that the service needs. */
export const __camel__Kind: BackendKind<__Name__Settings> = {
  traits: __NAME___TRAITS,
  settings: __Name__Settings,
  open: async ({ context, settings, clock }) => {
    // Loaded only here, so that a service without this engine starts faster and stays smaller.
    const { __Name__Backend } = await import('./__name__-backend.js');
    return { backend: __Name__Backend.open({ context, clock, ...settings }) };
  },
};
