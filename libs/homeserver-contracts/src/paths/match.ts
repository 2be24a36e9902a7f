/** The operation that a request matches. */
export interface Match<Operation extends string> {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

/** An operation at the end of a path. */
export interface Leaf<Operation> {
  readonly operation: Operation;
  readonly openEnded: boolean;
  /** The name and the segment index of each parameter. */
  readonly names: readonly (readonly [name: string, index: number])[];
}

export function matchOf<Operation extends string>(
  leaf: Leaf<Operation>,
  segments: readonly string[],
): Match<Operation> {
  const params: Record<string, string> = {};
  for (const [name, index] of leaf.names) params[name] = segments[index] ?? '';
  return { operation: leaf.operation, params };
}

/**
 * Whether both are the same request. An absent and an empty parameter are equal.
 * @param names the parameters that are compared; all when left out
 */
export function isSame<Operation extends string>(
  a: Match<Operation> | undefined,
  b: Match<Operation>,
  names?: readonly string[],
): boolean {
  if (a?.operation !== b.operation) return false;
  const compared = names ?? [...new Set([...Object.keys(a.params), ...Object.keys(b.params)])];
  return compared.every((name) => (a.params[name] ?? '') === (b.params[name] ?? ''));
}
