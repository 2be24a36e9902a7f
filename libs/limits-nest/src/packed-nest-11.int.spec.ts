import { CONSUMER, PRINTED } from './testing/consumer-program.js';
import { PackedProject } from './testing/packed-project.js';
import { MIGRATED, runExample } from './testing/readme-examples.js';

const NEST_11 = ['common', 'core', 'platform-express', 'platform-fastify'].map((name) => `@nestjs/${name}@^11.0.0`);

/** A project with Nest 11 from the registry; undefined if that is not reachable. */
const project = (() => {
  try {
    return new PackedProject([...NEST_11, 'reflect-metadata@^0.2.0', 'rxjs@^7.8.0']);
  } catch {
    return undefined;
  }
})();

const suite = project ? describe : describe.skip;

// The title shows the reason in the list of skipped tests.
suite(
  `the packed libraries with Nest 11 (${project ? 'installed' : 'could not be installed from the registry'})`,
  () => {
    afterAll(() => project!.remove());

    test('work from strict TypeScript on Fastify', () => {
      expect(project!.versionOf('@nestjs/core')).toMatch(/^11\./);
      project!.write('package.json', { name: 'consumer', private: true, type: 'module' });
      project!.write('consumer.ts', CONSUMER);
      expect(project!.compile('consumer.ts', { module: 'nodenext' })).toBe('');
      expect(JSON.parse(project!.run('built/consumer.js'))).toEqual(PRINTED);
    });

    test('run the migrated example of the README on Express', async () => {
      await runExample(project!, 1, async (call) => expect(await MIGRATED.try(call)).toEqual(MIGRATED.expected));
    });
  },
);
