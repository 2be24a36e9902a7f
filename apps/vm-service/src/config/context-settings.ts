import type { BackendKind } from '@headgate/domain-contracts';
import { ConfigError, parseSection } from '@headgate/nest-kit';

/** The classes of the settings of contexts, by kind. */
export type SettingsOfKinds = Readonly<Record<string, Pick<BackendKind, 'settings'>>>;

type Section = Readonly<Record<string, unknown>>;

/**
 * Parses the keys of each context that belong to its kind, and puts them under `settings`, apart from its name and its
 * kind. Everything that is not a context of a known kind stays, so that the caller refuses it.
 */
export function parseContextSettings(
  raw: unknown,
  source: string,
  kinds: SettingsOfKinds,
): { readonly raw: unknown; readonly problems: readonly string[] } {
  if (!isSection(raw) || !Array.isArray(raw['contexts'])) return { raw, problems: [] };
  const problems: string[] = [];
  const contexts = raw['contexts'].map((context: unknown, index) => {
    if (!isSection(context)) return context;
    const { name, kind, ...settings } = context;
    const known = typeof kind === 'string' && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    if (!known) return { name, kind, settings };
    try {
      return { name, kind, settings: parseSection(known.settings, settings, `contexts[${index}]`, source) };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return { name, kind };
    }
  });
  return { raw: { ...raw, contexts }, problems };
}

const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
