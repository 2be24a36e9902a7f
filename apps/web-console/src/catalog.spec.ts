import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { problemsOf } from '../build/text-problems.js';

test('each text of the code is in the catalogs, and each has its translation', () => {
  const script = join(import.meta.dirname, '../dev/texts.mjs');
  // Without the options of the test runner, which change how modules are loaded.
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--check'], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  expect([status, stderr, stdout]).toEqual([0, '', expect.stringMatching(/^\d{4} texts are translated\.\n$/)]);
});

describe('a catalog', () => {
  const texts = { a: { message: 'Delete {name}' }, b: { message: '{n, plural, one {# VM} other {# VMs}}' } };
  const good = {
    a: { message: texts.a.message, translation: '{name} löschen' },
    b: { message: texts.b.message, translation: '{n, plural, one {# Maschine} other {# Maschinen}}' },
  };
  const problems = (entries: object): string[] => problemsOf('de', texts, entries as never, false);

  test('has no problems when it is complete', () => expect(problems(good)).toEqual([]));

  test.each([
    [{ b: good.b }, ['texts/de.po lacks the text "Delete {name}". Run npm run texts.']],
    [
      { ...good, c: { message: 'Old', translation: 'Alt' } },
      ['texts/de.po has the text "Old", which no code uses. Run npm run texts.'],
    ],
    [
      { ...good, a: { message: 'Delete {name}', translation: '' } },
      ['texts/de.po has no translation of "Delete {name}".'],
    ],
    [
      { ...good, a: { message: 'Delete {name}', translation: '{nam} löschen' } },
      ['texts/de.po: "{nam} löschen" has the placeholders nam; its text has name.'],
    ],
    [
      { ...good, a: { message: 'Delete {name}', translation: '{name löschen' } },
      ['texts/de.po: the translation "{name löschen" is no valid message.'],
    ],
  ])('%j has a problem', (entries, expected) => {
    expect(problems(entries)).toEqual(expected);
  });
});
