import { t } from '@lingui/core/macro';
import type { TokenView } from '@headgate/api-contracts';
import { perLanguage } from '../../../shared/texts/per-language.js';

const kinds = perLanguage(() => ({ vm: t`virtual machines`, ct: t`containers` }) as const);

/** The words for a scope of a token or a webhook. */
export function scopeText({ kind, q, context, folder }: TokenView['scope']): string {
  const parts = [
    kind && kinds()[kind],
    folder !== undefined && t`in ${folder}`,
    context !== undefined && t`of ${context}`,
    q !== undefined && t`matching "${q}"`,
  ].filter(Boolean);
  return parts.length === 0 ? t`All` : parts.join(' ');
}
