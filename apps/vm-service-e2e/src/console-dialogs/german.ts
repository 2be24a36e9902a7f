import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Say } from './stage.js';

const CATALOG = join(import.meta.dirname, '../../../web-console/texts/de.po');
export const TEXTS = '/api/ext/page/de.json';
const ENTRY = /^msgid "(.*)"\nmsgstr "(.*)"$/gm;

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

/** The German texts by the English ones, each between the brackets that `bracketTexts` puts around it. */
export function sayGerman(): Say {
  const entries = [...readFileSync(CATALOG, 'utf8').matchAll(ENTRY)];
  const texts = new Map(entries.map(([, english = '', german = '']) => [unescaped(english), unescaped(german)]));
  return (english, values = {}) => {
    const german = texts.get(english);
    if (german === undefined) throw new Error(`The catalog has no text "${english}".`);
    return `⟦${german.replaceAll(/\{(\w+)\}/g, (_match, name: string) => String(values[name]))}⟧`;
  };
}

/** From then on, a page in German has each text of the catalog in brackets. @param texts the file of the service */
export async function bracketTexts(page: Page, texts: Readonly<Record<string, readonly unknown[]>>): Promise<void> {
  const bracketed = Object.fromEntries(Object.entries(texts).map(([id, parts]) => [id, ['⟦', ...parts, '⟧']]));
  await page.route(`**${TEXTS}`, (route) => route.fulfill({ json: bracketed }));
}
