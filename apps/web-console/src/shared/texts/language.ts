import { i18n, type Messages } from '@lingui/core';
import { messages as english } from '../../../texts/en.po';
import { recall, remember } from '../storage/remembered.js';

/** The languages by their own names. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;

export type Language = keyof typeof LANGUAGES;
/** `browser` follows the languages that the browser prefers. */
export type LanguageChoice = Language | 'browser';

/** The name under which the choice is remembered. */
export const LANGUAGE_KEY = 'language';

const isLanguage = (name: unknown): name is Language => typeof name === 'string' && Object.hasOwn(LANGUAGES, name);

/** The choice of the user, kept in this browser. */
export function chosenLanguage(): LanguageChoice {
  const chosen = recall<unknown>(LANGUAGE_KEY, 'browser');
  return isLanguage(chosen) ? chosen : 'browser';
}

/** The language of a choice. For `browser`, the first that the console has. */
export function languageOf(choice: LanguageChoice, preferred: readonly string[] = navigator.languages): Language {
  if (choice !== 'browser') return choice;
  return preferred.map((locale) => locale.split('-')[0]?.toLowerCase()).find(isLanguage) ?? 'en';
}

/** English is a part of app.js. The file of another language is loaded when it is needed. */
async function load(language: Language): Promise<Messages> {
  if (language === 'en') return english;
  const answer = await fetch(`/api/ext/page/${language}.json`);
  if (!answer.ok) throw new Error(`The texts of the language ${language} were answered with ${answer.status}.`);
  return (await answer.json()) as Messages;
}

/** Of several calls, the last one decides, in whatever order their texts arrive. */
let latest = 0;

/** @returns whether no other language was activated meanwhile */
async function activate(language: Language): Promise<boolean> {
  const call = ++latest;
  const messages = await load(language);
  if (call !== latest) return false;
  i18n.loadAndActivate({ locale: language, messages });
  document.documentElement.lang = language;
  return true;
}

/** Activates the remembered language before the first paint. Without its texts, the console is in English. */
export async function activateRememberedLanguage(): Promise<void> {
  const language = languageOf(chosenLanguage());
  if (language !== 'en') {
    try {
      return void (await activate(language));
    } catch {
      // The console is more useful in another language than not at all.
    }
  }
  await activate('en');
}

/**
 * Shows the console in a language, and remembers it once its texts have arrived.
 * @throws Error if they do not
 */
export async function chooseLanguage(choice: LanguageChoice): Promise<void> {
  if (await activate(languageOf(choice))) remember(LANGUAGE_KEY, choice);
}
