const DECLARED = Symbol('DECLARED');

/** Remembers that a method was declared with a rule, whatever function stands in its place later. */
export const markDeclared = (prototype: object, method: string | symbol): void =>
  Reflect.defineMetadata(DECLARED, true, prototype, method);

/** Whether the method, or one that it overrides, was declared with a rule. */
export const wasDeclared = (prototype: object, method: string): boolean =>
  Reflect.hasMetadata(DECLARED, prototype, method);
