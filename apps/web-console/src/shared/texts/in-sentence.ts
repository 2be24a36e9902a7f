import { i18n } from '@lingui/core';

/** A label within a sentence. English begins it with a lowercase letter, German keeps the capital letters of nouns. */
export const inSentence = (label: string): string => (i18n.locale === 'en' ? label.toLowerCase() : label);
