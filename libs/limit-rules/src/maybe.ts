/** A value of windows in this process, or a promise of windows on a server. */
export type Maybe<Value> = Value | Promise<Value>;

/** Applies a function to a value, now or once it has resolved. */
export function then<Value, Next>(value: Maybe<Value>, next: (value: Value) => Maybe<Next>): Maybe<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** All values in order; a promise if any of them is one. */
export function all<Value>(values: readonly Maybe<Value>[]): Maybe<Value[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as Value[]);
}
