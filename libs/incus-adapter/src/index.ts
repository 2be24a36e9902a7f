export { INCUS_TRAITS } from './incus-traits.js';
