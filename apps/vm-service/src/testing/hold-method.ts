export interface HeldMethod {
  /** Resolves when the method was called. */
  readonly begun: Promise<void>;
  /** The arguments of each call so far, also of those after the end. */
  readonly calls: readonly (readonly unknown[])[];
  /** Lets this call and all later ones go on. */
  readonly end: () => void;
}

/** The calls of an asynchronous method go on only when a test lets them. */
export function holdMethod<T extends object, K extends keyof T & string>(target: T, method: K): HeldMethod {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const calls: unknown[][] = [];
  const real = target[method] as (...args: unknown[]) => unknown;
  Object.assign(target, {
    [method]: async (...args: unknown[]) => {
      calls.push(args);
      begun.resolve();
      await gate.promise;
      return real.apply(target, args);
    },
  });
  return { begun: begun.promise, calls, end: gate.resolve };
}
