import { i18n } from '@lingui/core';
import { perLanguage } from './per-language.js';

/** The language of the texts, in the region of the browser if the browser names one for it: `en-GB` for `en`. */
export const formatLocale = perLanguage(
  () => globalThis.navigator?.languages?.find((locale) => locale.split('-')[0] === i18n.locale) ?? i18n.locale,
);

const grouped = perLanguage(() => new Intl.NumberFormat(formatLocale()));
const decimal = perLanguage(
  () => new Intl.NumberFormat(formatLocale(), { useGrouping: false, maximumFractionDigits: 9 }),
);

/** A count: `10,000`. */
export const readableNumber = (value: number): string => grouped().format(value);

/** A measure without groups: `1023.5`. */
export const readableDecimal = (value: number): string => decimal().format(value);

const cpus = perLanguage(
  () =>
    new Intl.NumberFormat(formatLocale(), { useGrouping: false, minimumFractionDigits: 2, maximumFractionDigits: 2 }),
);

/** Thousandths of a CPU as CPUs: `0.50`. */
export const readableCpus = (millicores: number): string => cpus().format(millicores / 1000);
