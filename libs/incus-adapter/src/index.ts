export { IncusBackend, type IncusBackendOptions } from './incus-backend.js';
export { INCUS_TRAITS } from './incus-traits.js';
