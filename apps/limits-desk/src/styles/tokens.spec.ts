import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = join(import.meta.dirname, 'tokens.css');
const CONSOLE = join(import.meta.dirname, '../../../web-console/src/app/styles/tokens.css');

/** A style sheet without its comments. */
const rules = (path: string): string =>
  readFileSync(path, 'utf8')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .trim();

test('the tokens are those of the web console', () => expect(rules(HERE)).toBe(rules(CONSOLE)));
