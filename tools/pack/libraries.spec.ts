import { packedLibraries } from './libraries.mjs';

const library = (folder: string, dependencies: Record<string, string> = {}, isProduct = false) => {
  const name = `@headgate/${folder}`;
  const publishConfig = isProduct ? { publishConfig: { access: 'public' } } : {};
  return { name, folder, manifest: { name, dependencies, ...publishConfig } };
};

const workspace = (...libraries: ReturnType<typeof library>[]) => new Map(libraries.map((one) => [one.name, one]));

const foldersOf = (...args: Parameters<typeof packedLibraries>): string[] =>
  packedLibraries(...args).map(({ folder }) => folder);

const clock = library('clock');
const domain = library('domain', { '@headgate/clock': '*', ws: '8.0.0' });
const fleet = library('fleet', { '@headgate/domain': '*' }, true);
const tasks = library('tasks', { '@headgate/domain': '*' }, true);
const hidden = library('hidden', { '@headgate/domain': '*' });

describe('the libraries to pack', () => {
  test('are the products and the libraries that they need, each after its dependencies', () => {
    expect(foldersOf(workspace(fleet, hidden, tasks, domain, clock))).toEqual(['clock', 'domain', 'fleet', 'tasks']);
  });

  test('are chosen by their folders, whether they are products or not', () => {
    expect(foldersOf(workspace(fleet, hidden, tasks, domain, clock), ['hidden'])).toEqual([
      'clock',
      'domain',
      'hidden',
    ]);
  });

  test('must exist, and not depend on each other in a circle', () => {
    expect(() => packedLibraries(workspace(fleet), ['flet'])).toThrow('flet is not in libs.');
    expect(() => packedLibraries(workspace(fleet))).toThrow(
      '@headgate/fleet depends on @headgate/domain, which is not in libs.',
    );
    const circle = workspace(library('a', { '@headgate/b': '*' }, true), library('b', { '@headgate/a': '*' }));
    expect(() => packedLibraries(circle)).toThrow('@headgate/a → @headgate/b → @headgate/a is a circle.');
  });
});
