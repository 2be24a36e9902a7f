import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDescriptions } from './read-descriptions.js';

const SOURCE = `
/** A thing. */
export class ThingView {
  /** Its name, which may be
   * long. */
  @IsString() name!: string;
  @IsString() bare!: string;
}
export class OwnedView extends ThingView {
  /** Its other name. */
  @IsString() name!: string;
  /** The owner. */
  @IsString() owner!: string;
}
export class LostView extends Elsewhere {}
`;

describe('the docstrings of classes', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'headgate-docstrings-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  test('are one line each, and those of a parent are inherited', () => {
    writeFileSync(join(folder, 'things.ts'), SOURCE);
    writeFileSync(join(folder, 'things.spec.ts'), '/** A test. */ class Test {}');
    const found = readDescriptions(folder);
    expect([...found.keys()]).toEqual(['ThingView', 'OwnedView', 'LostView']);
    expect(found.get('ThingView')).toEqual({
      text: 'A thing.',
      fields: new Map([['name', 'Its name, which may be long.']]),
    });
    expect(found.get('OwnedView')).toEqual({
      text: undefined,
      fields: new Map([
        ['name', 'Its other name.'],
        ['owner', 'The owner.'],
      ]),
    });
  });
});
