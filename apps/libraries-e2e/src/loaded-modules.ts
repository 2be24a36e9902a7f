/** The number of modules that were loaded, by package. */
export type LoadedModules = Readonly<Record<string, number>>;

/** A program that imports a package and prints the `LoadedModules`. */
export const COUNT_MODULES = `
import Module, { registerHooks } from 'node:module';

const files = new Set();
registerHooks({
  load(url, context, nextLoad) {
    files.add(url);
    return nextLoad(url, context);
  },
});
await import(process.argv[2]);
for (const file of Object.keys(Module._cache)) files.add('file://' + file);

const counts = {};
for (const file of files) {
  const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(file) ?? [];
  if (name) counts[name] = (counts[name] ?? 0) + 1;
}
console.log(JSON.stringify(counts));
`;
