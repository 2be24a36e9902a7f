const MAX_LENGTH = 253;

/** Whether a value is a name that an API server accepts, and no part of a path. */
export const isName = (name: unknown): name is string =>
  typeof name === 'string' && name.length <= MAX_LENGTH && /^[a-z0-9]([a-z0-9.:_-]*[a-z0-9])?$/i.test(name);
