import type { FactoryProvider } from '@nestjs/common';

/** The token of a dependency: its class or port, or a symbol, which the compiler can't check. */
type TokenOf<T> = (abstract new (...args: never[]) => T) | symbol;

/** The tokens of the dependencies of a class, by their names. */
export type TokensOf<Deps> = { readonly [Name in keyof Deps]: TokenOf<Deps[Name]> };

/**
 * Provides a class of a library, which knows no framework, and whose constructor takes its dependencies by name.
 * @param provide the token, when it is not the class itself but the port that it implements
 */
export function provideDeps<Deps extends object, T>(
  useClass: new (deps: Deps) => T,
  tokens: TokensOf<Deps>,
  provide: FactoryProvider['provide'] = useClass,
): FactoryProvider<T> {
  const names = Object.keys(tokens);
  return {
    provide,
    inject: Object.values<TokenOf<unknown>>(tokens),
    useFactory: (...found: unknown[]) =>
      new useClass(Object.fromEntries(names.map((name, index) => [name, found[index]])) as Deps),
  };
}
