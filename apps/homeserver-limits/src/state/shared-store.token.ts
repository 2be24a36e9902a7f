/** The token of the shared store, whose module is loaded only where one is configured. Undefined elsewhere. */
export const SHARED_STORE = Symbol('SharedStore');
