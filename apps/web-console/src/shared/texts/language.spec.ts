import { i18n } from '@lingui/core';
import { activateRememberedLanguage, chooseLanguage, chosenLanguage, languageOf } from './language.js';
import { perLanguage } from './per-language.js';
import { readableDecimal, readableNumber } from './formats.js';
import { inSentence } from './in-sentence.js';

/** Answers with these texts, in the order of the calls. */
function givenTexts(...answers: (Record<string, string> | number | Promise<Record<string, string>>)[]): string[] {
  const requested: string[] = [];
  const fetchTexts = async (url: string): Promise<Partial<Response>> => {
    requested.push(url);
    const answer = answers.shift();
    if (answer === undefined) throw new TypeError('The network is down.');
    if (typeof answer === 'number') return { ok: false, status: answer };
    const texts = await answer;
    return { ok: true, status: 200, json: () => Promise.resolve(texts) };
  };
  Object.assign(globalThis, { fetch: fetchTexts });
  return requested;
}

const prefer = (...languages: string[]): void =>
  void Object.defineProperty(navigator, 'languages', { configurable: true, value: languages });

beforeEach(() => prefer('en-US'));
afterEach(async () => {
  localStorage.clear();
  await chooseLanguage('en');
  localStorage.clear();
});

test.each([
  [['de-AT', 'en'], 'de'],
  [['fr', 'de'], 'de'],
  [['en-GB', 'de'], 'en'],
  [['fr', 'constructor'], 'en'],
  [[], 'en'],
])('a browser that prefers %j gets %s', (languages, expected) => {
  expect(languageOf('browser', languages)).toBe(expected);
});

test('a chosen language precedes that of the browser, is remembered, and is the lang of the page', async () => {
  const requested = givenTexts({ hello: 'Hallo' }, { hello: 'Hallo' });
  await chooseLanguage('de');
  expect([i18n.locale, i18n.t('hello'), document.documentElement.lang]).toEqual(['de', 'Hallo', 'de']);
  await chooseLanguage('en');
  expect(document.documentElement.lang).toBe('en');
  await chooseLanguage('de');
  i18n.activate('en');
  givenTexts({ hello: 'Hallo' });
  await activateRememberedLanguage();
  expect([chosenLanguage(), i18n.locale]).toEqual(['de', 'de']);
  expect(requested).toEqual(['/api/ext/page/de.json', '/api/ext/page/de.json']);
});

test('English needs no request', async () => {
  const requested = givenTexts();
  await activateRememberedLanguage();
  expect([i18n.locale, requested]).toEqual(['en', []]);
});

test.each([[[]], [[503]]])('the console is in English while the texts do not arrive (%j)', async (answers) => {
  prefer('de');
  givenTexts(...answers);
  await activateRememberedLanguage();
  expect([i18n.locale, document.documentElement.lang]).toEqual(['en', 'en']);
});

test('a language whose texts do not arrive is refused, and not remembered', async () => {
  givenTexts(404);
  await expect(chooseLanguage('de')).rejects.toThrow('The texts of the language de were answered with 404.');
  expect([i18n.locale, chosenLanguage()]).toEqual(['en', 'browser']);
});

test('the last choice decides, also when the texts of an earlier one arrive later', async () => {
  let arrive: (texts: Record<string, string>) => void = () => undefined;
  givenTexts(new Promise((resolve) => (arrive = resolve)));
  const german = chooseLanguage('de');
  await chooseLanguage('en');
  arrive({});
  await german;
  expect([i18n.locale, chosenLanguage()]).toEqual(['en', 'en']);
});

test('a remembered language that the console does not have is ignored', () => {
  localStorage.setItem('headgate.language', '"xx"');
  expect(chosenLanguage()).toBe('browser');
  localStorage.setItem('headgate.language', '{"a":1}');
  expect(chosenLanguage()).toBe('browser');
});

test('a constant with texts is built once in each language', async () => {
  const constant = perLanguage(() => ({ locale: i18n.locale }));
  expect(constant()).toBe(constant());
  expect(constant().locale).toBe('en');
  givenTexts({});
  await chooseLanguage('de');
  expect(constant().locale).toBe('de');
});

test('numbers follow the language, in the region of the browser', async () => {
  expect([readableNumber(10_000), readableDecimal(1023.5), inSentence('Nodes')]).toEqual(['10,000', '1023.5', 'nodes']);
  givenTexts({}, {});
  await chooseLanguage('de');
  expect([readableNumber(10_000), readableDecimal(1023.5), inSentence('Knoten')]).toEqual([
    '10.000',
    '1023,5',
    'Knoten',
  ]);
  await chooseLanguage('en');
  prefer('de', 'de-CH');
  await chooseLanguage('de');
  expect(readableNumber(10_000)).toBe('10.000');
});
