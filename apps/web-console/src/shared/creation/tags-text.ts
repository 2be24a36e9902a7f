import { t } from '@lingui/core/macro';
/** @returns each tag once */
export const tagsOf = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

const TAG = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,57}[A-Za-z0-9])?$/;

export function tagsProblem(text: string): string | undefined {
  const wrong = tagsOf(text).find((tag) => !TAG.test(tag));
  return wrong === undefined
    ? undefined
    : t`"${wrong}" is not a tag: use 1 to 59 letters, digits, "-", "_" and ".", a letter or a digit first and last.`;
}
