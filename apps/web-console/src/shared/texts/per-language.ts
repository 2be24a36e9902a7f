import { i18n } from '@lingui/core';

/**
 * A constant with texts, built on its first use in each language. Its identity stays the same until the language
 * changes.
 */
export function perLanguage<T>(build: () => T): () => T {
  let built: { readonly locale: string; readonly value: T } | undefined;
  return () => {
    if (built?.locale !== i18n.locale) built = { locale: i18n.locale, value: build() };
    return built.value;
  };
}
